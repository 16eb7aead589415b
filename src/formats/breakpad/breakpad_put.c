/* What Breakpad's records are made of. */
#include "formats/breakpad/breakpad_put.h"

#include "base/lines.h"


static char *text_capacity(struct csni_buffer *t, size_t size) { return (char *)csni_buffer_reserve(t, size); }

void csni_breakpad_put_literal(struct csni_buffer *t, const char *text) { csni_buffer_put(t, text, strlen(text)); }

void csni_breakpad_put_hex(struct csni_buffer *t, uint64_t v, char next) {
    enum { MOST = 17 };
    char *p = text_capacity(t, MOST);
    if (!p) return;
    unsigned digits = 1;
    for (uint64_t rest = v >> 4; rest; rest >>= 4) digits++;
    for (unsigned i = digits; i-- > 0; v >>= 4) p[i] = "0123456789abcdef"[v & 15];
    p[digits] = next;
    t->size += digits + 1;
}

void csni_breakpad_put_dec(struct csni_buffer *t, uint32_t v, char next) {
    enum { MOST = 11 };
    char *p = text_capacity(t, MOST);
    if (!p) return;
    unsigned digits = 1;
    for (uint32_t rest = v / 10; rest; rest /= 10) digits++;
    for (unsigned i = digits; i-- > 0; v /= 10) p[i] = (char)('0' + v % 10);
    p[digits] = next;
    t->size += digits + 1;
}

/* ---- names ---- */

/* False: it is no mangled name. */
static bool put_demangled(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle) {
    enum { USUAL = 512 };
    size_t cap = USUAL, len = 0;
    for (int tries = 0; tries < 2; tries++) {
        char *p = text_capacity(t, cap);
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

static void put_safe_name(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle) {
    size_t start = t->size;
    if (!demangle || !put_demangled(t, name, demangle)) csni_buffer_put(t, name.ptr, name.len);
    if (t->size == start) csni_buffer_put(t, "<name omitted>", strlen("<name omitted>"));
    if (t->failed) return;
    char *p = (char *)t->bytes + start, *end = (char *)t->bytes + t->size;
    for (char *c = p; c < end; c++)
        if (*c == '\n' || *c == '\r' || !*c) *c = '_';
    if (csni_is_blank(*p)) *p = '_';
}

void csni_breakpad_put_name(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle) {
    put_safe_name(t, name, demangle);
    csni_buffer_put(t, "\n", 1);
}

void csni_breakpad_put_origin_name(struct csni_buffer *t, struct csn_str name, csni_demangler *demangle) {
    size_t start = t->size;
    put_safe_name(t, name, demangle);
    if (t->failed) return;
    /* Readers would take it for the file number of the old form. */
    char *p = (char *)t->bytes + start, *end = (char *)t->bytes + t->size;
    if (p < end && *p == '-') p++;
    char *digits = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    if (p > digits && p < end && csni_is_blank(*p)) *p = '_';
    csni_buffer_put(t, "\n", 1);
}
