/* What `perf script` prints.
 *
 *     app  4242 [001] 12.345678:     1 cycles:u:                 a sample, its chain below
 *                 1139 area+0x19 (/path/app)                     of the chain: an offset in the file, by perf 5.3 to 6.3
 *         55d000001139 area+0x19 (/path/app)                     the same by any other: of the process, see perf_numbers.h
 *                 1139 (/path/app)                               the same with -F ip,dso
 *       main.c:12                                                with -F +srcline, of the frame above
 *                 1139 area+0x19 (inlined)                       a call that was inlined into the frame below
 *                 1139 area+0x19                                 the same with -F +srcline: the line below tells
 *       main.c:7 (inlined)
 *     0x55d000001139/0x55d000001161/P/-/-/3/                         of the branches of -F brstack: see perf_branches.h
 *     	000055d000001139	insn: 8d 4f 0a                        of the blocks between them, -F brstackinsn
 *     ffffffff81001139 do_idle+0x19 ([kernel.kallsyms])          the kernel: an address, see perf_kernel.h
 *     ffffffffc0a31139 nft_do_chain+0x19 ([nf_tables])           a module of it: a place in a function of that name
 *
 *     app  4242 [001] 12.345678:     1 cycles:u:  55d000001139 area+0x19 (/path/app)       a sample alone: of the process
 *     cycles:u:     55d000001139 area+0x19 (/path/app) ilen: 3 insn: 83 c3 01            the same with -F event,ip,sym,dso,insn
 *     app  4242 12.3: PERF_RECORD_MMAP2 4242/4242: [0x55d000001000(0x1000) @ 0x1000 08:01 12 0]: r-xp /path/app
 *     app  4242 12.3: PERF_RECORD_MMAP2 4242/4242: [0x55d000001000(0x1000) @ 0x1000 <0102...>]: r-xp /path/app      its build id
 *
 * A chain unwound by frame pointers has return addresses, one unwound by DWARF the byte before. The first frame after those of
 * the kernel was interrupted. */
#include "stack/dialects/dialects.h"
#include "stack/dialects/perf_branches.h"
#include "stack/dialects/perf_fill.h"
#include "stack/dialects/perf_frame.h"
#include "stack/dialects/perf_head.h"
#include "stack/dialects/perf_kernel.h"
#include "stack/dialects/perf_numbers.h"
#include "stack/dialects/perf_threads.h"
#include "stack/lines/line_scan.h"
#include "stack/lines/stack_modules.h"
#include "stack/session/profile_sample.h"

struct perf_state {
    struct profile_sample sample; /* of the last line that heads one */
    bool sample_used;       /* its stack has begun */
    struct profile_sample perhaps; /* the head that a line may be, if a chain begins on the next one */
    uint64_t perhaps_at;    /* that line, as in stack_modules */
    bool is_certain;        /* a sample or a mapping of the text is perf's without doubt */
    struct perf_threads threads;
    struct perf_numbers numbers;
    bool after_frame;       /* the line before is a frame */
    struct build_id kernel_id; /* as its map tells */
    bool has_build_ids;     /* maps have told some */
    struct perf_kernels kernels;
    bool in_kernel;         /* the frame before is one of the kernel */
    bool after_head;        /* the line before heads a sample: its chain may follow */
    bool has_maps;          /* the text is perf's without doubt */
    uint64_t map_pid;       /* the only process that has mappings; 0: several have, or none */
    bool has_map_pid;       /* a process has mappings; the kernel's are of none */
    struct stack_modules *modules;
    bool in_block;          /* the line before is an instruction of -F brstackinsn, or the function of one */
    bool alone;             /* the stack before is a sample alone: what begins with a blank is another one */
    uint64_t inlined_at;    /* pc of the lines of inlined calls before, of the same chain; 0: there is none */
    bool is_call_below;     /* the line that was searched for says that the frame above it is an inlined call */
    bool searches_numbers;  /* of a frame with an image: what is searched for tells what the numbers of chains count from */
};

/* " <0102...>" behind the offset in the file, as perf record --buildid-mmap has it, in place of the device and the inode. */
static struct build_id read_build_id(struct line_scan *s) {
    struct build_id id = { .size = 0 };
    size_t end;
    if (!scan_text(s, " <") || !scan_find(s, ">", &end)) return id;
    if (!build_id_parse((struct csn_str){ s->line.ptr + s->at, end - s->at }, &id)) id.size = 0;
    return id;
}

