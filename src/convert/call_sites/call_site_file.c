/* Which form a call-site file has. */
#include "convert/call_sites/call_site_file.h"

#include "base/text.h"

/* YAML and JSON by what stands first behind white space and comments: "functions:", "{", "---" or "%YAML". */
static bool is_yaml(struct csni_span bytes) {
    static const char *const openings[] = { "functions:", "\"functions\":", "{", "---", "%YAML", "functions :" };
    struct csn_str text = { (const char *)bytes.ptr, bytes.size };
    if (csni_str_starts(text, "\xef\xbb\xbf")) text.ptr += 3, text.len -= 3;
    while (text.len) {
        if (*text.ptr == '#') {
            while (text.len && *text.ptr != '\n') text.ptr++, text.len--;
        } else if (csni_is_blank(*text.ptr) || *text.ptr == '\r' || *text.ptr == '\n') {
            text.ptr++, text.len--;
        } else {
            break;
        }
    }
    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
        if (csni_str_starts(text, openings[i])) return true;
    return false;
}

csn_status csni_call_site_file_read(const struct csn_call_site_file *file, uint32_t number, struct csni_given_sites *out,
                                    struct csn_error *err) {
    struct csni_span bytes = { file->bytes, file->size };
    if (bytes.size && is_yaml(bytes)) return csni_call_site_yaml_read(file, number, out, err);
    return csni_call_site_text_read(file, number, out, err);
}
