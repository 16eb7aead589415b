/* Where the image of an index begins, and how addresses and offsets of an image become those of the index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "base/sink.h"
#include "formats/gsym/write/gsym_write.h"
#include "support/model_sample.h"

struct image {
    uint64_t base, first;          /* as the index has them: base address, and start of the first function */
    uint64_t image_base;           /* what csn_index_image_base() has to say */
    uint64_t offset, offset_address;
    uint64_t linked_at, link_bias;
};

static const struct image images[] = {
    { 0x400000, 0x401000, 0x400000, 0x1010, 0x401010, 0x400000, 0 },
    { 0x401000, 0x401000, 0x400000, 0x1010, 0x401010, 0x400000, 0 },           /* lists, llvm-gsymutil's */
    { 0x140011000, 0x140011000, 0x140000000, 0x11010, 0x140011010, 0x140000000, 0 },
    { 0x10400, 0x10400, 0x10000, 0x410, 0x10410, 0x10000, 0 },
    { 0x26080, 0x26080, 0, 0x26090, 0x26090, 0, 0 },                           /* a library's list */
    { 0x12f80, 0x12f80, 0, 0x12f90, 0x12f90, 0, 0 },
    { 0x1fffff, 0x1fffff, 0, 0x1fffff, 0x1fffff, 0, 0 },
    { 0, 0x1000, 0, 0x1010, 0x1010, 0, 0 },
    { 0, 0x1000, 0, 0x1010, 0x1010, 0x400000, 0x400000 },                      /* a Breakpad file's */
    { 0, 0x1000, 0, 0x1010, 0x1010, 0x140000000, 0x140000000 },
    { 0, 0x1000, 0, 0x1010, 0x1010, 0xffff, 0 },                               /* no image is linked there */
    { 0xffffffff81000000, 0xffffffff81000000, 0xffffffff81000000, 0x10, 0xffffffff81000010, 0xffffffff81000000, 0 },
};

static const uint64_t X86 = 0xffffffff81000000, ARM = 0xffff800008000000;

/* Functions of a kernel's index, whose starts count from its base, as does `start`, where the symbol lies; `bias`: what
 * csn_index_kernel_bias() has to say. */
static const struct kernel {
    uint64_t base;
    struct { uint64_t start; const char *name; } functions[3];
    const char *symbol;
    uint64_t start, bias;
} kernels[] = {
    { X86, { { 0, "startup_64" }, { 0x1000, "do_it" } }, "_text", 0x1b000000, 0x1b000000 },
    { X86, { { 0, "startup_64" }, { 0x1000, "do_it" } }, "_stext", 0x1b000198, 0x1b000000 },
    { X86, { { 0, "startup_64" }, { 0x200, "_stext" } }, "_stext", 0x1b000200, 0x1b000000 },
    { X86, { { 0, "startup_64" }, { 0x200, "_stext" } }, "", 0x1b000000, 0x1b000000 }, /* of another page: not at that symbol */
    { ARM, { { 0, "_text" }, { 0x10000, "_stext" } }, "_text", 0x20000000, 0x20000000 },
    { ARM, { { 0, "_text" }, { 0x10000, "_stext" } }, "_stext", 0x20010000, 0x20000000 },
    { ARM, { { 0, "_text" }, { 0x10000, "_stext" } }, "", 0x20010000, 0x20000000 },
    { ARM, { { 0, "_text" }, { 0x10000, "__entry" } }, "_text", 0x20000000, 0x20000000 }, /* the index has another name there */
    { ARM, { { 0, "_text" }, { 0x10000, "__entry" } }, "_stext", 0x20010000, 0x20000000 },
    { ARM, { { 0, "_text" }, { 0x11000, "__entry" } }, "_stext", 0x20010000, 0x20010000 }, /* no header */
    { ARM, { { 0, "_text" }, { 0xfff0, "long" }, { 0x10000, "other" } }, "_stext", 0x20000000, 0x20000000 },
    { ARM + 0x10000, { { 0, "__entry" }, { 0x1000, "do_it" } }, "_stext", 0x20000000, 0x20000000 },
    { ARM + 0x10000, { { 0, "__entry" }, { 0x1000, "do_it" } }, "_text", 0x1fff0000, 0x20000000 }
};

/* The sample as a GSYM file in `out`, which the index reads as long as it is open. */
static struct csn_index *open_sample(struct model_sample *s, struct csn_bytes *out) {
    struct csni_sink sink = csni_memory_sink(out);
    struct csn_index *index;
    assert_int_equal(model_sample_link(s), CSN_OK);
    assert_int_equal(csni_gsym_write(&s->model, CSNI_GSYM_WRITE_V1, NULL, &sink, &s->report, NULL), CSN_OK);
    assert_int_equal(csn_index_open_memory(out->ptr, out->size, NULL, &index, NULL), CSN_OK);
    return index;
}

static void kernels_that_were_moved(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
        const struct kernel *kernel = &kernels[i];
        struct model_sample s;
        struct csn_bytes out = { NULL, 0, NULL };
        model_sample_init(&s, NULL);
        s.model.image.base_address = kernel->base;
        for (size_t k = 0; k < 3 && kernel->functions[k].name; k++)
            model_sample_function(&s, kernel->base + kernel->functions[k].start, 0x10, kernel->functions[k].name);
        struct csn_index *index = open_sample(&s, &out);
        const struct csn_str symbol = { kernel->symbol, strlen(kernel->symbol) };
        assert_int_equal(csn_index_kernel_bias(index, symbol, kernel->base + kernel->start), kernel->bias);
        csn_index_close(index);
        csn_bytes_free(&out);
        model_sample_deinit(&s);
    }
}

static void places_of_images(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        const struct image *wanted = &images[i];
        struct model_sample s;
        struct csn_bytes out = { NULL, 0, NULL };
        model_sample_init(&s, NULL);
        s.model.image.base_address = wanted->base;
        model_sample_function(&s, wanted->first, 0x20, "first");
        struct csn_index *index = open_sample(&s, &out);
        assert_int_equal(csn_index_image_base(index), wanted->image_base);
        assert_int_equal(csn_index_offset_address(index, wanted->offset), wanted->offset_address);
        assert_int_equal(csn_index_link_bias(index, wanted->linked_at), wanted->link_bias);
        csn_index_close(index);
        csn_bytes_free(&out);
        model_sample_deinit(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(places_of_images), cmocka_unit_test(kernels_that_were_moved) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
