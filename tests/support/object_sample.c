/* Samples for the tests of the object layer. */
#include "support/object_sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "object/elf/elf_layout.h"

#ifdef CSNI_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#ifdef CSNI_HAVE_ZSTD
#include <zstd.h>
#endif

const uint8_t sample_build_id[20] = { 0xde, 0xad, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18 };

static void require(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "object_sample: %s\n", what);
    abort();
}

bool sample_can_compress(enum sample_compression compression) {
    switch (compression) {
    case SAMPLE_PLAIN: return true;
#ifdef CSNI_HAVE_LIBDEFLATE
    case SAMPLE_ZLIB:
    case SAMPLE_ZDEBUG: return true;
#endif
#ifdef CSNI_HAVE_ZSTD
    case SAMPLE_ZSTD: return true;
#endif
    default: return false;
    }
}

static void put_zlib(struct wire *out, struct csni_span bytes) {
#ifdef CSNI_HAVE_LIBDEFLATE
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(6);
    require(compressor != NULL, "out of memory");
    size_t capacity = libdeflate_zlib_compress_bound(compressor, bytes.size);
    size_t off = wire_fill(out, 0, capacity);
    size_t size = libdeflate_zlib_compress(compressor, bytes.ptr, bytes.size, out->bytes + off, capacity);
    libdeflate_free_compressor(compressor);
    require(size != 0, "zlib");
    out->size = off + size;
#else
    (void)out;
    (void)bytes;
    require(false, "built without libdeflate");
#endif
}

static void put_zstd(struct wire *out, struct csni_span bytes) {
#ifdef CSNI_HAVE_ZSTD
    size_t capacity = ZSTD_compressBound(bytes.size);
    size_t off = wire_fill(out, 0, capacity);
    size_t size = ZSTD_compress(out->bytes + off, capacity, bytes.ptr, bytes.size, 3);
    require(!ZSTD_isError(size), "zstd");
    out->size = off + size;
#else
    (void)out;
    (void)bytes;
    require(false, "built without libzstd");
#endif
}

static void put_compression_header(struct wire *out, uint32_t type, bool wide, uint64_t size) {
    wire_u32(out, type);
    if (wide) wire_u32(out, 0);
    wire_uint(out, size, wide ? 8 : 4);
    wire_uint(out, 1, wide ? 8 : 4);
}

void sample_compress(struct wire *out, enum sample_compression compression, bool wide, struct csni_span bytes,
                     uint64_t promised_size) {
    switch (compression) {
    case SAMPLE_PLAIN: wire_bytes(out, bytes.ptr, bytes.size); break;
    case SAMPLE_ZLIB:
        put_compression_header(out, ELFCOMPRESS_ZLIB, wide, promised_size);
        put_zlib(out, bytes);
        break;
    case SAMPLE_ZSTD:
        put_compression_header(out, ELFCOMPRESS_ZSTD, wide, promised_size);
        put_zstd(out, bytes);
        break;
    case SAMPLE_ZDEBUG:
        wire_bytes(out, "ZLIB", 4);
        for (int shift = 56; shift >= 0; shift -= 8) wire_u8(out, promised_size >> shift & 0xff);
        put_zlib(out, bytes);
        break;
    }
}

uint32_t sample_add_debug(struct wire_elf *elf, enum sample_compression compression, const char *name,
                          struct csni_span bytes) {
    struct wire w;
    char section_name[32];
    bool has_header = compression == SAMPLE_ZLIB || compression == SAMPLE_ZSTD;
    wire_init(&w, elf->big);
    sample_compress(&w, compression, elf->wide, bytes, bytes.size);
    snprintf(section_name, sizeof section_name, "%s%s", compression == SAMPLE_ZDEBUG ? ".zdebug_" : ".debug_", name);
    uint32_t section = wire_elf_add_wire(elf, section_name, SHT_PROGBITS, has_header ? SHF_COMPRESSED : 0, 0, &w);
    wire_deinit(&w);
    return section;
}

struct csni_span sample_text(void) {
    static uint8_t text[SAMPLE_TEXT_SIZE];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(i % 97 ^ i / 1000);
    return (struct csni_span){ text, sizeof text };
}

void sample_elf(struct wire_elf *elf, bool wide, bool big) {
    static const uint8_t code[] = { 0x90, 0x90, 0xc3, 0xcc };
    static const struct wire_symbol symbols[] = {
        { .name = "file.c", .type = STT_FILE, .section = SHN_ABS },
        { .name = "main", .value = 0x401000, .size = 3, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1 },
        { .name = "far", .value = 0x401001, .size = 2, .type = STT_FUNC, .bind = STB_LOCAL, .section = 1,
          .by_index_table = true },
        { .name = "puts", .type = STT_FUNC, .bind = STB_GLOBAL, .section = SHN_UNDEF },
    };
    wire_elf_init(elf, wide, big, ET_EXEC, wide ? EM_X86_64 : EM_386);
    uint32_t text = wire_elf_add(elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000,
                                 (struct csni_span){ code, sizeof code });
    uint32_t note = wire_elf_add_build_id(elf, sample_build_id, sizeof sample_build_id);
    wire_elf_add_nobits(elf, ".bss", SHF_ALLOC | SHF_WRITE, 0x403000, 0x1000);
    wire_elf_add_symbols(elf, SHT_SYMTAB, symbols, sizeof symbols / sizeof *symbols);
    wire_elf_add_symbols(elf, SHT_DYNSYM, symbols, 2);
    wire_elf_add(elf, ".debug_str", SHT_PROGBITS, 0, 0, (struct csni_span){ (const uint8_t *)"hello", 6 });
    sample_add_debug(elf, sample_can_compress(SAMPLE_ZLIB) ? SAMPLE_ZLIB : SAMPLE_PLAIN, "info", sample_text());
    wire_elf_add_segment(elf, (struct wire_segment){ PT_NOTE, 4, 0x400200, 36, note, 4 });
    wire_elf_add_segment(elf, (struct wire_segment){ PT_LOAD, 5, 0x401000, sizeof code, text, 0x1000 });
    wire_elf_add_segment(elf, (struct wire_segment){ PT_LOAD, 6, 0x403000, 0x1000, 0, 0x1000 });
}

struct csni_span sample_copy(struct csni_span bytes, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    require(copy != NULL && size <= bytes.size, "copy");
    if (size) memcpy(copy, bytes.ptr, size);
    return (struct csni_span){ copy, size };
}

void sample_free(struct csni_span copy) { free((void *)(uintptr_t)copy.ptr); }
