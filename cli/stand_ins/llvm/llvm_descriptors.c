/* Function descriptors of the older ABI of 64-bit PowerPC: a symbol in .opd names one, whose first word is where the code is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_module.h"

/* The bytes as the file has them: of an object that is not linked LLVM takes all functions to be at 0. NULL: they are not there. */
static unsigned char *read_bytes(const char *path, const struct csn_debug_section *section) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    unsigned char *bytes = NULL;
    const long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    const bool is_whole = end >= 0 && section->file_offset <= (uint64_t)end && section->size <= (uint64_t)end - section->file_offset;
    if (is_whole && fseek(file, (long)section->file_offset, SEEK_SET) == 0) {
        bytes = zeroed_memory((size_t)section->size + 1, 1);
        if (fread(bytes, 1, (size_t)section->size, file) != section->size) {
            free(bytes);
            bytes = NULL;
        }
    }
    fclose(file);
    return bytes;
}

void llvm_read_descriptors(struct llvm_module *m, const char *path) {
    enum { EM_PPC64 = 21 };
    struct csn_debug_section s;
    if (m->object.container != CSN_CONTAINER_ELF || m->object.machine != EM_PPC64 || !m->object.big_endian) return;
    for (uint32_t i = 1; i < m->object.section_count; i++) {
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK) continue;
        if (s.name.len != 4 || memcmp(s.name.ptr, ".opd", 4) != 0) continue;
        if (!(s.flags & CSN_SECTION_NOBITS)) m->descriptors.bytes = read_bytes(path, &s);
        m->descriptors.addr = llvm_is_unlinked(m) ? 0 : s.addr;
        m->descriptors.size = m->descriptors.bytes ? s.size : 0;
        return;
    }
}

uint64_t llvm_described_addr(const struct llvm_module *m, uint64_t addr) {
    const uint64_t at = addr - m->descriptors.addr;
    if (m->descriptors.size < 8 || at > m->descriptors.size - 8) return addr;
    uint64_t code = 0;
    for (unsigned i = 0; i < 8; i++) code = code << 8 | m->descriptors.bytes[at + i];
    return code;
}
