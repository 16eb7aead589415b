/* Text files of symbols: the kernel's list, perf's maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/symbols/symbols_text.h"
#include "support/test_alloc.h"

typedef csn_status reader(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                          struct csn_error *err);

static struct csni_list_base base;

static csn_status read_kallsyms(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                                struct csn_error *err) {
    return csni_kallsyms_read(file, alloc, w, &base, err);
}

static struct csni_span span_of(const char *text) { return (struct csni_span){ (const uint8_t *)text, strlen(text) }; }

/* Functions as "START+SIZE NAME", and the counts of events. */
static csn_status read_text(reader *read, struct csni_span file, const struct csn_allocator *alloc, char *out, size_t capacity,
                            struct csn_error *err) {
    struct csni_arena arena;
    struct csni_batch_writer w;
    struct csni_batch batch;
    size_t n = 0;
    out[0] = 0;
    alloc = csni_allocator_or_default(alloc);
    csni_arena_init(&arena, alloc, 4096);
    csni_batch_writer_init(&w, alloc);
    csni_batch_begin(&w, &arena);
    csn_status status = read(file, alloc, &w, err);
    if (status >= 0) status = csni_batch_finish(&w, &batch, err);
    for (uint32_t i = 0; status >= 0 && i < batch.function_count && n < capacity; i++) {
        const struct csni_function *f = &batch.functions[i];
        struct csn_str name = batch.strings[f->name];
        n += (size_t)snprintf(out + n, capacity - n, "%s%llx+%x %.*s", i ? "; " : "", (unsigned long long)f->start, f->size,
                              (int)name.len, name.ptr);
    }
    for (uint32_t i = 0; status >= 0 && i < batch.note_count && n < capacity; i++)
        n += (size_t)snprintf(out + n, capacity - n, " <%s %llu: %.*s>", csn_event_name(batch.notes[i].event),
                              (unsigned long long)batch.notes[i].count, (int)batch.notes[i].example.len,
                              batch.notes[i].example.ptr);
    csni_batch_writer_deinit(&w);
    csni_arena_deinit(&arena);
    return status;
}

static void expect(reader *read, const char *file, const char *want) {
    char got[2048];
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(read_text(read, span_of(file), NULL, got, sizeof got, &err), CSN_OK);
    assert_string_equal(got, want);
}

static void kernel_list(void **state) {
    (void)state;
    expect(read_kallsyms,
           "ffffffff81000000 T _stext\nffffffff81000040 t helper\nffffffff81000060 D table\n"
           "ffffffff81000100 W weak_one\nffffffff81000180 B bss\n",
           "ffffffff81000000+40 _stext; ffffffff81000040+20 helper; ffffffff81000100+80 weak_one");
}

/* The end of a function is the next symbol of its module; the last of a module ends with its page. */
static void modules(void **state) {
    (void)state;
    expect(read_kallsyms,
           "ffffffff81000000 T a\nffffffff81000ff0 T last\n"
           "ffffffffc0000010 t init\t[one]\nffffffffc0000030 d data\t[one]\n"
           "ffffffffc0002000 t other\t[two]\nffffffffc0002010 t end\t[two]\n",
           "ffffffff81000000+ff0 a; ffffffff81000ff0+10 last; ffffffffc0000010+20 init; "
           "ffffffffc0002000+10 other; ffffffffc0002010+ff0 end");
}

/* A function may be longer than a page; the last of a module gives way to another module in its page. */
static void long_functions(void **state) {
    (void)state;
    expect(read_kallsyms, "ffffffff81000000 T a\nffffffff81004000 T b\nffffffff81004800 t c\t[m]\n",
           "ffffffff81000000+4000 a; ffffffff81004000+800 b; ffffffff81004800+800 c");
}

/* Lists of nm. Of names at one place the one with a size is kept, and others are names of the same. */
static void programs(void **state) {
    (void)state;
    expect(read_kallsyms, "                 U puts\n00001000 00000020 T a\n00001000 T b\n00001040 t c\n",
           "1000+20 b; 1000+20 a; 1040+fc0 c");
    expect(read_kallsyms, "00000000 00000020 T a\n00000000 T b\n", "0+20 b; 0+20 a");
    expect(read_kallsyms, "00000000 T only\n", "0+1000 only");
    expect(read_kallsyms, "00000000 a \n00000000 a a.c\n00001000 - 01 0000 SO a.c\n00000000 ? .text\n00001000 T a\n",
           "1000+1000 a");
    expect(read_kallsyms, "00001001 T thumb\n00001000 t $t\n00001010 t $a\n00001010 T arm\n", "1000+10 thumb; 1010+ff0 arm");
    expect(read_kallsyms, "00001001 T odd\n00001011 T next\n", "1001+10 odd; 1011+fef next");
    expect(read_kallsyms, "00001000 T f(int) [3]\n00001010 t g [m]\n00001020 t h\t[m]\n",
           "1000+10 f(int) [3]; 1010+10 g; 1020+fe0 h");
}

