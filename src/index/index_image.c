/* Where the image of an index begins. */
#include "base/core/image_base.h"
#include "index/index_private.h"

/* Whether the base is no image's, but the first function. */
static bool begins_with_function(const struct csn_index *index, uint64_t base) {
    uint64_t first;
    return csn_index_function_start(index, 0, &first, NULL) == CSN_OK && first == base;
}

static uint64_t base_of(const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof info);
    return info.base_address;
}

uint64_t csn_index_image_base(const struct csn_index *index) {
    const uint64_t base = base_of(index);
    return begins_with_function(index, base) ? csni_guess_image_base(base) : base;
}

uint64_t csn_index_offset_address(const struct csn_index *index, uint64_t offset) {
    const uint64_t base = base_of(index);
    const bool counts_from_image = offset < base || (base >= CSNI_LOWEST_IMAGE && !begins_with_function(index, base));
    return counts_from_image ? csn_index_image_base(index) + offset : offset;
}

uint64_t csn_index_link_bias(const struct csn_index *index, uint64_t image_base) {
    return image_base >= CSNI_LOWEST_IMAGE && base_of(index) < CSNI_LOWEST_IMAGE ? image_base : 0;
}

/* ---- the kernel ---- */

enum { KERNEL_PAGE = 1 << 12, KERNEL_HEADER = 1 << 16, KERNEL_STEP = 1 << 21 };
static const struct csn_str TEXT = { "_text", 5 }, STEXT = { "_stext", 6 };

static bool find_start(const struct csn_index *index, struct csn_str symbol, uint64_t *out) {
    uint32_t function;
    size_t count;
    return csn_index_find_name(index, symbol, &function, 1, &count, NULL) == CSN_OK && count == 1
           && csn_index_function_start(index, function, out, NULL) == CSN_OK;
}

/* Whether code begins 64 KiB behind the index's base, and before it, there is a header: as in arm64's kernels. */
static bool has_kernel_header(const struct csn_index *index, uint64_t base) {
    struct csn_function function;
    uint64_t end = base;
    for (uint32_t i = 0; csn_index_function(index, i, &function, NULL) == CSN_OK; i++) {
        if (function.start >= base + KERNEL_HEADER)
            return function.start == base + KERNEL_HEADER && end <= base + KERNEL_HEADER / 2;
        end = function.start + function.size;
    }
    return false;
}

/* Of an index that lacks the symbol, as most do: another function begins there, too. */
static uint64_t usual_start(const struct csn_index *index, struct csn_str symbol) {
    const uint64_t base = base_of(index);
    if (csni_str_equal(symbol, STEXT)) return has_kernel_header(index, base) ? base + KERNEL_HEADER : base;
    return csni_str_equal(symbol, TEXT) && base % KERNEL_STEP == KERNEL_HEADER ? base - KERNEL_HEADER : base;
}

/* The kernel is moved by a multiple of 64 KiB at least, and its index begins near _text. */
uint64_t csn_index_kernel_bias(const struct csn_index *index, struct csn_str symbol, uint64_t start) {
    uint64_t linked_at;
    if (!symbol.len) symbol = STEXT;
    if (find_start(index, symbol, &linked_at) && (start - linked_at) % KERNEL_PAGE == 0) return start - linked_at;
    return (start - usual_start(index, symbol) + KERNEL_HEADER / 2) & ~(uint64_t)(KERNEL_HEADER - 1);
}
