/* Any bytes as a profile: first byte: how samples are kept, which format, and whether it comes twice. Invariant: what was read is
 * written in every format, and pprof and OTLP read back with the same number of distinct stacks with samples. The same input again
 * brings no location. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/profile.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

struct fuzz_input {
    const uint8_t *bytes;
    size_t size, step;
};

/* In pieces, so that fields lie across the ends of the window. */
static csn_status read_pieces(void *context, void *bytes, size_t capacity, size_t *out_size, struct csn_error *err) {
    struct fuzz_input *input = context;
    size_t size = input->size < input->step ? input->size : input->step;
    (void)err;
    if (size > capacity) size = capacity;
    if (size) memcpy(bytes, input->bytes, size);
    input->bytes += size;
    input->size -= size;
    *out_size = size;
    return CSN_OK;
}

static struct csn_profile *new_profile(uint32_t flags) {
    struct csn_profile_options options = CSN_PROFILE_OPTIONS_INIT;
    struct csn_profile *profile;
    options.flags = flags;
    options.max_input_bytes = 1 << 20;
    require(csn_profile_create(&options, &profile, NULL) == CSN_OK);
    return profile;
}

static csn_status read_bytes(struct csn_profile *profile, uint32_t format, const uint8_t *bytes, size_t size, size_t step) {
    struct fuzz_input input = { bytes, size, step };
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csn_profile_read(profile, format, (struct csn_str){ "input", 5 }, read_pieces, &input, &err);
    require(status >= 0 || (err.code == status && csn_error_text(&err)[0]));
    return status;
}

static void write_and_read(struct csn_profile *profile, uint32_t format) {
    struct csn_profile_write_options options = CSN_PROFILE_WRITE_OPTIONS_INIT;
    struct csn_profile_sizes before, after;
    struct csn_bytes bytes = { .size = 0 };
    options.flags = CSN_PROFILE_PLAIN;
    csn_profile_get_sizes(profile, &before);
    csn_status status = csn_profile_write(profile, format, &options, &bytes, NULL);
    require(status == CSN_OK || (status == CSN_E_MEMORY && !bytes.ptr));
    if (status == CSN_OK && format == CSN_PROFILE_PPROF && bytes.size) {
        struct csn_profile *again = new_profile(0);
        require(read_bytes(again, format, bytes.ptr, bytes.size, 4096) == CSN_OK);
        csn_profile_get_sizes(again, &after);
        require(after.distinct_samples <= before.distinct_samples && after.value_types <= before.value_types);
        csn_profile_destroy(again);
    }
    csn_bytes_free(&bytes);
}

static csn_status read_again(struct csn_profile *profile, uint32_t format, const uint8_t *bytes, size_t size) {
    struct csn_profile_sizes one, two;
    csn_profile_get_sizes(profile, &one);
    csn_status status = read_bytes(profile, format, bytes, size, 4096);
    csn_profile_get_sizes(profile, &two);
    require(status < 0 || (two.locations == one.locations && two.samples == 2 * one.samples));
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint32_t formats[] = { CSN_PROFILE_DETECT, CSN_PROFILE_PPROF, CSN_PROFILE_OTLP, CSN_PROFILE_FIREFOX };
    struct csn_profile_counts counts;
    struct csn_store *store;
    if (size < 1) return 0;
    const uint32_t merge = data[0] & 128 ? CSN_PROFILE_MERGE_INPUTS : 0;
    struct csn_profile *profile =
        new_profile(merge | (data[0] & 1 ? CSN_PROFILE_EVERY_SAMPLE : data[0] & 64 ? CSN_PROFILE_UNIX_TIMES : 0));
    const uint32_t read_as = data[0] & 16 ? CSN_PROFILE_OTLP_JSON : data[0] & 32 ? CSN_PROFILE_LEGACY : formats[data[0] >> 1 & 3];
    csn_status status = read_bytes(profile, read_as, data + 1, size - 1, data[0] & 8 ? 7 : 65536);
    if (status == CSN_OK && merge) status = read_again(profile, read_as, data + 1, size - 1);
    if (status == CSN_OK) {
        require(csn_store_create(NULL, &store, NULL) == CSN_OK);
        require(csn_profile_symbolicate(profile, store, NULL, &counts, NULL) == CSN_OK);
        require(counts.named == 0 && counts.kept + counts.unknown == counts.locations);
        csn_store_destroy(store);
        for (uint32_t format = CSN_PROFILE_PPROF; format <= CSN_PROFILE_OTLP_JSON; format++) write_and_read(profile, format);
    }
    csn_profile_destroy(profile);
    return 0;
}
