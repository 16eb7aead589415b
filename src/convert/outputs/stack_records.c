/* The order is that of Mozilla's dump_syms: .debug_frame, then .eh_frame, records as they stand there; of PE images,
 * .pdata alone; of Mach-O images __unwind_info in place of __eh_frame.
 * Records are cut into runs; workers turn each into a text of its own. They need nothing of the model: while it is
 * made, mostly by one thread after all units have been converted, another one makes the first texts. */
#include "convert/outputs/stack_records.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/core/budget.h"
#include "base/core/fail.h"
#include "formats/breakpad/breakpad_stack.h"
#include "object/pe/pe_exceptions.h"
#include "unwind/unwind_compact.h"
#include "unwind/unwind_dwarf.h"
#include "unwind/unwind_pe.h"

enum { RUN_RECORDS = 256 };
enum { SOURCES_MAX = 2 };
/* Real tables become up to 6 times as many bytes of text; linkage tables cost 200 steps for each function they link to. */
enum { STACK_BUDGET_BASE = 1 << 26, STACK_BUDGET_A_BYTE = 64 };

/* A table of records. */
struct stack_source {
    const char *name;
    struct csni_frame_section frames;
    struct csni_unwind_pe pe;      /* instead; its bytes_at is set */
    struct csni_unwind_compact compact; /* instead; its code_at is set. `frames` is what it leads into */
};

/* Records of one table that one worker reads. */
struct stack_run {
    const struct stack_source *source;
    uint64_t off, end;             /* of __unwind_info: page << 32 | word */
    uint64_t damaged;
    uint64_t first_damaged;
};

struct csni_stack_records {
    struct csni_stack_image image;
    struct csni_breakpad_registers registers;
    struct stack_source sources[SOURCES_MAX];
    size_t source_count;
    CSNI_VEC(struct stack_run) runs;
    struct csni_shared_budget budget;
    struct csn_convert_report *report;
    struct csni_pool *pool;        /* while the background task is not joined */
    struct csni_buffer *early;     /* texts of the first runs; NULL: none were made early */
    size_t early_count;            /* of those that are made */
    atomic_bool is_wanted;         /* all are, now */
};

/* ---- sections ---- */

static uint64_t base_of_section(const struct csni_object *object, const char *name) {
    uint32_t section = csni_object_find_section(object, name);
    return section == CSNI_NO_SECTION ? 0 : object->sections[section].addr;
}

/* CSN_NONE: it is not there. A section that cannot be read is damage. */
static csn_status add_frame_section(struct csni_stack_records *m, struct csni_object *object, uint32_t index, bool is_debug_frame) {
    struct csn_error damage = CSN_ERROR_INIT;
    if (index == CSNI_NO_SECTION || (object->sections[index].flags & CSNI_SECTION_NOBITS)) return CSN_NONE;
    struct csni_frame_section s = { .addr = object->sections[index].addr, .address_size = object->address_size,
                                    .big_endian = object->big_endian, .is_debug_frame = is_debug_frame,
                                    .swaps_esp_ebp = !is_debug_frame && object->container == CSNI_CONTAINER_MACHO &&
                                                     csni_str_is(csni_str(object->arch), "i386"),
                                    .text_base = base_of_section(object, ".text"), .data_base = base_of_section(object, ".got") };
    csn_status status = csni_object_read_section(object, index, &s.bytes, &damage);
    if (status == CSN_E_MEMORY) return status;
    if (status < 0) csni_report_add(m->report, CSN_EVENT_DAMAGED_UNWIND, 1, csni_str(csn_error_text(&damage)));
    if (status < 0 || !s.bytes.size) return CSN_NONE;
    csni_shared_budget_raise(&m->budget, (uint64_t)STACK_BUDGET_A_BYTE * s.bytes.size);
    m->sources[m->source_count++] = (struct stack_source){ .name = is_debug_frame ? ".debug_frame" : ".eh_frame", .frames = s };
    return CSN_OK;
}

static uint32_t find_eh_frame(const struct csni_object *object) {
    uint32_t section = csni_object_find_section(object, ".eh_frame");
    return section != CSNI_NO_SECTION ? section : csni_object_find_section(object, "__eh_frame");
}

static bool compact_code_at(const void *context, uint64_t addr, struct csni_span *out) {
    const struct csni_object *object = context;
    uint32_t text = csni_object_find_section(object, "__text");
    if (text == CSNI_NO_SECTION || addr < object->sections[text].addr) return false;
    const struct csni_section *s = &object->sections[text];
    uint64_t off = addr - s->addr;
    return off < s->file_size && csni_span_sub(object->file, s->file_off + off, s->file_size - off, out);
}

