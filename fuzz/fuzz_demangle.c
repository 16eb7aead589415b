/* Any bytes as a name, in every language and shortened. Invariants: what does not fit is counted as what fits; the
 * text's length is within its limit; room does not change the answer; shortening makes no name longer. */
#include <stdlib.h>
#include <string.h>

#include <callsign/names.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROOM = (1 << 20) + 1, NAME_MAX = 1 << 16 };

static void require(bool condition) {
    if (!condition) abort();
}

static void check_shortening(struct csn_str plain, uint32_t flags) {
    static char shorter[ROOM], again[ROOM];
    size_t len = 0, cut = 0;
    require(csn_shorten_name(plain, flags, shorter, sizeof shorter, &len, NULL) == CSN_OK);
    require(len <= plain.len && shorter[len] == 0);
    memcpy(again, plain.ptr, plain.len);
    require(csn_shorten_name((struct csn_str){ again, plain.len }, flags, again, sizeof again, &cut, NULL) == CSN_OK);
    require(cut == len && memcmp(again, shorter, len) == 0);
}

/* `prefix` before the bytes: the fuzzer need not find each language's first letters. */
static void check_name(const char *prefix, const uint8_t *data, size_t size) {
    static char whole[ROOM], name[NAME_MAX + 8];
    char little[40];
    size_t len = 0, little_len = 0, prefix_len = strlen(prefix);
    memcpy(name, prefix, prefix_len);
    if (size) memcpy(name + prefix_len, data, size);
    struct csn_str given = { name, prefix_len + size };
    csn_status status = csn_demangle(given, whole, sizeof whole, &len, NULL);
    size_t llvm_len = 0;
    csn_status llvm_status = csn_demangle_with(given, CSN_DEMANGLE_AS_LLVM, little, sizeof little, &llvm_len, NULL);
    require(llvm_status == CSN_NONE || llvm_status == (llvm_len < sizeof little ? CSN_OK : CSN_E_LIMIT));
    csn_status little_status = csn_demangle(given, little, sizeof little, &little_len, NULL);
    require(status == CSN_OK || status == CSN_NONE);
    if (status == CSN_OK) {
        require(len < ROOM && whole[len] == 0 && little_len == len);
        require(little_status == (len < sizeof little ? CSN_OK : CSN_E_LIMIT));
        size_t kept = len < sizeof little ? len : sizeof little - 1;
        require(memcmp(little, whole, kept) == 0 && little[kept] == 0);
    } else {
        require(little_status == CSN_NONE);
    }
    struct csn_str plain = status == CSN_OK ? (struct csn_str){ whole, len } : given;
    check_shortening(plain, 0);
    check_shortening(plain, CSN_SHORTEN_NESTED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const prefixes[] = { "", "_Z", "_ZN", "_R", "_D", "?", "$s", "_T0", "_T" };
    if (size > NAME_MAX) return 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) check_name(prefixes[i], data, size);
    return 0;
}
