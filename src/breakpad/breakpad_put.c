/* A growing text, and what Breakpad's records are made of. */
#include "breakpad/breakpad_put.h"

#include "base/text.h"
#include "base/vec.h"

char *csni_breakpad_room(struct csni_breakpad_text *t, size_t size) {
    if (!t->failed && size <= t->room - t->size) return t->bytes + t->size;
    if (t->failed || size > SIZE_MAX - t->size || !csni_vec_grow(&t->bytes, &t->room, t->size + size, 1, t->alloc)) {
        t->failed = true;
        return NULL;
    }
    return t->bytes + t->size;
}

void csni_breakpad_text_deinit(struct csni_breakpad_text *t) {
    csni_free(t->alloc, t->bytes, t->room);
    t->bytes = NULL;
    t->size = t->room = 0;
}

void csni_breakpad_put(struct csni_breakpad_text *t, const char *text, size_t size) {
    char *p = size ? csni_breakpad_room(t, size) : NULL;
    if (!p) return;
    memcpy(p, text, size);
    t->size += size;
}

void csni_breakpad_put_hex(struct csni_breakpad_text *t, uint64_t v, char behind) {
    enum { MOST = 17 };
    char *p = csni_breakpad_room(t, MOST);
    if (!p) return;
    unsigned digits = 1;
    for (uint64_t rest = v >> 4; rest; rest >>= 4) digits++;
    for (unsigned i = digits; i-- > 0; v >>= 4) p[i] = "0123456789abcdef"[v & 15];
    p[digits] = behind;
    t->size += digits + 1;
}

void csni_breakpad_put_dec(struct csni_breakpad_text *t, uint32_t v, char behind) {
    enum { MOST = 11 };
    char *p = csni_breakpad_room(t, MOST);
    if (!p) return;
    unsigned digits = 1;
    for (uint32_t rest = v / 10; rest; rest /= 10) digits++;
    for (unsigned i = digits; i-- > 0; v /= 10) p[i] = (char)('0' + v % 10);
    p[digits] = behind;
    t->size += digits + 1;
}

/* ---- names ---- */

static void put_plain(struct csni_breakpad_text *t, struct csn_str name) {
    csni_breakpad_put(t, name.ptr, name.len);
}

/* False: it is no mangled name. */
static bool put_demangled(struct csni_breakpad_text *t, struct csn_str name, csni_demangler *demangle) {
    enum { USUAL = 512 };
    size_t cap = USUAL, len = 0;
    for (int tries = 0; tries < 2; tries++) {
        char *p = csni_breakpad_room(t, cap);
        if (!p) return true;
        csn_status status = demangle(name, p, cap, &len, NULL);
        if (status == CSN_OK) {
            t->size += len;
            return len > 0;
        }
        if (status == CSN_E_MEMORY) t->failed = true;
        if (status != CSN_E_LIMIT || len < cap) return t->failed;
        cap = len + 1;
    }
    return false;
}

static void put_safe_name(struct csni_breakpad_text *t, struct csn_str name, csni_demangler *demangle) {
    size_t start = t->size;
    if (!demangle || !put_demangled(t, name, demangle)) put_plain(t, name);
    if (t->size == start) csni_breakpad_put(t, "<name omitted>", strlen("<name omitted>"));
    if (t->failed) return;
    char *p = t->bytes + start, *end = t->bytes + t->size;
    for (char *c = p; c < end; c++)
        if (*c == '\n' || *c == '\r' || !*c) *c = '_';
    if (csni_is_blank(*p)) *p = '_';
}

void csni_breakpad_put_name(struct csni_breakpad_text *t, struct csn_str name, csni_demangler *demangle) {
    put_safe_name(t, name, demangle);
    csni_breakpad_put(t, "\n", 1);
}

void csni_breakpad_put_origin_name(struct csni_breakpad_text *t, struct csn_str name, csni_demangler *demangle) {
    size_t start = t->size;
    put_safe_name(t, name, demangle);
    if (t->failed) return;
    /* Readers would take it for the file number of the old form. */
    char *p = t->bytes + start, *end = t->bytes + t->size;
    if (p < end && *p == '-') p++;
    char *digits = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    if (p > digits && p < end && csni_is_blank(*p)) *p = '_';
    csni_breakpad_put(t, "\n", 1);
}
