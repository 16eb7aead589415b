/* object: relocations of debug sections, machine by machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "object/elf/elf_layout.h"
#include "object/elf/elf_relocation_types.h"
#include "support/object_sample.h"

/* Every sample object has these sections and symbols. */
enum { TEXT = 1, DATA = 2, TEXT_SIZE = 0x100 };                                   /* .data has its place at 0x100 */
enum { SYM_TEXT = 1, SYM_FUNC, SYM_DATA, SYM_UNDEFINED, SYM_ABSOLUTE, SYM_COMMON, SYM_TLS, SYM_NOWHERE };
static const struct wire_symbol symbols[] = {
    { .name = "", .type = STT_SECTION, .section = TEXT },
    { .name = "func", .value = 0x21, .type = STT_FUNC, .section = TEXT },         /* on ARM: Thumb code at 0x20 */
    { .name = "data", .value = 0x10, .type = STT_OBJECT, .section = DATA },       /* at 0x110 */
    { .name = "undefined", .section = SHN_UNDEF },
    { .name = "absolute", .value = 0x55, .section = SHN_ABS },
    { .name = "common", .value = 8, .type = STT_OBJECT, .section = SHN_COMMON },  /* 8: its alignment */
    { .name = "tls", .value = 0x18, .type = STT_TLS, .section = DATA },
    { .name = "nowhere", .section = 99 },
};
enum { SYMBOL_COUNT = sizeof symbols / sizeof *symbols };

struct sample {
    struct wire_elf elf;
    struct wire file;
    struct csni_object *object;
    uint32_t table, target;
};

static void begin(struct sample *s, bool wide, bool big, uint16_t type, uint16_t machine) {
    static const uint8_t code[TEXT_SIZE];
    memset(s, 0, sizeof *s);
    wire_elf_init(&s->elf, wide, big, type, machine);
    wire_init(&s->file, big);
    wire_elf_add(&s->elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, (struct csni_span){ code, sizeof code });
    wire_elf_add(&s->elf, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, (struct csni_span){ code, 0x40 });
    s->table = wire_elf_add_symbols(&s->elf, SHT_SYMTAB, symbols, SYMBOL_COUNT);
}

static void open_built(struct sample *s) {
    wire_elf_build(&s->elf, &s->file, NULL);
    assert_int_equal(csni_object_open(wire_span(&s->file), NULL, &s->object, NULL), CSN_OK);
}

static struct csni_span read_target(struct sample *s) {
    struct csni_span bytes = { NULL, 0 };
    assert_int_equal(csni_object_read_section(s->object, s->target, &bytes, NULL), CSN_OK);
    return bytes;
}

static void end(struct sample *s) {
    csni_object_close(s->object);
    wire_elf_deinit(&s->elf);
    wire_deinit(&s->file);
}

/* ---- one relocation at a time ---- */

struct shape { uint16_t machine; bool wide, big, in_place; /* in_place: SHT_REL */ };
static const struct shape x86_64 = { EM_X86_64, true, false, false }, i386 = { EM_386, false, false, true },
                          aarch64 = { EM_AARCH64, true, false, false }, aarch64_be = { EM_AARCH64, true, true, false },
                          arm = { EM_ARM, false, false, true }, arm_be = { EM_ARM, false, true, true },
                          riscv64 = { EM_RISCV, true, false, false }, riscv32 = { EM_RISCV, false, false, false },
                          ppc32 = { EM_PPC, false, true, false }, ppc64 = { EM_PPC64, true, true, false },
                          ppc64le = { EM_PPC64, true, false, false }, s390x = { EM_S390, true, true, false };

/* What stands at offset 8 of a section of 24 bytes 0xa5 but for the `size` bytes holding `before`. */
struct one {
    const struct shape *shape;
    uint32_t type, symbol;
    int64_t addend;   /* with `in_place`, is ignored: `before` is the addend */
    unsigned size;
    uint64_t before, after;
};