static enum csni_compact_machine compact_machine_of(const struct csni_object *object) {
    return object->address_size == 4                          ? CSNI_COMPACT_X86
           : memcmp(object->arch, "arm64", strlen("arm64")) == 0 ? CSNI_COMPACT_ARM64
                                                              : CSNI_COMPACT_X86_64;
}

/* Turns the last source, __eh_frame or an empty one, into what __unwind_info has. */
static csn_status add_compact_source(struct csni_stack_records *m, struct csni_object *image) {
    struct csni_unwind_compact compact = { .image_base = image->image_base, .machine = compact_machine_of(image),
                                           .code_at = compact_code_at, .context = image };
    uint32_t section = csni_object_find_section(image, "__unwind_info");
    if (image->container != CSNI_CONTAINER_MACHO || section == CSNI_NO_SECTION) return CSN_NONE;
    csn_status status = csni_object_read_section(image, section, &compact.bytes, NULL);
    if (status == CSN_E_MEMORY) return status;
    if (status < 0 || !csni_unwind_compact_pages(&compact)) return CSN_NONE;
    csni_shared_budget_raise(&m->budget, (uint64_t)STACK_BUDGET_A_BYTE * compact.bytes.size);
    status = add_frame_section(m, image, find_eh_frame(image), false);
    if (status < 0) return status;
    if (status == CSN_NONE)
        m->sources[m->source_count++] = (struct stack_source){ .frames = { .address_size = image->address_size } };
    m->sources[m->source_count - 1].compact = compact;
    m->sources[m->source_count - 1].name = "__unwind_info";
    return CSN_OK;
}

/* The other file is the image's debug file, which has .debug_frame if one has, or the image of a debug-only file, which has
 * .eh_frame: that of the other one has no bytes. */
static csn_status find_frame_sections(struct csni_stack_records *m) {
    struct csni_object *object = m->image.object, *other = m->image.other;
    csn_status status = CSN_NONE;
    if (other) status = add_frame_section(m, other, csni_object_find_debug_section(other, "frame", false), true);
    if (status == CSN_NONE) status = add_frame_section(m, object, csni_object_find_debug_section(object, "frame", false), true);
    if (status < 0) return status;
    status = add_compact_source(m, object);
    if (status == CSN_NONE) status = add_frame_section(m, object, find_eh_frame(object), false);
    if (status == CSN_NONE && other) status = add_frame_section(m, other, find_eh_frame(other), false);
    return status < 0 ? status : CSN_OK;
}

static bool pe_bytes_at(const void *context, uint64_t rva, struct csni_span *out) { return csni_pe_bytes_from(context, rva, out); }

/* False: the image has none that is read. That of x86 is in its PDB. */
static bool add_exception_data(struct csni_stack_records *m) {
    const struct csni_object *image = m->image.object;
    struct csni_unwind_pe pe = { .image_base = image->image_base, .bytes_at = pe_bytes_at, .context = image,
                                 .is_arm64 = csni_str_is(csni_str(image->arch), "arm64") };
    bool is_read = pe.is_arm64 || csni_str_is(csni_str(image->arch), "x86_64");
    if (image->container != CSNI_CONTAINER_PE || !is_read || !csni_pe_exception_entries(image, &pe.entries)) return false;
    csni_shared_budget_raise(&m->budget, (uint64_t)STACK_BUDGET_A_BYTE * image->file.size);
    m->sources[m->source_count++] = (struct stack_source){ .name = ".pdata", .pe = pe };
    return true;
}

/* ---- runs ---- */

static csn_status add_stack_run(struct csni_stack_records *m, const struct stack_source *source, uint64_t off,
                                struct csn_error *err) {
    struct stack_run run = { .source = source, .off = off, .end = off };
    return csni_vec_push(&m->runs, run) ? CSN_OK : csni_fail_memory(err, sizeof run);
}

static csn_status list_exception_runs(struct csni_stack_records *m, const struct stack_source *source, struct csn_error *err) {
    uint64_t run_size = (uint64_t)RUN_RECORDS * csni_unwind_pe_entry_size(&source->pe), size = source->pe.entries.size;
    for (uint64_t off = 0; off < size; off += run_size) {
        CSNI_TRY(add_stack_run(m, source, off, err));
        m->runs.items[m->runs.count - 1].end = run_size < size - off ? off + run_size : size;
    }
    return CSN_OK;
}

/* One for each page. */
static csn_status list_compact_runs(struct csni_stack_records *m, const struct stack_source *source, struct csn_error *err) {
    uint64_t pages = csni_unwind_compact_pages(&source->compact);
    for (uint64_t page = 0; page < pages; page++) {
        CSNI_TRY(add_stack_run(m, source, page << 32, err));
        m->runs.items[m->runs.count - 1].end = (page + 1) << 32;
    }
    return CSN_OK;
}

