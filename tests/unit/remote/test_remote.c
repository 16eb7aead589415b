/* remote/ through callsign/remote.h with a callback: the answers of the local file, each block read once and in few
 * calls, and every fault of the callback a failure that stays. remote/http_answer.h: what servers answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/convert.h>
#include <callsign/inspect.h>
#include <callsign/remote.h>

#include "remote/http_answer.h"
#include "remote/remote_file.h"

enum { FUNCTIONS = 12000, FIRST = 0x1000, STEP = 64, FRAMES = 8, BLOCKS_MOST = 4096 };

enum fault { NO_FAULT, SHORT_ANSWER, OTHER_SIZE, OTHER_VERSION, FAILURE, ODD_STATUS };

/* A file on a server. */
struct far_file {
    const struct csn_bytes *bytes;
    enum fault fault;
    unsigned fault_at;                  /* the call, from 1 on */
    unsigned calls;
    uint8_t sent[BLOCKS_MOST];          /* how often */
};

static csn_status read_far(void *context, struct csn_remote_range *ranges, size_t count, struct csn_remote_file *file,
                           struct csn_error *err) {
    struct far_file *far = context;
    uint64_t before = 0;
    enum fault fault = ++far->calls == far->fault_at ? far->fault : NO_FAULT;
    (void)err;
    if (fault == FAILURE) return CSN_E_IO;
    for (size_t i = 0; i < count; i++) {
        struct csn_remote_range *range = &ranges[i];
        assert_true(range->size && range->offset >= before && range->offset % CSNI_REMOTE_BLOCK == 0);
        assert_true(range->offset < far->bytes->size || far->calls == 1);
        uint64_t left = far->bytes->size - range->offset;
        range->received = range->size < left ? range->size : left;
        if (fault == SHORT_ANSWER) range->received--;
        memcpy(range->bytes, far->bytes->ptr + range->offset, (size_t)range->received);
        before = range->offset + range->size;
        for (uint64_t block = range->offset / CSNI_REMOTE_BLOCK;
             block * CSNI_REMOTE_BLOCK < range->offset + range->received; block++)
            assert_true(block < BLOCKS_MOST && ++far->sent[block] == 1);
        file->received += range->received;
    }
    file->requests = count;
    file->size = far->bytes->size + (fault == OTHER_SIZE);
    snprintf(file->version, sizeof file->version, "%s", fault == OTHER_VERSION ? "\"b\"" : "\"a\"");
    return fault == ODD_STATUS ? CSN_NONE : CSN_OK;
}

static csn_status open_far(struct far_file *far, struct csn_index **out, struct csn_error *err) {
    struct csn_remote_options options = CSN_REMOTE_OPTIONS_INIT;
    options.read = read_far;
    options.context = far;
    return csn_index_open_remote("far", &options, out, err);
}

/* ---- the file ---- */

static struct csn_bytes plain, accelerated, laid_out;

static struct csn_bytes convert(const char *text, size_t size, uint32_t flags) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    options.flags = flags;
    options.threads = 1;
    assert_true(csn_convert_memory(text, size, &options, &out, NULL, NULL) >= 0);
    return out;
}

static int make_files(void **state) {
    (void)state;
    size_t capacity = FUNCTIONS * 320 + 4096, size = 0;
    char *text = malloc(capacity);
    if (!text) return -1;
    size += (size_t)snprintf(text, capacity, "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 far\n");
    for (unsigned i = 0; i < 40; i++)
        size += (size_t)snprintf(text + size, capacity - size, "FILE %u /src/part_%u/file_%u.c\n", i, i % 5, i);
    for (unsigned i = 0; i < 300; i++)
        size += (size_t)snprintf(text + size, capacity - size, "INLINE_ORIGIN %u inlined_%u\n", i, i);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        unsigned start = FIRST + STEP * i;
        size += (size_t)snprintf(
            text + size, capacity - size,
            "FUNC %x 40 0 function_with_a_name_that_takes_many_bytes_and_then_some_more_of_them_%u\nINLINE 0 %u %u %u %x 10\n"
            "%x 10 %u %u\n%x 30 %u %u\n",
            start, i, i % 90 + 1, i % 40, i * 7 % 300, start + 8, start, i % 700 + 1, i % 40, start + 16, i % 700 + 5,
            (i + 1) % 40);
    }
    plain = convert(text, size, 0);
    accelerated = convert(text, size, CSN_CONVERT_ACCELERATE);
    laid_out = convert(text, size, CSN_CONVERT_REMOTE_LAYOUT);
    free(text);
    return 0;
}