static void read_map(struct perf_state *perf, struct stack_modules *modules, struct line_scan *s) {
    uint64_t pid, thread, start, size, offset;
    struct csn_str access;
    bool kernel = scan_char(s, '-');
    if (!scan_number(s, 10, &pid) || !scan_char(s, '/') || !scan_number(s, 10, &thread)) return;
    if (!kernel) perf_threads_add(&perf->threads, thread, pid);
    if (!scan_text(s, ": [") || !scan_hex(s, &start) || !scan_char(s, '(') || !scan_hex(s, &size)) return;
    if (!scan_text(s, ") @ ")) return;
    if (!scan_hex(s, &offset) && !scan_number(s, 10, &offset)) return;
    const struct build_id id = read_build_id(s);
    size_t end;
    if (!scan_find(s, "]: ", &end)) return;
    s->at = end + strlen("]: ");
    if (!scan_word(s, &access) || !scan_blanks(s)) return;
    perf->has_build_ids |= id.size != 0;
    if (scan_peek(s) == '[') perf_kernels_add_map(&perf->kernels, scan_rest(s), start);
    if (kernel && scan_text(s, "[kernel.kallsyms]_")) perf->kernel_id = id;
    if (kernel || scan_peek(s) != '/') return;
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    mapping.start = start;
    mapping.end = start + size < start ? UINT64_MAX : start + size;
    mapping.file_off = offset;
    mapping.path = scan_rest(s);
    mapping.build_id = id.bytes;
    mapping.build_id_size = id.size;
    perf->map_pid = perf->has_map_pid && perf->map_pid != pid ? 0 : pid;
    perf->has_map_pid = true;
    mapping.flags = access.len < 3 || access.ptr[2] == 'x' ? CSN_MAPPING_EXECUTABLE : 0;
    stack_modules_add_mapping(modules, pid, &mapping);
}

/* ---- heads ---- */

/* The process of the thread may be known from lines before; else it is taken for the first one of its process. */
static void use_head(struct perf_state *perf, const struct profile_sample *head) {
    perf->sample = *head;
    perf->sample_used = false;
    perf->inlined_at = 0;
    perf->is_certain |= head->is_certain;
    if (head->has_pid) perf_threads_add(&perf->threads, head->thread, head->pid);
    else if (head->has_thread) perf->sample.has_pid = perf_threads_find(&perf->threads, head->thread, &perf->sample.pid);
    if (!perf->sample.has_pid) perf->sample.pid = head->thread;
}

/* What stands before branches. */
static void use_head_before(struct perf_state *perf, struct csn_str text) {
    struct line_scan s = scan_on(text);
    struct profile_sample head;
    size_t address;
    if (perf_head_read(&s, &head)) {
        use_head(perf, &head);
        return;
    }
    if (perf_find_padded_address(text, 0, &address)) text.len = address;
    if (perf_head_read_part(text, false, &head)) use_head(perf, &head);
}

/* "\t            1139 ...": an address in 16 columns. */
static bool is_chain_line(struct csn_str line) {
    enum { COLUMNS = 16 };
    size_t at = 1, end = 1 + COLUMNS;
    if (line.len < end || line.ptr[0] != '\t') return false;
    while (at < end && line.ptr[at] == ' ') at++;
    if (at == end) return false;
    while (at < end && scan_digit_value(line.ptr[at]) < 16) at++;
    return at == end && (line.len == end || line.ptr[end] == ' ');
}

/* Many lines of a log look like a head that lacks its time or its number: one is believed when a chain follows. */
static void believe_head(struct perf_state *perf, struct csn_str chain_line) {
    if (!perf->perhaps.known || perf->modules->line != perf->perhaps_at + 1 || !is_chain_line(chain_line)) return;
    use_head(perf, &perf->perhaps);
    perf->after_head = true;
}

static void note_possible_head(struct perf_state *perf, struct csn_str line) {
    perf->perhaps.known = line.ptr[0] != '\t' && perf_head_read_part(line, perf->modules->ends_in_blank, &perf->perhaps);
    perf->perhaps_at = perf->modules->line;
}

