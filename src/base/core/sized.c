/* Options in, results out, of callers built against an older or a newer header. */
#include "base/core/sized.h"

#include <string.h>

#include "base/core/fail.h"

csn_status csni_options_copy(void *out, size_t out_size, const void *given, size_t given_size, struct csn_error *err) {
    if (given_size < sizeof(size_t))
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "struct_size is %zu, need at least %zu", given_size,
                         sizeof(size_t));
    for (size_t i = out_size; i < given_size; i++)
        if (((const unsigned char *)given)[i])
            return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "byte %zu of the options is set, this version knows %zu", i,
                             out_size);
    memcpy(out, given, given_size < out_size ? given_size : out_size);
    memcpy(out, &out_size, sizeof out_size);
    return CSN_OK;
}

csn_status csni_check_reserved(const char *field, uint64_t value, struct csn_error *err) {
    if (!value) return CSN_OK;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "%s is %llu, this version knows 0 only", field, (unsigned long long)value);
}

csn_status csni_check_flags(const char *field, uint32_t flags, uint32_t known, struct csn_error *err) {
    if (!(flags & ~known)) return CSN_OK;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "%s is 0x%x, this version does not know 0x%x", field, flags, flags & ~known);
}

void csni_result_copy(void *out, size_t out_size, const void *own, size_t own_size) {
    size_t common = out_size < own_size ? out_size : own_size;
    memcpy(out, own, common);
    memset((char *)out + common, 0, out_size - common);
}