static int free_files(void **state) {
    (void)state;
    csn_bytes_free(&plain);
    csn_bytes_free(&accelerated);
    csn_bytes_free(&laid_out);
    return 0;
}

static const struct csn_bytes *const files[] = { &plain, &accelerated, &laid_out };
enum { FILES = 3 };

/* ---- answers ---- */

static void same_text(struct csn_str a, struct csn_str b) {
    assert_int_equal(a.len, b.len);
    if (a.len) assert_memory_equal(a.ptr, b.ptr, a.len);
}

static void same_answer(const struct csn_index *near, const struct csn_index *far, uint64_t addr) {
    struct csn_frame a[FRAMES], b[FRAMES];
    size_t count = 0, other = 0;
    csn_status status = csn_index_lookup(near, addr, a, FRAMES, &count, NULL);
    assert_int_equal(csn_index_lookup(far, addr, b, FRAMES, &other, NULL), status);
    assert_int_equal(count, other);
    for (size_t k = 0; k < count; k++) {
        same_text(a[k].name, b[k].name);
        same_text(a[k].directory, b[k].directory);
        same_text(a[k].base, b[k].base);
        assert_true(a[k].line == b[k].line && a[k].offset == b[k].offset && a[k].flags == b[k].flags);
    }
}

static struct csn_index *open_near(const struct csn_bytes *bytes) {
    struct csn_index *index = NULL;
    assert_int_equal(csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, NULL), CSN_OK);
    return index;
}

static void answers(void **state) {
    (void)state;
    for (unsigned k = 0; k < FILES; k++) {
        struct far_file far = { .bytes = files[k] };
        struct csn_index *near = open_near(files[k]), *index;
        assert_int_equal(open_far(&far, &index, NULL), CSN_OK);
        for (uint64_t addr = FIRST - 10; addr < FIRST + STEP * FUNCTIONS + 100; addr += 997) same_answer(near, index, addr);
        same_answer(near, index, 0);
        same_answer(near, index, UINT64_MAX);
        struct csn_remote_state seen;
        assert_int_equal(csn_index_remote_state(index, &seen, sizeof seen, NULL), CSN_OK);
        assert_int_equal(seen.file_bytes, files[k]->size);
        assert_true(seen.kept_bytes <= seen.file_bytes && seen.received_bytes == seen.kept_bytes);
        assert_int_equal(csn_index_remote_state(near, &seen, sizeof seen, NULL), CSN_NONE);
        csn_index_close(near);
        csn_index_close(index);
    }
}

/* Of fewer frames than there are, and of more room than frames: the rest of the array is not looked at. */
static void few_frames(void **state) {
    (void)state;
    for (unsigned k = 0; k < FILES; k++)
        for (size_t cap = 1; cap <= 3; cap++) {
            uint64_t received[2];
            for (unsigned wild = 0; wild < 2; wild++) {
                struct far_file far = { .bytes = files[k] };
                struct csn_frame_ref refs[4];
                struct csn_index *index;
                struct csn_lookup found = { .frame_count = 0 };
                struct csn_remote_state seen;
                memset(refs, 0, sizeof refs);
                for (unsigned i = 0; wild && i < 4; i++) refs[i] = (struct csn_frame_ref){ .name = 600000 + 70000 * i, .file = i };
                assert_int_equal(open_far(&far, &index, NULL), CSN_OK);
                assert_int_equal(csn_index_lookup_refs(index, FIRST + 10, CSN_LOOKUP_DEFAULT, refs, cap, &found, NULL), CSN_OK);
                assert_int_equal(found.frame_count, 2);
                assert_int_equal(csn_index_remote_state(index, &seen, sizeof seen, NULL), CSN_OK);
                received[wild] = seen.received_bytes;
                csn_index_close(index);
            }
            assert_int_equal(received[0], received[1]);
        }
}

