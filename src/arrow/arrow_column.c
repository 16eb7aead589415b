/* The types of addresses and module ids. The arrays are the caller's own memory: their lengths are believed, as the interface
 * has no way to check them; what the types promise is checked. */
#include "arrow/arrow_column.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/endian.h"
#include "base/core/fail.h"

enum { VIEW_SIZE = 16, VIEW_INLINE_MAX = 12 };

static csn_status fail_type(const char *what, const struct ArrowSchema *schema, const char *need, struct csn_error *err) {
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "column '%s' has the Arrow type '%s', need %s", what, schema->format, need);
}

/* An array with validity and `buffers` buffers at least. */
static csn_status open_column(const struct ArrowArray *array, int64_t buffers, const char *what, struct csni_arrow_column *out,
                              struct csn_error *err) {
    if (array->length < 0 || array->offset < 0)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "column '%s' has the length %lld and the offset %lld, need >= 0", what,
                         (long long)array->length, (long long)array->offset);
    if (array->n_buffers < buffers)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "column '%s' has %lld buffers, need %lld", what,
                         (long long)array->n_buffers, (long long)buffers);
    out->array = array;
    out->offset = array->offset;
    out->length = array->length;
    out->validity = array->null_count == 0 ? NULL : array->buffers[0];
    out->values = array->buffers[1];
    return CSN_OK;
}

bool csni_arrow_is_valid(const uint8_t *validity, int64_t offset, int64_t row) {
    uint64_t bit = (uint64_t)(offset + row);
    return !validity || (validity[bit / 8] >> bit % 8 & 1);
}

static bool is_row_valid(const struct csni_arrow_column *c, int64_t row) {
    return row < c->length && csni_arrow_is_valid(c->validity, c->offset, row);
}

static bool format_is(const struct ArrowSchema *schema, const char *format) { return !strcmp(schema->format, format); }

/* "d:PRECISION,0" with the width of 128 bits, which is the default. */
static bool is_whole_decimal(const struct ArrowSchema *schema) {
    const char *comma = strchr(schema->format, ',');
    return !strncmp(schema->format, "d:", 2) && comma && (!strcmp(comma, ",0") || !strcmp(comma, ",0,128"));
}

csn_status csni_arrow_open_addresses(const struct ArrowSchema *schema, const struct ArrowArray *array, const char *what,
                                     struct csni_arrow_column *out, struct csn_error *err) {
    *out = (struct csni_arrow_column){ .layout = CSNI_ARROW_NUMBER };
    if (schema->dictionary) return fail_type(what, schema, "numbers without a dictionary", err);
    if (format_is(schema, "L") || format_is(schema, "l")) out->width = 8;
    else if (format_is(schema, "I")) out->width = 4;
    else if (is_whole_decimal(schema)) out->width = 16;
    else return fail_type(what, schema, "uint64, int64, uint32 or a decimal without fraction", err);
    return open_column(array, 2, what, out, err);
}

bool csni_arrow_is_null(const struct csni_arrow_column *column, int64_t row) { return !is_row_valid(column, row); }

static uint64_t native_number(const uint8_t *p, uint32_t width) {
    uint64_t wide;
    uint32_t word;
    uint16_t half;
    switch (width) {
    case 8: memcpy(&wide, p, sizeof wide); return wide;
    case 4: memcpy(&word, p, sizeof word); return word;
    case 2: memcpy(&half, p, sizeof half); return half;
    default: return *p;
    }
}

bool csni_arrow_address(const struct csni_arrow_column *column, int64_t row, uint64_t *out) {
    if (!is_row_valid(column, row)) return false;
    const uint8_t *p = column->values + (uint64_t)(column->offset + row) * column->width;
    if (column->width < 16) {
        *out = native_number(p, column->width);
        return true;
    }
    uint64_t halves[2];
    memcpy(halves, p, sizeof halves);
    bool little = (union { uint16_t number; uint8_t byte; }){ .number = 1 }.byte == 1;
    uint64_t low = halves[little ? 0 : 1], high = halves[little ? 1 : 0];
    *out = low;
    return high == 0 || (high == UINT64_MAX && low >> 63); /* of two's complement, what fits 64 bits */
}

/* ---- module ids ---- */

static bool set_string_layout(const struct ArrowSchema *schema, struct csni_arrow_column *out) {
    static const struct {
        const char *format;
        enum csni_arrow_layout layout;
        bool is_binary;
    } kinds[] = {
        { "u", CSNI_ARROW_OFFSETS_32, false }, { "z", CSNI_ARROW_OFFSETS_32, true }, { "U", CSNI_ARROW_OFFSETS_64, false },
        { "Z", CSNI_ARROW_OFFSETS_64, true },  { "vu", CSNI_ARROW_VIEW, false },     { "vz", CSNI_ARROW_VIEW, true },
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!format_is(schema, kinds[k].format)) continue;
        out->layout = kinds[k].layout;
        out->is_binary = kinds[k].is_binary;
        return true;
    }
    if (strncmp(schema->format, "w:", 2) != 0) return false;
    long width = strtol(schema->format + 2, NULL, 10);
    out->layout = CSNI_ARROW_FIXED;
    out->is_binary = true;
    out->width = width > 0 && width <= 1 << 20 ? (uint32_t)width : 0;
    return out->width > 0;
}

