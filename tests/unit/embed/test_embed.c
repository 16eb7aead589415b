/* Embedding and extracting: files of every container made by the tests' own builders, and damage. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <callsign/embed.h>
#include <callsign/index.h>

#include "base/core/endian.h"
#include "support/macho_sample.h"
#include "object/find/section_find.h"
#include "support/object_sample.h"
#include "support/pe_sample.h"
#include "support/test_alloc.h"
#include "wire/wire_gsym.h"

static struct wire_gsym index_wire;

/* The index that is embedded: GSYM version 1. */
static struct csni_span sample_index(void) {
    wire_gsym_example(&index_wire, false, 2);
    return wire_gsym_build(&index_wire);
}

static csn_status embed(struct csni_span index, struct csni_span object, uint32_t flags, struct csn_bytes *out,
                        struct csn_error *err) {
    struct csn_embed_options options = CSN_EMBED_OPTIONS_INIT;
    options.flags = flags | CSN_EMBED_FORCE; /* the samples have build ids of their own */
    return csn_embed_memory(index.ptr, index.size, object.ptr, object.size, &options, out, err);
}

/* What was embedded comes out again, answers lookups, and stays when the same is done once more. */
static void check_embedded(const struct csn_bytes *file, struct csni_span index) {
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    if (csn_extract_memory(file->ptr, file->size, NULL, &out, &err) < 0) fail_msg("%s", csn_error_text(&err));
    assert_int_equal(out.size, index.size);
    assert_memory_equal(out.ptr, index.ptr, index.size);
    csn_bytes_free(&out);
    struct csn_index *opened;
    struct csn_frame frames[4];
    size_t count = 0;
    if (csn_index_open_memory(file->ptr, file->size, NULL, &opened, &err) < 0) fail_msg("%s", csn_error_text(&err));
    assert_int_equal(csn_index_lookup(opened, 0x1004, frames, 4, &count, NULL), CSN_OK);
    assert_memory_equal(frames[count - 1].name.ptr, "die", 4);
    csn_index_close(opened);
}

/* All sections of the object are in the result, with the same bytes; and what the program loads stands where it stood. */
static void check_kept(struct csni_span before, const struct csn_bytes *after, bool places_too) {
    struct csni_object *a, *b;
    assert_int_equal(csni_object_open(before, NULL, &a, NULL), CSN_OK);
    assert_int_equal(csni_object_open((struct csni_span){ after->ptr, after->size }, NULL, &b, NULL), CSN_OK);
    assert_true(b->section_count > a->section_count);
    for (uint32_t i = 1; i < a->section_count; i++) {
        const struct csni_section *s = &a->sections[i], *t = &b->sections[i];
        assert_true(csni_str_equal(s->name, t->name));
        assert_int_equal(s->addr, t->addr);
        struct csni_span x, y;
        if (csni_str_is(s->name, ".shstrtab")) continue;
        assert_int_equal(s->flags, t->flags);
        assert_int_equal(s->size, t->size);
        if (places_too) assert_int_equal(s->file_off, t->file_off);
        if (csni_object_read_section(a, i, &x, NULL) < 0) continue;
        assert_int_equal(csni_object_read_section(b, i, &y, NULL), CSN_OK);
        assert_int_equal(x.size, y.size);
        if (x.size) assert_memory_equal(x.ptr, y.ptr, x.size);
    }
    assert_int_equal(a->segment_count <= b->segment_count, 1);
    csni_object_close(a);
    csni_object_close(b);
}

static void elf_files(void **state) {
    (void)state;
    struct csni_span index = sample_index();
    for (int shape = 0; shape < 8; shape++) {
        struct wire_elf elf;
        struct wire wire;
        struct csn_bytes once, again;
        struct csn_error err = CSN_ERROR_INIT;
        sample_elf(&elf, shape & 1, shape & 2);
        elf.extended_numbering = shape & 4;
        wire_init(&wire, shape & 2);
        wire_elf_build(&elf, &wire, NULL);
        if (embed(index, wire_span(&wire), 0, &once, &err) < 0) fail_msg("%s", csn_error_text(&err));
        check_embedded(&once, index);
        check_kept(wire_span(&wire), &once, true);
        /* An older index is replaced, and leaves nothing after. */
        assert_int_equal(embed(index, (struct csni_span){ once.ptr, once.size }, 0, &again, &err), CSN_OK);
        assert_int_equal(once.size, again.size);
        assert_memory_equal(once.ptr, again.ptr, once.size);
        csn_bytes_free(&again);
        csn_bytes_free(&once);
        assert_int_equal(embed(index, wire_span(&wire), CSN_EMBED_LOADED, &once, &err), CSN_E_UNSUPPORTED);
        assert_non_null(strstr(err.text, "cannot become loaded"));
        wire_deinit(&wire);
        wire_elf_deinit(&elf);
    }
}

