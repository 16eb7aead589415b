/* Some four times the most that saved inputs and their mutations took with sanitizers on a busy machine (`scripts/fuzz
 * --budgets`, docs/fuzzing.md), and no less than 20 ms, or 100 where files are written. Heap: where SECURITY.md lets a few
 * bytes demand much, that limit and what the target needs besides. */
#include "budget/budget.h"

enum {
    MIB = 1 << 10,
    XZ_DECODER = 256 * MIB, /* MAX_DECODER_MEMORY, of .gnu_debugdata */
    DEFLATE_RATIO = 1032, /* DEFLATE_MAX_RATIO */
    DEMANGLING = 64 * MIB, /* MEMORY_MAX, of one name */
    PATTERN_MATCH = 1 * MIB, /* HEAP_LIMIT_KIB */
    ARCHIVE_DECODER = 1024 * MIB, /* not ours: what libarchive lets xz and lzma have */
    ARCHIVE_WINDOW = 128 * MIB, /* nor this: zstd's window */
    PPROF_IDS = 24 * MIB, /* a table of locations by id, 4 bytes for each below DIRECT_MAX, while it grows */
};

/* Target; ms, ns for each byte; KiB of heap, bytes of it for each byte, KiB more for what has a stream of xz or zstd. */
const struct fuzz_budget fuzz_budgets[] = {
    { "breakpad", 20, 10000, 2 * MIB, 2048, 0 },
    { "bsym", 600, 10000, 8 * MIB, 2048, 0 }, /* one question may go over all pieces of a function of gigabytes */
    { "cache_entry", 20, 1000, 1 * MIB, 64, 0 },
    { "call_sites", 20, 5000, 1 * MIB, 64, 0 },
    { "companions", 50, 20000, 8 * MIB, 2 * DEFLATE_RATIO, XZ_DECODER },
    { "convert", 50, 20000, 8 * MIB, 2 * DEFLATE_RATIO, XZ_DECODER },
    { "debug_info", 40, 10000, 8 * MIB, 2 * DEFLATE_RATIO, XZ_DECODER },
    { "deflate", 20, 10000, 2 * MIB, 2 * DEFLATE_RATIO, 0 }, /* two inflate it */
    { "demangle", 250, 20000, DEMANGLING + 1 * MIB, 64, 0 }, /* a few bytes may take all of STEPS_MAX */
    { "dwarf", 50, 10000, 4 * MIB, 512, 0 },
    { "embed", 40, 5000, 1 * MIB, 64, 0 },
    { "go", 20, 10000, 1 * MIB, 512, 0 },
    { "index", 40, 10000, 1 * MIB, 128, 0 },
    { "line_table", 20, 10000, 1 * MIB, 64, 0 },
    { "macho", 20, 5000, 1 * MIB, 256, 0 },
    { "object", 40, 10000, 40 * MIB, 64, XZ_DECODER }, /* its LIMIT is 16 MiB of inflated sections */
    { "pdb", 20, 5000, 2 * MIB, 512, 0 },
    { "process", 30, 5000, 1 * MIB, 128, 0 },
    { "profile", 100, 10000, PPROF_IDS + 1 * MIB, 1024, 0 },
    { "remote", 20, 5000, 4 * MIB, 512, 0 },
    { "server_archive", 100, 10000, ARCHIVE_DECODER + 32 * MIB, 2 * DEFLATE_RATIO, 0 },
    { "server_http", 100, 10000, 16 * MIB, 2 * DEFLATE_RATIO, ARCHIVE_WINDOW },
    { "server_settings", 20, 5000, 1 * MIB, 64, 0 },
    { "stack", 40, 20000, 4 * MIB, 2048, 0 },
    { "stack_json", 50, 20000, 8 * MIB, 2048, 0 },
    { "stack_log", 40, 20000, 4 * MIB, 2048, 0 },
    { "symbolicate", 20, 10000, PATTERN_MATCH + 2 * MIB, 512, 0 },
    { "udf", 20, 10000, 16 * MIB, 1024, 0 },
    { "unwind", 250, 5000, 1 * MIB, 512, 0 }, /* a few bytes may take all of WORK_MAX, as of a conversion's work */
    { "sample", 20, 500000, 1 * MIB, 1024, 0 }, /* of fuzz/budget/sample.c */
    { NULL, 0, 0, 0, 0, 0 },
};
