/* Any bytes as a line table. Invariants: what decodes and ascends can be encoded, and decodes to the same rows again; each
 * row is found by streaming lookup in the new bytes; encoding once more gives the same bytes. */
#include <stdlib.h>
#include <string.h>

#include <callsign/line_table.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { START = 0x4000, MAX_ROWS = 1 << 16 };

static struct csn_row rows[MAX_ROWS], again[MAX_ROWS];

static void require(bool condition) {
    if (!condition) abort();
}

static bool ascends(size_t count) {
    for (size_t i = 0; i < count; i++)
        if (rows[i].addr < (i ? rows[i - 1].addr : START)) return false;
    return true;
}

static bool same(const struct csn_row *a, const struct csn_row *b) {
    return a->addr == b->addr && a->file == b->file && a->line == b->line;
}

static void check_lookups(const uint8_t *bytes, size_t size, size_t count) {
    for (size_t i = 0; i < count; i += 1 + count / 64) {
        struct csn_row row;
        size_t last = i;
        while (last + 1 < count && rows[last + 1].addr == rows[i].addr) last++;
        require(csn_line_table_lookup(START, bytes, size, rows[i].addr, &row, NULL) == CSN_OK && same(&row, &rows[last]));
    }
}

static void encode(size_t count) {
    size_t size, needed, decoded;
    require(csn_line_table_encode(START, rows, count, NULL, 0, &size, NULL) == CSN_E_LIMIT);
    uint8_t *bytes = malloc(size), *twice = malloc(size);
    require(bytes && twice);
    require(csn_line_table_encode(START, rows, count, bytes, size, &needed, NULL) == CSN_OK && needed == size);
    require(csn_line_table_decode(START, bytes, size, again, MAX_ROWS, &decoded, NULL) == CSN_OK && decoded == count);
    for (size_t i = 0; i < count; i++) require(same(&rows[i], &again[i]));
    require(csn_line_table_encode(START, again, count, twice, size, &needed, NULL) == CSN_OK);
    require(needed == size && memcmp(bytes, twice, size) == 0);
    check_lookups(bytes, size, count);
    free(bytes);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t count;
    if (csn_line_table_decode(START, data, size, rows, MAX_ROWS, &count, NULL) != CSN_OK) return 0;
    if (count && count <= MAX_ROWS && ascends(count)) encode(count);
    return 0;
}
