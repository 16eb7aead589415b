/* Module ids to indexes, through the store. */
#include "arrow/arrow_modules.h"

#include <string.h>

#include "base/core/fail.h"
#include "base/hex.h"

/* Bytes of a build id: more are not compared by anybody. Of hexadecimal digits at least so many are an id and not a name. */
enum { ID_BYTES_MAX = 64, ID_DIGITS_MIN = 16 };
#define UNKNOWN UINT32_MAX

csn_status csni_arrow_modules_add(struct csni_arrow_modules *m, const struct csn_index *index, uint32_t *out,
                                  struct csn_error *err) {
    struct csn_module module = { .index = index };
    *out = (uint32_t)m->list.count;
    return csni_vec_push(&m->list, module) && csni_vec_push(&m->refusals, 0) ? CSN_OK : csni_fail_memory(err, sizeof module);
}

csn_status csni_arrow_modules_init(struct csni_arrow_modules *m, const struct csn_allocator *alloc, struct csn_store *store,
                                   struct csn_error *err) {
    uint32_t none;
    *m = (struct csni_arrow_modules){ .alloc = alloc, .store = store, .list = { .alloc = alloc }, .of_id = { .alloc = alloc },
                                      .refusals = { .alloc = alloc }, .texts = { .alloc = alloc } };
    csni_arrow_strings_init(&m->ids, alloc);
    if (!csni_vec_push(&m->texts, '\0')) return csni_fail_memory(err, 1);
    if (store) CSNI_TRY(csn_store_explanation_create(alloc, &m->explanation, err));
    return csni_arrow_modules_add(m, NULL, &none, err);
}

void csni_arrow_modules_deinit(struct csni_arrow_modules *m) {
    csni_vec_deinit(&m->list);
    csni_vec_deinit(&m->of_id);
    csni_arrow_strings_deinit(&m->ids);
    csni_vec_deinit(&m->refusals);
    csni_vec_deinit(&m->texts);
    csn_store_explanation_destroy(m->explanation);
    csni_free(m->alloc, m->of_entry, m->entry_count * sizeof *m->of_entry);
}

static bool read_hexadecimal_id(struct csn_str text, uint8_t *out, size_t *size) {
    if (text.len < ID_DIGITS_MIN || text.len % 2 || text.len / 2 > ID_BYTES_MAX) return false;
    for (size_t i = 0; i < text.len; i += 2) {
        unsigned high = csni_hex_digit(text.ptr[i]), low = csni_hex_digit(text.ptr[i + 1]);
        if (high > 15 || low > 15) return false;
        out[i / 2] = (uint8_t)(high << 4 | low);
    }
    *size = text.len / 2;
    return true;
}

static csn_status add_text(struct csni_arrow_modules *m, struct csn_str text, struct csn_error *err) {
    if (!csni_vec_reserve(&m->texts, m->texts.count + text.len)) return csni_fail_memory(err, text.len);
    if (text.len) memcpy(m->texts.items + m->texts.count, text.ptr, text.len);
    m->texts.count += text.len;
    return CSN_OK;
}

/* The first index that the last search refused; *out stays where there is none. */
static csn_status keep_refusal(struct csni_arrow_modules *m, size_t *out, struct csn_error *err) {
    struct csn_store_location at = { .status = CSN_NONE };
    for (size_t i = 0, count = csn_store_explanation_count(m->explanation); i < count && at.status >= 0; i++)
        csn_store_explanation_get(m->explanation, i, &at);
    if (at.status >= 0) return CSN_OK;
    *out = m->texts.count;
    CSNI_TRY(add_text(m, at.path, err));
    CSNI_TRY(add_text(m, CSN_STR(": "), err));
    CSNI_TRY(add_text(m, at.text, err));
    return add_text(m, (struct csn_str){ "", 1 }, err);
}

const char *csni_arrow_modules_refusal(const struct csni_arrow_modules *m, uint32_t module) {
    size_t at = m->refusals.items[module];
    return at ? m->texts.items + at : NULL;
}

