/* Demangling into a buffer that grows to the longest name. */
#include "name_text.h"

#include <stdlib.h>

#include "complain.h"

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

void name_text_deinit(struct name_text *names) {
    free(names->room);
    *names = (struct name_text){ 0 };
}

struct csn_str name_text(struct name_text *names, struct csn_str name) {
    if (!names->demangle) return name;
    size_t len = 0;
    csn_status status = csn_demangle(name, names->room, names->room_size, &len, NULL);
    if (status == CSN_E_LIMIT && len >= names->room_size) {
        char *larger = realloc(names->room, len + 1);
        if (!larger) return name;
        names->room = larger;
        names->room_size = len + 1;
        status = csn_demangle(name, names->room, names->room_size, &len, NULL);
    }
    return status == CSN_OK ? (struct csn_str){ names->room, len } : name;
}