/* ---- branches ---- */

/* Whose mappings hold. Where the text does not tell the process, it is the only one that has any; else the thread may be the
 * first of its process. */
static uint64_t sample_pid(const struct perf_state *perf) {
    if (perf->sample.has_pid) return perf->sample.pid;
    return !perf->map_pid && perf->sample.is_certain ? perf->sample.thread : perf->map_pid;
}

/* That of the file which the process had mapped, or of the kernel that ran. */
static void take_build_id(const struct perf_state *perf, struct line_frame *out) {
    struct csn_process_module found;
    if (!perf->has_build_ids) return;
    if (out->module.len ? perf_is_kernel(out->module) || perf_is_vmlinux(out->module) : out->value >> 63) {
        if (!perf_is_guest_kernel(out->module)) out->id = perf->kernel_id;
        return;
    }
    if (csn_process_maps_find_named(perf->modules->maps, out->pid, out->module, &found) != CSN_OK) return;
    if (!is_same(found.path, out->module)) return;
    out->id.size = found.build_id_size;
    if (found.build_id_size) memcpy(out->id.bytes, found.build_id, found.build_id_size);
}

static void place_frame(const struct perf_state *perf, struct line_frame *out, bool in_chain) {
    out->pid = sample_pid(perf);
    take_build_id(perf, out);
    perf_frame_place(out, in_chain);
}

/* Where an address is printed with its image, it is one of the process if a mapping has it, or else perhaps an
 * offset in the file. */
static enum frame_site address_site(const struct perf_state *perf, const struct line_frame *frame) {
    struct csn_process_module found;
    uint64_t addr;
    if (!frame->module.len || frame->module.ptr[0] != '/') return SITE_PC;
    if (csn_process_maps_find(perf->modules->maps, sample_pid(perf), frame->value, &found) == CSN_OK) return SITE_PC;
    return csn_process_maps_file_address(perf->modules->maps, frame->module, frame->value, &addr) == CSN_OK
               ? SITE_FILE_OFFSET
               : SITE_PC;
}

static void take_side(const struct perf_state *perf, const struct perf_branch_side *side, struct line_frame *out) {
    *out = (struct line_frame){ .value = side->value, .symbol = side->symbol, .module = side->module, .by_maps = true,
                                .pid = sample_pid(perf), .fill_at = side->at, .fill_end = side->place_end, .end = side->end };
    const bool has_offset = out->module.len && out->module.ptr[0] == '/';
    const uint64_t value = out->value;
    if (has_offset) perf_frame_read_offset(out); /* of dsoff */
    take_build_id(perf, out);
    if (side->symbol.len || side->is_unknown) {
        out->value = value;
        out->site = SITE_SYMBOL;
        out->flags = CSN_STACK_EXACT;
        if (side->is_unknown) out->symbol = CSN_STR("[unknown]");
        if (perf_is_kernel(out->module)) out->module = perf_kernel_module(out->module);
        return;
    }
    out->pc = value;
    if (has_offset && out->value != value) out->site = SITE_FILE_OFFSET;
    else place_frame(perf, out, false);
    if (out->site == SITE_PC) out->site = address_site(perf, out);
    out->flags = CSN_STACK_EXACT;
}

static bool read_next_branch(void *state, struct csn_str line, size_t from, struct line_frame *out) {
    struct perf_branch_side side;
    if (!perf_branches_next(line, from, &side)) return false;
    take_side(state, &side, out);
    return true;
}

/* The branches of a sample, newest first: a stack of its own, which begins with the sample's address if that stands before them. */
static enum line_kind read_branches(struct perf_state *perf, struct csn_str line, size_t first, struct line_frame *out) {
    struct line_scan head = { { line.ptr, first }, 0 };
    size_t at;
    use_head_before(perf, head.line);
    while (head.line.len && strchr(" \t", head.line.ptr[head.line.len - 1])) head.line.len--;
    bool has_address = perf_frame_read_single(&head, out);
    head.at = 0;
    if (!has_address) has_address = perf_frame_read_unheaded(head.line, perf->has_maps, out, &at);
    if (has_address) {
        place_frame(perf, out, false);
        out->by_maps = true;
        out->end = first;
    } else if (!read_next_branch(perf, line, first, out)) {
        return KIND_NONE;
    }
    if (perf->sample.known && !perf->sample_used) out->sample = &perf->sample;
    perf->sample_used = true;
    perf->after_head = perf->after_frame = false;
    return KIND_FIRST;
}

