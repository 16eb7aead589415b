package callsign

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The program, and the addresses that it prints: two places in its code.
var (
	program   string
	addresses []uint64
)

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "callsign-go-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(folder, "orders")
	if out, err := exec.Command("g++", "-g", "-O2", "../../examples/demo/orders.cc", "-o", program).CombinedOutput(); err != nil {
		panic(string(out))
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		panic(err)
	}
	for _, text := range strings.Fields(string(out)) {
		address, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			panic(err)
		}
		addresses = append(addresses, address)
	}
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

func openIndex(t *testing.T, options *ConvertOptions) (*Index, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orders.gsym")
	if _, err := Convert(program, path, options); err != nil {
		t.Fatal(err)
	}
	index, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { index.Close() })
	return index, path
}

func lookup(t *testing.T, index *Index, address uint64) Answer {
	t.Helper()
	answer, err := index.Lookup(address)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestLookup(t *testing.T) {
	index, _ := openIndex(t, nil)
	answer := lookup(t, index, addresses[1])
	out, err := exec.Command("addr2line", "-f", "-i", "-e", program, fmt.Sprintf("%#x", addresses[1])).Output()
	if err != nil {
		t.Fatal(err)
	}
	expected := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(answer.Frames) < 2 || len(expected) != 2*len(answer.Frames) || answer.Reason != "" {
		t.Fatalf("%v, addr2line has %v", answer, expected)
	}
	for i, frame := range answer.Frames {
		place, _, _ := strings.Cut(expected[2*i+1], " (")
		if frame.Function != expected[2*i] || fmt.Sprintf("%s:%d", frame.File, frame.Line) != place {
			t.Errorf("frame %d is %v, addr2line has %v", i, frame, expected[2*i:2*i+2])
		}
		if frame.Inlined != (i < len(answer.Frames)-1) {
			t.Errorf("frame %d: inlined is %v", i, frame.Inlined)
		}
	}
}

func TestUncoveredAddressHasReason(t *testing.T) {
	index, _ := openIndex(t, nil)
	if answer := lookup(t, index, 1); len(answer.Frames) != 0 || answer.Reason != "the address is below the first function of the index" {
		t.Error(answer)
	}
}

func TestPropertiesAndOptions(t *testing.T) {
	index, path := openIndex(t, nil)
	fast, err := Open(path, &IndexOptions{AcceleratorBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer fast.Close()
	if !bytes.Equal(index.BuildID(), fast.BuildID()) || len(fast.BuildID()) < 16 || index.FunctionCount() < 4 {
		t.Error(index.BuildID(), fast.BuildID(), index.FunctionCount())
	}
	if !reflect.DeepEqual(lookup(t, index, addresses[1]), lookup(t, fast, addresses[1])) {
		t.Error("the accelerated answer differs")
	}
}

func TestProgramIsConvertedInMemory(t *testing.T) {
	index, err := Open(program, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	if answer := lookup(t, index, addresses[0]); answer.Frames[0].Function != "_ZN4shop12report_stackEv" {
		t.Error(answer)
	}
}

func TestErrors(t *testing.T) {
	folder := t.TempDir()
	text, half, absent := filepath.Join(folder, "text"), filepath.Join(folder, "half"), filepath.Join(folder, "absent")
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(text, []byte("nothing of the kind\n"), 0o644)
	os.WriteFile(half, data[:100], 0o644)
	var failed *Error
	if _, err := Open(absent, nil); !errors.As(err, &failed) || failed.Status != IO || failed.Errno != 2 || !strings.Contains(err.Error(), absent) {
		t.Errorf("%#v", err)
	}
	if _, err := Open(text, nil); !errors.As(err, &failed) || failed.Message == "" {
		t.Errorf("%#v", err)
	}
	if _, err := Convert(half, half+".gsym", nil); !errors.As(err, &failed) || failed.Message == "" {
		t.Errorf("%#v", err)
	}
	if _, err := os.Stat(half + ".gsym"); err == nil {
		t.Error("a failed conversion left a file")
	}
	if _, err := Convert(program, half, &ConvertOptions{Format: "elf"}); !errors.As(err, &failed) || failed.Status != Argument {
		t.Errorf("%#v", err)
	}
}

func TestConversionsAreReported(t *testing.T) {
	folder := t.TempDir()
	one, two := filepath.Join(folder, "one"), filepath.Join(folder, "two")
	report, err := Convert(program, one, &ConvertOptions{Threads: 1, CallSites: true, MergedFunctions: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Convert(program, two, &ConvertOptions{Threads: 2, CallSites: true, MergedFunctions: true}); err != nil {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(one)
	second, _ := os.ReadFile(two)
	if !bytes.Equal(first, second) || uint64(len(first)) != report.OutputBytes {
		t.Error("the output depends on the threads, or has another size than reported")
	}
	if report.Functions < 4 || report.Rows < 10 || report.InlinedCalls < 2 || report.CallSites == 0 || len(report.BuildID) < 16 {
		t.Errorf("%+v", report)
	}
	v2, _ := openIndex(t, &ConvertOptions{Format: "gsym-v2", NoCompanions: true})
	if len(lookup(t, v2, addresses[0]).Frames) == 0 {
		t.Error("nothing is found in GSYM version 2")
	}
}

func TestStacks(t *testing.T) {
	index, _ := openIndex(t, nil)
	const bias = 0x550000000000
	symbolicator, err := NewSymbolicator([]Module{{Index: index, Start: bias, End: bias + 0x100000, Bias: bias}})
	if err != nil {
		t.Fatal(err)
	}
	defer symbolicator.Close()
	answers, err := symbolicator.Answer([]StackFrame{
		{PC: bias + addresses[1]},
		{PC: addresses[0] + 1, IsAddress: true},
		{PC: addresses[0], IsAddress: true, Exact: true},
		{PC: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(answers[0].Frames, lookup(t, index, addresses[1]).Frames) || answers[0].Module != 0 || answers[0].Confidence != ConfidenceCertain {
		t.Error(answers[0])
	}
	if answers[1].Frames[0].Line != answers[2].Frames[0].Line || answers[1].Frames[0].Function != "_ZN4shop12report_stackEv" {
		t.Error(answers[1], answers[2])
	}
	if len(answers[3].Frames) != 0 || answers[3].Module != -1 || answers[3].Reason == "" || answers[3].Chosen != -1 {
		t.Error(answers[3])
	}
	if answers, err := symbolicator.Answer(nil); err != nil || len(answers) != 0 {
		t.Error(answers, err)
	}
	var failed *Error
	if _, err := symbolicator.Answer([]StackFrame{{PC: 1, IsAddress: true, Module: 9}}); !errors.As(err, &failed) || failed.Status != Argument {
		t.Error(err)
	}
}

// A Close that waits for a symbolicator made all later lookups wait, too, also those of the goroutine that was to close the symbolicator.
func TestLookupsWhileCloseWaits(t *testing.T) {
	index, _ := openIndex(t, nil)
	symbolicator, err := NewSymbolicator([]Module{{Index: index}, {Index: index}})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	for i := 0; i < 2; i++ {
		go func() {
			index.Close()
			closed <- struct{}{}
		}()
	}
	for i := 0; i < 5000; i++ {
		if _, err := index.Lookup(1); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	symbolicator.Close()
	<-closed
	<-closed
	if _, err := index.Lookup(1); err != ErrClosed {
		t.Fatal(err)
	}
}

func TestClosedHandles(t *testing.T) {
	index, _ := openIndex(t, nil)
	symbolicator, err := NewSymbolicator([]Module{{Index: index}, {Index: index}, {}})
	if err != nil {
		t.Fatal(err)
	}
	symbolicator.Close()
	symbolicator.Close()
	index.Close()
	index.Close()
	if _, err := index.Lookup(1); err != ErrClosed {
		t.Error(err)
	}
	if _, err := symbolicator.Answer(nil); err != ErrClosed {
		t.Error(err)
	}
	if _, err := NewSymbolicator([]Module{{Index: index}}); err != ErrClosed {
		t.Error(err)
	}
	if index.FunctionCount() != 0 || len(index.BuildID()) != 0 {
		t.Error("a closed index has functions")
	}
}

func TestGoroutinesShareAnIndex(t *testing.T) {
	index, _ := openIndex(t, nil)
	expected := lookup(t, index, addresses[1])
	var group sync.WaitGroup
	for range make([]struct{}, 8) {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 500; i++ {
				answer, err := index.Lookup(addresses[1])
				if err == ErrClosed {
					return
				}
				if err != nil || !reflect.DeepEqual(answer, expected) {
					t.Error(answer, err)
					return
				}
			}
		}()
	}
	index.Close()
	group.Wait()
}

func TestNames(t *testing.T) {
	long := "_ZN3000" + strings.Repeat("a", 3000) + "3fooEv"
	if Demangle("_ZN2ns4areaEi") != "ns::area(int)" || Demangle("main") != "main" || len(Demangle(long)) < 3000 || Version() == "" {
		t.Error(Demangle("_ZN2ns4areaEi"), Demangle("main"))
	}
}

// The example prints what the command prints.
func TestExamplePrintsAsTheCommand(t *testing.T) {
	command := os.Getenv("CALLSIGN")
	if command == "" {
		t.Skip("CALLSIGN does not name the command")
	}
	_, path := openIndex(t, nil)
	example := filepath.Join(t.TempDir(), "lookup")
	if out, err := exec.Command("go", "build", "-o", example, "./examples/lookup").CombinedOutput(); err != nil {
		t.Fatal(string(out))
	}
	arguments := []string{path}
	for _, address := range addresses {
		arguments = append(arguments, fmt.Sprintf("%#x", address))
	}
	for number := 0; number < 200; number++ {
		arguments = append(arguments, fmt.Sprintf("%x", 0x1000+number*13))
	}
	expected := exec.Command(command, append([]string{"lookup"}, arguments...)...)
	expectedOut, _ := expected.Output()
	found := exec.Command(example, arguments...)
	out, _ := found.Output()
	if !bytes.Equal(out, expectedOut) || found.ProcessState.ExitCode() != expected.ProcessState.ExitCode() {
		t.Errorf("the example prints\n%s\nthe command\n%s", out, expectedOut)
	}
}

func BenchmarkLookup(b *testing.B) {
	index, err := Open(program, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer index.Close()
	for i := 0; i < b.N; i++ {
		if _, err := index.Lookup(addresses[1]); err != nil {
			b.Fatal(err)
		}
	}
}
