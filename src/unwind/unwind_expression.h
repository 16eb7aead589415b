/* DWARF expressions of call frame information, as tokens in postfix order. */
#ifndef CSNI_UNWIND_EXPRESSION_H
#define CSNI_UNWIND_EXPRESSION_H

#include "unwind/unwind.h"

struct csni_unwind_expression_input {
    struct csni_span bytes;
    bool big_endian;
    uint8_t address_size;
    bool begins_with_cfa;     /* of a register's rule: the CFA is on the stack */
    bool swaps_esp_ebp;       /* as of the section */
    uint16_t pc_register;     /* its value is `pc`: expressions of linkage tables compute with their own address */
    uint64_t pc;
};

/* A register as everything but .eh_frame of Mach-O for i386 numbers it; `swaps`: it is one of that. */
static inline uint64_t csni_unwind_register(uint64_t number, bool swaps) {
    enum { ESP_X86 = 4, EBP_X86 = 5 };
    return swaps && (number == ESP_X86 || number == EBP_X86) ? ESP_X86 + EBP_X86 - number : number;
}

enum { CSNI_UNWIND_TOKENS_MAX = 32 }; /* of one expression; real ones have up to 8 */

struct csni_unwind_tokens {
    struct csni_unwind_token items[CSNI_UNWIND_TOKENS_MAX];
    uint32_t count;
    bool depends_on_pc;       /* also where it is false that the expression can be told */
};

/* False: these tokens are not enough to tell what the expression does, or it is damaged. O(bytes). */
bool csni_unwind_expression_read(const struct csni_unwind_expression_input *input, struct csni_unwind_tokens *out);

#endif