static csn_status list_runs_of(struct csni_stack_records *m, const struct stack_source *source, struct csn_error *err) {
    const struct csni_frame_section *section = &source->frames;
    if (source->pe.bytes_at) return list_exception_runs(m, source, err);
    if (source->compact.code_at) return list_compact_runs(m, source, err);

    struct csn_error damage = CSN_ERROR_INIT;
    uint64_t records = 0;
    for (uint64_t off = 0; off < section->bytes.size; records++) {
        struct csni_frame_record record;
        uint64_t next;
        if (csni_frame_record_read(section, off, &record, &next, &damage) < 0) {
            csni_report_add(m->report, CSN_EVENT_DAMAGED_UNWIND, 1, csni_str(csn_error_text(&damage)));
            return CSN_OK;
        }
        if (records % RUN_RECORDS == 0) CSNI_TRY(add_stack_run(m, source, off, err));
        m->runs.items[m->runs.count - 1].end = off = next;
    }
    return CSN_OK;
}

static csn_status charge_stack_work(struct csni_stack_records *m, uint64_t work, struct csn_error *err) {
    if (csni_shared_budget_charge(&m->budget, work)) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0, "call frame information takes more than %llu steps, the limit for its size",
                     (unsigned long long)csni_shared_budget_limit(&m->budget));
}

/* What one worker reads records with. */
struct record_reader {
    struct csni_unwind_dwarf *dwarf;
    struct csni_unwind_table table;
};

static csn_status read_compact_word(struct record_reader *r, const struct stack_source *source, uint64_t *off,
                                    enum csni_unwind_result *result, struct csn_error *err) {
    bool is_last;
    uint32_t page = (uint32_t)(*off >> 32);
    struct csni_unwind_dwarf *frames = source->frames.bytes.size ? r->dwarf : NULL;
    csn_status status = csni_unwind_compact_read(&source->compact, page, (uint32_t)*off, frames, &r->table, result, &is_last, err);
    *off = is_last ? ((uint64_t)page + 1) << 32 : *off + 1;
    return status;
}

static csn_status read_record(struct record_reader *r, const struct stack_source *source, uint64_t *off,
                              enum csni_unwind_result *result, struct csn_error *err) {
    if (source->compact.code_at) return read_compact_word(r, source, off, result, err);
    if (!source->pe.bytes_at) return csni_unwind_dwarf_read(r->dwarf, *off, off, &r->table, result, err);
    bool is_done = csni_unwind_pe_read(&source->pe, *off, &r->table, result);
    *off += csni_unwind_pe_entry_size(&source->pe);
    return is_done ? CSN_OK : csni_fail_memory(err, 0);
}

static csn_status make_run(struct csni_stack_records *m, struct stack_run *run, struct record_reader *r, struct csni_buffer *text,
                           struct csn_error *err) {
    const struct stack_source *source = run->source;
    /* As dump_syms writes what it has from Windows' codes. */
    bool subtracts = source->pe.bytes_at && !source->pe.is_arm64;
    run->damaged = 0;
    for (uint64_t off = run->off; off < run->end;) {
        enum csni_unwind_result result;
        uint64_t at = off, before = text->size;
        CSNI_TRY(read_record(r, source, &off, &result, err));
        if (result == CSNI_UNWIND_DAMAGED && !run->damaged++) run->first_damaged = at;
        if (result == CSNI_UNWIND_SKIPPED || r->table.start < m->image.base) continue;
        csni_breakpad_put_stack(text, &m->registers, &r->table, m->image.base, subtracts);
        CSNI_TRY(charge_stack_work(m, csni_unwind_dwarf_take_work(r->dwarf) + text->size - before, err));
    }
    return text->failed ? csni_fail_memory(err, text->capacity) : CSN_OK;
}

static csn_status make_stack_text(struct csni_stack_records *m, size_t item, struct csni_buffer *text, struct csn_error *err) {
    struct stack_run *run = &m->runs.items[item];
    struct record_reader r;
    CSNI_TRY(csni_unwind_dwarf_create(&run->source->frames, m->image.alloc, &r.dwarf, err));
    csni_unwind_table_init(&r.table, m->image.alloc);
    csn_status status = make_run(m, run, &r, text, err);
    csni_unwind_table_deinit(&r.table);
    csni_unwind_dwarf_destroy(r.dwarf);
    return status;
}