static void elf_without_sections(void **state) {
    (void)state;
    struct csni_span index = sample_index();
    struct wire_elf elf;
    struct wire wire;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    sample_elf(&elf, true, false);
    elf.without_section_headers = true;
    wire_init(&wire, false);
    wire_elf_build(&elf, &wire, NULL);
    if (embed(index, wire_span(&wire), 0, &out, &err) < 0) fail_msg("%s", csn_error_text(&err));
    check_embedded(&out, index);
    csn_bytes_free(&out);
    wire_deinit(&wire);
    wire_elf_deinit(&elf);
}

static void loaded_in_relocatable(void **state) {
    (void)state;
    struct csni_span index = sample_index();
    struct wire_elf elf;
    struct wire wire;
    struct csn_bytes out;
    struct csni_object *object;
    wire_elf_init(&elf, true, false, 1 /* ET_REL */, 62);
    wire_init(&wire, false);
    wire_elf_build(&elf, &wire, NULL);
    assert_int_equal(embed(index, wire_span(&wire), CSN_EMBED_LOADED, &out, NULL), CSN_OK);
    assert_int_equal(csni_object_open((struct csni_span){ out.ptr, out.size }, NULL, &object, NULL), CSN_OK);
    uint32_t section = csni_object_find_section(object, ".gsym");
    assert_true(object->sections[section].flags & CSNI_SECTION_ALLOC);
    assert_int_equal(object->sections[section].align, 16);
    csni_object_close(object);
    csn_bytes_free(&out);
    wire_deinit(&wire);
    wire_elf_deinit(&elf);
}

static void set_alignments(struct pe_sample *s) {
    wire_patch(&s->file, s->places.optional_header + 32, 0x1000, 4);
    wire_patch(&s->file, s->places.optional_header + 36, 0x200, 4);
    wire_patch(&s->file, s->places.optional_header + 56, 0x9000, 4); /* size of the image, and of its headers */
    wire_patch(&s->file, s->places.optional_header + 60, 0x400, 4);
}

static void pe_files(void **state) {
    (void)state;
    struct csni_span index = sample_index();
    unsigned good = 0;
    for (int shape = 0; shape < 4; shape++) {
        struct pe_sample s;
        struct csn_bytes out;
        struct csn_error err = CSN_ERROR_INIT;
        pe_sample_begin(&s, (enum wire_pe_shape)shape, IMAGE_FILE_MACHINE_AMD64);
        pe_sample_build(&s);
        if (shape == WIRE_PE_IMAGE32 || shape == WIRE_PE_IMAGE64) set_alignments(&s);
        struct csni_span file = wire_span(&s.file);
        csn_status status = embed(index, file, 0, &out, &err);
        if (status >= 0) {
            check_embedded(&out, index);
            check_kept(file, &out, false);
            struct csn_bytes again;
            assert_int_equal(embed(index, (struct csni_span){ out.ptr, out.size }, 0, &again, &err), CSN_E_UNSUPPORTED);
            assert_non_null(strstr(err.text, "carries an index already"));
            csn_bytes_free(&out);
            good++;
        } else {
            if (status != CSN_E_UNSUPPORTED || !strstr(err.text, "no room for 1 more section header")) fail_msg("%s", err.text);
        }
        pe_sample_end(&s);
    }
    assert_true(good >= 2);
}