static const struct one each[] = {
    { &x86_64, R_X86_64_64, SYM_DATA, 3, 8, 0x7777, 0x113 },
    { &x86_64, R_X86_64_32, SYM_TEXT, 0x44, 4, 0x7777, 0x44 },
    { &x86_64, R_X86_64_32S, SYM_DATA, -0x111, 4, 0, 0xffffffff },
    { &x86_64, R_X86_64_PC32, SYM_DATA, 0, 4, 0, 0x108 },
    { &x86_64, R_X86_64_PC64, SYM_TEXT, 2, 8, 0, (uint64_t)-6 },
    { &x86_64, R_X86_64_DTPOFF64, SYM_TLS, 1, 8, 0, 0x19 },
    { &x86_64, R_X86_64_DTPOFF32, SYM_TLS, 0, 4, 0, 0x18 },
    { &x86_64, R_X86_64_16, SYM_FUNC, 0, 2, 0, 0x21 },
    { &x86_64, R_X86_64_8, SYM_FUNC, 0, 1, 0, 0x21 },
    { &x86_64, R_X86_64_NONE, SYM_DATA, 3, 8, 0x7777, 0x7777 },
    { &x86_64, R_X86_64_64, SYM_UNDEFINED, 3, 8, 0, 3 },
    { &x86_64, R_X86_64_64, SYM_COMMON, 3, 8, 0, 3 },
    { &x86_64, R_X86_64_64, SYM_ABSOLUTE, 3, 8, 0, 0x58 },
    { &x86_64, R_X86_64_64, 0, -1, 8, 0, UINT64_MAX },
    { &i386, R_386_32, SYM_DATA, 0, 4, 3, 0x113 },
    { &i386, R_386_32, SYM_DATA, 0, 4, 0xfffffff0, 0x100 },
    { &i386, R_386_PC32, SYM_DATA, 0, 4, 1, 0x109 },
    { &i386, R_386_TLS_LDO_32, SYM_TLS, 0, 4, 4, 0x1c },
    { &i386, R_386_16, SYM_FUNC, 0, 2, 1, 0x22 },
    { &i386, R_386_8, SYM_FUNC, 0, 1, 0xff, 0x20 },
    { &i386, R_386_NONE, SYM_FUNC, 0, 4, 9, 9 },
    { &aarch64, R_AARCH64_ABS64, SYM_DATA, 3, 8, 0, 0x113 },
    { &aarch64, R_AARCH64_ABS32, SYM_DATA, 3, 4, 0, 0x113 },
    { &aarch64, R_AARCH64_ABS16, SYM_DATA, 3, 2, 0, 0x113 },
    { &aarch64, R_AARCH64_PREL64, SYM_DATA, 0, 8, 0, 0x108 },
    { &aarch64, R_AARCH64_PREL32, SYM_DATA, 0, 4, 0, 0x108 },
    { &aarch64, R_AARCH64_TLS_DTPREL64, SYM_TLS, 0, 8, 0, 0x18 },
    { &aarch64, R_AARCH64_NONE_OLD, SYM_DATA, 0, 8, 5, 5 },
    { &aarch64_be, R_AARCH64_ABS64, SYM_DATA, 3, 8, 0, 0x113 },
    { &arm, R_ARM_ABS32, SYM_DATA, 0, 4, 3, 0x113 },
    { &arm, R_ARM_ABS32, SYM_FUNC, 0, 4, 0, 0x20 },
    { &arm, R_ARM_REL32, SYM_DATA, 0, 4, 0, 0x108 },
    { &arm, R_ARM_TLS_LDO32, SYM_TLS, 0, 4, 0, 0x18 },
    { &arm, R_ARM_ABS16, SYM_DATA, 0, 2, 0, 0x110 },
    { &arm, R_ARM_ABS8, SYM_ABSOLUTE, 0, 1, 1, 0x56 },
    { &arm_be, R_ARM_ABS32, SYM_DATA, 0, 4, 3, 0x113 },
    { &riscv64, R_RISCV_64, SYM_DATA, 3, 8, 0, 0x113 },
    { &riscv64, R_RISCV_32, SYM_DATA, 3, 4, 0x7777, 0x113 },
    { &riscv64, R_RISCV_ADD8, SYM_FUNC, 0, 1, 0xf0, 0x11 },
    { &riscv64, R_RISCV_ADD16, SYM_DATA, 0, 2, 1, 0x111 },
    { &riscv64, R_RISCV_ADD32, SYM_DATA, 0, 4, 1, 0x111 },
    { &riscv64, R_RISCV_ADD64, SYM_DATA, 1, 8, 1, 0x112 },
    { &riscv64, R_RISCV_SUB8, SYM_FUNC, 0, 1, 0x20, 0xff },
    { &riscv64, R_RISCV_SUB16, SYM_FUNC, 0, 2, 0x20, 0xffff },
    { &riscv64, R_RISCV_SUB32, SYM_FUNC, 0, 4, 0x2100, 0x20df },
    { &riscv64, R_RISCV_SUB64, SYM_FUNC, 1, 8, 0, (uint64_t)-0x22 },
    { &riscv64, R_RISCV_SET6, SYM_ABSOLUTE, 0, 1, 0xc0, 0xd5 },
    { &riscv64, R_RISCV_SUB6, SYM_ABSOLUTE, 0, 1, 0x80, 0xab },
    { &riscv64, R_RISCV_SET8, SYM_FUNC, 0, 1, 0x77, 0x21 },
    { &riscv64, R_RISCV_SET16, SYM_DATA, 0, 2, 0x77, 0x110 },
    { &riscv64, R_RISCV_SET32, SYM_DATA, 0, 4, 0x77, 0x110 },
    { &riscv64, R_RISCV_32_PCREL, SYM_DATA, 0, 4, 0, 0x108 },
    { &riscv64, R_RISCV_SET_ULEB128, SYM_DATA, 0, 3, 0x008080, 0x008290 },  /* little-endian: 90 82 00 */
    { &riscv64, R_RISCV_SUB_ULEB128, SYM_FUNC, 0, 2, 0x0290, 0x01ef },      /* 0x110 - 0x21 */
    { &riscv64, R_RISCV_RELAX, SYM_DATA, 0, 4, 9, 9 },
    { &riscv64, R_RISCV_TLS_DTPREL64, SYM_TLS, 0, 8, 0, 0x18 },
    { &riscv32, R_RISCV_32, SYM_DATA, -3, 4, 0, 0x10d },
    { &riscv32, R_RISCV_TLS_DTPREL32, SYM_TLS, 0, 4, 0, 0x18 },
    { &ppc32, R_PPC_ADDR32, SYM_DATA, 3, 4, 0, 0x113 },
    { &ppc32, R_PPC_REL32, SYM_DATA, 0, 4, 0, 0x108 },
    { &ppc32, R_PPC_DTPREL32, SYM_TLS, 0, 4, 0, 0x18 },
    { &ppc64, R_PPC64_ADDR64, SYM_DATA, 3, 8, 0, 0x113 },
    { &ppc64, R_PPC64_ADDR32, SYM_DATA, 3, 4, 0, 0x113 },
    { &ppc64, R_PPC64_REL32, SYM_DATA, 0, 4, 0, 0x108 },
    { &ppc64, R_PPC64_REL64, SYM_DATA, 0, 8, 0, 0x108 },
    { &ppc64, R_PPC64_DTPREL64, SYM_TLS, 0, 8, 0, 0x18 },
    { &ppc64le, R_PPC64_UADDR64, SYM_DATA, 3, 8, 0, 0x113 },
    { &s390x, R_390_64, SYM_DATA, 3, 8, 0, 0x113 },
    { &s390x, R_390_32, SYM_DATA, 3, 4, 0, 0x113 },
    { &s390x, R_390_16, SYM_DATA, 3, 2, 0, 0x113 },
    { &s390x, R_390_8, SYM_FUNC, 3, 1, 0, 0x24 },
    { &s390x, R_390_PC32, SYM_DATA, 0, 4, 0, 0x108 },
    { &s390x, R_390_PC64, SYM_DATA, 0, 8, 0, 0x108 },
    { &s390x, R_390_TLS_LDO64, SYM_TLS, 0, 8, 0, 0x18 },
    { &s390x, R_390_TLS_LDO32, SYM_TLS, 0, 4, 0, 0x18 },
};

