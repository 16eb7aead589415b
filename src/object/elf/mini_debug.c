/* Mini debug information. */
#include "object/elf/mini_debug.h"

#include "base/core/fail.h"
#include "inflate/inflate.h"

csn_status csni_mini_debug_read(struct csni_object *object, const struct csni_object_options *options,
                                struct csni_mini_debug **out, struct csn_error *err) {
    static const char name[] = ".gnu_debugdata";
    uint32_t section = csni_object_find_section(object, name);
    if (section == CSNI_NO_SECTION) return CSN_NONE;
    struct csni_span stored;
    CSNI_TRY(csni_object_read_section(object, section, &stored, err));
    if (!stored.size) return CSN_NONE;
    const struct csn_allocator *alloc = csni_allocator_or_default(options->allocator);
    uint64_t limit = options->max_decompressed_bytes;
    if (!limit || limit > CSNI_MINI_DEBUG_MAX) limit = CSNI_MINI_DEBUG_MAX;
    struct csni_mini_debug *mini = csni_alloc_zeroed(alloc, 1, sizeof *mini);
    if (!mini) return csni_fail_memory(err, sizeof *mini);
    mini->alloc = alloc;
    csn_status status = csni_inflate_xz(stored, limit, alloc, &mini->bytes, &mini->capacity, name, err);
    if (status < 0) csni_mini_debug_free(mini);
    else *out = mini;
    return status;
}

void csni_mini_debug_free(struct csni_mini_debug *mini) {
    if (!mini) return;
    csni_free(mini->alloc, (void *)(uintptr_t)mini->bytes.ptr, mini->capacity);
    csni_free(mini->alloc, mini, sizeof *mini);
}