/* Takes the contents of sections away, so that there is room for one section header more; gives its end. */
static size_t make_room(struct pe_sample *s) {
    enum { HEADER = 40, RAW_SIZE = 16, RAW_OFF = 20 }; /* of a section */
    set_alignments(s);
    size_t end = s->places.section_headers + (size_t)(s->pe.section_count + 1) * HEADER;
    for (size_t i = 0; i < s->pe.section_count; i++) {
        wire_patch(&s->file, s->places.section_headers + i * HEADER + RAW_SIZE, 0, 4);
        wire_patch(&s->file, s->places.section_headers + i * HEADER + RAW_OFF, 0, 4);
    }
    for (size_t off = end - HEADER; off < end; off++) wire_patch(&s->file, off, 0, 1);
    wire_patch(&s->file, s->places.coff_header + 8, 0, 4); /* no symbols */
    wire_patch(&s->file, s->places.coff_header + 12, 0, 4);
    return end;
}

/* The file ends where the new section header does, or a byte before. */
static void pe_file_of_headers(void **state) {
    (void)state;
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    pe_sample_build(&s);
    size_t end = make_room(&s);
    struct csni_span index = sample_index();
    for (size_t size = end - 1; size <= end; size++) {
        struct csn_bytes out = { NULL, 0, NULL };
        struct csn_error err = CSN_ERROR_INIT;
        csn_status status = embed(index, (struct csni_span){ wire_span(&s.file).ptr, size }, 0, &out, &err);
        if (status != (size == end ? CSN_OK : CSN_E_UNSUPPORTED)) fail_msg("%zu of %zu: %s", size, end, csn_error_text(&err));
        csn_bytes_free(&out);
    }
    pe_sample_end(&s);
}

/* How often a watched file was opened since the last call: each event of a file itself is a bare struct. */
static unsigned count_opens(int watch) {
    struct inotify_event events[16];
    ssize_t size = read(watch, events, sizeof events);
    return size > 0 ? (unsigned)((size_t)size / sizeof *events) : 0;
}

/* Whatever is found in it, a path is opened once: what stands there may change in between. */
static void a_path_is_opened_once(void **state) {
    (void)state;
    struct pe_sample s;
    struct csn_bytes carrier;
    pe_sample_begin(&s, WIRE_PE_OBJECT, IMAGE_FILE_MACHINE_AMD64);
    pe_sample_build(&s);
    struct csni_span plain = wire_span(&s.file), index = sample_index();
    assert_int_equal(embed(index, plain, 0, &carrier, NULL), CSN_OK);
    const struct csni_span files[] = { { carrier.ptr, carrier.size }, plain, index };
    const csn_status embedded[] = { CSN_OK, CSN_NONE, CSN_NONE };
    const bool opens[] = { true, false, true };
    char path[] = "/tmp/test_embed.XXXXXX";
    int fd = mkstemp(path), watch = inotify_init1(IN_NONBLOCK);
    assert_true(fd >= 0 && watch >= 0);
    assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
    for (size_t i = 0; i < 3; i++) {
        struct csn_index *opened = NULL;
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, files[i].ptr, files[i].size, 0), files[i].size);
        assert_int_equal(csn_index_open_embedded(path, NULL, &opened, NULL), embedded[i]);
        csn_index_close(opened);
        assert_int_equal(count_opens(watch), 1);
        opened = NULL;
        assert_true((csn_index_open_file(path, NULL, &opened, NULL) >= 0) == opens[i]);
        csn_index_close(opened);
        assert_int_equal(count_opens(watch), 1);
    }
    close(watch);
    close(fd);
    unlink(path);
    csn_bytes_free(&carrier);
    pe_sample_end(&s);
}

static void macho_files(void **state) {
    (void)state;
    struct csni_span index = sample_index();
    for (int shape = 0; shape < 4; shape++) {
        struct macho_sample_file f;
        struct csn_bytes out;
        struct csn_error err = CSN_ERROR_INIT;
        macho_sample_begin(&f, shape & 1, shape & 2);
        assert_int_equal(macho_sample_open(&f), CSN_OK);
        csn_status status = embed(index, f.object->file, 0, &out, &err);
        if (status >= 0) {
            check_embedded(&out, index);
            csn_bytes_free(&out);
        } else {
            assert_int_equal(status, CSN_E_UNSUPPORTED);
            assert_non_null(strstr(err.text, "no room for a load command"));
        }
        macho_sample_end(&f);
    }
}

