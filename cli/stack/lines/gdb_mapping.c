/*       Start Addr           End Addr       Size     Offset  Perms  objfile
 *   0x7ffff7fbc000     0x7ffff7fbd000     0x1000     0x1000  r-xp   /opt/app/liborders.so */
#include "stack/lines/gdb_mapping.h"

#include "stack/lines/line_scan.h"

static bool read_mapping_number(struct line_scan *s, uint64_t *out) { return scan_hex(s, out) && scan_blanks(s); }

bool gdb_mapping_read(struct csn_str line, struct csn_process_mapping *out) {
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    struct line_scan s = scan_on(line);
    struct csn_str access;
    uint64_t size;
    if (!scan_blanks(&s) || !read_mapping_number(&s, &mapping.start) || !read_mapping_number(&s, &mapping.end)
        || !read_mapping_number(&s, &size) || !read_mapping_number(&s, &mapping.file_off))
        return false;
    mapping.flags = CSN_MAPPING_EXECUTABLE;
    if (scan_peek(&s) != '/') { /* of older versions, which print no access */
        if (!scan_word(&s, &access) || access.len < 3) return false;
        if (access.ptr[2] != 'x') mapping.flags = 0;
        scan_blanks(&s);
    }
    mapping.path = scan_rest(&s);
    if (scan_peek(&s) != '/' || mapping.end - mapping.start != size) return false;
    *out = mapping;
    return true;
}
