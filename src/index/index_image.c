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