static void refusals(void **state) {
    (void)state;
    struct csni_span index = sample_index();
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    static const uint8_t text[] = "neither index nor object";
    assert_int_equal(embed(index, (struct csni_span){ text, sizeof text }, 0, &out, &err), CSN_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "not an object file"));
    struct wire_elf elf;
    struct wire wire;
    sample_elf(&elf, true, false);
    wire_init(&wire, false);
    wire_elf_build(&elf, &wire, NULL);
    assert_int_equal(embed((struct csni_span){ text, sizeof text }, wire_span(&wire), 0, &out, &err), CSN_E_UNSUPPORTED);
    assert_int_equal(embed(wire_span(&wire), wire_span(&wire), 0, &out, &err), CSN_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "there is no section .gsym"));
    assert_int_equal(embed(index, wire_span(&wire), 64, &out, &err), CSN_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "unknown embedding flags 0x40"));
    assert_int_equal(csn_extract_memory(wire_span(&wire).ptr, wire_span(&wire).size, NULL, &out, &err), CSN_E_NOT_FOUND);
    wire_bytes(&wire, "~Module signature appended~\n", 28);
    assert_int_equal(embed(index, wire_span(&wire), 0, &out, &err), CSN_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "embed before signing"));
    wire_deinit(&wire);
    wire_elf_deinit(&elf);
}

/* ---- damage ---- */

/* What is said of section headers that the file does not have: how many, of which size. */
static void section_headers_outside(void **state) {
    (void)state;
    enum { WIDE_SHNUM = 60, WIDE_SHDR = 64, COUNT = 0xfe00 };
    struct wire_elf elf;
    struct wire wire;
    struct wire_elf_places places;
    struct csni_span found;
    struct csn_error err = CSN_ERROR_INIT;
    char expected[160];
    sample_elf(&elf, true, false);
    wire_init(&wire, false);
    wire_elf_build(&elf, &wire, &places);
    csni_put16(wire.bytes + WIDE_SHNUM, COUNT, false);
    assert_int_equal(csni_section_find_index(wire_span(&wire), &found, &err), CSN_E_TRUNCATED);
    snprintf(expected, sizeof expected, "section headers: %d of %d bytes at 0x%zx, but the file has 0x%zx", COUNT, WIDE_SHDR,
             places.section_headers, wire.size);
    assert_string_equal(csn_error_text(&err), expected);
    wire_deinit(&wire);
    wire_elf_deinit(&elf);
}

static void embed_copy(struct csni_span index, const uint8_t *bytes, size_t size, size_t flip, uint8_t bit) {
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    if (bit) copy[flip] ^= bit;
    struct csn_bytes out, extracted;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = embed(index, (struct csni_span){ copy, size }, flip & 1 ? CSN_EMBED_DROP_SIGNATURE : 0u, &out, &err);
    assert_true(status >= 0 || err.text[0]);
    if (status >= 0) {
        if (csn_extract_memory(out.ptr, out.size, NULL, &extracted, NULL) >= 0) csn_bytes_free(&extracted);
        csn_bytes_free(&out);
    }
    free(copy);
}

static void damage(struct csni_span index, struct csni_span file) {
    size_t step = file.size > 4096 ? 7 : 1;
    for (size_t size = 0; size < file.size; size += step) embed_copy(index, file.ptr, size, 0, 0);
    uint64_t seed = 77;
    for (unsigned i = 0; i < 3000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t place = (size_t)(seed >> 33) % file.size;
        if (i & 1) place %= 512; /* headers */
        embed_copy(index, file.ptr, file.size, place % file.size, (uint8_t)(1u << (seed >> 60 & 7)));
    }
}

static void damaged_files(void **state) {
    (void)state;
    struct csni_span index = sample_index();
    struct wire_elf elf;
    struct wire wire;
    sample_elf(&elf, true, true);
    wire_init(&wire, true);
    wire_elf_build(&elf, &wire, NULL);
    damage(index, wire_span(&wire));
    wire_deinit(&wire);
    wire_elf_deinit(&elf);
    struct pe_sample pe;
    pe_sample_begin(&pe, (enum wire_pe_shape)0, IMAGE_FILE_MACHINE_AMD64);
    pe_sample_build(&pe);
    damage(index, wire_span(&pe.file));
    pe_sample_end(&pe);
    struct macho_sample_file f;
    macho_sample_begin(&f, true, false);
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    damage(index, f.object->file);
    macho_sample_end(&f);
}