/* "\t000055d000001139\tinsn: 8d 4f 0a": an instruction of a block between two branches. */
static bool read_instruction(const struct perf_state *perf, struct csn_str line, struct line_frame *out) {
    enum { DIGITS = 16 };
    struct line_scan s = { line, 1 };
    if (!scan_number(&s, 16, &out->value) || s.at != DIGITS + 1 || !scan_char(&s, '\t')) return false;
    out->pc = out->value;
    out->fill_at = out->fill_end = line.len;
    place_frame(perf, out, false);
    out->by_maps = true;
    return true;
}

/* ---- lines ---- */

/* "  main.c:12" */
static bool is_source_line(struct csn_str line) {
    return line.len > 2 && line.ptr[0] == ' ' && line.ptr[1] == ' ' && line.ptr[2] != ' ';
}

/* Below a sample alone, the next one may stand, of a command that leaves two blanks: it has an image, or no line of a file. */
static bool is_source_of_sample(struct csn_str line) {
    struct line_scan s = scan_on(line);
    struct csn_str word;
    size_t colon;
    uint64_t number;
    if (!is_source_line(line) || line.ptr[line.len - 1] == ')' || !scan_blanks(&s) || !scan_word(&s, &word)) return false;
    s = scan_on(word);
    if (!scan_find_last(&s, ':', &colon)) return false;
    s.at = colon + 1;
    return scan_number(&s, 10, &number) && scan_at_end(&s);
}

/* Whether its number may be a pc or an offset in the file. -F +dsoff prints both. */
static bool has_one_number(const struct line_frame *frame) { return perf_frame_is_in_file(frame) && frame->pc == frame->value; }

/* With -F +srcline, "(inlined)" stands behind the source, on the line below the frame, which has no image then. */
static bool needs_search(struct perf_state *perf, struct line_frame *frame) {
    if (perf->modules->is_searched) return false;
    perf->is_call_below = false;
    perf->searches_numbers = frame->module.len != 0;
    if (!frame->module.len) return true;
    if (perf->numbers.of_text != NUMBER_UNKNOWN || !has_one_number(frame)) return false;
    frame->pid = sample_pid(perf);
    return perf_numbers_need_search(&perf->numbers, perf->modules->maps, frame);
}

/* What a line of the chain below a frame tells of its numbers. */
static enum search_step search_numbers(struct perf_state *perf, struct csn_str line) {
    struct line_frame frame = { .pid = sample_pid(perf) };
    struct line_scan s = scan_on(line);
    if (!scan_blanks(&s)) return STEP_ENDS_BEFORE;
    if (!perf_frame_read(&s, &frame)) return is_source_line(line) ? STEP_ON : STEP_ENDS_BEFORE;
    if (has_one_number(&frame)) perf_numbers_look(&perf->numbers, perf->modules->maps, &frame);
    return perf->numbers.of_text == NUMBER_UNKNOWN ? STEP_ON : STEP_ENDS;
}

static enum search_step search(void *state, struct csn_str line) {
    static const char mark[] = " (inlined)";
    enum { MARK = sizeof(mark) - 1 };
    struct perf_state *perf = state;
    if (perf->searches_numbers) return search_numbers(perf, line);
    perf->is_call_below = is_source_line(line) && line.len > MARK && memcmp(line.ptr + line.len - MARK, mark, MARK) == 0;
    return perf->is_call_below ? STEP_ENDS : STEP_ENDS_BEFORE;
}

static void place_number(struct perf_state *perf, struct line_frame *frame) {
    if (frame->pc == frame->value) perf_numbers_place(&perf->numbers, perf->modules->maps, frame);
    else perf->numbers.of_text = NUMBER_PC; /* and its offset is there, too */
}

