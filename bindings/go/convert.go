package callsign

/*
#include <stdlib.h>
#include <callsign/callsign.h>

struct go_convert {
	const char *format;
	uint32_t threads, flags, merged_functions, companions;
};

static csn_status go_convert(const char *path, const char *out_path, const struct go_convert *given, struct csn_convert_report *report,
                             struct csn_error *err) {
	struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
	struct csn_companion_search *search = NULL;
	options.format = csn_convert_format_find(given->format);
	options.threads = given->threads;
	options.flags = given->flags;
	options.merged_functions = given->merged_functions;
	csn_status status = given->companions ? csn_companion_search_create(NULL, &search, err) : CSN_OK;
	if (given->companions) {
		options.resolver = csn_companion_search_resolve;
		options.resolver_context = search;
	}
	if (status >= 0) status = csn_convert_file(path, out_path, &options, report, err);
	csn_companion_search_destroy(search);
	return status;
}
*/
import "C"

import "unsafe"

// ConvertOptions say how to convert. The zero value writes GSYM version 1 on all cores and finds debug files where debuggers do.
type ConvertOptions struct {
	Format          string // "gsym", "gsym-v2", "gsym-section", "bsym" or "breakpad"; empty: "gsym"
	Threads         uint32 // 0: one for each core. The output does not depend on it
	Strict          bool   // anything dropped or damaged is an error
	CallSites       bool   // keep call sites, which tell merged functions apart over a stack
	MergedFunctions bool   // keep all functions that share code
	NoCompanions    bool   // read the input alone
}

// Event is what a conversion merged, clipped or dropped.
type Event struct {
	Count   uint64
	Example string // the first one
}

// Report tells what a conversion read and wrote.
type Report struct {
	Functions, Rows, InlinedCalls, CallSites, MergedFunctions, Files uint64
	InputBytes, OutputBytes                                          uint64
	BuildID                                                          []byte // empty if the input has none
	Events                                                           map[string]Event
}

// Convert converts a program, library, debug file, dSYM bundle, Breakpad file or index into an index at output, which is written under
// another name and renamed: on a failure the old file stays. options may be nil.
func Convert(input, output string, options *ConvertOptions) (*Report, error) {
	if options == nil {
		options = &ConvertOptions{}
	}
	format := options.Format
	if format == "" {
		format = "gsym"
	}
	texts := [3]*C.char{C.CString(input), C.CString(output), C.CString(format)}
	for _, text := range texts {
		defer C.free(unsafe.Pointer(text))
	}
	if C.csn_convert_format_find(texts[2]) == 0 {
		return nil, &Error{Status: Argument, Message: "'" + format + "' is not an output format"}
	}
	given := (*C.struct_go_convert)(C.calloc(1, C.sizeof_struct_go_convert))
	defer C.free(unsafe.Pointer(given))
	*given = C.struct_go_convert{format: texts[2], threads: C.uint32_t(options.Threads)}
	if options.Strict {
		given.flags |= C.CSN_CONVERT_STRICT
	}
	if options.CallSites {
		given.flags |= C.CSN_CONVERT_CALL_SITES
	}
	if options.MergedFunctions {
		given.merged_functions = C.CSN_MERGE_ALL
	}
	if !options.NoCompanions {
		given.companions = 1
	}
	var err C.struct_csn_error
	var report C.struct_csn_convert_report
	if failed := makeError(C.go_convert(texts[0], texts[1], given, &report, &err), &err, input); failed != nil {
		return nil, failed
	}
	return makeReport(&report), nil
}

func makeReport(raw *C.struct_csn_convert_report) *Report {
	report := &Report{Functions: uint64(raw.functions_written), Rows: uint64(raw.rows_written), InlinedCalls: uint64(raw.inline_nodes_written),
		CallSites: uint64(raw.call_sites_written), MergedFunctions: uint64(raw.functions_merged), Files: uint64(raw.files_written),
		InputBytes: uint64(raw.input_bytes), OutputBytes: uint64(raw.output_bytes), Events: map[string]Event{}}
	for i := 0; i < int(raw.uuid_size) && i < len(raw.uuid); i++ {
		report.BuildID = append(report.BuildID, byte(raw.uuid[i]))
	}
	for i := range raw.events {
		if raw.events[i].count != 0 {
			name := C.GoString(C.csn_event_name(C.uint32_t(i)))
			report.Events[name] = Event{uint64(raw.events[i].count), C.GoString(&raw.events[i].example[0])}
		}
	}
	return report
}