static csn_status embed_step(void *context, const struct csn_allocator *alloc) {
    const struct csni_span *both = context;
    struct csn_embed_options options = CSN_EMBED_OPTIONS_INIT;
    options.flags = CSN_EMBED_FORCE;
    struct csn_bytes out, extracted;
    options.allocator = alloc;
    csn_status status = csn_embed_memory(both[0].ptr, both[0].size, both[1].ptr, both[1].size, &options, &out, NULL);
    if (status < 0) return status;
    status = csn_extract_memory(out.ptr, out.size, &options, &extracted, NULL);
    if (status >= 0) csn_bytes_free(&extracted);
    csn_bytes_free(&out);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    struct wire_elf elf;
    struct wire wire;
    sample_elf(&elf, false, false);
    wire_init(&wire, false);
    wire_elf_build(&elf, &wire, NULL);
    struct csni_span both[2] = { sample_index(), wire_span(&wire) };
    assert_true(test_allocator_sweep(embed_step, both, 0) > 10);
    assert_true(test_allocator_sweep(embed_step, both, 1) > 10);
    wire_deinit(&wire);
    wire_elf_deinit(&elf);
}

/* ---- addresses that count from the image's first byte ---- */

/* Two functions, of 0x10 bytes each, at these addresses. */
static struct csni_span index_of_two(bool big, uint64_t base, uint64_t first, uint64_t second) {
    wire_gsym_init(&index_wire, big, 4, base);
    wire_gsym_function(&index_wire, first, 0x10, "one");
    wire_gsym_function(&index_wire, second, 0x10, "two");
    return wire_gsym_build(&index_wire);
}

static csn_status embed_checked(struct csni_span index, struct csni_span object, uint32_t flags, struct csn_bytes *out,
                                struct csn_error *err) {
    struct csn_embed_options options = CSN_EMBED_OPTIONS_INIT;
    options.flags = flags;
    return csn_embed_memory(index.ptr, index.size, object.ptr, object.size, &options, out, err);
}

/* Its functions are found at `by` more than the index says, and nothing else differs. */
static void check_moved(struct csni_span index, struct csni_span object, uint64_t first, uint64_t by) {
    struct csn_bytes out, extracted;
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *opened;
    struct csn_frame frames[4];
    size_t count = 0;
    /* Samples have bytes that no header tells of, as if they were appended. */
    const uint32_t flags = CSN_EMBED_DROP_SIGNATURE | CSN_EMBED_FORCE;
    if (embed_checked(index, object, flags, &out, &err) < 0) fail_msg("%s", csn_error_text(&err));
    assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &opened, NULL), CSN_OK);
    assert_int_equal(csn_index_lookup(opened, first + by + 4, frames, 4, &count, NULL), CSN_OK);
    assert_memory_equal(frames[0].name.ptr, "one", 4);
    if (by) assert_int_equal(csn_index_lookup(opened, first + 4, frames, 4, &count, NULL), CSN_NONE);
    csn_index_close(opened);
    assert_int_equal(csn_extract_memory(out.ptr, out.size, NULL, &extracted, NULL), CSN_OK);
    assert_int_equal(extracted.size, index.size);
    assert_memory_equal(extracted.ptr, index.ptr, 8);
    assert_memory_equal((const uint8_t *)extracted.ptr + 16, index.ptr + 16, index.size - 16);
    if (!by) assert_memory_equal(extracted.ptr, index.ptr, 16);
    csn_bytes_free(&extracted);
    csn_bytes_free(&out);
    wire_gsym_deinit(&index_wire);
}

/* None of its functions lies in the object's code, whatever is added. */
static void check_foreign(struct csni_span index, struct csni_span object) {
    struct csn_bytes out, extracted;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(embed_checked(index, object, 0, &out, &err), CSN_E_ARGUMENT);
    assert_non_null(strstr(err.text, "no function of the index lies in the object's code: the first one is at 0x"));
    assert_int_equal(embed_checked(index, object, CSN_EMBED_FORCE, &out, NULL), CSN_OK);
    assert_int_equal(csn_extract_memory(out.ptr, out.size, NULL, &extracted, NULL), CSN_OK);
    assert_memory_equal(extracted.ptr, index.ptr, index.size);
    csn_bytes_free(&extracted);
    csn_bytes_free(&out);
    wire_gsym_deinit(&index_wire);
}