/* Cold: at most five requests and 512 KB. Warm: none. */
static void counts(void **state) {
    (void)state;
    for (unsigned k = 0; k < FILES; k++)
        for (unsigned i = 0; i < 20; i++) {
            struct far_file far = { .bytes = files[k] };
            struct csn_index *index;
            struct csn_remote_state cold, warm;
            struct csn_frame frames[FRAMES];
            size_t count;
            uint64_t addr = FIRST + STEP * (uint64_t)(i * 593 % FUNCTIONS) + 10;
            assert_int_equal(open_far(&far, &index, NULL), CSN_OK);
            assert_int_equal(csn_index_lookup(index, addr, frames, FRAMES, &count, NULL), CSN_OK);
            assert_int_equal(csn_index_remote_state(index, &cold, sizeof cold, NULL), CSN_OK);
            /* Where the kernel does not tell what was read, the file is read as a whole. */
            if (cold.kept_bytes < cold.file_bytes && (cold.requests > 5 || cold.received_bytes > 512 << 10))
                fail_msg("file %u, 0x%llx: %llu requests, %llu bytes", k, (unsigned long long)addr,
                         (unsigned long long)cold.requests, (unsigned long long)cold.received_bytes);
            for (unsigned again = 0; again < 3; again++)
                assert_int_equal(csn_index_lookup(index, addr, frames, FRAMES, &count, NULL), CSN_OK);
            csn_index_remote_state(index, &warm, sizeof warm, NULL);
            assert_int_equal(warm.requests, cold.requests);
            csn_index_close(index);
        }
}

/* Ranges of many addresses go to few calls, and join where they are near. */
static void batches(void **state) {
    (void)state;
    enum { COUNT = 512 };
    for (unsigned k = 0; k < FILES; k++) {
        struct far_file far = { .bytes = files[k] };
        static struct csn_frame_ref refs[COUNT * FRAMES];
        static struct csn_batch_answer found[COUNT];
        uint64_t addrs[COUNT];
        struct csn_index *index;
        struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
        size_t done = 0;
        for (unsigned i = 0; i < COUNT; i++) addrs[i] = FIRST + STEP * (uint64_t)(i * 23 % FUNCTIONS) + 12;
        assert_int_equal(open_far(&far, &index, NULL), CSN_OK);
        batch.addrs = addrs;
        batch.count = COUNT;
        batch.answers = found;
        batch.frames = refs;
        batch.frame_capacity = COUNT * FRAMES;
        assert_int_equal(csn_index_lookup_batch(index, &batch, &done, NULL), CSN_OK);
        assert_int_equal(done, COUNT);
        for (unsigned i = 0; i < COUNT; i++) assert_int_equal(found[i].status, CSN_OK);
        assert_true(far.calls <= 12);
        csn_index_close(index);
    }
}

/* ---- faults ---- */

static void one_fault(const struct csn_bytes *bytes, enum fault fault, unsigned at) {
    struct far_file far = { .bytes = bytes, .fault = fault, .fault_at = at };
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index = NULL;
    csn_status status = open_far(&far, &index, &err);
    if (status < 0) {
        assert_int_equal(far.calls, at);
        return;
    }
    struct csn_frame frames[FRAMES];
    size_t count = 0;
    bool failed = false;
    for (unsigned i = 0; i < FUNCTIONS && !failed; i += 97)
        failed = csn_index_lookup(index, FIRST + STEP * (uint64_t)i + 10, frames, FRAMES, &count, &err) < 0;
    assert_true(failed);
    assert_int_equal(far.calls, at);
    /* It stays, and nobody is asked again. */
    struct csn_error later = CSN_ERROR_INIT;
    for (unsigned i = 0; i < FUNCTIONS; i += 97)
        if (csn_index_lookup(index, FIRST + STEP * (uint64_t)i + 10, frames, FRAMES, &count, &later) < 0)
            assert_string_equal(csn_error_text(&later), csn_error_text(&err));
    assert_int_equal(far.calls, at);
    assert_true(csn_index_remote_state(index, NULL, 0, &later) < 0);
    csn_index_close(index);
}

static void faults(void **state) {
    (void)state;
    for (unsigned k = 0; k < FILES; k++)
        for (enum fault fault = SHORT_ANSWER; fault <= ODD_STATUS; fault++)
            for (unsigned at = 1; at <= 4; at++) {
                if (at == 1 && (fault == OTHER_SIZE || fault == OTHER_VERSION)) continue; /* the first answer says what the file is */
                struct far_file whole = { .bytes = files[k] };
                struct csn_index *index;
                assert_int_equal(open_far(&whole, &index, NULL), CSN_OK);
                struct csn_remote_state seen;
                csn_index_remote_state(index, &seen, sizeof seen, NULL);
                csn_index_close(index);
                if (seen.kept_bytes == seen.file_bytes && at > whole.calls) continue; /* read as a whole: no later call */
                one_fault(files[k], fault, at);
            }
}