/* A frame of a chain, which has been read. */
static enum line_kind chain_frame(struct perf_state *perf, bool open, struct line_frame *out) {
    perf->after_frame = true;
    /* The frame that it was inlined into brings it along. */
    if (perf_is_inlined(out->module) || (!out->module.len && perf->is_call_below)) {
        perf->inlined_at = out->pc;
        return KIND_INSIDE;
    }
    out->own_only = perf->inlined_at == out->pc && out->pc;
    if (!out->own_only) perf->inlined_at = 0;
    bool first = perf->after_head || !open;
    bool from_kernel = !first && perf->in_kernel;
    perf->after_head = false;
    perf->in_kernel = out->value >> 63 || perf_is_kernel(out->module); /* in the lower half: 32 bits, s390 */
    /* The kernel was entered there, by an interrupt or a system call, and nobody called it. */
    bool entered = from_kernel && !perf->in_kernel;
    place_frame(perf, out, true);
    out->by_maps = perf->is_certain || perf->has_maps;
    if (perf_frame_is_in_file(out)) place_number(perf, out);
    if (first || entered) out->flags = CSN_STACK_EXACT;
    if (first && perf->sample.known && !perf->sample_used) out->sample = &perf->sample;
    perf->sample_used |= first;
    return first ? KIND_FIRST : KIND_FRAME;
}

static const char RECORD[] = "PERF_RECORD_";

bool perf_has_record(struct csn_str line) {
    size_t at;
    struct line_scan s = scan_on(line);
    return scan_find(&s, RECORD, &at);
}

static bool read_record(struct perf_state *perf, struct stack_modules *modules, struct line_scan *s) {
    size_t at;
    bool is_first = true;
    for (; scan_find(s, RECORD, &at); is_first = false) {
        s->at = at + sizeof(RECORD) - 1;
        if (scan_text(s, "MMAP2 ") || scan_text(s, "MMAP ")) {
            read_map(perf, modules, s);
            perf->has_maps = true;
            return true;
        }
        if (is_first && perf_threads_read_record(&perf->threads, scan_rest(s))) return true;
    }
    s->at = 0;
    return false;
}

static enum line_kind read_alone(struct perf_state *perf, struct csn_str line, struct line_frame *out) {
    size_t at;
    if (!perf_frame_read_unheaded(line, perf->has_maps, out, &at)) return KIND_NONE;
    struct profile_sample head;
    perf->sample = (struct profile_sample){ .known = false };
    if (perf_head_read_part((struct csn_str){ line.ptr, at }, false, &head)) {
        use_head(perf, &head);
        out->sample = &perf->sample;
    }
    place_frame(perf, out, false);
    perf->alone = perf->sample_used = out->by_maps = true;
    return KIND_FIRST;
}

static bool heads_chain(struct csn_str line) {
    while (line.len && line.ptr[line.len - 1] == ' ') line.len--;
    return line.len && line.ptr[line.len - 1] == ':';
}

static enum line_kind read_perf_line(void *state, struct stack_modules *modules, struct csn_str line, bool open,
                                     struct line_frame *out) {
    struct perf_state *perf = state;
    struct line_scan s = scan_on(line);
    perf->modules = modules;
    if (read_record(perf, modules, &s)) return KIND_CONTEXT;
    size_t branches;
    if (memchr(line.ptr, '/', line.len) && perf_branches_begin(line, &branches)) return read_branches(perf, line, branches, out);
    const bool is_perf = perf->is_certain || perf->has_maps;
    const bool in_block = open && perf->in_block;
    perf->in_block = scan_peek(&s) == '\t' && is_perf && read_instruction(perf, line, out);
    if (perf->in_block) return in_block ? KIND_FRAME : KIND_FIRST;
    if (in_block && scan_peek(&s) == '\t' && line.ptr[line.len - 1] == ':') { /* a function */
        perf->in_block = true;
        return KIND_INSIDE;
    }
    /* A chain stands below its sample, or, where perf was asked for nothing else, alone. */
    if (scan_peek(&s) == '\t' || (scan_peek(&s) == ' ' && !perf->alone && (open || perf->after_head))) {
        scan_blanks(&s);
        struct line_scan bare = s;
        if (perf_frame_read(&s, out) || perf_frame_read_without_image(&bare, out)) {
            believe_head(perf, line);
            if (needs_search(perf, out)) return KIND_AHEAD;
            return chain_frame(perf, open, out);
        }
        s.at = 0;
    }
    struct profile_sample sample;
    bool after_frame = perf->after_frame;
    perf->after_head = perf->after_frame = false;
    if (!perf_head_read(&s, &sample)) {
        if ((open || perf->inlined_at) && after_frame && is_source_line(line)) return KIND_INSIDE;
        if (perf->alone && after_frame && is_source_of_sample(line)) return KIND_INSIDE;
        const enum line_kind kind = read_alone(perf, line, out);
        perf->after_frame = kind != KIND_NONE;
        if (kind == KIND_NONE) note_possible_head(perf, line);
        return kind;
    }
    use_head(perf, &sample);
    perf->alone = false;
    if (heads_chain(line)) {
        perf->after_head = true;
        return KIND_CONTEXT;
    }
    perf->perhaps = perf->sample;
    perf->perhaps_at = modules->line;
    s.line = perf_without_rest(line);
    size_t at;
    if (!perf_frame_read_single(&s, out) && !perf_frame_read_unheaded(line, perf->has_maps, out, &at)) return KIND_NONE;
    perf->sample_used = perf->after_frame = perf->alone = true;
    out->sample = &perf->sample;
    place_frame(perf, out, false);
    out->by_maps = true;
    return KIND_FIRST;
}

