/* The order is that of Mozilla's dump_syms: .debug_frame, then .eh_frame, records as they stand there. Records are cut into runs;
 * workers turn each into a text of its own. */
#include "convert/outputs/stack_records.h"

#include <stdio.h>

#include "base/core/budget.h"
#include "base/core/fail.h"
#include "formats/breakpad/breakpad_stack.h"
#include "object/object.h"
#include "unwind/unwind_dwarf.h"

enum { RUN_RECORDS = 1024 };
enum { SECTIONS_MAX = 4 };
/* Real tables become up to 6 times as many bytes of text; linkage tables cost 16 steps for each function they link to. */
enum { STACK_BUDGET_BASE = 1 << 26, STACK_BUDGET_A_BYTE = 64 };

/* Records of one section that one worker reads. */
struct stack_run {
    const struct csni_frame_section *section;
    uint64_t off, end;
    uint64_t damaged;
    uint64_t first_damaged;
};

struct stack_maker {
    const struct csni_model *model;
    struct csni_breakpad_registers registers;
    struct csni_frame_section sections[SECTIONS_MAX];
    size_t section_count;
    CSNI_VEC(struct stack_run) runs;
    struct csni_buffer *texts;     /* one for each run */
    struct csni_shared_budget budget;
    struct csn_convert_report *report;
    uint64_t base;
};

/* ---- sections ---- */

static uint64_t base_of_section(const struct csni_object *object, const char *name) {
    uint32_t section = csni_object_find_section(object, name);
    return section == CSNI_NO_SECTION ? 0 : object->sections[section].addr;
}

/* CSN_NONE: it is not there. A section that cannot be read is damage. */
static csn_status add_frame_section(struct stack_maker *m, struct csni_object *object, uint32_t index, bool is_debug_frame) {
    struct csn_error damage = CSN_ERROR_INIT;
    if (index == CSNI_NO_SECTION || (object->sections[index].flags & CSNI_SECTION_NOBITS)) return CSN_NONE;
    struct csni_frame_section s = { .addr = object->sections[index].addr, .address_size = object->address_size,
                                    .big_endian = object->big_endian, .is_debug_frame = is_debug_frame,
                                    .text_base = base_of_section(object, ".text"), .data_base = base_of_section(object, ".got") };
    csn_status status = csni_object_read_section(object, index, &s.bytes, &damage);
    if (status == CSN_E_MEMORY) return status;
    if (status < 0) csni_report_add(m->report, CSN_EVENT_DAMAGED_UNWIND, 1, csni_str(csn_error_text(&damage)));
    if (status < 0 || !s.bytes.size) return CSN_NONE;
    csni_shared_budget_raise(&m->budget, (uint64_t)STACK_BUDGET_A_BYTE * s.bytes.size);
    m->sections[m->section_count++] = s;
    return CSN_OK;
}

static uint32_t find_eh_frame(const struct csni_object *object) {
    uint32_t section = csni_object_find_section(object, ".eh_frame");
    return section != CSNI_NO_SECTION ? section : csni_object_find_section(object, "__eh_frame");
}

/* The debug file has .debug_frame if one has, and the image .eh_frame: that of a debug file has no bytes. */
static csn_status find_frame_sections(struct stack_maker *m) {
    struct csni_object *image = m->model->object, *debug = m->model->debug_object;
    csn_status status = CSN_NONE;
    if (debug) status = add_frame_section(m, debug, csni_object_find_debug_section(debug, "frame", false), true);
    if (status == CSN_NONE) status = add_frame_section(m, image, csni_object_find_debug_section(image, "frame", false), true);
    if (status < 0) return status;
    status = add_frame_section(m, image, find_eh_frame(image), false);
    if (status == CSN_NONE && debug) status = add_frame_section(m, debug, find_eh_frame(debug), false);
    return status < 0 ? status : CSN_OK;
}

/* ---- runs ---- */

static csn_status list_runs_of(struct stack_maker *m, const struct csni_frame_section *section, struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    uint64_t records = 0;
    for (uint64_t off = 0; off < section->bytes.size; records++) {
        struct csni_frame_record record;
        struct stack_run run = { .section = section, .off = off };
        uint64_t next;
        if (csni_frame_record_read(section, off, &record, &next, &damage) < 0) {
            csni_report_add(m->report, CSN_EVENT_DAMAGED_UNWIND, 1, csni_str(csn_error_text(&damage)));
            return CSN_OK;
        }
        if (records % RUN_RECORDS == 0 && !csni_vec_push(&m->runs, run)) return csni_fail_memory(err, sizeof run);
        m->runs.items[m->runs.count - 1].end = off = next;
    }
    return CSN_OK;
}

