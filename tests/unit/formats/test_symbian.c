/* Symbian's text files: `.symbol` files, logs, linkers' maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/symbian/symbian.h"
#include "support/test_alloc.h"

static struct csni_span span_of(const char *text) { return (struct csni_span){ (const uint8_t *)text, strlen(text) }; }

/* Maps that a log finds: PATH, then text; NULL ends the list. */
struct maps {
    const char *const *items;
};

static csn_status find(void *context, struct csn_str path, struct csni_span *out, struct csn_error *err) {
    (void)err;
    const struct maps *maps = context;
    for (size_t i = 0; maps && maps->items[i]; i += 2)
        if (csni_str_is(path, maps->items[i])) {
            *out = span_of(maps->items[i + 1]);
            return CSN_OK;
        }
    return CSN_NONE;
}

enum kind { SYMBOL_FILE, ROM_LOG, LINKER_MAP };

/* Binaries as "[NAME@ADDRESS START+SIZE NAME; ...]", renames as "NUMBER=NAME", notes. */
static csn_status read_text(enum kind kind, struct csni_span file, struct maps *maps, const struct csn_allocator *alloc, char *out,
                            size_t capacity) {
    struct csni_arena arena;
    struct csni_batch_writer w;
    struct csni_batch batch;
    struct csni_symbian_image image;
    size_t n = 0;
    out[0] = 0;
    alloc = csni_allocator_or_default(alloc);
    csni_arena_init(&arena, alloc, 4096);
    csni_batch_writer_init(&w, alloc);
    csni_batch_begin(&w, &arena);
    csn_status status = kind == SYMBOL_FILE ? csni_symbol_file_read(file, alloc, &w, &image, NULL)
                        : kind == ROM_LOG   ? csni_rom_log_read(file, alloc, find, maps, &w, &image, NULL)
                                            : csni_linker_map_read(file, csni_str("m.dll"), alloc, &w, &image, NULL);
    if (status >= 0) status = csni_batch_finish(&w, &batch, NULL);
    for (uint32_t b = 0; status >= 0 && b < image.binary_count && n < capacity; b++) {
        struct csn_str name = image.binaries[b].name;
        n += (size_t)snprintf(out + n, capacity - n, "[%.*s@%llx", (int)name.len, name.ptr,
                              (unsigned long long)image.binaries[b].address);
        for (uint32_t i = 0; i < batch.function_count && n < capacity; i++) {
            const struct csni_function *f = &batch.functions[i];
            assert_true(f->binary >= 1 && f->binary <= image.binary_count);
            if (f->binary != b + 1) continue;
            name = batch.strings[f->name];
            n += (size_t)snprintf(out + n, capacity - n, " %llx+%x %.*s;", (unsigned long long)f->start, f->size,
                                  (int)name.len, name.ptr);
        }
        if (n < capacity) n += (size_t)snprintf(out + n, capacity - n, "]");
    }
    for (uint32_t i = 0; status >= 0 && i < image.rename_count && n < capacity; i++)
        n += (size_t)snprintf(out + n, capacity - n, " %u=%.*s", image.renames[i].binary, (int)image.renames[i].name.len,
                              image.renames[i].name.ptr);
    if (status >= 0 && image.checksum && n < capacity) n += (size_t)snprintf(out + n, capacity - n, " sum %x", image.checksum);
    for (uint32_t i = 0; status >= 0 && i < batch.note_count && n < capacity; i++)
        n += (size_t)snprintf(out + n, capacity - n, " <%s %llu>", csn_event_name(batch.notes[i].event),
                              (unsigned long long)batch.notes[i].count);
    csni_batch_writer_deinit(&w);
    csni_arena_deinit(&arena);
    return status;
}

static void expect(enum kind kind, const char *file, struct maps *maps, const char *want) {
    char got[4096];
    assert_int_equal(read_text(kind, span_of(file), maps, NULL, got, sizeof got), CSN_OK);
    assert_string_equal(got, want);
}

/* ---- .symbol ---- */