static csn_status open_strings(const struct ArrowSchema *schema, const struct ArrowArray *array, const char *what,
                               struct csni_arrow_column *out, struct csn_error *err) {
    *out = (struct csni_arrow_column){ 0 };
    if (!set_string_layout(schema, out)) return fail_type(what, schema, "strings or bytes", err);
    CSNI_TRY(open_column(array, out->layout == CSNI_ARROW_FIXED ? 2 : 3, what, out, err));
    if (out->layout == CSNI_ARROW_OFFSETS_32 || out->layout == CSNI_ARROW_OFFSETS_64) out->bytes = array->buffers[2];
    return CSN_OK;
}

csn_status csni_arrow_open_ids(const struct ArrowSchema *schema, const struct ArrowArray *array, const char *what,
                               struct csni_arrow_ids *out, struct csn_error *err) {
    static const char widths[] = "cCsSiIlL";
    out->has_dictionary = schema->dictionary != NULL;
    if (!out->has_dictionary) return open_strings(schema, array, what, &out->values, err);
    const char *found = schema->format[0] && !schema->format[1] ? strchr(widths, schema->format[0]) : NULL;
    if (!found || !array->dictionary) return fail_type(what, schema, "a dictionary of strings", err);
    out->indices = (struct csni_arrow_column){ .layout = CSNI_ARROW_NUMBER, .width = 1u << (found - widths) / 2 };
    CSNI_TRY(open_column(array, 2, what, &out->indices, err));
    return open_strings(schema->dictionary, array->dictionary, what, &out->values, err);
}

int64_t csni_arrow_id_entries(const struct csni_arrow_ids *ids) { return ids->values.length; }

bool csni_arrow_id_entry(const struct csni_arrow_ids *ids, int64_t row, int64_t *out) {
    *out = row;
    if (!ids->has_dictionary) return is_row_valid(&ids->values, row);
    if (!is_row_valid(&ids->indices, row)) return false;
    const uint8_t *p = ids->indices.values + (uint64_t)(ids->indices.offset + row) * ids->indices.width;
    uint64_t entry = native_number(p, ids->indices.width); /* a negative one is too large below */
    *out = (int64_t)entry;
    return entry < (uint64_t)ids->values.length;
}

/* A buffer may be missing where all strings are empty; one that is not is damaged and reads as empty. */
static struct csn_str string_of(const uint8_t *bytes, uint64_t start, uint64_t end) {
    if (!bytes || end <= start) return (struct csn_str){ "", 0 };
    return (struct csn_str){ (const char *)bytes + start, (size_t)(end - start) };
}

/* The length, then the string itself, or its first bytes, the buffer's number and the offset there. */
static struct csn_str view_string(const struct csni_arrow_column *c, const uint8_t *view) {
    enum { BUFFER = 8, OFFSET = 12, FIRST_BUFFER = 2 };
    uint32_t size = (uint32_t)native_number(view, 4), number = (uint32_t)native_number(view + BUFFER, 4);
    if (size <= VIEW_INLINE_MAX) return string_of(view, 4, 4 + (uint64_t)size);
    if (number >= (uint64_t)c->array->n_buffers - FIRST_BUFFER - 1) return string_of(NULL, 0, 0);
    uint64_t offset = native_number(view + OFFSET, 4);
    return string_of(c->array->buffers[FIRST_BUFFER + number], offset, offset + size);
}

bool csni_arrow_id(const struct csni_arrow_ids *ids, int64_t entry, struct csn_str *out) {
    const struct csni_arrow_column *c = &ids->values;
    if (!is_row_valid(c, entry)) return false;
    uint64_t at = (uint64_t)(c->offset + entry);
    switch (c->layout) {
    case CSNI_ARROW_OFFSETS_32:
        *out = string_of(c->bytes, native_number(c->values + at * 4, 4), native_number(c->values + (at + 1) * 4, 4));
        return true;
    case CSNI_ARROW_OFFSETS_64:
        *out = string_of(c->bytes, native_number(c->values + at * 8, 8), native_number(c->values + (at + 1) * 8, 8));
        return true;
    case CSNI_ARROW_VIEW: *out = view_string(c, c->values + at * VIEW_SIZE); return true;
    default: *out = string_of(c->values, at * c->width, (at + 1) * c->width); return true;
    }
}
