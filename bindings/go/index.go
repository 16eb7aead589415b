package callsign

/*
#include <stdlib.h>
#include <string.h>
#include <callsign/callsign.h>

// One call of C for a whole lookup. Names in pieces (BSYM) are put together by go_name.
static csn_status go_lookup(const struct csn_index *index, uint64_t addr, struct csn_frame_ref *refs, struct csn_frame *frames, size_t cap,
                            struct csn_lookup *found, struct csn_error *err) {
	csn_status status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, refs, cap, found, err);
	if (status != CSN_OK) found->frame_count = 0;
	for (size_t i = 0; i < found->frame_count && i < cap; i++) csn_index_resolve_into(index, &refs[i], NULL, 0, &frames[i]);
	return status;
}

static size_t go_name(const struct csn_index *index, const struct csn_frame_ref *ref, void *scratch, size_t size) {
	struct csn_frame frame;
	size_t need = csn_index_resolve_into(index, ref, scratch, size, &frame);
	if (!size || need > size) return need;
	if (frame.name.ptr != scratch) memmove(scratch, frame.name.ptr, frame.name.len);
	return frame.name.len;
}

static csn_status go_open(const char *path, uint64_t accelerator_bytes, const char *arch, struct csn_index **out, struct csn_error *err) {
	struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
	options.accelerator_bytes = accelerator_bytes;
	options.arch = arch;
	return csn_index_open_any(path, &options, out, err);
}
*/
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"
)

// IndexOptions say how to open an index.
type IndexOptions struct {
	AcceleratorBytes uint64 // memory limit of a decoded copy that makes lookups several times faster; 0: none
	Arch             string // the image of a universal Mach-O file, such as "arm64"
}

// Index has the symbols of one image. Any number of goroutines may use it at the same time.
type Index struct {
	mutex sync.RWMutex // held for writing by Close alone
	raw   *C.struct_csn_index

	holdersMutex sync.Mutex
	holders      int           // symbolicators
	released     chan struct{} // closed when there are no more of them; nil: Close does not wait
}

// hold keeps the index open until release is called as often. Close waits for that without the lock that calls take: they go on.
func (index *Index) hold() error {
	index.holdersMutex.Lock()
	defer index.holdersMutex.Unlock()
	index.mutex.RLock()
	defer index.mutex.RUnlock()
	if index.raw == nil {
		return ErrClosed
	}
	index.holders++
	return nil
}

func (index *Index) release() {
	index.holdersMutex.Lock()
	defer index.holdersMutex.Unlock()
	index.holders--
	if index.holders == 0 && index.released != nil {
		close(index.released)
		index.released = nil
	}
}

// Open opens an index (GSYM, BSYM), a program that contains one, or any program or debug file, which is then converted in memory. An
// index is mapped, and nothing is built, whatever its size. The file must not shrink while it is open: replace it by renaming. options may be nil.
func Open(path string, options *IndexOptions) (*Index, error) {
	if options == nil {
		options = &IndexOptions{}
	}
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var arch *C.char
	if options.Arch != "" {
		arch = C.CString(options.Arch)
		defer C.free(unsafe.Pointer(arch))
	}
	index := &Index{}
	var err C.struct_csn_error
	if failed := makeError(C.go_open(text, C.uint64_t(options.AcceleratorBytes), arch, &index.raw, &err), &err, path); failed != nil {
		return nil, failed
	}
	return index, nil
}

// Close closes the index, as soon as no symbolicator uses it; until then calls are answered. Closing twice does nothing.
func (index *Index) Close() error {
	index.holdersMutex.Lock()
	for index.holders > 0 {
		if index.released == nil {
			index.released = make(chan struct{})
		}
		released := index.released
		index.holdersMutex.Unlock()
		<-released
		index.holdersMutex.Lock()
	}
	defer index.holdersMutex.Unlock()
	index.mutex.Lock()
	defer index.mutex.Unlock()
	C.csn_index_close(index.raw)
	index.raw = nil
	return nil
}

// Frame is one frame of an answer.
type Frame struct {
	Function  string // as it is stored: mangled if the compiler mangles names; empty if unknown
	Offset    uint64 // bytes from the start of the function, or of the inlined call
	File      string // empty if unknown
	Line      uint32 // 0 if unknown
	Inlined   bool
	Uncertain bool   // the address lies between the end of this function and the next one
	Reason    string // why file and line are missing; empty if they are not
}

// Answer is the answer to one address.
type Answer struct {
	Frames []Frame // the innermost inlined call first, the function itself last; empty if no function covers the address
	Reason string  // why there are no frames, or what is missing; empty if nothing is
}

type lookupBuffers struct {
	refs   []C.struct_csn_frame_ref
	frames []C.struct_csn_frame
}

var buffers = sync.Pool{New: func() any { return &lookupBuffers{make([]C.struct_csn_frame_ref, 16), make([]C.struct_csn_frame, 16)} }}