static const char rom_symbols[] =
    "From    \\Rel\\A.dll\n\n"
    "80001000    0010    N::F()                                    a.o(.text)\r\n"
    "80001011    000c    N::G(int)                                 a.o(.text)\n"
    "8000101c    0000    $d                                        a.o(.text)\n"
    "80001020    0008    _entry                                    a.o(.text)\n";

static void symbol_files(void **state) {
    (void)state;
    expect(SYMBOL_FILE, rom_symbols, NULL, "[\\Rel\\A.dll@80001000 80001000+10 N::F(); 80001010+c N::G(int); 80001020+8 _entry;]");
    expect(SYMBOL_FILE,
           "00000000    0004    before any binary\n"
           "\nFrom    \\epoc32\\release\\armv5\\urel\\clock.exe\n\n"
           "00000000    0028    _E32Startup                               uc_exe_.o(.emb_text)\n"
           "00000029    0044    CClock::NewL()                            clock.o(i._ZN6CClock4NewLEv)\n"
           "0000006c    0008    User::Leave(int)                          EUSER.in(StubCode)\n"
           "00000070    0010    gData                                     clock.o(.data)\n"
           "\nFrom    \\epoc32\\data\\z\\resource\\clock.rsc\n\n"
           "00000000    0000    clock.rsc\n",
           NULL,
           "[\\epoc32\\release\\armv5\\urel\\clock.exe@0 0+28 _E32Startup; 28+44 CClock::NewL(); 6c+8 User::Leave(int);]");
}

/* A binary that is loaded counts from the beginning of its code, whatever stands there. */
static void loaded_binaries(void **state) {
    (void)state;
    expect(SYMBOL_FILE,
           "From    \\a.exe\n\n00000000    0000    label\n00000010    0010    f\n00000020    0010    g      a.o(.data)\n", NULL,
           "[\\a.exe@0 10+10 f;]");
    expect(SYMBOL_FILE, "From    \\a.exe\n\n80000000    0000    label\n80000010    0010    f\n", NULL,
           "[\\a.exe@80000010 80000010+10 f;]");
    expect(LINKER_MAP, "ARM Linker\nImage Symbol Table\n    .text   0x00008000   Section  128  a.o(.text)\n"
                       "    f()   0x00008011   Thumb Code  16  a.o(.text)\n", NULL, "[m.dll@0 10+10 f();]");
    expect(LINKER_MAP,
           "Archive member included because of file (symbol)\n\n.text           0x00008000    0x100\n"
           " .text          0x00008000    0x100 a.o\n                0x00008010                f()\n\n",
           NULL, "[m.dll@0 10+f0 f();]");
}

/* What has one symbol without a size reaches to the next binary. */
static void sizes_by_next(void **state) {
    (void)state;
    expect(SYMBOL_FILE,
           "From    a.rsc\n80001000    0000    a.rsc\nFrom    b.rsc\n80001100    0000    b.rsc\nFrom    c.rsc\n"
           "80001000    0000    c.rsc\nFrom    d.dll\n80002000    0000    $a\n80002000    12345    F()\n",
           NULL, "[a.rsc@80001000 80001000+100 a.rsc;][c.rsc@80001000 80001000+1000 c.rsc;][d.dll@80002000 80002000+12345 F();]");
}

static void data_in_rom(void **state) {
    (void)state;
    expect(SYMBOL_FILE,
           "From    a.dll\n"
           "80001000    0010    F()                                       a.o(.text)\n"
           "c8000100    0004    gTwo                                      a.o(.bss)\n"
           "80001010    0010    G()                                       a.o(.text)\n"
           "c8000000    0008    gOne                                      lib.lib(a.o(.data))\n"
           "c8000008    0004    gMore                                     a.o(.data)\n",
           NULL,
           "[a.dll@80001000 80001000+10 F(); 80001010+10 G();][a.dll@c8000000 c8000000+8 gOne; c8000008+4 gMore;]"
           "[a.dll@c8000100 c8000100+4 gTwo;]");
}