/* The content: what stands around the value must stay as it is. */
static void put_around(struct wire *w, uint64_t value, unsigned size, size_t length) {
    wire_fill(w, 0xa5, 8);
    wire_uint(w, value, size);
    wire_fill(w, 0xa5, length - w->size);
}

static void check_one(const struct one *one, bool compressed) {
    struct sample s;
    struct wire before, after;
    begin(&s, one->shape->wide, one->shape->big, ET_REL, one->shape->machine);
    wire_init(&before, one->shape->big);
    wire_init(&after, one->shape->big);
    put_around(&before, one->before, one->size, 24);
    put_around(&after, one->after, one->size, 24);
    s.target = sample_add_debug(&s.elf, compressed ? SAMPLE_ZLIB : SAMPLE_PLAIN, "info", wire_span(&before));
    struct wire_relocation relocation = { 8, one->type, one->symbol, one->addend };
    wire_elf_add_relocations(&s.elf, one->shape->in_place ? SHT_REL : SHT_RELA, s.target, s.table, &relocation, 1);
    open_built(&s);
    struct csni_span bytes = read_target(&s);
    assert_int_equal(bytes.size, 24);
    if (memcmp(bytes.ptr, after.bytes, 24) != 0)
        print_message("machine %u, relocation type %u\n", one->shape->machine, one->type);
    assert_memory_equal(bytes.ptr, after.bytes, 24);
    struct csni_relocation_counts counts;
    csni_object_relocation_counts(s.object, &counts);
    assert_int_equal(counts.unknown + counts.damaged, 0);
    wire_deinit(&before);
    wire_deinit(&after);
    end(&s);
}