// Lookup looks one address of the image up; the load bias is subtracted. An address that no function covers is no error: the answer has
// no frames and a reason.
func (index *Index) Lookup(address uint64) (Answer, error) {
	index.mutex.RLock()
	defer index.mutex.RUnlock()
	if index.raw == nil {
		return Answer{}, ErrClosed
	}
	buffer := buffers.Get().(*lookupBuffers)
	defer buffers.Put(buffer)
	for {
		var found C.struct_csn_lookup
		var err C.struct_csn_error
		status := C.go_lookup(index.raw, C.uint64_t(address), &buffer.refs[0], &buffer.frames[0], C.size_t(len(buffer.refs)), &found, &err)
		if failed := makeError(status, &err, ""); failed != nil {
			return Answer{}, failed
		}
		count := int(found.frame_count)
		if count > len(buffer.refs) {
			buffer.refs, buffer.frames = make([]C.struct_csn_frame_ref, count), make([]C.struct_csn_frame, count)
			continue
		}
		return index.makeAnswer(buffer, count, uint32(found.reason)), nil
	}
}

func (index *Index) makeAnswer(buffer *lookupBuffers, count int, reason uint32) Answer {
	answer := Answer{Frames: make([]Frame, count), Reason: reasonText(reason)}
	for i := range answer.Frames {
		answer.Frames[i] = makeFrame(&buffer.frames[i])
		if buffer.frames[i].flags&C.CSN_FRAME_NAME_IN_PIECES != 0 {
			answer.Frames[i].Function = index.nameInPieces(&buffer.refs[i])
		}
	}
	return answer
}

func (index *Index) nameInPieces(ref *C.struct_csn_frame_ref) string {
	size := C.go_name(index.raw, ref, nil, 0)
	if size == 0 {
		return ""
	}
	scratch := make([]byte, size)
	return string(scratch[:C.go_name(index.raw, ref, unsafe.Pointer(&scratch[0]), size)])
}

func reasonText(reason uint32) string {
	if reason == C.CSN_REASON_COMPLETE {
		return ""
	}
	return C.GoString(C.csn_reason_text(C.uint32_t(reason)))
}

func makeFrame(frame *C.struct_csn_frame) Frame {
	return Frame{Function: goString(frame.name), Offset: uint64(frame.offset), File: joinPath(goString(frame.directory), goString(frame.base)),
		Line: uint32(frame.line), Inlined: frame.flags&C.CSN_FRAME_INLINED != 0, Uncertain: frame.flags&C.CSN_FRAME_UNCERTAIN != 0,
		Reason: reasonText(uint32(frame.reason))}
}

// joinPath joins the parts of a path. A directory with backslashes alone is a Windows path.
func joinPath(directory, base string) string {
	separator := "/"
	if strings.Contains(directory, `\`) && !strings.Contains(directory, "/") {
		separator = `\`
	}
	if directory == "" || base == "" || strings.HasSuffix(directory, separator) {
		return directory + base
	}
	return directory + separator + base
}

var noCallFile = reasonText(C.CSN_REASON_NO_CALL_FILE)

// String returns the frame as `callsign lookup` prints it.
func (f Frame) String() string {
	var out strings.Builder
	if f.Uncertain {
		out.WriteString("possibly ")
	}
	name := f.Function
	if name == "" {
		name = "(no name)"
	}
	fmt.Fprintf(&out, "%s + %d", plain(name), f.Offset)
	switch {
	case f.File != "" && f.Line != 0:
		fmt.Fprintf(&out, " at %s:%d", plain(f.File), f.Line)
	case f.File != "":
		fmt.Fprintf(&out, " at %s:?", plain(f.File))
	case f.Line != 0 && f.Reason == noCallFile:
		fmt.Fprintf(&out, " at ?:%d", f.Line)
	case f.Reason != "":
		fmt.Fprintf(&out, " (%s)", f.Reason)
	}
	if f.Inlined {
		out.WriteString(" [inlined]")
	}
	return out.String()
}

// plain shows control characters as \xNN, so that a name cannot steer a terminal.
func plain(text string) string {
	if strings.IndexFunc(text, isControl) < 0 {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if isControl(rune(text[i])) {
			fmt.Fprintf(&out, `\x%02x`, text[i])
		} else {
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

func isControl(c rune) bool { return c < 0x20 || c == 0x7f }

// BuildID returns the build id or UUID of the image; empty if the index has none.
func (index *Index) BuildID() []byte {
	info := index.info()
	id := make([]byte, min(int(info.uuid_size), len(info.uuid)))
	for i := range id {
		id[i] = byte(info.uuid[i])
	}
	return id
}

// FunctionCount returns the number of functions; 0 after Close.
func (index *Index) FunctionCount() int { return int(index.info().function_count) }

func (index *Index) info() (info C.struct_csn_index_info) {
	index.mutex.RLock()
	defer index.mutex.RUnlock()
	if index.raw != nil {
		C.csn_index_get_info(index.raw, &info, C.sizeof_struct_csn_index_info)
	}
	return info
}