/* The object is after the last run of blanks, if that is far enough or what follows looks like an object. */
static void names_and_objects(void **state) {
    (void)state;
    expect(SYMBOL_FILE,
           "From   a  b.dll  \n"
           "00000000    0004    short  a.o(.text)\n"
           "00000004    0004    two  words\n"
           "00000008    0004    CSomeClass::WithALongName(TInt, TInt, TInt)  odd object\n"
           "0000000c    0004    stub User::Leave(int)\n"
           "0000001G    0004    no address\n"
           "00000010    004     no size\n"
           "00000010  0004\n",
           NULL,
           "[a  b.dll@0 0+4 short; 4+4 two  words; 8+4 CSomeClass::WithALongName(TInt, TInt, TInt); c+4 stub User::Leave(int);]");
}

/* ---- maps ---- */

static const char rvct_map[] =
    "ARM Linker, RVCT2.2 [Build 593]\n\n"
    "Image Symbol Table\n\n"
    "    Local Symbols\n\n"
    "    Symbol Name                              Value     Ov Type        Size  Object(Section)\n\n"
    "    ../a.cpp                                 0x00000000   Number         0  a.o ABSOLUTE\n"
    "    .text                                    0x00008000   Section       64  a.o(.text)\n"
    "    Local(int)                               0x00008021   Thumb Code    16  a.o(.text)\n"
    "    LocalData                                0x00400000   Data           4  a.o(.data)\n\n"
    "    Global Symbols\n\n"
    "    N::F()                                   0x00008001   Thumb Code    16  a.o(.text)\n"
    "    Odd 0x12 Name(void*) (EXPORTED)          0x00008010   ARM Code      16  a.o(.text)\n"
    "    User::Leave(int)                         0x00008030   ARM Code       0  EUSER.in(StubCode)\n"
    "    KConst                                   0x00008038   Data           8  a.o(.constdata)\n"
    "    gData                                    0x00400010   Data           4  a.o(.data)\n"
    "    Missing                                  0x00000000   ARM Code       4  Undefined Reference\n";

static const char gnu_map[] =
    "Archive member included because of file (symbol)\n\n"
    "Address of section .text set to 0x8000\n\n"
    ".text           0x00008000       0x80\n"
    " *(.text)\n"
    " .text          0x00008000       0x20 a.o\n"
    "                0x00008000                _E32Startup\n"
    "                0x00008010                CFoo::Bar(int, char)\n"
    " .text._ZN3Foo\n"
    "                0x00008020       0x10 b.o\n"
    "                0x00008024                Foo::Baz()\n"
    " .text          0x00008040        0x8 euser{000a0000}.lib(d00012s00034.o)\n"
    "                0x00008040                User::Leave(int)\n"
    "                0x00008050                last\n"
    "                0x00008054                PROVIDE (etext, .)\n"
    "                0x00008058                = ALIGN (0x8)\n\n"
    ".data           0x00400000        0x0\n"
    "                0x00400000                not_code\n";

static void linker_maps(void **state) {
    (void)state;
    expect(LINKER_MAP, rvct_map, NULL,
           "[m.dll@0 20+10 Local(int); 0+10 N::F(); 10+10 Odd 0x12 Name(void*) (EXPORTED); 30+8 User::Leave(int); 38+8 KConst;]");
    expect(LINKER_MAP, gnu_map, NULL,
           "[m.dll@0 0+10 _E32Startup; 10+10 CFoo::Bar(int, char); 24+c Foo::Baz(); 40+8 stub User::Leave(int); 50+4 last;]");
    /* Named like a stub, but of no import library. */
    expect(LINKER_MAP, "Archive member included because of file (symbol)\n\nAddress of section .text set to 0x8000\n\n"
           ".text           0x00008000       0x10\n *(.text)\n"
           " .text          0x00008000        0x8 x.a(d1s2.o)\n                0x00008000                Own()\n", NULL,
           "[m.dll@0 0+8 Own();]");
    /* An input section that begins within the one before ends that one's last symbol; behind a gap, its own end does. */
    expect(LINKER_MAP, "Archive member included because of file (symbol)\n\nAddress of section .text set to 0x8000\n\n"
           ".text           0x00008000       0x80\n *(.text)\n"
           " .text          0x00008000       0x20 a.o\n                0x00008000                f()\n"
           " .text          0x00008010       0x10 b.o\n                0x00008010                g()\n"
           " .text          0x00008030        0x8 c.o\n                0x00008030                h()\n", NULL,
           "[m.dll@0 0+10 f(); 10+10 g(); 30+8 h();]");
    /* The first byte of the code has a symbol. */
    expect(LINKER_MAP, "ARM Linker\nImage Symbol Table\n    .text   0x00008000   Section  128  a.o(.text)\n"
                       "    F()   0x00008000   ARM Code  16  a.o(.text)\n", NULL, "[m.dll@0 0+10 F();]");
    expect(LINKER_MAP, "ARM Linker\nImage Symbol Table\n    F()   0x00008000   ARM Code  4  a.o(.text)\n", NULL,
           " <damaged-text-line 1>");
}