static void applies_each_type(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        check_one(&each[i], false);
        if (sample_can_compress(SAMPLE_ZLIB)) check_one(&each[i], true);
    }
}

/* ---- many ---- */

/* A difference of two labels, as RISC-V writes it: two relocations at one place. */
static void applies_pairs_in_order(void **state) {
    (void)state;
    static const uint8_t content[8] = { 0, 0, 0, 0, 0x80, 0x80, 0x00, 0xee };
    static const struct wire_relocation pairs[] = {
        { 0, R_RISCV_ADD32, SYM_DATA, 0 }, { 0, R_RISCV_SUB32, SYM_FUNC, 0 },
        { 4, R_RISCV_SET_ULEB128, SYM_FUNC, 0 }, { 4, R_RISCV_SUB_ULEB128, SYM_DATA, 0 },
    };
    static const uint8_t expected[8] = { 0xef, 0, 0, 0, 0x91, 0xfe, 0x7f, 0xee }; /* -0xef modulo 2^21 */
    struct sample s;
    begin(&s, true, false, ET_REL, EM_RISCV);
    s.target = wire_elf_add(&s.elf, ".debug_line", SHT_PROGBITS, 0, 0, (struct csni_span){ content, 8 });
    wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, pairs, 4);
    open_built(&s);
    assert_memory_equal(read_target(&s).ptr, expected, 8);
    end(&s);
}

