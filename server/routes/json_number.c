#include "routes/json_number.h"

#include "base/number.h"

bool json_number_read(const json_t *value, uint64_t *out) {
    const char *text = json_string_value(value);
    if (text) return number_read(text, out);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}
