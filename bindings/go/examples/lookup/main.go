// Command lookup prints the frames at addresses, as `callsign lookup` does: go run ./examples/lookup INDEX ADDR...
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"callsign"
)

// printAnswer tells whether a function was found.
func printAnswer(out io.Writer, index *callsign.Index, address uint64) bool {
	label := fmt.Sprintf("%#x: ", address)
	answer, err := index.Lookup(address)
	switch {
	case err != nil:
		fmt.Fprintf(out, "%serror: %v\n", label, err)
		return false
	case len(answer.Frames) == 0:
		fmt.Fprintf(out, "%snot found: %s\n", label, answer.Reason)
		return false
	}
	for i, frame := range answer.Frames {
		if i > 0 {
			label = strings.Repeat(" ", len(label))
		}
		fmt.Fprintf(out, "%s%v\n", label, frame)
	}
	return true
}

func run(arguments []string) (int, error) {
	if len(arguments) == 0 {
		return 2, fmt.Errorf("usage: lookup INDEX ADDR")
	}
	index, err := callsign.Open(arguments[0], nil)
	if err != nil {
		return 2, err
	}
	defer index.Close()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	status := 0
	for _, text := range arguments[1:] {
		digits := strings.TrimPrefix(strings.TrimPrefix(text, "0x"), "0X")
		address, err := strconv.ParseUint(digits, 16, 64)
		if err != nil {
			return 2, fmt.Errorf("'%s' is not a hexadecimal address", text)
		}
		if !printAnswer(out, index, address) {
			status = 1
		}
	}
	return status, nil
}

func main() {
	status, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "lookup: %v\n", err)
	}
	os.Exit(status)
}