static csn_status find_module(struct csni_arrow_modules *m, const struct csn_store_module *module, const struct csn_index **out,
                              size_t *refusal, struct csn_error *err) {
    csn_status status = csn_store_find(m->store, module, out, m->explanation, err);
    if (status != CSN_OK) *out = NULL;
    if (status == CSN_E_MEMORY) return status;
    return *out ? CSN_OK : keep_refusal(m, refusal, err);
}

/* Bytes are an id, or else the bytes of a name: some engines have no other strings. A text of digits is both: an index may
 * be called so. */
static csn_status find_index(struct csni_arrow_modules *m, struct csn_str id, bool is_binary, const struct csn_index **out,
                             size_t *refusal, struct csn_error *err) {
    struct csn_store_module by_id = CSN_STORE_MODULE_INIT, by_name = CSN_STORE_MODULE_INIT;
    uint8_t bytes[ID_BYTES_MAX];
    *out = NULL;
    if (!m->store || !id.len) return CSN_OK;
    by_name.name = id;
    bool is_text_id = read_hexadecimal_id(id, bytes, &by_id.build_id_size);
    by_id.build_id = bytes;
    if (is_text_id) by_id.name = id;
    if (is_binary && !is_text_id) {
        by_id.build_id = (const uint8_t *)id.ptr;
        by_id.build_id_size = id.len < ID_BYTES_MAX ? id.len : ID_BYTES_MAX;
    }
    if (is_binary || is_text_id) CSNI_TRY(find_module(m, &by_id, out, refusal, err));
    return *out || is_text_id ? CSN_OK : find_module(m, &by_name, out, refusal, err);
}

static csn_status number_of_id(struct csni_arrow_modules *m, struct csn_str id, bool is_binary, uint32_t *out,
                               struct csn_error *err) {
    uint32_t number;
    CSNI_TRY(csni_arrow_strings_add(&m->ids, id, &number, err));
    if (number == m->of_id.count) {
        const struct csn_index *index;
        size_t refusal = 0;
        CSNI_TRY(find_index(m, id, is_binary, &index, &refusal, err));
        CSNI_TRY(csni_arrow_modules_add(m, index, out, err));
        m->refusals.items[*out] = refusal;
        m->list.items[*out].name = id; /* the caller's array outlives the batch */
        if (!csni_vec_push(&m->of_id, *out)) return csni_fail_memory(err, sizeof *out);
    }
    *out = m->of_id.items[number];
    return CSN_OK;
}

static csn_status make_entry_table(struct csni_arrow_modules *m, const struct csni_arrow_ids *ids, struct csn_error *err) {
    size_t count = (size_t)csni_arrow_id_entries(ids);
    if (!ids->has_dictionary || m->of_entry || !count) return CSN_OK;
    m->of_entry = csni_alloc(m->alloc, count * sizeof *m->of_entry);
    if (!m->of_entry) return csni_fail_memory(err, count * sizeof *m->of_entry);
    m->entry_count = count;
    memset(m->of_entry, 0xff, count * sizeof *m->of_entry);
    return CSN_OK;
}

csn_status csni_arrow_modules_resolve(struct csni_arrow_modules *m, const struct csni_arrow_ids *ids, int64_t rows, uint32_t *out,
                                      struct csn_error *err) {
    struct csn_str before = { NULL, 0 }, id;
    uint32_t number = 0;
    int64_t entry;
    CSNI_TRY(make_entry_table(m, ids, err));
    for (int64_t row = 0; row < rows; row++) {
        out[row] = 0;
        if (!csni_arrow_id_entry(ids, row, &entry)) continue;
        if (m->of_entry && m->of_entry[entry] != UNKNOWN) {
            out[row] = m->of_entry[entry];
            continue;
        }
        if (csni_arrow_id(ids, entry, &id)) {
            /* Neighbouring rows are often of one module. */
            if (!before.ptr || id.len != before.len || memcmp(id.ptr, before.ptr, id.len) != 0)
                CSNI_TRY(number_of_id(m, id, ids->values.is_binary, &number, err));
            before = id;
            out[row] = number;
        }
        if (m->of_entry) m->of_entry[entry] = out[row];
    }
    return CSN_OK;
}