/* ---- logs ---- */

static const char rom_log[] =
    "ROMBUILD - Rom builder V2.8.3\n"
    "Creating Rom image rom.img\n"
    "Reading resource \\epoc32\\data\\a.rsc to rom linear address 80300000\n"
    "Size:                    00000123\n"
    "Processing file \\epoc32\\release\\armv5\\urel\\_dev_ekern.exe\n"
    "[Primary]\n"
    "Load Address:            80000000\n"
    "Size:                    00012340\n"
    "Code start addr:         80000064\n"
    "Text size:               00010000\n"
    "Data start addr:         80010100\n"
    "DataBssLinearBase:       c8000000\n"
    "Total data size:         00000400\n"
    "\n"
    "Processing file \\epoc32\\release\\armv5\\urel\\none.dll\n"
    "Size:                    00001000\n"
    "Code start addr:         80200000\n"
    "\n"
    "Checksum word:           1234abcd, and more\n"
    "Summary of file sizes in rom:\n"
    "\\epoc32\\release\\armv5\\urel\\_dev_ekern.exe\t74560\tSys\\bin\\ekern.exe\n"
    "\\epoc32\\release\\armv5\\urel\\none.dll\t4096\tsys\\bin\\none.dll\n"
    "\\epoc32\\data\\a.rsc\t291\tresource\\a.rsc\n";

static void rom_logs(void **state) {
    (void)state;
    const char *const items[] = { "\\epoc32\\release\\armv5\\urel\\_dev_ekern.exe", rvct_map, NULL };
    struct maps maps = { items };
    expect(ROM_LOG, rom_log, &maps,
           "[\\epoc32\\data\\a.rsc@80300000 80300000+123 a.rsc;]"
           "[\\epoc32\\release\\armv5\\urel\\_dev_ekern.exe@80000064 80000084+10 Local(int); 80000064+10 N::F(); "
           "80000074+10 Odd 0x12 Name(void*) (EXPORTED); 80000094+8 User::Leave(int); 8000009c+8 KConst;]"
           "[\\epoc32\\release\\armv5\\urel\\_dev_ekern.exe@c8000010 c8000010+4 gData;]"
           "[\\epoc32\\release\\armv5\\urel\\none.dll@80200000 80200000+1000 none.dll;]"
           " 1=z:\\sys\\bin\\ekern.exe sum 1234abcd <missing-map-file 1>");
}

