/* Names of Microsoft's C++ compilers: template arguments of class types and floating ones (C++20), as clang 22 writes them too. */
#include "names/msvc/msvc_parse.h"

static node *read_typed_value(msvc *p) {
    char c = csni_ms_peek(p, 0);
    bool is_aggregate = c == '2' || c == '3' || c == '7';
    return is_aggregate || csni_ms_arg_type(p) ? csni_ms_value(p) : NULL;
}

static node *read_elements(msvc *p, node *braced, bool of_array) {
    uint32_t base = p->parts.count;
    while (!csni_ms_take(p, '@'))
        if (!csni_ms_push(p, of_array ? csni_ms_value(p) : read_typed_value(p)) || (of_array && !csni_ms_take(p, '@'))) return NULL;
    return csni_ms_set_list(p, braced, base);
}

/* A type, then values: of the bases and members, or of the elements, each followed by '@'. */
static node *read_braced(msvc *p, bool of_array) {
    node *braced = csni_ms_make(p, ARG_BRACED), *type = braced ? csni_ms_arg_type(p) : NULL;
    if (!type) return NULL;
    if (!of_array) braced->a = type->kind == TYPE_TAG ? type->a : type;
    return read_elements(p, braced, of_array);
}

static node *read_union(msvc *p) {
    node *braced = csni_ms_make(p, ARG_BRACED), *type = braced ? csni_ms_arg_type(p) : NULL;
    if (!type) return NULL;
    braced->a = type->kind == TYPE_TAG ? type->a : type;
    if (csni_ms_take(p, '@')) return braced;
    uint32_t base = p->parts.count;
    braced->b = csni_ms_unqualified_type_name(p);
    if (!braced->b || !csni_ms_push(p, csni_ms_value(p)) || !csni_ms_take(p, '@')) return NULL;
    return csni_ms_set_list(p, braced, base);
}

static node *read_float(msvc *p, bool is_double) {
    node *number = csni_ms_make(p, ARG_FLOAT);
    char next = csni_ms_peek(p, 0);
    if (!number || next < 'A' || next > 'P' || !csni_ms_unsigned(p, &number->numbers[0])) return NULL;
    number->flag = is_double;
    return number;
}

static node *read_symbol(msvc *p) {
    node *arg = csni_ms_make(p, ARG_SYMBOL);
    if (!arg) return NULL;
    arg->flag = true;
    arg->a = csni_ms_symbol(p);
    return arg->a ? arg : NULL;
}

/* 'C': an element's number, '6': a member's name, both followed by '@'. */
static node *read_step(msvc *p, char kind) {
    node *step = kind == '6' ? csni_ms_unqualified_type_name(p) : csni_ms_take(p, '0') ? csni_ms_value_number(p) : NULL;
    return csni_ms_take(p, '@') ? step : NULL;
}

/* The kinds of the steps to a part of an object, the last one first; the object; the steps. */
static node *read_address(msvc *p) {
    const char *begin = p->at, *end = begin;
    while (csni_ms_peek(p, 0) == 'C' || csni_ms_peek(p, 0) == '6') end = ++p->at;
    if (!csni_ms_take(p, '1') && !csni_ms_take(p, 'E')) return NULL;
    node *address = read_symbol(p);
    uint32_t base = p->parts.count;
    if (!address) return NULL;
    address->kind = ARG_ADDRESS;
    while (end > begin)
        if (!csni_ms_push(p, read_step(p, *--end))) return NULL;
    return csni_ms_set_list(p, address, base);
}

static node *read_address_in_class(msvc *p) {
    node *address = read_address(p);
    return csni_ms_take(p, '@') ? address : NULL;
}

/* "8" CLASS NAME @ */
static node *read_member(msvc *p) {
    uint32_t base = p->parts.count;
    node *member = csni_ms_make(p, ARG_ADDRESS);
    node *scope = member ? csni_ms_type_name(p) : NULL, *name = scope ? csni_ms_unqualified_type_name(p) : NULL;
    if (!name || !csni_ms_take(p, '@') || !csni_ms_push(p, scope) || !csni_ms_push(p, name)) return NULL;
    member->a = csni_ms_set_list(p, csni_ms_make(p, ID_QUALIFIED), base);
    return member->a ? member : NULL;
}

static node *read_value(msvc *p) {
    if (p->at == p->end) return NULL;
    char c = *p->at;
    if (c == 'C' || c == '6') return read_address(p);
    p->at++;
    switch (c) {
    case '0': return csni_ms_value_number(p);
    case '1': case 'E': return read_symbol(p);
    case '2': return read_braced(p, false);
    case '3': return read_braced(p, true);
    case '5': return read_address_in_class(p);
    case '7': return read_union(p);
    case '8': return read_member(p);
    case 'A': return read_float(p, false);
    case 'B': return read_float(p, true);
    case 'N': return csni_ms_make(p, ARG_NUMBER); /* no member */
    default: return NULL;
    }
}

node *csni_ms_value(msvc *p) { return csni_ms_leave(p, csni_ms_enter(p) ? read_value(p) : NULL); }
