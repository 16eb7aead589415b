// Package callsign turns machine addresses into function names, source lines and inline call stacks.
//
// Convert a program's debug information once, then look addresses up in the index:
//
//	report, err := callsign.Convert("prog", "prog.gsym", nil)
//	index, err := callsign.Open("prog.gsym", nil)
//	defer index.Close()
//	answer, err := index.Lookup(0x1139)
//	for _, frame := range answer.Frames {
//		fmt.Println(frame)
//	}
//
// A [Symbolicator] answers whole stacks over several images, and tells functions apart that the linker folded into one.
//
// The package needs libcallsign: that of its own tree, built by `make`, or an installed one with the build tag callsign_system.
package callsign

// #include <stdlib.h>
// #include <callsign/callsign.h>
import "C"

import (
	"errors"
	"unsafe"
)

// ErrClosed is returned by methods of a handle after Close.
var ErrClosed = errors.New("callsign: the handle is closed")

// Status is the kind of a failure.
type Status int

// The failures of the library.
const (
	Truncated   Status = C.CSN_E_TRUNCATED   // the data ends in the middle of a required value
	BadFormat   Status = C.CSN_E_FORMAT      // the data violates its format
	Limit       Status = C.CSN_E_LIMIT       // a limit of the options or of the output format is exceeded
	Unsupported Status = C.CSN_E_UNSUPPORTED // valid, but this build or version does not support it
	Memory      Status = C.CSN_E_MEMORY      // out of memory
	IO          Status = C.CSN_E_IO          // a system call failed; see Error.Errno
	Argument    Status = C.CSN_E_ARGUMENT    // an argument is invalid
	NotFound    Status = C.CSN_E_NOT_FOUND   // a named thing (section, function, file) does not exist
	Cancelled   Status = C.CSN_E_CANCELLED   // a callback asked to stop
)

func (s Status) String() string { return C.GoString(C.csn_status_name(C.csn_status(s))) }

// Error is a failure of the library: what is wrong, and where.
type Error struct {
	Status  Status
	Path    string // the file, if the call was about one
	Message string // one line with the affected item, its position and the values involved
	Section string // part of the file, such as ".debug_line"; empty if there is none
	Offset  uint64 // byte offset within the section, or within the file
	Errno   int    // the system's error number, or 0
}

func (e *Error) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// makeError returns nil unless the status is a failure.
func makeError(status C.csn_status, err *C.struct_csn_error, path string) error {
	if status >= 0 {
		return nil
	}
	made := &Error{Status: Status(status), Path: path, Message: C.GoString(C.csn_error_text(err)),
		Section: C.GoString(&err.section[0]), Offset: uint64(err.offset), Errno: int(err.os_error)}
	if made.Message == "" {
		made.Message = made.Status.String()
	}
	return made
}

// Version returns the version of the C library.
func Version() string { return C.GoString(C.csn_version()) }

// Demangle returns the readable form of a name of C++, Rust, D, Swift or MSVC; the name itself if it is not mangled.
func Demangle(name string) string {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	mangled := C.struct_csn_str{ptr: text, len: C.size_t(len(name))}
	for size := 1024; ; {
		out := make([]byte, size)
		var used C.size_t
		status := C.csn_demangle(mangled, (*C.char)(unsafe.Pointer(&out[0])), C.size_t(size), &used, nil)
		if status == C.CSN_OK && int(used) < size {
			return string(out[:used])
		}
		if int(used) < size {
			return name
		}
		size = int(used) + 1
	}
}

// goString copies a string of the library.
func goString(text C.struct_csn_str) string { return C.GoStringN(text.ptr, C.int(text.len)) }