static void applies_several_sections_and_reads_again(void **state) {
    (void)state;
    static const uint8_t content[8];
    static const struct wire_relocation first = { 0, R_X86_64_32, SYM_DATA, 0 }, second = { 4, R_X86_64_32, SYM_FUNC, 0 };
    struct sample s;
    begin(&s, true, false, ET_REL, EM_X86_64);
    uint32_t other = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, SHF_GROUP, 0, (struct csni_span){ content, 8 });
    s.target = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, 0, 0, (struct csni_span){ content, 8 });
    wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, &first, 1);
    wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, &second, 1);
    open_built(&s);
    for (int round = 0; round < 2; round++) {
        assert_memory_equal(read_target(&s).ptr, "\x10\x01\0\0\x21\0\0\0", 8);
        csni_object_release_section(s.object, s.target);
    }
    uint8_t copy[8];
    size_t size;
    memset(copy, 0xff, sizeof copy);
    assert_int_equal(csni_object_copy_unrelocated(s.object, s.target, copy, sizeof copy, &size, NULL), CSN_OK);
    assert_int_equal(size, sizeof copy);
    assert_memory_equal(copy, content, sizeof copy);
    struct csni_span bytes;
    assert_int_equal(csni_object_read_section(s.object, other, &bytes, NULL), CSN_OK);
    assert_memory_equal(bytes.ptr, content, 8);
    assert_true(bytes.ptr > s.file.bytes && bytes.ptr < s.file.bytes + s.file.size); /* a view: nothing to apply */
    end(&s);
}

static void check_untouched(uint16_t type, uint64_t flags) {
    static const uint8_t content[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static const struct wire_relocation relocation = { 0, R_X86_64_64, SYM_DATA, 0 };
    struct sample s;
    begin(&s, true, false, type, EM_X86_64);
    s.target = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, flags, 0, (struct csni_span){ content, 8 });
    wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, &relocation, 1);
    open_built(&s);
    assert_memory_equal(read_target(&s).ptr, content, 8);
    end(&s);
}

/* A kernel linked with --emit-relocs carries relocations that have been applied. */
static void leaves_linked_images_and_loaded_sections_alone(void **state) {
    (void)state;
    check_untouched(ET_EXEC, 0);
    check_untouched(ET_DYN, 0);
    check_untouched(ET_REL, SHF_ALLOC);
}

/* ---- what cannot be applied ---- */

static void counts_what_it_leaves_out(void **state) {
    (void)state;
    static const uint8_t content[8] = { 1, 2, 3, 4, 5, 6, 7, 0x88 };
    static const struct wire_relocation relocations[] = {
        { 0, 4242, SYM_DATA, 0 }, { 0, 7, SYM_DATA, 0 },          /* unknown types */
        { 5, R_RISCV_32, SYM_DATA, 0 }, { 8, R_RISCV_SET8, SYM_DATA, 0 },
        { UINT64_MAX, R_RISCV_64, SYM_DATA, 0 },                  /* outside */
        { 7, R_RISCV_SET_ULEB128, SYM_DATA, 0 },                  /* no end */
        { 0, R_RISCV_32, SYMBOL_COUNT + 1, 0 }, { 0, R_RISCV_32, UINT32_MAX, 0 }, { 0, R_RISCV_32, SYM_NOWHERE, 0 },
        { 3, R_RISCV_SET8, SYM_FUNC, 0 },                         /* good */
    };
    struct sample s;
    struct csni_relocation_counts counts;
    begin(&s, true, false, ET_REL, EM_RISCV);
    s.target = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, 0, 0, (struct csni_span){ content, 8 });
    wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, relocations, 10);
    open_built(&s);
    csni_object_relocation_counts(s.object, &counts);
    assert_int_equal(counts.unknown + counts.unknown_type + counts.damaged, 0);
    assert_memory_equal(read_target(&s).ptr, "\x01\x02\x03\x21\x05\x06\x07\x88", 8);
    csni_object_relocation_counts(s.object, &counts);
    assert_int_equal(counts.unknown, 2);
    assert_int_equal(counts.unknown_type, 4242);
    assert_int_equal(counts.damaged, 7);
    end(&s);
}

