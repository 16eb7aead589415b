/* Names of architectures. */
#define _GNU_SOURCE
#include "stand_ins/llvm/llvm_arch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- ARM: the version is in a section of attributes ---- */

static uint64_t take_uleb(const unsigned char **p, const unsigned char *end) {
    uint64_t value = 0;
    for (unsigned shift = 0; *p < end; shift += 7) {
        const unsigned char b = *(*p)++;
        if (shift < 64) value |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) break;
    }
    return value;
}

static const char *arm_version(const unsigned char *p, size_t size, bool big) {
    enum { FILE_ATTRIBUTES = 1, CPU_RAW_NAME = 4, CPU_NAME = 5, CPU_ARCH = 6, CPU_ARCH_PROFILE = 7, COMPATIBILITY = 32 };
    static const char *const names[][2] = { { "arm", "armeb" }, { "armv4", "armv4eb" }, { "armv4t", "armv4teb" }, { "armv5t", "armv5teb" },
        { "armv5te", "armv5teeb" }, { "armv5tej", "armv5tejeb" }, { "armv6", "armv6eb" }, { "armv6kz", "armv6kzeb" },
        { "armv6t2", "armv6t2eb" }, { "armv6k", "armv6keb" }, { "armv7", "armv7eb" }, { "armv6m", "armv6meb" },
        { "armv6sm", "armv6smeb" }, { "armv7em", "armv7emeb" }, { "armv8a", "armv8aeb" }, { "armv8r", "armv8reb" },
        { "armv8m.base", "armv8m.baseeb" }, { "armv8m.main", "armv8m.maineb" }, { "arm", "armeb" }, { "arm", "armeb" }, { "arm", "armeb" },
        { "armv8.1m.main", "armv8.1m.maineb" }, { "armv9a", "armv9aeb" } };
    const unsigned char *end = p + size;
    uint64_t arch = 0, profile = 0;
    if (size < 16 || p[0] != 'A') return big ? "armeb" : "arm";
    p += 1 + 4 + strnlen((const char *)p + 5, size - 5) + 1; /* format, length, vendor */
    if (end - p < 6 || *p != FILE_ATTRIBUTES) return big ? "armeb" : "arm";
    p += 5;
    while (p < end) {
        const uint64_t tag = take_uleb(&p, end);
        if (tag == CPU_RAW_NAME || tag == CPU_NAME || tag == COMPATIBILITY || (tag > 32 && (tag & 1))) {
            if (tag == COMPATIBILITY) take_uleb(&p, end);
            p += strnlen((const char *)p, (size_t)(end - p));
            if (p < end) p++;
            continue;
        }
        const uint64_t value = take_uleb(&p, end);
        if (tag == CPU_ARCH) arch = value;
        if (tag == CPU_ARCH_PROFILE) profile = value;
    }
    if (arch == 10 && profile == 'M') return big ? "armv7meb" : "armv7m";
    return names[arch < sizeof names / sizeof names[0] ? arch : 0][big];
}

static const char *arm_name(const struct llvm_module *m) {
    for (uint32_t i = 0; i < m->object.section_count; i++) {
        struct csn_debug_section s;
        unsigned char bytes[1024];
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK || s.name.len != 15 ||
            memcmp(s.name.ptr, ".ARM.attributes", 15) != 0)
            continue;
        FILE *file = fopen(m->name, "rb");
        size_t got = 0;
        if (file && fseek(file, (long)s.file_offset, SEEK_SET) == 0)
            got = fread(bytes, 1, s.size < sizeof bytes ? (size_t)s.size : sizeof bytes, file);
        if (file) fclose(file);
        return arm_version(bytes, got, m->object.big_endian);
    }
    return m->object.big_endian ? "armeb" : "arm";
}

/* ---- the rest ---- */

static const char *elf_name(const struct llvm_module *m) {
    const bool wide = m->object.address_size == 8, big = m->object.big_endian;
    switch (m->object.machine) {
    case 3: case 6: return "i386";
    case 62: return "x86_64";
    case 183: return big ? "aarch64_be" : "aarch64";
    case 40: return arm_name(m);
    case 8: return wide ? (big ? "mips64" : "mips64el") : big ? "mips" : "mipsel";
    case 20: return big ? "powerpc" : "powerpcle";
    case 21: return big ? "powerpc64" : "powerpc64le";
    case 243: return wide ? "riscv64" : "riscv32";
    case 22: return "s390x";
    case 2: case 18: return big ? "sparc" : "sparcel";
    case 43: return "sparcv9";
    case 258: return wide ? "loongarch64" : "loongarch32";
    case 164: return "hexagon";
    case 83: return "avr";
    case 105: return "msp430";
    case 247: return big ? "bpfeb" : "bpfel";
    case 4: return "m68k";
    case 251: return "ve";
    case 252: return "csky";
    case 94: return "xtensa";
    case 244: return "lanai";
    case 190: return wide ? "nvptx64" : "nvptx";
    case 224: return "amdgcn";
    default: return "unknown";
    }
}

const char *llvm_arch_name(const struct llvm_module *m) {
    switch (m->object.container) {
    case CSN_CONTAINER_ELF: return elf_name(m);
    case CSN_CONTAINER_MACHO:
        if (strncmp(m->object.arch, "arm64", 5) == 0) return strcmp(m->object.arch, "arm64_32") == 0 ? "aarch64_32" : "aarch64";
        if (strncmp(m->object.arch, "arm", 3) == 0 || strncmp(m->object.arch, "thumb", 5) == 0) return "arm"; /* whatever the subtype */
        if (strcmp(m->object.arch, "x86_64h") == 0) return "x86_64";
        return strcmp(m->object.arch, "x86") == 0 ? "i386" : m->object.arch;
    case CSN_CONTAINER_PE:
        switch (m->object.machine) {
        case 0x14c: return "i386";
        case 0x8664: return "x86_64";
        case 0x1c4: return "thumbv7";
        case 0xaa64: case 0xa641: case 0xa64e: return "aarch64"; /* ARM64, ARM64EC, ARM64X */
        default: return "unknown";
        }
    case CSN_CONTAINER_WASM: return m->object.address_size == 8 ? "wasm64" : "wasm32";
    default: return "unknown";
    }
}

uint32_t macho_cpu_type(const char *arch) {
    if (strcmp(arch, "x86_64") == 0 || strcmp(arch, "x86_64h") == 0) return 0x01000007;
    if (strcmp(arch, "arm64_32") == 0) return 0x0200000c;
    if (strncmp(arch, "arm64", 5) == 0) return 0x0100000c;
    if (strncmp(arch, "arm", 3) == 0) return 12;
    return strcmp(arch, "i386") == 0 || strcmp(arch, "x86") == 0 ? 7 : 0;
}
