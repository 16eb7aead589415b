/* Floating literals of C++ names, with the suffix of their type. */
#include "names/itanium/itanium_print.h"
#include "names/name_float.h"

/* C23's "f16", "f64x", and C++23's "bf16". */
static void put_suffix(struct csni_name_text *text, node *n) {
    if (n->flag == 'f') csni_name_put_char(text, 'f');
    if (n->flag == 'e') csni_name_put_char(text, 'L');
    if (n->flag == 'g') csni_name_put_char(text, 'Q');
    if (n->flag != 'D') return;
    csni_name_put_text(text, n->a->kind == NODE_BINARY_FLOAT ? "f" : "bf16");
    if (n->a->kind == NODE_BINARY_FLOAT) csni_name_put_str(text, n->a->a->text);
}

void csni_itanium_print_float(struct csni_name_text *text, node *n) {
    switch (n->text.len) {
    case 4: csni_name_put_ieee(text, n->text, n->flag == 'D' && n->a->kind != NODE_BINARY_FLOAT ? 8 : 5, true); break;
    case 8: csni_name_put_ieee(text, n->text, 8, true); break;
    case 16: csni_name_put_ieee(text, n->text, 11, false); break;
    case 20: csni_name_put_x87(text, n->text); break;
    default: csni_name_put_ieee(text, n->text, 15, false); break;
    }
    put_suffix(text, n);
}