static void knows_no_types_of_an_unknown_machine(void **state) {
    (void)state;
    static const struct wire_relocation relocation = { 0, 1, SYM_DATA, 0 };
    struct sample s;
    struct csni_relocation_counts counts;
    begin(&s, true, false, ET_REL, 0x1234);
    s.target = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, 0, 0, (struct csni_span){ (const uint8_t *)"12345678", 8 });
    wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, &relocation, 1);
    open_built(&s);
    assert_memory_equal(read_target(&s).ptr, "12345678", 8);
    csni_object_relocation_counts(s.object, &counts);
    assert_int_equal(counts.unknown, 1);
    assert_int_equal(counts.unknown_type, 1);
    end(&s);
}

static void check_refused(uint32_t link, uint64_t flags, csn_status status, const char *text) {
    static const struct wire_relocation relocation = { 0, R_X86_64_64, SYM_DATA, 0 };
    struct sample s;
    struct csni_span bytes;
    struct csn_error err = CSN_ERROR_INIT;
    begin(&s, true, false, ET_REL, EM_X86_64);
    s.target = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, 0, 0, (struct csni_span){ (const uint8_t *)"12345678", 8 });
    uint32_t section = wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, &relocation, 1);
    s.elf.sections[section].link = link;
    s.elf.sections[section].flags = flags;
    open_built(&s);
    assert_int_equal(csni_object_read_section(s.object, s.target, &bytes, &err), status);
    assert_string_equal(csn_error_text(&err), text);
    end(&s);
}

static void names_what_is_wrong_with_a_relocation_section(void **state) {
    (void)state;
    check_refused(77, 0, CSN_E_FORMAT, "section 77 of 8 is no symbol table");
    check_refused(TEXT, 0, CSN_E_FORMAT, "section 1 of 8 is no symbol table");
    check_refused(4, SHF_COMPRESSED, CSN_E_UNSUPPORTED, ".rela.debug_info+0x0: compressed relocations");
}

/* Headers are cheap: a hundred of them naming the same relocations must not mean a hundred times the work. */
static void refuses_overlapping_relocation_sections(void **state) {
    (void)state;
    static const uint8_t content[8];
    static struct wire_relocation relocations[1000];
    struct sample s;
    struct csni_span bytes;
    struct csn_error err = CSN_ERROR_INIT;
    struct wire_elf_places places;
    begin(&s, true, false, ET_REL, EM_X86_64);
    s.target = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, 0, 0, (struct csni_span){ content, 8 });
    uint32_t first = wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, relocations, 1000);
    uint32_t second = wire_elf_add_relocations(&s.elf, SHT_RELA, s.target, s.table, relocations, 0);
    wire_elf_build(&s.elf, &s.file, &places);
    size_t header = places.section_headers + second * places.section_header_size;
    wire_patch(&s.file, header + 24, places.section_off[first], 8);
    wire_patch(&s.file, header + 32, 24000, 8);
    assert_int_equal(csni_object_open(wire_span(&s.file), NULL, &s.object, NULL), CSN_OK);
    assert_int_equal(csni_object_read_section(s.object, s.target, &bytes, &err), CSN_E_FORMAT);
    assert_non_null(strstr(csn_error_text(&err), "relocation sections overlap"));
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies_each_type),
        cmocka_unit_test(applies_pairs_in_order),
        cmocka_unit_test(applies_several_sections_and_reads_again),
        cmocka_unit_test(leaves_linked_images_and_loaded_sections_alone),
        cmocka_unit_test(counts_what_it_leaves_out),
        cmocka_unit_test(knows_no_types_of_an_unknown_machine),
        cmocka_unit_test(names_what_is_wrong_with_a_relocation_section),
        cmocka_unit_test(refuses_overlapping_relocation_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