/* ---- what servers answer ---- */

struct http_case {
    const char *header;
    uint64_t body;      /* bytes sent */
    csn_status status;
    const char *text;   /* within the message */
};

static void http_answers(void **state) {
    (void)state;
    enum { OFFSET = 8192, SIZE = 64 };
    static const struct http_case cases[] = {
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-8255/9000\r\n", SIZE, CSN_OK, "" },
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-8199/8200\r\n", 8, CSN_OK, "" }, /* the end of the file */
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-8255/9000\r\n", SIZE - 1, CSN_E_IO, "sends 63, need 64" },
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-8255/9000\r\n", SIZE + 1, CSN_E_IO, "more than 64" },
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-63/9000\r\n", SIZE, CSN_E_IO, "sends bytes 0-63" },
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-8254/9000\r\n", SIZE - 1, CSN_E_IO, "sends bytes 8192-8254" },
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-99999999999999999999999/9000\r\n", SIZE, CSN_E_IO, "Content-Range" },
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-8255/*\r\n", SIZE, CSN_E_IO, "Content-Range" },
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-8255/100\r\n", SIZE, CSN_E_IO, "sends bytes" }, /* ends before it begins */
        { "HTTP/1.1 206 Partial Content\r\nContent-Range: lines 8192-8255/9000\r\n", SIZE, CSN_E_IO, "Content-Range" },
        { "HTTP/1.1 206 Partial Content\r\n", SIZE, CSN_E_IO, "Content-Range" },
        { "HTTP/1.1 206 Partial Content\r\nContent-Encoding: gzip\r\nContent-Range: bytes 8192-8255/9000\r\n", SIZE, CSN_E_IO, "gzip" },
        { "HTTP/1.1 200 OK\r\n", 100, CSN_OK, "" }, /* ranges are ignored: the whole file */
        { "HTTP/1.1 200 OK\r\n", 4097, CSN_E_LIMIT, "4096" },
        { "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n", 10, CSN_E_LIMIT, "4096" },
        { "HTTP/1.1 404 Not Found\r\n", 0, CSN_E_NOT_FOUND, "404" },
        { "HTTP/1.1 403 Forbidden\r\n", 0, CSN_E_IO, "denied" },
        { "HTTP/1.1 412 Precondition Failed\r\n", 0, CSN_E_IO, "has changed" },
        { "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */100\r\n", 0, CSN_E_IO, "416" },
        { "HTTP/1.1 302 Found\r\nContent-Length: 1\r\nHTTP/1.1 206 Partial Content\r\nContent-Range: bytes 8192-8255/9000\r\n", SIZE, CSN_OK, "" },
        { "HTTP/2 99999999999999999999\r\n", 0, CSN_E_IO, "answers 0" },
        { "nonsense\r\n", 0, CSN_E_IO, "answers 0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t memory[SIZE];
        struct csn_remote_range range = { .offset = OFFSET, .size = SIZE, .bytes = memory };
        struct csni_http_answer answer = { .range = &range, .whole_max = 4096 };
        struct csn_error err = CSN_ERROR_INIT;
        char byte = 'x', line[256];
        for (const char *at = cases[i].header; *at;) {
            size_t size = strcspn(at, "\n") + 1;
            memcpy(line, at, size);
            assert_int_equal(csni_http_answer_header(line, 1, size, &answer), size);
            at += size;
        }
        for (uint64_t k = 0; k < cases[i].body && csni_http_answer_body(&byte, 1, 1, &answer) == 1; k++) {}
        csn_status status = csni_http_answer_check(&answer, &err);
        if (status != cases[i].status || (status < 0 && !strstr(csn_error_text(&err), cases[i].text)))
            fail_msg("case %zu: status %d, %s", i, status, csn_error_text(&err));
        free(answer.whole);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers), cmocka_unit_test(few_frames), cmocka_unit_test(counts),
        cmocka_unit_test(batches), cmocka_unit_test(faults),     cmocka_unit_test(http_answers),
    };
    return cmocka_run_group_tests(tests, make_files, free_files);
}
