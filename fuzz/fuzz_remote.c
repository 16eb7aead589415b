/* Any bytes as a server: the first half is the file, the second tells what each answer does. Invariants: an index
 * that opens answers as the local file does until a read fails, and from then on nobody is asked; header lines of
 * any form are taken. Where an accelerator contradicts the records, either may answer. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>
#include <callsign/remote.h>

#include "remote/http_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FRAMES = 8 };

static void require(bool condition) {
    if (!condition) abort();
}

struct far_file {
    const uint8_t *bytes, *manner;
    size_t size, left;
    bool has_failed;
};

static csn_status read_far(void *context, struct csn_remote_range *ranges, size_t count, struct csn_remote_file *file,
                           struct csn_error *err) {
    struct far_file *far = context;
    uint8_t manner = 0;
    if (far->left) {
        far->left--;
        manner = *far->manner++;
    }
    (void)err;
    require(!far->has_failed);
    far->has_failed = manner > 250;
    if (manner == 255) return CSN_E_IO;
    for (size_t i = 0; i < count; i++) {
        uint64_t left = ranges[i].offset < far->size ? far->size - ranges[i].offset : 0;
        ranges[i].received = left < ranges[i].size ? left : ranges[i].size;
        if (ranges[i].received) memcpy(ranges[i].bytes, far->bytes + ranges[i].offset, (size_t)ranges[i].received);
        if (manner == 254) ranges[i].received = ranges[i].received ? ranges[i].received - 1 : 1;
    }
    file->size = far->size + (manner == 253);
    file->version[0] = manner == 252 ? 'b' : 'a';
    return manner == 251 ? CSN_NONE : CSN_OK;
}

static void same(const struct csn_index *near, const struct csn_index *index, struct far_file *far, uint64_t addr) {
    struct csn_frame a[FRAMES], b[FRAMES];
    size_t count = 0, other = 0;
    csn_status status = csn_index_lookup(near, addr, a, FRAMES, &count, NULL);
    csn_status found = csn_index_lookup(index, addr, b, FRAMES, &other, NULL);
    if (far->has_failed) return;
    require(status == found && (status != CSN_OK || count == other));
    for (size_t k = 0; status == CSN_OK && k < count && k < FRAMES; k++)
        require(a[k].line == b[k].line && a[k].name.len == b[k].name.len &&
                (!a[k].name.len || !memcmp(a[k].name.ptr, b[k].name.ptr, a[k].name.len)));
}

static bool count_problem(void *context, const struct csn_error *err) {
    (void)err;
    *(bool *)context = true;
    return false;
}

static bool contradicts_itself(const struct csn_index *index) {
    struct csn_index_info info;
    struct csn_verify_counts counts;
    bool has_problem = false;
    csn_index_get_info(index, &info, sizeof info);
    if (!info.stored_accelerator_bytes) return false;
    return csn_index_verify(index, count_problem, &has_problem, &counts, NULL) < 0 || has_problem;
}

static void read_header(const uint8_t *data, size_t size) {
    uint8_t memory[16];
    struct csn_remote_range range = { .offset = 16, .size = sizeof memory, .bytes = memory };
    struct csni_http_answer answer = { .range = &range, .whole_max = 64 };
    char line[256];
    for (size_t at = 0; at < size;) {
        size_t length = 0;
        while (at + length < size && length < sizeof line) {
            line[length] = (char)data[at + length];
            if (line[length++] == '\n') break;
        }
        require(csni_http_answer_header(line, 1, length, &answer) == length);
        if (csni_http_answer_body(line, 1, length, &answer) == 0) break;
        at += length;
    }
    require(range.received <= range.size && answer.whole_size <= 64);
    (void)csni_http_answer_check(&answer, NULL);
    free(answer.whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t manners = size / 8 < 32 ? size / 8 : 32;
    struct far_file far = { .bytes = data, .manner = data + size - manners, .size = size - manners, .left = manners };
    struct csn_remote_options options = CSN_REMOTE_OPTIONS_INIT;
    struct csn_index *near = NULL, *index = NULL;
    read_header(data, size);
    options.read = read_far;
    options.context = &far;
    csn_status local = csn_index_open_memory(far.bytes, far.size, NULL, &near, NULL);
    csn_status status = csn_index_open_remote("far", &options, &index, NULL);
    require(far.has_failed ? status < 0 || local == CSN_OK : (status == CSN_OK) == (local == CSN_OK) || !far.size);
    if (status == CSN_OK && local == CSN_OK && !contradicts_itself(near))
        for (uint64_t addr = 0; addr < 0x3000; addr += 61) same(near, index, &far, addr);
    if (status == CSN_OK) csn_index_close(index);
    if (local == CSN_OK) csn_index_close(near);
    return 0;
}
