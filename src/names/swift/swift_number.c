/* Numbers in Swift names. */
#include "names/swift/swift_read.h"

enum { NO_NUMBER = -1000 };

int32_t csni_swift_natural(swift_reader *r) {
    if (!csni_swift_digit(csni_swift_peek(r))) return NO_NUMBER;
    int64_t number = 0;
    for (; csni_swift_digit(csni_swift_peek(r)); r->at++) {
        number = 10 * number + (*r->at - '0');
        if (number > INT32_MAX) return NO_NUMBER;
    }
    return (int32_t)number;
}

int32_t csni_swift_index(swift_reader *r) {
    if (csni_swift_take(r, '_')) return 0;
    int32_t number = csni_swift_natural(r);
    return number >= 0 && number < INT32_MAX && csni_swift_take(r, '_') ? number + 1 : NO_NUMBER;
}

swift_node *csni_swift_index_node(swift_reader *r) {
    int32_t index = csni_swift_index(r);
    return index < 0 ? NULL : csni_swift_new_index(r->memory, SWIFT_NUMBER, (uint64_t)index);
}
