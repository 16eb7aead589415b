#include "process/maps_line.h"

#include "base/hex.h"
#include "base/lines.h"

/* A word of up to a blank; at least one character. */
static bool take_word(struct csn_str *rest, struct csn_str *out) {
    size_t len = 0;
    while (len < rest->len && !csni_is_blank(rest->ptr[len])) len++;
    *out = (struct csn_str){ rest->ptr, len };
    *rest = (struct csn_str){ rest->ptr + len, rest->len - len };
    return len > 0;
}

static bool take_hex(struct csn_str *rest, uint64_t *out) {
    size_t len = 0;
    while (len < rest->len && csni_hex_digit(rest->ptr[len]) < 16) len++;
    if (!csni_hex_value((struct csn_str){ rest->ptr, len }, out)) return false;
    *rest = (struct csn_str){ rest->ptr + len, rest->len - len };
    return true;
}

/* "08:01". Other systems write other things. */
static void parse_device(struct csn_str text, struct csni_maps_line *out) {
    uint64_t major, minor;
    out->major = out->minor = UINT64_MAX;
    if (!take_hex(&text, &major) || !csni_skip_text(&text, ":") || !take_hex(&text, &minor) || text.len) return;
    out->major = major;
    out->minor = minor;
}

static bool parse_inode(struct csn_str text, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        *out = *out * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return true;
}

/* "55d000000000-55d000002000 r-xp 00001000 08:01 1234      /path/app" */
bool csni_maps_line_parse(struct csn_str rest, struct csni_maps_line *out) {
    struct csn_str access, offset, device, inode;
    if (!take_hex(&rest, &out->start) || !csni_skip_text(&rest, "-")) return false;
    if (!take_hex(&rest, &out->end) || !rest.len || !csni_is_blank(rest.ptr[0])) return false;
    csni_skip_blanks(&rest);
    if (!take_word(&rest, &access) || access.len != 4) return false;
    csni_skip_blanks(&rest);
    if (!take_word(&rest, &offset) || !csni_hex_value(offset, &out->file_off)) return false;
    csni_skip_blanks(&rest);
    if (!take_word(&rest, &device)) return false;
    csni_skip_blanks(&rest);
    if (!take_word(&rest, &inode) || !parse_inode(inode, &out->inode)) return false;
    csni_skip_blanks(&rest);
    parse_device(device, out);
    out->path = rest;
    out->exec = access.ptr[2] == 'x';
    return true;
}
