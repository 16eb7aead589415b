/* Demangling into a buffer that grows to the longest name. */
#include "ui/name_text.h"

#include <stdlib.h>

#include <callsign/names.h>

#include "ui/complain.h"

enum { FIRST_ROOM = 4096 };

bool name_text_init(struct name_text *names, bool demangle) {
    *names = (struct name_text){ .demangle = demangle };
    if (!demangle) return true;
    names->room = malloc(FIRST_ROOM);
    if (!names->room) {
        complain_memory("names");
        return false;
    }
    names->room_size = FIRST_ROOM;
    size_t len;
    struct csn_error err = CSN_ERROR_INIT;
    const struct csn_str probe = { "_Z1fv", 5 };
    if (csn_demangle(probe, names->room, names->room_size, &len, &err) != CSN_E_UNSUPPORTED) return true;
    complain(NULL, "--demangle: %s", csn_error_text(&err));
    name_text_deinit(names);
    return false;
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
    free(names->room);
    *names = (struct name_text){ 0 };
}

static bool reserve(struct name_text *names, size_t size) {
    if (size <= names->room_size) return true;
    char *larger = realloc(names->room, size);
    if (!larger) return false;
    names->room = larger;
    names->room_size = size;
    return true;
}

static struct csn_str demangled(struct name_text *names, struct csn_str name) {
    size_t len = 0;
    csn_status status = csn_demangle(name, names->room, names->room_size, &len, NULL);
    if (status == CSN_E_LIMIT && len >= names->room_size) {
        if (!reserve(names, len + 1)) return name;
        status = csn_demangle(name, names->room, names->room_size, &len, NULL);
    }
    return status == CSN_OK ? (struct csn_str){ names->room, len } : name;
}

struct csn_str name_text(struct name_text *names, struct csn_str name) {
    if (!names->demangle) return name;
    struct csn_str text = demangled(names, name);
    if (names->shortening == NAMES_WHOLE) return text;
    if (text.ptr != names->room && !reserve(names, text.len + 1)) return text;
    uint32_t flags = names->shortening == NAMES_SHORT_NESTED ? CSN_SHORTEN_NESTED : 0;
    size_t len = 0;
    csn_status status = csn_shorten_name(text, flags, names->room, names->room_size, &len, NULL);
    return status == CSN_OK ? (struct csn_str){ names->room, len } : text;
}
