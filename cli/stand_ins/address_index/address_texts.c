/* Each string once. */
#include "stand_ins/address_index/address_texts.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/address_index/address_index_layout.h"
#include "stand_ins/base/growth.h"

enum { MAX_BYTES = 1 << 30, FIRST_SLOTS = 1 << 12 };

static struct address_text *make_slots(size_t count) {
    struct address_text *made = zeroed_memory(count, sizeof *made);
    for (size_t i = 0; i < count; i++) made[i].offset = ADDRESS_NONE;
    return made;
}

void address_texts_init(struct address_texts *t) {
    *t = (struct address_texts){ .slot_count = FIRST_SLOTS };
    pthread_mutex_init(&t->lock, NULL);
    t->slots = make_slots(FIRST_SLOTS);
}

void address_texts_deinit(struct address_texts *t) {
    pthread_mutex_destroy(&t->lock);
    free(t->bytes.items);
    free(t->files.items);
    free(t->slots);
}

static void grow_slots(struct address_texts *t) {
    struct address_text *old = t->slots;
    const size_t old_count = t->slot_count;
    t->slot_count *= 2;
    t->slots = make_slots(t->slot_count);
    for (size_t i = 0; i < old_count; i++) {
        size_t at = old[i].hash & (t->slot_count - 1);
        if (old[i].offset == ADDRESS_NONE) continue;
        while (t->slots[at].offset != ADDRESS_NONE) at = (at + 1) & (t->slot_count - 1);
        t->slots[at] = old[i];
    }
    free(old);
}

/* The slot of a string, which is added where it is new. NULL: there is no room. With the lock held. */
static struct address_text *find_slot(struct address_texts *t, const char *text, size_t size) {
    const uint32_t hash = (uint32_t)address_block_sum(text, size);
    size_t at = hash & (t->slot_count - 1);
    for (; t->slots[at].offset != ADDRESS_NONE; at = (at + 1) & (t->slot_count - 1)) {
        const char *there = t->bytes.items + t->slots[at].offset;
        if (t->slots[at].hash == hash && strncmp(there, text, size) == 0 && !there[size]) return &t->slots[at];
    }
    if (t->bytes.count + size + 1 > MAX_BYTES) return NULL;
    if (++t->used > t->slot_count / 2) {
        grow_slots(t);
        for (at = hash & (t->slot_count - 1); t->slots[at].offset != ADDRESS_NONE;) at = (at + 1) & (t->slot_count - 1);
    }
    t->bytes.items = grow_items(t->bytes.items, t->bytes.count + size + 1, &t->bytes.capacity, 1);
    memcpy(t->bytes.items + t->bytes.count, text, size);
    t->bytes.items[t->bytes.count + size] = 0;
    t->slots[at] = (struct address_text){ hash, (uint32_t)t->bytes.count, ADDRESS_NONE };
    t->bytes.count += size + 1;
    return &t->slots[at];
}

uint32_t address_texts_add(struct address_texts *t, const char *text, size_t size) {
    pthread_mutex_lock(&t->lock);
    const struct address_text *slot = find_slot(t, text, size);
    const uint32_t offset = slot ? slot->offset : ADDRESS_NONE;
    pthread_mutex_unlock(&t->lock);
    return offset;
}

uint32_t address_texts_add_file(struct address_texts *t, const char *path) {
    pthread_mutex_lock(&t->lock);
    struct address_text *slot = find_slot(t, path, strlen(path));
    if (slot && slot->file == ADDRESS_NONE) {
        slot->file = (uint32_t)t->files.count;
        GROW_PUSH(&t->files, slot->offset);
    }
    const uint32_t file = slot ? slot->file : ADDRESS_NONE;
    pthread_mutex_unlock(&t->lock);
    return file;
}
