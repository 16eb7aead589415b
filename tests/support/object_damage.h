/* Damage for readers of objects: every truncation, and flipped bits in a fixed order. Whatever comes of it, every call that a
 * user of the object makes must keep to its bounds: a sanitizer sees those that do not. */
#ifndef OBJECT_DAMAGE_H
#define OBJECT_DAMAGE_H

#include "object/object.h"

/* Reads sections, symbols and bounds; fails the test where a promise of object.h is broken. */
void object_use_everything(struct csni_object *object);

/* Opens each shorter file, and uses it where that works. Returns how many opened. */
size_t object_damage_truncate(struct csni_span file);
/* One to four bits flipped, `rounds` times; the same ones each time. Returns how many opened. */
size_t object_damage_flip(struct csni_span file, unsigned rounds);
/* Opening with each allocation failing once. */
void object_damage_memory(struct csni_span file);

#endif
