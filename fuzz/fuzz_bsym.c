/* Any bytes as BSYM, or as one of the text files that BSYM is made from. Invariants: an index answers every question within its
 * bounds, whatever verify says of it; a file without problems answers at each function's start; what is converted to BSYM is
 * sound, and converting that gives the same bytes. */
#include <stdlib.h>
#include <string.h>

#include <callsign/callsign.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of an image with very many symbols, which are pieces of one function of gigabytes, fewer are asked for: a question about a
 * piece goes over all the pieces before it. */
enum { MAX_FUNCTIONS = 64, MANY = 4096, MAX_OF_MANY = 2, SCRATCH = 4096 };

static void require(int condition) {
    if (!condition) abort();
}

static bool count_problem(void *context, const struct csn_error *err) {
    uint64_t *problems = context;
    require(err->code < 0 && err->text[0]);
    return ++*problems < 1000;
}

static void look_up(const struct csn_index *index, const struct csn_index *fast, uint64_t addr) {
    struct csn_frame_ref ref, other_ref;
    struct csn_frame frame;
    struct csn_lookup found, other;
    char scratch[SCRATCH];
    csn_status status = csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, &ref, 1, &found, NULL);
    require(csn_index_lookup_refs(fast, addr, CSN_LOOKUP_DEFAULT, &other_ref, 1, &other, NULL) == status);
    require(!memcmp(&found, &other, sizeof found) && (status != CSN_OK || !memcmp(&ref, &other_ref, sizeof ref)));
    require(status == CSN_OK || status == CSN_NONE);
    if (status != CSN_OK) return;
    require(found.frame_count == 1 && found.binary > 0);
    require(found.function_start <= (addr & ~(uint64_t)1) && ref.offset == (addr & ~(uint64_t)1) - found.function_start);
    require((ref.offset >= found.function_size) == ((ref.flags & CSN_FRAME_UNCERTAIN) != 0));
    size_t need = csn_index_resolve_into(index, &ref, scratch, sizeof scratch, &frame);
    require(need <= sizeof scratch || frame.name.len == 0);
    struct csn_batch_answer answer;
    static struct csn_frame_ref frames[CSN_INLINE_DEPTH_MAX + 1];
    size_t done;
    struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
    batch.addrs = &addr;
    batch.count = 1;
    batch.answers = &answer;
    batch.frames = frames;
    batch.frame_capacity = CSN_INLINE_DEPTH_MAX + 1;
    require(csn_index_lookup_batch(index, &batch, &done, NULL) ==
                CSN_OK && done == 1);
    require(answer.status == CSN_OK && answer.found.function_index == found.function_index);
}

static void look_up_named(const struct csn_index *index, uint32_t binary) {
    struct csn_binary about;
    struct csn_frame_ref ref;
    struct csn_lookup found;
    char scratch[SCRATCH];
    size_t need;
    uint32_t other, match;
    require(csn_index_binary(index, binary, scratch, sizeof scratch, &about, &need, NULL) == CSN_OK);
    for (uint64_t off = 0; off < 64; off += 7)
        require(csn_index_lookup_in_binary(index, binary, off, &ref, 1, &found, NULL) >= 0);
    if (about.name.len) require(csn_index_find_binary(index, about.name, &other, &match, NULL) >= 0);
}

static uint64_t use(const struct csn_index *index, const struct csn_index *fast) {
    struct csn_index_info info;
    struct csn_verify_counts counts;
    uint64_t problems = 0;
    csn_index_get_info(index, &info, sizeof(info));
    require(csn_index_verify(index, count_problem, &problems, &counts, NULL) == CSN_OK);
    require(counts.problems == problems);
    uint32_t asked = info.function_count > MANY ? MAX_OF_MANY : MAX_FUNCTIONS;
    for (uint32_t i = 0; i < info.function_count && i < asked; i++) {
        struct csn_function function;
        require(csn_index_function(index, i, &function, NULL) == CSN_OK);
        for (uint64_t step = 0; step < 40; step += 13) look_up(index, fast, function.start + step);
    }
    for (uint32_t i = 0; i < info.binary_count && i < MAX_FUNCTIONS; i++) look_up_named(index, i);
    look_up(index, fast, 0);
    look_up(index, fast, UINT64_MAX);
    return problems;
}

/* With an accelerator and without. */
static csn_status use_bytes(const uint8_t *data, size_t size, uint64_t *problems, uint32_t *version) {
    struct csn_index *index, *fast;
    struct csn_index_info info;
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.accelerator_bytes = UINT64_MAX;
    csn_status status = csn_index_open_memory(data, size, NULL, &index, NULL);
    if (status < 0) return status;
    require(csn_index_open_memory(data, size, &options, &fast, NULL) == CSN_OK);
    csn_index_get_info(index, &info, sizeof(info));
    *version = info.format_version;
    *problems = use(index, fast);
    csn_index_close(index);
    csn_index_close(fast);
    return CSN_OK;
}

static void round_trip(const uint8_t *data, size_t size) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bsym_options bsym = CSN_BSYM_OPTIONS_INIT;
    struct csn_bytes first, second;
    uint64_t problems;
    options.format = CSN_FORMAT_BSYM;
    options.threads = 1;
    if (csn_convert_memory(data, size, &options, &first, NULL, NULL) != CSN_OK) return;
    require(use_bytes(first.ptr, first.size, &problems, &bsym.version) == CSN_OK && problems == 0);
    options.bsym = &bsym;
    require(csn_convert_memory(first.ptr, first.size, &options, &second, NULL, NULL) == CSN_OK);
    require(first.size == second.size && memcmp(first.ptr, second.ptr, first.size) == 0);
    csn_bytes_free(&first);
    csn_bytes_free(&second);
}

/* Objects are other targets' work. */
static bool is_text_or_bsym(const uint8_t *data, size_t size) {
    return size > 4 && (memcmp(data, "BSYM", 4) == 0 || memcmp(data, "From", 4) == 0 || memcmp(data, "ROMB", 4) == 0 ||
                        memcmp(data, "ROFS", 4) == 0 || memcmp(data, "ARM ", 4) == 0 || memcmp(data, "Arch", 4) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint64_t problems;
    uint32_t version;
    if (!is_text_or_bsym(data, size)) return 0;
    if (memcmp(data, "BSYM", 4) == 0) use_bytes(data, size, &problems, &version);
    round_trip(data, size);
    return 0;
}