static csn_status charge_stack_work(struct stack_maker *m, uint64_t work, struct csn_error *err) {
    if (csni_shared_budget_charge(&m->budget, work)) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0, "call frame information takes more than %llu steps, the limit for its size",
                     (unsigned long long)csni_shared_budget_limit(&m->budget));
}

static csn_status make_run(struct stack_maker *m, struct stack_run *run, struct csni_unwind_dwarf *unwind,
                           struct csni_unwind_table *table, struct csni_buffer *text, struct csn_error *err) {
    for (uint64_t off = run->off; off < run->end;) {
        enum csni_unwind_result result;
        uint64_t at = off, before = text->size;
        CSNI_TRY(csni_unwind_dwarf_read(unwind, off, &off, table, &result, err));
        if (result == CSNI_UNWIND_DAMAGED && !run->damaged++) run->first_damaged = at;
        if (result == CSNI_UNWIND_SKIPPED || table->start < m->base) continue;
        csni_breakpad_put_stack(text, &m->registers, table, m->base, false);
        CSNI_TRY(charge_stack_work(m, csni_unwind_dwarf_take_work(unwind) + text->size - before, err));
    }
    return text->failed ? csni_fail_memory(err, text->capacity) : CSN_OK;
}

static csn_status make_run_of_pool(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct stack_maker *m = context;
    struct csni_unwind_dwarf *unwind;
    struct csni_unwind_table table;
    m->texts[item].alloc = m->model->alloc;
    CSNI_TRY(csni_unwind_dwarf_create(m->runs.items[item].section, m->model->alloc, &unwind, err));
    csni_unwind_table_init(&table, m->model->alloc);
    csn_status status = make_run(m, &m->runs.items[item], unwind, &table, &m->texts[item], err);
    csni_unwind_table_deinit(&table);
    csni_unwind_dwarf_destroy(unwind);
    return status;
}

static void report_damaged_records(struct stack_maker *m) {
    for (size_t i = 0; i < m->runs.count; i++) {
        const struct stack_run *run = &m->runs.items[i];
        char text[80];
        if (!run->damaged) continue;
        int len = snprintf(text, sizeof text, "%s+0x%llx", run->section->is_debug_frame ? ".debug_frame" : ".eh_frame",
                           (unsigned long long)run->first_damaged);
        csni_report_add(m->report, CSN_EVENT_DAMAGED_UNWIND, run->damaged, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
    }
}

static csn_status make_texts(struct stack_maker *m, struct csni_pool *pool, struct csni_stack_records *out, struct csn_error *err) {
    for (size_t i = 0; i < m->section_count; i++) CSNI_TRY(list_runs_of(m, &m->sections[i], err));
    m->texts = csni_alloc_zeroed(m->model->alloc, m->runs.count, sizeof *m->texts);
    if (m->runs.count && !m->texts) return csni_fail_memory(err, m->runs.count * sizeof *m->texts);
    *out = (struct csni_stack_records){ m->texts, m->runs.count };
    CSNI_TRY(csni_pool_run(pool, m->runs.count, make_run_of_pool, m, err));
    report_damaged_records(m);
    return CSN_OK;
}

/* ---- all ---- */

csn_status csni_stack_records_make(const struct csni_model *model, struct csni_pool *pool, struct csni_stack_records *out,
                                   struct csn_convert_report *report, struct csn_error *err) {
    struct stack_maker m = { .model = model, .report = report };
    *out = (struct csni_stack_records){ NULL, 0 };
    if (!model->object || model->object->kind == CSNI_OBJECT_RELOCATABLE) return CSN_OK;
    if (!csni_breakpad_registers_of(csni_str(model->object->arch), &m.registers)) return CSN_OK;
    if (model->image.has_base_address) m.base = model->image.base_address;
    m.runs.alloc = model->alloc;
    csni_shared_budget_init(&m.budget, STACK_BUDGET_BASE);
    csn_status status = find_frame_sections(&m);
    status = status < 0 ? csni_fail_memory(err, 0) : make_texts(&m, pool, out, err);
    csni_vec_deinit(&m.runs);
    return status;
}

void csni_stack_records_deinit(struct csni_stack_records *records, const struct csn_allocator *alloc) {
    for (size_t i = 0; i < records->count; i++) csni_buffer_deinit(&records->texts[i]);
    csni_free(alloc, records->texts, records->count * sizeof *records->texts);
}
