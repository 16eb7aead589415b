/* Writing the name table after the rest of the file, which knows nothing of it. */
#include "formats/gsym/write/gsym_write_names.h"

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym_names.h"

/* The sink of the file, with the table behind what the writer announces. */
struct names_sink {
    const struct csni_sink *sink;
    uint64_t size;       /* of the file without the table */
    uint64_t table_size;
};

static csn_status reserve_both(void *context, uint64_t size, struct csn_error *err) {
    struct names_sink *names = context;
    names->size = size;
    return names->sink->reserve(names->sink->context, csni_align_up(size, CSNI_GSYM_ALIGN) + names->table_size, err);
}

static csn_status write_through(void *context, uint64_t offset, const void *bytes, size_t size, struct csn_error *err) {
    struct names_sink *names = context;
    return names->sink->write(names->sink->context, offset, bytes, size, err);
}

/* ---- the table ---- */

static uint64_t count_names(const struct csni_model *m) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->entry_count; i++) count += 1 + (uint64_t)m->entries[i].child_count;
    return count;
}

/* By its name in the file, which is another one where names change. */
static struct csni_gsym_name_entry entry_of(const struct csni_model *m, const struct csni_entry *e, uint32_t function) {
    return csni_gsym_name_entry(m->strings[m->batches[e->batch].string_numbers[csni_model_function(m, e)->name]], function);
}

static void gather_names(const struct csni_model *m, struct csni_gsym_name_entry *out) {
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_entry *e = &m->entries[i];
        *out++ = entry_of(m, e, i);
        for (uint32_t k = 0; k < e->child_count; k++) *out++ = entry_of(m, &m->children[e->first_child + k], i);
    }
}

static csn_status make_table(const struct csni_model *m, uint32_t count, uint8_t *table, struct csn_error *err) {
    size_t size = (size_t)count * sizeof(struct csni_gsym_name_entry);
    struct csni_gsym_name_entry *entries = csni_alloc(m->alloc, size);
    if (!entries) return csni_fail_memory(err, size);
    gather_names(m, entries);
    csni_gsym_names_put(entries, count, m->image.big_endian, table);
    csni_free(m->alloc, entries, size);
    return CSN_OK;
}

/* ---- all of it ---- */

static csn_status write_table(const struct names_sink *names, const uint8_t *table, struct csn_error *err) {
    static const uint8_t zeros[CSNI_GSYM_ALIGN];
    size_t padding = (size_t)(csni_align_up(names->size, CSNI_GSYM_ALIGN) - names->size);
    if (padding) CSNI_TRY(names->sink->write(names->sink->context, names->size, zeros, padding, err));
    return names->sink->write(names->sink->context, names->size + padding, table, (size_t)names->table_size, err);
}

csn_status csni_gsym_write_with_names(const struct csni_model *m, enum csni_gsym_target target, struct csni_pool *pool,
                                      const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    uint64_t count = count_names(m);
    if (!count) return csni_gsym_write(m, target, pool, sink, report, err); /* for its message */
    if (count > UINT32_MAX / CSNI_GSYM_NAMES_ENTRY)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "a name table holds %u names", UINT32_MAX / CSNI_GSYM_NAMES_ENTRY);
    struct names_sink names = { .sink = sink, .table_size = count * CSNI_GSYM_NAMES_ENTRY + CSNI_GSYM_NAMES_TRAILER };
    const struct csni_sink own = {
        .reserve = reserve_both, .write = write_through, .context = &names, .takes_any_order = sink->takes_any_order
    };
    uint8_t *table = csni_alloc(m->alloc, (size_t)names.table_size);
    if (!table) return csni_fail_memory(err, names.table_size);
    csn_status status = make_table(m, (uint32_t)count, table, err);
    if (status == CSN_OK) status = csni_gsym_write(m, target, pool, &own, report, err);
    if (status == CSN_OK) status = write_table(&names, table, err);
    csni_free(m->alloc, table, (size_t)names.table_size);
    if (status == CSN_OK) report->output_bytes += csni_align_up(names.size, CSNI_GSYM_ALIGN) - names.size + names.table_size;
    return status;
}