static void expect_base(const char *file, bool is_known, uint64_t address) {
    char got[256];
    assert_int_equal(read_text(read_kallsyms, span_of(file), NULL, got, sizeof got, NULL), CSN_OK);
    assert_int_equal(base.is_known, is_known);
    if (is_known) assert_int_equal(base.address, address);
}

/* Linkers' symbols, or constants before the code, tell where an image begins. */
static void bases(void **state) {
    (void)state;
    expect_base("00401000 T main\n", false, 0);
    expect_base("00400000 A __ImageBase\n00401000 T main\n", true, 0x400000);
    expect_base("0000000100000000 T __mh_execute_header\n0000000100003f50 T _main\n", true, 0x100000000);
    expect_base("00401000 T main\n00400318 r __abi_tag\n", true, 0x400000);
    expect_base("0026d000 T main\n002004d0 R big\n", true, 0x200000);
    expect_base("00026080 T main\n00000318 r __abi_tag\n", true, 0);
    expect_base("00026080 T main\n00030000 r constant\n00000010 B tls\n", false, 0);
    expect_base("ffffffff81000000 T _text\n0000000000000000 r percpu\n", false, 0);
    expect_base("00001000 D data\n00000800 r constant\n", false, 0);
    expect_base("00500000 A __image_base__\n00401000 T main\n", false, 0);
}

/* Modules come in any order; several names at one place: the one that people know comes last. */
static void order_and_aliases(void **state) {
    (void)state;
    expect(read_kallsyms,
           "c0000100 t second\nc0000000 T first\nc0000040 W weak\nc0000040 T __strong\nc0000040 T strong\nc0000040 t local\n",
           "c0000000+40 first; c0000040+c0 weak; c0000040+c0 local; c0000040+c0 __strong; c0000040+c0 strong; "
           "c0000100+f00 second");
}

static void ends_of_lines(void **state) {
    (void)state;
    expect(read_kallsyms, "00001000 T a\r\n\r\n00001010 T b", "1000+10 a; 1010+ff0 b");
    expect(csni_perf_map_read, "10 8 a b\r\n\r\n20 8 c", "10+8 a b; 20+8 c");
}

static void hidden_addresses(void **state) {
    (void)state;
    char got[256];
    struct csn_error err = CSN_ERROR_INIT;
    const char *list = "0000000000000000 T a\n0000000000000000 D b\n0000000000000000 t c\n";
    assert_true(csni_kallsyms_recognize(span_of(list)));
    assert_int_equal(read_text(read_kallsyms, span_of(list), NULL, got, sizeof got, &err), CSN_E_UNSUPPORTED);
    assert_non_null(strstr(csn_error_text(&err), "all 3 addresses are 0: the kernel hides them (kernel.kptr_restrict)"));
    expect(read_kallsyms, "0000000000000000 A percpu\n0000000000001000 T a\n", "1000+1000 a");
}

static void bad_lines(void **state) {
    (void)state;
    expect(read_kallsyms, "00001000 T a\nnonsense\n00001010 TT b\n00001020 T\n11112222333344445 T c\n00001030 $ d\n",
           "1000+1000 a <damaged-text-line 5: line 2: no address, type and name: nonsense>");
    expect(csni_perf_map_read, "1000 10 a\nxyz\n1000 g b\n1000 10\n1000 11112222333344445 c\n",
           "1000+10 a <damaged-text-line 4: line 2: no start, size and name: xyz>");
    expect(read_kallsyms, "00001000 t $x\n00001000 T a\n00001004 t $d\n00001010 T b\n", "1000+10 a; 1010+ff0 b");
}

static void perf_map(void **state) {
    (void)state;
    expect(csni_perf_map_read, "7f0020 10 LazyCompile:~b /x y.js:1\n0x7f0000 0x20 a\n7f0000 8 a2\n",
           "7f0000+8 a2; 7f0020+10 LazyCompile:~b <duplicate-replaced 1: line 2, by a later line>");
    /* Code that begins within later code is gone, wherever that begins; what reaches into later code is not, nor what is around it. */
    expect(csni_perf_map_read, "1000 100 old\nf80 100 new\n", "f80+100 new <duplicate-replaced 1: line 1, by a later line>");
    expect(csni_perf_map_read, "1000 10 a\n1010 10 b\n1020 10 c\n1008 18 d\n",
           "1000+10 a; 1008+18 d; 1020+10 c <duplicate-replaced 1: line 2, by a later line>");
    expect(csni_perf_map_read, "1080 10 a\n1000 100 b\n1000 10 c\n", "1000+10 c <duplicate-replaced 2: line 2, by a later line>");
    expect(csni_perf_map_read, "f80 100 old\n1000 100 new\n", "f80+100 old; 1000+100 new");
    expect(csni_perf_map_read, "1000 100 around\n1040 10 inner\n", "1000+100 around; 1040+10 inner");
    expect(csni_perf_map_read, "10 200000000 huge\nffffffffffffffff 8 end\n",
           "10+ffffffff huge; ffffffffffffffff+0 end <function-too-large 1: line 1: 0x10 has 0x200000000 bytes>"
           " <function-past-last-address 1: line 2: 0xffffffffffffffff has 0x8 bytes, it would end past the last address>");
}

