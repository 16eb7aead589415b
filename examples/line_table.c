/* A line table by itself, without an index around it: encodes rows, decodes them, and finds one address by reading the
 * bytes as a stream. None of the three allocates.
 *
 *     cc line_table.c $(pkg-config --cflags --libs callsign) -o line_table
 *     ./line_table */
#include <stdio.h>

#include <callsign/callsign.h>

enum { START = 0x1000 };

/* A row holds up to the address of the next one. */
static const struct csn_row rows[] = {
    { START, 1, 10 }, { START + 4, 1, 11 }, { START + 10, 2, 305 }, { START + 18, 1, 12 }, { START + 40, 1, 14 },
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static csn_status encode(uint8_t *bytes, size_t capacity, size_t *size, struct csn_error *err) {
    csn_status status = csn_line_table_encode(START, rows, ROW_COUNT, bytes, capacity, size, err);
    if (status < 0) return status;
    printf("%d rows in %zu bytes:", ROW_COUNT, *size);
    for (size_t i = 0; i < *size; i++) printf(" %02x", bytes[i]);
    printf("\n");
    return status;
}

static csn_status decode(const uint8_t *bytes, size_t size, struct csn_error *err) {
    struct csn_row decoded[ROW_COUNT];
    size_t count;
    csn_status status = csn_line_table_decode(START, bytes, size, decoded, ROW_COUNT, &count, err);
    for (size_t i = 0; status == CSN_OK && i < count && i < ROW_COUNT; i++)
        printf("0x%llx file %u line %u\n", (unsigned long long)decoded[i].addr, decoded[i].file, decoded[i].line);
    return status;
}

static csn_status find(const uint8_t *bytes, size_t size, uint64_t addr, struct csn_error *err) {
    struct csn_row row;
    csn_status status = csn_line_table_lookup(START, bytes, size, addr, &row, err);
    if (status == CSN_OK) printf("0x%llx is in file %u, line %u\n", (unsigned long long)addr, row.file, row.line);
    if (status == CSN_NONE) printf("0x%llx is before the first row\n", (unsigned long long)addr);
    return status;
}

int main(void) {
    struct csn_error err = CSN_ERROR_INIT;
    uint8_t bytes[64];
    size_t size = 0;
    csn_status status = encode(bytes, sizeof bytes, &size, &err);
    if (status >= 0) status = decode(bytes, size, &err);
    if (status >= 0) status = find(bytes, size, START + 12, &err);
    if (status >= 0) status = find(bytes, size, START - 1, &err);
    if (status < 0) fprintf(stderr, "%s\n", csn_error_text(&err));
    return status < 0;
}
