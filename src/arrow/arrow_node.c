/* Making and releasing Arrow arrays and schemas. */
#include "arrow/arrow_node.h"

#include "base/core/fail.h"

struct node {
    const struct csn_allocator *alloc;
    const void *buffers[CSNI_ARROW_BUFFERS_MAX];
    size_t sizes[CSNI_ARROW_BUFFERS_MAX];
    struct ArrowArray children[CSNI_ARROW_CHILDREN_MAX], *child_pointers[CSNI_ARROW_CHILDREN_MAX];
    struct ArrowArray dictionary;
};

static void release_node(struct ArrowArray *array) {
    struct node *node = array->private_data;
    for (int64_t k = 0; k < array->n_children; k++) csni_arrow_array_release(array->children[k]);
    if (array->dictionary) csni_arrow_array_release(array->dictionary);
    for (int64_t k = 0; k < array->n_buffers; k++) csni_free(node->alloc, (void *)(uintptr_t)node->buffers[k], node->sizes[k]);
    csni_free(node->alloc, node, sizeof *node);
    array->release = NULL;
}

void csni_arrow_array_release(struct ArrowArray *array) {
    if (array && array->release) array->release(array);
}

void csni_arrow_schema_release(struct ArrowSchema *schema) {
    if (schema && schema->release) schema->release(schema);
}

void *csni_arrow_buffer(const struct ArrowArray *array, unsigned n) { return (void *)(uintptr_t)array->buffers[n]; }

csn_status csni_arrow_array_make(const struct csn_allocator *alloc, int64_t length, unsigned buffers, const size_t *sizes,
                                 struct ArrowArray *out, struct csn_error *err) {
    struct node *node = csni_alloc_zeroed(alloc, 1, sizeof *node);
    *out = (struct ArrowArray){ .length = length };
    if (!node) return csni_fail_memory(err, sizeof *node);
    node->alloc = alloc;
    out->n_buffers = buffers;
    out->buffers = node->buffers;
    out->release = release_node;
    out->private_data = node;
    for (unsigned k = 0; k < buffers; k++) {
        if (!sizes[k]) continue;
        void *memory = csni_alloc_zeroed(alloc, sizes[k], 1);
        if (!memory) {
            csni_arrow_array_release(out);
            return csni_fail_memory(err, sizes[k]);
        }
        node->buffers[k] = memory;
        node->sizes[k] = sizes[k];
    }
    return CSN_OK;
}

void csni_arrow_array_add_children(struct ArrowArray *array, uint32_t count) {
    struct node *node = array->private_data;
    for (uint32_t k = 0; k < count; k++) node->child_pointers[k] = &node->children[k];
    array->n_children = count;
    array->children = node->child_pointers;
}

struct ArrowArray *csni_arrow_array_add_dictionary(struct ArrowArray *array) {
    struct node *node = array->private_data;
    return array->dictionary = &node->dictionary;
}

/* ---- schemas ---- */

struct schema_node {
    const struct csn_allocator *alloc;
    struct ArrowSchema children[CSNI_ARROW_CHILDREN_MAX], *child_pointers[CSNI_ARROW_CHILDREN_MAX];
    struct ArrowSchema dictionary;
};

static void release_schema_node(struct ArrowSchema *schema) {
    struct schema_node *node = schema->private_data;
    for (int64_t k = 0; k < schema->n_children; k++) csni_arrow_schema_release(schema->children[k]);
    if (schema->dictionary) csni_arrow_schema_release(schema->dictionary);
    csni_free(node->alloc, node, sizeof *node);
    schema->release = NULL;
}

/* One type without what is below it. */
static csn_status make_schema_node(const struct csni_arrow_type *type, const struct csn_allocator *alloc, struct ArrowSchema *out,
                                   struct csn_error *err) {
    struct schema_node *node = csni_alloc_zeroed(alloc, 1, sizeof *node);
    *out = (struct ArrowSchema){ .format = type->format, .name = type->name,
                                 .flags = type->is_nullable ? ARROW_FLAG_NULLABLE : 0 };
    if (!node) return csni_fail_memory(err, sizeof *node);
    node->alloc = alloc;
    out->private_data = node;
    out->release = release_schema_node;
    out->children = type->child_count ? node->child_pointers : NULL;
    return CSN_OK;
}

/* A few levels deep: the types are constants of ours. */
csn_status csni_arrow_schema_make(const struct csni_arrow_type *type, const struct csn_allocator *alloc, struct ArrowSchema *out,
                                  struct csn_error *err) {
    CSNI_TRY(make_schema_node(type, alloc, out, err));
    struct schema_node *node = out->private_data;
    csn_status status = CSN_OK;
    for (uint32_t k = 0; k < type->child_count && status >= 0; k++) {
        node->child_pointers[k] = &node->children[k];
        out->n_children = k + 1;
        status = csni_arrow_schema_make(type->children[k], alloc, &node->children[k], err);
    }
    if (status >= 0 && type->dictionary) {
        out->dictionary = &node->dictionary;
        status = csni_arrow_schema_make(type->dictionary, alloc, &node->dictionary, err);
    }
    if (status < 0) csni_arrow_schema_release(out);
    return status;
}
