/* Answers in another order. */
#include "stand_ins/answers/early_answers.h"

#include <stdio.h>
#include <stdlib.h>

#include "stand_ins/base/captured_output.h"
#include "stand_ins/base/growth.h"

struct early_request {
    uint64_t addr, key;
    size_t order;
    size_t begin, end;       /* of its text */
    int result;
};

struct early_answers {
    struct { struct early_request *items; size_t count, capacity; } requests;
    size_t next;             /* to be given */
    struct captured_output output;
};

struct early_answers *early_answers_create(void) { return zeroed_memory(1, sizeof(struct early_answers)); }

void early_answers_clear(struct early_answers *a) { a->next = a->requests.count = 0; }

void early_answers_free(struct early_answers *a) {
    captured_output_free(&a->output);
    free(a->requests.items);
    free(a);
}

void early_answers_add(struct early_answers *a, uint64_t addr, uint64_t key) {
    const struct early_request made = { .addr = addr, .key = key, .order = a->requests.count };
    GROW_PUSH(&a->requests, made);
}

static int by_key(const void *pa, const void *pb) {
    const struct early_request *a = pa, *b = pb;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static int by_order(const void *pa, const void *pb) {
    const struct early_request *a = pa, *b = pb;
    return a->order < b->order ? -1 : a->order > b->order;
}

void early_answers_make(struct early_answers *a, int (*print)(void *context, uint64_t addr), void *context) {
    a->output.holds_back = true;
    if (!a->requests.count || !captured_output_begin(&a->output)) {
        early_answers_clear(a);
        return;
    }
    qsort(a->requests.items, a->requests.count, sizeof *a->requests.items, by_key);
    for (size_t i = 0; i < a->requests.count; i++) {
        struct early_request *r = &a->requests.items[i];
        r->begin = captured_output_size(&a->output);
        r->result = print(context, r->addr);
        r->end = captured_output_size(&a->output);
    }
    qsort(a->requests.items, a->requests.count, sizeof *a->requests.items, by_order);
    if (!captured_output_end(&a->output)) early_answers_clear(a);
}

bool early_answers_put(struct early_answers *a, uint64_t addr, int *result) {
    const struct early_request *r = &a->requests.items[a->next];
    if (a->next == a->requests.count || r->addr != addr) return false;
    if (r->end > r->begin) fwrite(a->output.text.bytes + r->begin, 1, r->end - r->begin, stdout);
    *result = r->result;
    a->next++;
    return true;
}
