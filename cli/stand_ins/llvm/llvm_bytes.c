/* Bytes of a section as LLVM's reader takes them. */
#include "stand_ins/llvm/llvm_bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct llvm_bytes llvm_section_bytes(const struct llvm_module *m, const char *name) {
    struct csn_str bytes = { "", 0 };
    (void)csn_debug_info_dwarf_section(m->info, name, &bytes, NULL);
    return (struct llvm_bytes){ .bytes = (const unsigned char *)bytes.ptr, .size = bytes.len, .big = m->object.big_endian };
}

static bool has(struct llvm_bytes *b, uint64_t size) {
    if (b->why[0]) return false;
    if (b->at <= b->size && size <= b->size - b->at) return true;
    if (b->at <= b->size)
        snprintf(b->why, sizeof b->why,
                 "unexpected end of data at offset 0x%" PRIx64 " while reading [0x%" PRIx64 ", 0x%" PRIx64 ")", b->size,
                 b->at, b->at + size);
    else
        snprintf(b->why, sizeof b->why, "offset 0x%" PRIx64 " is beyond the end of data at 0x%" PRIx64, b->at, b->size);
    return false;
}

uint64_t llvm_take(struct llvm_bytes *b, unsigned size) {
    uint64_t value = 0;
    if (!has(b, size)) return 0;
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)b->bytes[b->at + i] << 8 * (b->big ? size - 1 - i : i);
    b->at += size;
    return value;
}

void llvm_skip(struct llvm_bytes *b, uint64_t size) {
    if (has(b, size)) b->at += size;
}

uint64_t llvm_take_leb(struct llvm_bytes *b) {
    uint64_t value = 0, at = b->at;
    if (b->why[0]) return 0;
    for (unsigned shift = 0; at < b->size; shift += 7) {
        const unsigned char byte = b->bytes[at++];
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80) continue;
        b->at = at;
        return value;
    }
    snprintf(b->why, sizeof b->why,
             "unable to decode LEB128 at offset 0x%08" PRIx64 ": malformed uleb128, extends past end", b->at);
    return 0;
}

uint64_t llvm_take_length(struct llvm_bytes *b) {
    const uint64_t length = llvm_take(b, 4), at = b->at - 4;
    b->is_64 = length == UINT32_MAX;
    if (b->is_64) return llvm_take(b, 8);
    if (length < 0xfffffff0 || b->why[0]) return length;
    b->at = at;
    snprintf(b->why, sizeof b->why, "unsupported reserved unit length of value 0x%08" PRIx64, length);
    return 0;
}

bool llvm_skip_text(struct llvm_bytes *b, bool *empty) {
    const unsigned char *end = b->at < b->size ? memchr(b->bytes + b->at, 0, (size_t)(b->size - b->at)) : NULL;
    *empty = end == b->bytes + b->at;
    if (!end && !b->why[0]) snprintf(b->why, sizeof b->why, "no null terminated string at offset 0x%" PRIx64, b->at);
    if (b->why[0]) return false;
    b->at = (uint64_t)(end - b->bytes) + 1;
    return true;
}
