/* Finding a row. */
#include "ui/index_row.h"

bool index_row_at(const struct csn_index *index, const struct csn_record *record, uint64_t addr, struct csn_row *out) {
    struct csn_row_iter iter;
    struct csn_row row;
    bool found = false;
    if (csn_row_iter_init(&iter, index, record, NULL) != CSN_OK) return false;
    while (csn_row_iter_next(&iter, &row, NULL) == CSN_OK && row.addr <= addr) {
        *out = row;
        found = true;
    }
    return found;
}