static void rofs_logs(void **state) {
    (void)state;
    const char *const items[] = { "\\epoc32\\release\\armv5\\urel\\a.dll", gnu_map, NULL };
    struct maps maps = { items };
    expect(ROM_LOG,
           "Reading file \\epoc32\\release\\armv5\\urel\\a.dll to image\n"
           "Executable File '\\epoc32\\release\\armv5\\urel\\a.dll' size: 00001234\n"
           "Compressed executable File '\\epoc32\\release\\armv5\\urel\\b.exe' size: 00000200, mode:101f7afb\n"
           "File '\\epoc32\\data\\c.txt' size: 00000010\n"
           "Executable File 'P:/epoc32/release/armv5/UREL/a.dll' size: 00001234\n"
           "\\epoc32\\release\\armv5\\urel\\a.dll\t4660\t\tsys\\bin\\a.dll\n"
           "\\epoc32\\release\\armv5\\urel\\a.dll\t4660\thidden\tsys\\bin\\alias.dll\n"
           "\\epoc32\\release\\armv5\\urel\\b.exe\t512\n",
           &maps,
           "[\\epoc32\\release\\armv5\\urel\\a.dll@0 0+10 _E32Startup; 10+10 CFoo::Bar(int, char); 24+c Foo::Baz(); "
           "40+8 stub User::Leave(int); 50+4 last;][\\epoc32\\release\\armv5\\urel\\b.exe@0 0+200 b.exe;]"
           " 0=z:\\sys\\bin\\a.dll 0=z:\\sys\\bin\\alias.dll <missing-map-file 1>");
}

/* ---- which is which ---- */

static void recognition(void **state) {
    (void)state;
    assert_true(csni_symbol_file_recognize(span_of(rom_symbols)));
    assert_true(csni_symbol_file_recognize(span_of("\n\nFrom  x\n")));
    assert_false(csni_symbol_file_recognize(span_of("From somebody Mon\nSubject: x\n")));
    assert_false(csni_symbol_file_recognize(span_of("")));
    assert_true(csni_rom_log_recognize(span_of(rom_log)));
    assert_true(csni_rom_log_recognize(span_of("x\nExecutable File 'a' size: 1\n")));
    assert_false(csni_rom_log_recognize(span_of(rom_symbols)));
    assert_true(csni_linker_map_recognize(span_of(rvct_map)));
    assert_true(csni_linker_map_recognize(span_of(gnu_map)));
    assert_false(csni_linker_map_recognize(span_of("hello\n")));
}

/* ---- damage and memory ---- */

static const struct { enum kind kind; const char *text; } texts[] = {
    { SYMBOL_FILE, rom_symbols }, { ROM_LOG, rom_log }, { LINKER_MAP, rvct_map }, { LINKER_MAP, gnu_map },
};

static void damage(void **state) {
    (void)state;
    static const char *const items[] = { "\\epoc32\\release\\armv5\\urel\\_dev_ekern.exe", rvct_map, NULL };
    struct maps maps = { items };
    static char out[65536];
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        size_t size = strlen(texts[t].text);
        uint64_t random = 1;
        for (size_t cut = 0; cut <= size; cut++) {
            uint8_t *copy = malloc(cut ? cut : 1);
            memcpy(copy, texts[t].text, cut);
            read_text(texts[t].kind, (struct csni_span){ copy, cut }, &maps, NULL, out, sizeof out);
            for (size_t k = 0; cut == size && k < 2000; k++) {
                random = random * 6364136223846793005u + 1442695040888963407u;
                size_t bit = (size_t)((random >> 20) % (8 * size));
                copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
                read_text(texts[t].kind, (struct csni_span){ copy, size }, &maps, NULL, out, sizeof out);
                copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
            free(copy);
        }
    }
}

static csn_status read_with(void *context, const struct csn_allocator *alloc) {
    static char out[4096];
    static const char *const items[] = { "\\epoc32\\release\\armv5\\urel\\_dev_ekern.exe", gnu_map, NULL };
    struct maps maps = { items };
    size_t t = *(size_t *)context;
    return read_text(texts[t].kind, span_of(texts[t].text), &maps, alloc, out, sizeof out);
}

static void memory_runs_out(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) assert_true(test_allocator_sweep(read_with, &t, 0) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbol_files), cmocka_unit_test(loaded_binaries),   cmocka_unit_test(sizes_by_next),
        cmocka_unit_test(data_in_rom),  cmocka_unit_test(names_and_objects), cmocka_unit_test(linker_maps),
        cmocka_unit_test(rom_logs),     cmocka_unit_test(rofs_logs),         cmocka_unit_test(recognition),
        cmocka_unit_test(damage),       cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
