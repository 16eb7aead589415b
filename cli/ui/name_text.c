/* Demangling into a buffer that grows to the longest name. */
#include "ui/name_text.h"

#include <stdlib.h>

#include <callsign/names.h>

#include "ui/cli_message.h"

enum { FIRST_SIZE = 4096 };

bool name_text_init(struct name_text *names, bool demangle) {
    *names = (struct name_text){ .demangle = demangle };
    if (!demangle) return true;
    names->buffer = malloc(FIRST_SIZE);
    if (!names->buffer) {
        cli_error_memory("names");
        return false;
    }
    names->buffer_size = FIRST_SIZE;
    return true;
}

bool name_text_init_for(struct name_text *names, bool demangle, bool shorten, bool nested) {
    if (!name_text_init(names, demangle || shorten || nested)) return false;
    names->shortening = nested ? NAMES_SHORT_NESTED : shorten ? NAMES_SHORT : NAMES_WHOLE;
    return true;
}

void name_text_init_like(struct name_text *names, const struct name_text *others) {
    *names = (struct name_text){ .demangle = others->demangle, .shortening = others->shortening };
}

void name_text_deinit(struct name_text *names) {
    free(names->buffer);
    *names = (struct name_text){ 0 };
}

static bool reserve(struct name_text *names, size_t size) {
    if (size <= names->buffer_size) return true;
    char *larger = realloc(names->buffer, size);
    if (!larger) return false;
    names->buffer = larger;
    names->buffer_size = size;
    return true;
}

static struct csn_str demangled(struct name_text *names, struct csn_str name) {
    size_t len = 0;
    csn_status status = csn_demangle(name, names->buffer, names->buffer_size, &len, NULL);
    if (status == CSN_E_LIMIT && len >= names->buffer_size) {
        if (!reserve(names, len + 1)) return name;
        status = csn_demangle(name, names->buffer, names->buffer_size, &len, NULL);
    }
    if (status != CSN_OK) return name;
    names->made_bytes += len;
    return (struct csn_str){ names->buffer, len };
}

struct csn_str name_text(struct name_text *names, struct csn_str name) {
    if (!names->demangle) return name;
    struct csn_str text = demangled(names, name);
    if (names->shortening == NAMES_WHOLE) return text;
    if (text.ptr != names->buffer && !reserve(names, text.len + 1)) return text;
    uint32_t flags = names->shortening == NAMES_SHORT_NESTED ? CSN_SHORTEN_NESTED : 0;
    size_t len = 0;
    csn_status status = csn_shorten_name(text, flags, names->buffer, names->buffer_size, &len, NULL);
    return status == CSN_OK ? (struct csn_str){ names->buffer, len } : text;
}
