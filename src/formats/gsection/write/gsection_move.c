/* The addresses of a finished index. */
#include "formats/gsection/write/gsection_move.h"

#include "base/core/endian.h"
#include "formats/gsection/read/gsection.h"
#include "formats/gsym/gsym_accel_layout.h"
#include "formats/gsym/gsym_checkpoint_layout.h"

static void move_address(uint8_t *at, bool big, uint64_t by) { csni_put64(at, csni_get64(at, big) + by, big); }

void csni_gsection_move(uint8_t *index, size_t size, bool big, uint64_t by) {
    struct csni_span bytes = { index, size };
    struct csni_gsym whole;
    bool is_whole = csni_gsection_is_whole(bytes) && csni_gsym_parse(&whole, bytes, NULL) == CSN_OK;
    move_address(index + CSNI_GSYM_H_BASE_ADDRESS, big, by);
    if (!is_whole) return;
    /* Without these a lookup would take the long way. They are little-endian in every file. */
    const uint8_t *head = csni_gsym_checkpoint_head(&whole);
    if (whole.accel_trailer) move_address(index + (whole.accel_trailer - index) + CSNI_ACCEL_T_FIRST, false, by);
    if (head) move_address(index + (head - index) + CSNI_CP_H_FIRST, false, by);
}