csn_status csni_stack_records_make(void *records, size_t item, struct csni_buffer *text, struct csn_error *err) {
    struct csni_stack_records *m = records;
    if (item >= m->early_count) return make_stack_text(m, item, text, err);
    struct csni_buffer made = m->early[item]; /* the caller's memory goes with the records */
    m->early[item] = *text;
    *text = made;
    return CSN_OK;
}

/* ---- texts that are made early ---- */

enum { EARLY_BYTES = 1 << 20, EARLY_TEXT = 96 << 10 };

/* What goes wrong here goes wrong once more when it is wanted, and is told then. */
static csn_status make_early(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)item;
    (void)err;
    struct csni_stack_records *m = context;
    for (size_t bytes = 0, i = 0; i < m->runs.count && bytes < EARLY_BYTES; i++) {
        struct csni_buffer *text = &m->early[i];
        if (atomic_load_explicit(&m->is_wanted, memory_order_relaxed)) break;
        text->alloc = m->image.alloc;
        if (!csni_buffer_reserve(text, EARLY_TEXT) || make_stack_text(m, i, text, NULL) < 0) break;
        bytes += text->size;
        m->early_count = i + 1;
    }
    return CSN_OK;
}

/* Sections of an ELF image are at hand; how others are read on the way is not meant for several threads. */
static bool reads_sections_alone(const struct csni_stack_records *m) {
    for (size_t i = 0; i < m->source_count; i++)
        if (m->sources[i].pe.bytes_at || m->sources[i].compact.code_at) return false;
    return true;
}

void csni_stack_records_begin(struct csni_stack_records *m, struct csni_pool *pool) {
    if (!m || csni_pool_workers(pool) == 1 || !reads_sections_alone(m)) return;
    m->early = csni_alloc_zeroed(m->image.alloc, m->runs.count, sizeof *m->early);
    if (!m->early) return;
    m->pool = pool;
    csni_pool_start(pool, make_early, m);
}

void csni_stack_records_join(struct csni_stack_records *m) {
    if (!m || !m->pool) return;
    atomic_store_explicit(&m->is_wanted, true, memory_order_relaxed);
    (void)csni_pool_join(m->pool, NULL);
    m->pool = NULL;
}

void csni_stack_records_report(const struct csni_stack_records *m) {
    for (size_t i = 0; i < m->runs.count; i++) {
        const struct stack_run *run = &m->runs.items[i];
        char text[80];
        if (!run->damaged) continue;
        int len = snprintf(text, sizeof text, "%s+0x%llx", run->source->name, (unsigned long long)run->first_damaged);
        csni_report_add(m->report, CSN_EVENT_DAMAGED_UNWIND, run->damaged, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
    }
}

/* ---- all ---- */

static csn_status find_stack_sources(struct csni_stack_records *m, struct csn_error *err) {
    if (!add_exception_data(m) && find_frame_sections(m) < 0) return csni_fail_memory(err, 0);
    for (size_t i = 0; i < m->source_count; i++) CSNI_TRY(list_runs_of(m, &m->sources[i], err));
    return CSN_OK;
}

csn_status csni_stack_records_create(const struct csni_stack_image *image, struct csn_convert_report *report,
                                     struct csni_stack_records **out, struct csn_error *err) {
    struct csni_breakpad_registers registers;
    const struct csni_object *object = image->object;
    *out = NULL;
    if (!object) return CSN_OK;
    /* Only those of ELF are relocated. */
    if (object->kind == CSNI_OBJECT_RELOCATABLE && object->container != CSNI_CONTAINER_ELF) return CSN_OK;
    if (!csni_breakpad_registers_of(csni_str(object->arch), &registers)) return CSN_OK;
    struct csni_stack_records *m = csni_alloc_zeroed(image->alloc, 1, sizeof *m);
    if (!m) return csni_fail_memory(err, sizeof *m);
    m->image = *image;
    m->report = report;
    m->registers = registers;
    m->runs.alloc = image->alloc;
    csni_shared_budget_init(&m->budget, STACK_BUDGET_BASE);
    csn_status status = find_stack_sources(m, err);
    if (status >= 0) *out = m;
    else csni_stack_records_destroy(m);
    return status;
}

void csni_stack_records_destroy(struct csni_stack_records *m) {
    if (!m) return;
    csni_stack_records_join(m);
    for (size_t i = 0; m->early && i < m->runs.count; i++) csni_buffer_deinit(&m->early[i]);
    csni_free(m->image.alloc, m->early, m->runs.count * sizeof *m->early);
    csni_vec_deinit(&m->runs);
    csni_free(m->image.alloc, m, sizeof *m);
}

size_t csni_stack_records_count(const struct csni_stack_records *m) { return m ? m->runs.count : 0; }