bool perf_may_head_chain(struct csn_str line) {
    struct profile_sample head;
    struct line_scan s = scan_on(line);
    return line.len && line.ptr[0] != ' ' && line.ptr[0] != '\t' && !heads_chain(line) && perf_head_read(&s, &head) && head.event[0];
}

bool perf_begin_chain(void *state, struct csn_str line, struct csn_str chain_line) {
    struct perf_state *perf = state;
    struct profile_sample head;
    struct line_scan s = scan_on(line);
    if (!is_chain_line(chain_line) || !perf_head_read(&s, &head)) return false;
    use_head(perf, &head);
    perf->after_head = true;
    perf->alone = perf->after_frame = perf->in_block = false;
    return true;
}

/* "\t000055d000001139\tinsn: 8d 4f 0a", "\tmain:", with -F +srcline "\tmain:\tapp.c:12" */
bool perf_is_instruction(struct csn_str line) {
    enum { DIGITS = 16 };
    struct line_scan s = { line, 1 };
    uint64_t address;
    size_t at;
    if (line.len < 2 || line.ptr[0] != '\t' || line.ptr[1] == ' ') return false;
    if (scan_number(&s, 16, &address) && s.at == DIGITS + 1) return scan_peek(&s) == '\t';
    s.at = 1;
    return line.ptr[line.len - 1] == ':' || scan_find(&s, ":\t", &at);
}

bool perf_has_branches_alone(struct csn_str line) {
    size_t first;
    struct line_scan s = scan_on(line);
    scan_blanks(&s);
    return memchr(line.ptr, '/', line.len) && perf_branches_begin(line, &first) && first <= s.at;
}

uint64_t perf_meaning(const void *state) {
    const struct perf_state *perf = state;
    return perf->numbers.of_text;
}

const struct profile_sample *perf_headed_sample(const void *state) {
    const struct perf_state *perf = state;
    return perf->after_head ? &perf->sample : NULL;
}

void perf_end_headed_sample(void *state) {
    struct perf_state *perf = state;
    perf->sample_used = true;
    perf->after_head = false;
}

bool perf_is_certain(const void *state) {
    const struct perf_state *perf = state;
    return perf->is_certain || perf->has_maps;
}

static bool kernel_address(void *state, struct stack_session *session, const struct line_frame *frame, uint32_t module,
                           uint64_t *out) {
    struct perf_state *perf = state;
    return perf_kernels_address(&perf->kernels, session, frame, module, out);
}

/* A symbol told what the number of its frame counts from. */
static void learn_site(void *state, enum frame_site site) {
    struct perf_state *perf = state;
    perf->numbers.of_text = site == SITE_PC ? NUMBER_PC : NUMBER_OFFSET;
}

const struct stack_dialect perf_dialect = {
    .name = "perf", .ends_in_blank = true,
    .marks = { MARK_ADDRESS, MARK_TIME, MARK_COLON, MARK_START_HEX, MARK_IMAGE, MARK_AT | MARK_HEX, MARK_BRANCH, MARK_PERF },
    .state_size = sizeof(struct perf_state), .read = read_perf_line, .search = search,
    .more = read_next_branch, .address = kernel_address, .learn_site = learn_site, .fill = perf_fill
};
