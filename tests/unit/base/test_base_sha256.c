/* base/sha256.h: the examples of FIPS 180-4, and any way to cut the input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

static void expect(const char *text, size_t size, size_t cut, const char *hex) {
    struct csni_sha256 hash;
    uint8_t out[CSNI_SHA256_SIZE];
    char found[2 * CSNI_SHA256_SIZE + 1];
    csni_sha256_init(&hash);
    for (size_t at = 0; at < size; at += cut) csni_sha256_add(&hash, text + at, size - at < cut ? size - at : cut);
    csni_sha256_finish(&hash, out);
    for (unsigned i = 0; i < CSNI_SHA256_SIZE; i++) sprintf(found + 2 * i, "%02x", out[i]);
    assert_string_equal(found, hex);
}

static void examples(void **state) {
    (void)state;
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static char million[1000000];
    memset(million, 'a', sizeof million);
    expect("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t cut = 1; cut <= sizeof two; cut++)
        expect(two, sizeof two - 1, cut, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    for (size_t cut = 63; cut <= 129; cut++)
        expect(million, sizeof million, cut, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(examples) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