static void recognition(void **state) {
    (void)state;
    static const struct { const char *text; bool kernel, map; } cases[] = {
        { "ffffffff81000000 T _text\n", true, false },
        { "c0008000 t a\nc0008010 a b\n", true, false },
        { "7f0000001000 a name\n", false, true },
        { "7f00 10 name with spaces\n", false, true },
        { "", false, false },
        { "\n\n", false, false },
        { "MODULE Linux x86_64 0 app\n", false, false },
        { "hello world again\n7f00 10 name\n", false, false },
        { "7f00 10 one\nbad\nbad\nbad\n", false, false },
        { "ffffffff81000000 T _text", true, false },
        { "ffffffff81000000 T", false, false },
        { "140007ca0 T main\n", true, false },
        { "140007ca0 00000010 T main\n", true, false },
        { "140007ca0 b main\n", false, true },
        { "140007ca0 00000000 b .bss\n", true, false },
        { "                 U puts\n00001000 T a\n", true, false },
        { "                 U puts\n", false, false },
        { "00000000 a \n00000000 ? .text\n", true, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(csni_kallsyms_recognize(span_of(cases[i].text)), cases[i].kernel);
        if (!cases[i].kernel) assert_int_equal(csni_perf_map_recognize(span_of(cases[i].text)), cases[i].map);
    }
    /* The line that the first 4 KiB cut does not count. */
    char long_file[5000];
    size_t n = (size_t)snprintf(long_file, sizeof long_file, "ffffffff81000000 T a\n");
    memset(long_file + n, 'x', sizeof long_file - n);
    assert_true(csni_kallsyms_recognize((struct csni_span){ (const uint8_t *)long_file, sizeof long_file }));
}

static const char both[] = "ffffffff81000000 T a\nffffffff81000010 t b\t[m]\n0x10 20 c d\n";

static void damage(void **state) {
    (void)state;
    char got[1024];
    static reader *const readers[] = { read_kallsyms, csni_perf_map_read };
    uint8_t *copy = malloc(sizeof both);
    assert_non_null(copy);
    for (size_t r = 0; r < 2; r++)
        for (size_t size = 0; size < sizeof both; size++) {
            uint8_t *end = copy + sizeof both - size; /* ends where its block does */
            memcpy(end, both, size);
            assert_int_equal(read_text(readers[r], (struct csni_span){ end, size }, NULL, got, sizeof got, NULL), CSN_OK);
            for (unsigned bit = 0; size && bit < 8; bit++) {
                end[size / 2] ^= (uint8_t)(1u << bit);
                struct csni_span span = { end, size };
                csn_status status = read_text(readers[r], span, NULL, got, sizeof got, NULL);
                assert_true(status == CSN_OK || status == CSN_E_UNSUPPORTED);
                csni_kallsyms_recognize(span);
                csni_perf_map_recognize(span);
                end[size / 2] ^= (uint8_t)(1u << bit);
            }
        }
    free(copy);
}

static csn_status kallsyms_step(void *context, const struct csn_allocator *alloc) {
    char got[1024];
    (void)context;
    return read_text(read_kallsyms, span_of(both), alloc, got, sizeof got, NULL);
}

static csn_status perf_map_step(void *context, const struct csn_allocator *alloc) {
    char got[1024];
    (void)context;
    return read_text(csni_perf_map_read, span_of(both), alloc, got, sizeof got, NULL);
}

static void allocation_failures(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(kallsyms_step, NULL, 0) > 3);
    assert_true(test_allocator_sweep(perf_map_step, NULL, 1) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_list),      cmocka_unit_test(modules),   cmocka_unit_test(order_and_aliases),
        cmocka_unit_test(long_functions),   cmocka_unit_test(programs), cmocka_unit_test(bases),
        cmocka_unit_test(ends_of_lines),    cmocka_unit_test(hidden_addresses), cmocka_unit_test(bad_lines),
        cmocka_unit_test(perf_map),         cmocka_unit_test(recognition), cmocka_unit_test(damage),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