static void pe_addresses(void **state) {
    (void)state;
    enum { ONE = PE_TEXT_RVA + 0x10, TWO = PE_TEXT_RVA + 0x40, OUTSIDE = PE_DATA_RVA };
    for (int shape = WIRE_PE_IMAGE32; shape <= WIRE_PE_IMAGE64; shape++) {
        struct pe_sample s;
        pe_sample_begin(&s, (enum wire_pe_shape)shape, IMAGE_FILE_MACHINE_AMD64);
        pe_sample_build(&s);
        (void)make_room(&s);
        struct csni_span file = wire_span(&s.file);
        for (int big = 0; big < 2; big++) {
            check_moved(index_of_two(big, 0, ONE, TWO), file, ONE, PE_BASE);
            check_moved(index_of_two(big, 0, ONE, OUTSIDE), file, ONE, PE_BASE);
            /* Base 0, but the addresses are the object's. */
            check_moved(index_of_two(big, 0, PE_BASE + ONE, PE_BASE + TWO), file, PE_BASE + ONE, 0);
            check_moved(index_of_two(big, PE_BASE, PE_BASE + ONE, PE_BASE + OUTSIDE), file, PE_BASE + ONE, 0);
            /* As much speaks for one as for the other. */
            check_moved(index_of_two(big, 0, ONE, PE_BASE + TWO), file, ONE, 0);
            check_foreign(index_of_two(big, 0x800, ONE, TWO), file);
            check_foreign(index_of_two(big, 0, OUTSIDE, OUTSIDE + 0x20), file);
            check_foreign(index_of_two(big, 0, 4, 8), file);
        }
        pe_sample_end(&s);
    }
}

static void elf_and_macho_addresses(void **state) {
    (void)state;
    for (int shape = 0; shape < 8; shape++) {
        struct wire_elf elf;
        struct wire wire;
        sample_elf(&elf, shape & 1, shape & 2);
        elf.without_section_headers = shape & 4; /* segments tell where code is */
        wire_init(&wire, shape & 2);
        wire_elf_build(&elf, &wire, NULL);
        check_moved(index_of_two(false, 0, 0, 0x10), wire_span(&wire), 0, 0x401000);
        check_moved(index_of_two(false, 0x401000, 0x401000, 0x401010), wire_span(&wire), 0x401000, 0);
        check_foreign(index_of_two(false, 0, 0x80000, 0x90000), wire_span(&wire));
        wire_deinit(&wire);
        wire_elf_deinit(&elf);
    }
    struct macho_sample_file f;
    macho_sample_begin(&f, true, false);
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = embed_checked(index_of_two(false, 0, 4, 8), wire_span(&f.wire), 0, &out, &err);
    assert_int_equal(status, CSN_E_ARGUMENT); /* before the first instruction */
    assert_non_null(strstr(err.text, "the object begins at 0x10000 "));
    wire_gsym_deinit(&index_wire);
    macho_sample_end(&f);
}

static void allocation_failures_of_moved(void **state) {
    (void)state;
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    pe_sample_build(&s);
    (void)make_room(&s);
    struct csni_span both[2] = { index_of_two(false, 0, PE_TEXT_RVA, PE_TEXT_RVA + 0x20), wire_span(&s.file) };
    assert_true(test_allocator_sweep(embed_step, both, 0) > 5);
    assert_true(test_allocator_sweep(embed_step, both, 1) > 5);
    pe_sample_end(&s);
}

static int release_index(void **state) {
    (void)state;
    wire_gsym_deinit(&index_wire);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(elf_files, release_index), cmocka_unit_test_teardown(elf_without_sections, release_index),
        cmocka_unit_test_teardown(loaded_in_relocatable, release_index), cmocka_unit_test_teardown(pe_files, release_index),
        cmocka_unit_test_teardown(macho_files, release_index), cmocka_unit_test_teardown(refusals, release_index),
        cmocka_unit_test(section_headers_outside),
        cmocka_unit_test_teardown(a_path_is_opened_once, release_index),
        cmocka_unit_test_teardown(pe_file_of_headers, release_index),
        cmocka_unit_test_teardown(damaged_files, release_index), cmocka_unit_test_teardown(allocation_failures, release_index),
        cmocka_unit_test(pe_addresses), cmocka_unit_test(elf_and_macho_addresses),
        cmocka_unit_test_teardown(allocation_failures_of_moved, release_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
