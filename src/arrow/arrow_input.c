/* Which of the accepted types the caller's array has. */
#include "arrow/arrow_input.h"

#include <string.h>

#include "base/core/fail.h"

static int64_t find_field(const struct ArrowSchema *schema, const char *name) {
    for (int64_t k = 0; k < schema->n_children; k++)
        if (schema->children[k]->name && !strcmp(schema->children[k]->name, name)) return k;
    return -1;
}

/* A child of a struct counts from where the child's own slice begins; the struct's slice comes on top. */
static struct ArrowArray field_of(const struct ArrowArray *array, int64_t k) {
    struct ArrowArray field = *array->children[k];
    field.offset += array->offset;
    field.length = array->length;
    return field;
}

static csn_status open_fields(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              const struct csn_arrow_options *options, struct csni_arrow_input *in,
                              struct csn_error *err) {
    const char *ids = options->module_column ? options->module_column : "module";
    const char *addresses = options->address_column ? options->address_column : "address";
    int64_t id_field = find_field(schema, ids), address_field = find_field(schema, addresses);
    if (address_field < 0 || (id_field < 0 && !options->index))
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the Arrow struct of %lld fields has no field '%s'",
                         (long long)schema->n_children, address_field < 0 ? addresses : ids);
    if (array->n_children != schema->n_children)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "the Arrow array has %lld fields, its type %lld",
                         (long long)array->n_children, (long long)schema->n_children);
    in->item_validity = array->n_buffers && array->null_count ? array->buffers[0] : NULL;
    in->item_offset = array->offset;
    struct ArrowArray field = field_of(array, address_field);
    CSNI_TRY(csni_arrow_open_addresses(schema->children[address_field], &field, addresses, &in->addresses, err));
    in->has_ids = id_field >= 0;
    if (!in->has_ids) return CSN_OK;
    field = field_of(array, id_field);
    CSNI_TRY(csni_arrow_open_ids(schema->children[id_field], &field, ids, &in->ids, err));
    if (!in->ids.has_dictionary) in->ids.values.array = array->children[id_field]; /* for the buffers of views */
    return CSN_OK;
}

static csn_status open_items(const struct ArrowSchema *schema, const struct ArrowArray *array,
                             const struct csn_arrow_options *options, struct csni_arrow_input *in,
                             struct csn_error *err) {
    in->count = array->length;
    if (!strcmp(schema->format, "+s")) return open_fields(schema, array, options, in, err);
    CSNI_TRY(csni_arrow_open_addresses(schema, array, schema->name && *schema->name ? schema->name : "address",
                                       &in->addresses, err));
    if (!options->index) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "addresses without modules need an index");
    return CSN_OK;
}

csn_status csni_arrow_input_open(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                 const struct csn_arrow_options *options, struct csni_arrow_input *out,
                                 struct csn_error *err) {
    *out = (struct csni_arrow_input){ .rows = array->length };
    out->is_list = !strcmp(schema->format, "+l") || !strcmp(schema->format, "+L");
    if (!out->is_list) return open_items(schema, array, options, out, err);
    if (array->length < 0 || array->offset < 0)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "the Arrow list has the length %lld and the offset %lld, need >= 0",
                         (long long)array->length, (long long)array->offset);
    if (array->n_buffers < 2 || array->n_children != 1 || schema->n_children != 1)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "the Arrow list has %lld children, need 1", (long long)array->n_children);
    out->list_width = schema->format[1] == 'l' ? 4 : 8;
    out->row_validity = array->null_count ? array->buffers[0] : NULL;
    out->row_offset = array->offset;
    out->list_offsets = array->buffers[1];
    return open_items(schema->children[0], array->children[0], options, out, err);
}

static int64_t list_offset(const struct csni_arrow_input *in, int64_t row) {
    const uint8_t *p = in->list_offsets + (uint64_t)(in->row_offset + row) * in->list_width;
    int64_t wide;
    int32_t narrow;
    if (in->list_width == sizeof wide) {
        memcpy(&wide, p, sizeof wide);
        return wide;
    }
    memcpy(&narrow, p, sizeof narrow);
    return narrow;
}

bool csni_arrow_input_list(const struct csni_arrow_input *in, int64_t row, int64_t *start, int64_t *end) {
    if (!csni_arrow_is_valid(in->row_validity, in->row_offset, row)) return false;
    *start = list_offset(in, row);
    *end = list_offset(in, row + 1);
    if (*start < 0 || *end > in->count || *start > *end) *start = *end = 0; /* a damaged array */
    return true;
}

bool csni_arrow_input_is_null(const struct csni_arrow_input *in, int64_t k) {
    return !csni_arrow_is_valid(in->item_validity, in->item_offset, k) || csni_arrow_is_null(&in->addresses, k);
}

bool csni_arrow_input_address(const struct csni_arrow_input *in, int64_t k, uint64_t *out) {
    return csni_arrow_is_valid(in->item_validity, in->item_offset, k) && csni_arrow_address(&in->addresses, k, out);
}
