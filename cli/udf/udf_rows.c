/* Columns of rows that wait for their answers. */
#include "udf/udf_rows.h"

#include <stdlib.h>
#include <string.h>

enum { BITS_SIZE = UDF_ROWS_MAX / 8 };

bool udf_rows_init(struct udf_rows *rows) {
    *rows = (struct udf_rows){ .text = malloc(UDF_TEXT_MAX), .module_ends = calloc(UDF_ROWS_MAX + 1, sizeof(int32_t)),
                               .addresses = malloc(UDF_ROWS_MAX * sizeof(uint64_t)), .has_module = calloc(BITS_SIZE, 1),
                               .has_address = calloc(BITS_SIZE, 1), .faults = malloc(UDF_ROWS_MAX * sizeof(char *)) };
    return rows->text && rows->module_ends && rows->addresses && rows->has_module && rows->has_address && rows->faults;
}

void udf_rows_deinit(struct udf_rows *rows) {
    free(rows->text);
    free(rows->module_ends);
    free(rows->addresses);
    free(rows->has_module);
    free(rows->has_address);
    free(rows->faults);
}

void udf_rows_clear(struct udf_rows *rows) {
    size_t bits = rows->count / 8 + (rows->count % 8 ? 1 : 0);
    memset(rows->has_module, 0, bits);
    memset(rows->has_address, 0, bits);
    rows->count = rows->text_size = 0;
}

bool udf_rows_full(const struct udf_rows *rows) {
    return rows->count == UDF_ROWS_MAX || rows->text_size > UDF_TEXT_MAX - UDF_MODULE_MAX;
}

static void set_bit(uint8_t *bits, uint32_t at) { bits[at / 8] |= (uint8_t)(1u << at % 8); }

static void end_row(struct udf_rows *rows, uint64_t address, const char *fault) {
    rows->addresses[rows->count] = address;
    rows->faults[rows->count++] = fault;
    rows->module_ends[rows->count] = (int32_t)rows->text_size;
}

void udf_rows_add_fault(struct udf_rows *rows, const char *fault) { end_row(rows, 0, fault); }

void udf_rows_add(struct udf_rows *rows, const struct csn_str *module, const uint64_t *address) {
    if (module && module->len > UDF_MODULE_MAX) {
        udf_rows_add_fault(rows, "the module's name is longer than 65536 bytes");
        return;
    }
    if (module) {
        if (module->len) memcpy(rows->text + rows->text_size, module->ptr, module->len);
        rows->text_size += (uint32_t)module->len;
        set_bit(rows->has_module, rows->count);
    }
    if (address) set_bit(rows->has_address, rows->count);
    end_row(rows, address ? *address : 0, NULL);
}
