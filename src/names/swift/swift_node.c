/* Nodes of a Swift name's tree, and lists of them. */
#include "names/swift/swift_node.h"

swift_node *csni_swift_new(struct csni_name_memory *memory, enum csni_swift_kind kind) {
    swift_node *node = csni_name_alloc(memory, sizeof(*node));
    if (node) *node = (swift_node){ .kind = (uint16_t)kind };
    return node;
}

swift_node *csni_swift_new_label(struct csni_name_memory *memory, enum csni_swift_kind kind, const char *label) {
    swift_node *node = csni_swift_new(memory, kind);
    if (node) node->label = label;
    return node;
}

swift_node *csni_swift_new_text(struct csni_name_memory *memory, enum csni_swift_kind kind, struct csn_str text) {
    swift_node *node = csni_swift_new(memory, kind);
    if (!node) return NULL;
    node->payload = SWIFT_HAS_TEXT;
    node->text = text;
    return node;
}

swift_node *csni_swift_new_index(struct csni_name_memory *memory, enum csni_swift_kind kind, uint64_t index) {
    swift_node *node = csni_swift_new(memory, kind);
    if (!node) return NULL;
    node->payload = SWIFT_HAS_INDEX;
    node->index = index;
    return node;
}

bool csni_swift_push(struct csni_name_memory *memory, struct csni_swift_list *list, swift_node *node) {
    if (list->count == list->cap) {
        uint32_t cap = list->cap ? 2 * list->cap : 2;
        swift_node **at = csni_name_alloc(memory, cap * sizeof(*at));
        if (!at) return false;
        if (list->count) memcpy(at, list->at, list->count * sizeof(*at));
        list->at = at;
        list->cap = cap;
    }
    list->at[list->count++] = node;
    return true;
}

swift_node *csni_swift_add(struct csni_name_memory *memory, swift_node *parent, swift_node *child) {
    if (!parent || !child || parent->payload != SWIFT_HAS_NOTHING) return NULL;
    return csni_swift_push(memory, &parent->children, child) ? parent : NULL;
}

swift_node *csni_swift_with1(struct csni_name_memory *memory, enum csni_swift_kind kind, const char *label, swift_node *a) {
    return a ? csni_swift_add(memory, csni_swift_new_label(memory, kind, label), a) : NULL;
}

swift_node *csni_swift_with2(struct csni_name_memory *memory, enum csni_swift_kind kind, const char *label, swift_node *a,
                             swift_node *b) {
    return b ? csni_swift_add(memory, csni_swift_with1(memory, kind, label, a), b) : NULL;
}

swift_node *csni_swift_with3(struct csni_name_memory *memory, enum csni_swift_kind kind, const char *label, swift_node *a,
                             swift_node *b, swift_node *c) {
    return c ? csni_swift_add(memory, csni_swift_with2(memory, kind, label, a, b), c) : NULL;
}

void csni_swift_reverse(swift_node *node, uint32_t from) {
    uint32_t count = csni_swift_count(node);
    for (uint32_t low = from, high = count; low + 1 < high; low++) {
        swift_node *kept = node->children.at[low];
        node->children.at[low] = node->children.at[--high];
        node->children.at[high] = kept;
    }
}
