/* Units as pprof's measurement package has them: small and capital letters are one, and an s at the end of a longer word is left
 * out. */
#include "profile/profile_units.h"

#include <string.h>

#include "base/core/span.h"

static const struct {
    const char *name;
    struct profile_unit unit;
} units[] = {
    { "ns", { PROFILE_TIME, 1 } }, { "nanosecond", { PROFILE_TIME, 1 } },
    { "us", { PROFILE_TIME, 1000 } }, { "\u03bcs", { PROFILE_TIME, 1000 } }, { "\u00b5s", { PROFILE_TIME, 1000 } },
    { "microsecond", { PROFILE_TIME, 1000 } },
    { "ms", { PROFILE_TIME, 1000000 } }, { "millisecond", { PROFILE_TIME, 1000000 } },
    { "s", { PROFILE_TIME, 1000000000 } }, { "sec", { PROFILE_TIME, 1000000000 } }, { "second", { PROFILE_TIME, 1000000000 } },
    { "hr", { PROFILE_TIME, 3600000000000 } }, { "hour", { PROFILE_TIME, 3600000000000 } },
    { "b", { PROFILE_BYTES, 1 } }, { "byte", { PROFILE_BYTES, 1 } },
    { "kb", { PROFILE_BYTES, 1 << 10 } }, { "kbyte", { PROFILE_BYTES, 1 << 10 } }, { "kilobyte", { PROFILE_BYTES, 1 << 10 } },
    { "mb", { PROFILE_BYTES, 1 << 20 } }, { "mbyte", { PROFILE_BYTES, 1 << 20 } }, { "megabyte", { PROFILE_BYTES, 1 << 20 } },
    { "gb", { PROFILE_BYTES, 1 << 30 } }, { "gbyte", { PROFILE_BYTES, 1 << 30 } }, { "gigabyte", { PROFILE_BYTES, 1 << 30 } },
    { "tb", { PROFILE_BYTES, 1LL << 40 } }, { "tbyte", { PROFILE_BYTES, 1LL << 40 } }, { "terabyte", { PROFILE_BYTES, 1LL << 40 } },
    { "pb", { PROFILE_BYTES, 1LL << 50 } }, { "pbyte", { PROFILE_BYTES, 1LL << 50 } }, { "petabyte", { PROFILE_BYTES, 1LL << 50 } },
};

struct profile_unit csni_profile_unit(struct csn_str text) {
    enum { LONGEST = 16 };
    char small[LONGEST];
    const struct profile_unit count = { PROFILE_COUNT, 1 };
    if (text.len > LONGEST) return count;
    for (size_t i = 0; i < text.len; i++) {
        const bool is_capital = text.ptr[i] >= 'A' && text.ptr[i] <= 'Z';
        small[i] = (char)(text.ptr[i] + (is_capital ? 'a' - 'A' : 0));
    }
    struct csn_str name = { small, text.len };
    const bool is_letter = text.len > 0 && (unsigned char)text.ptr[0] < 0x80; /* else the two bytes of a Greek one */
    if (name.len > 2 && is_letter && small[name.len - 1] == 's') name.len--;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (csni_str_is(name, units[i].name)) return units[i].unit;
    return count;
}

int64_t csni_profile_in_unit(int64_t value, const struct profile_unit *unit) {
    int64_t out;
    if (!__builtin_mul_overflow(value, unit->factor, &out)) return out;
    return value < 0 ? INT64_MIN : INT64_MAX;
}
