/* Any bytes as stacks in JSON lines, after the first NUL an index of the module "200". Invariant: the reader of plain lines
 * and the texts that are kept change nothing: the same is written by the reader of any line without them. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ui/line_input.h"
#include "stack/dialects/stack_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
bool __real_stack_json_plain_line(struct stack_session *session, struct csn_str line);
bool __wrap_stack_json_plain_line(struct stack_session *session, struct csn_str line);

enum { INDEX_FD = 200, CACHE = 1 << 12 };

static bool read_plainly;

static void require(bool condition) {
    if (!condition) abort();
}

bool __wrap_stack_json_plain_line(struct stack_session *session, struct csn_str line) {
    return read_plainly && __real_stack_json_plain_line(session, line);
}

static int file_of(const uint8_t *data, size_t size) {
    int fd = memfd_create("stack", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

/* What a few more stacks would do, so that a short input sees texts written over, too. */
static void keep_others(struct text_cache *cache) {
    static const char text[4000];
    static const struct text_key key = { .module = 1 };
    text_cache_keep(cache, &key, text, sizeof(text), 0);
}

static void read_lines(struct stack_session *session, struct stack_output *output, struct csn_str rest) {
    while (rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) + 1 : rest.len;
        stack_json_line(session, line_text((struct csn_str){ rest.ptr, len }), output);
        keep_others(&output->kept);
        rest = (struct csn_str){ rest.ptr + len, rest.len - len };
    }
}

struct text {
    char *bytes;
    size_t size;
};

static struct text answer(struct csn_str lines, const struct text_list *files, bool json, bool explain, bool plainly) {
    static const struct text_list none;
    static struct stack_session session;
    static struct out_buffer out;
    static struct name_text names;
    int fd = memfd_create("answer", MFD_CLOEXEC);
    require(fd >= 0);
    out_init(&out, fd);
    name_text_init(&names, false);
    struct stack_output output = { .out = &out, .names = &names, .json = json, .explain = explain };
    require(session_init(&session, files, &none, NULL, 1000, plainly ? CACHE : 0));
    require(!plainly || text_cache_init(&output.kept, CACHE));
    read_plainly = plainly;
    read_lines(&session, &output, lines);
    require(out_flush(&out));
    text_cache_deinit(&output.kept);
    session_deinit(&session);
    name_text_deinit(&names);
    off_t size = lseek(fd, 0, SEEK_END);
    require(size >= 0);
    struct text text = { malloc((size_t)size + 1), (size_t)size };
    require(text.bytes && pread(fd, text.bytes, text.size, 0) == size);
    close(fd);
    return text;
}

/* Whether there is an index, now after INDEX_FD. */
static bool put_index(const uint8_t *data, size_t size) {
    struct csn_index *index;
    if (!csn_is_index(data, size) || csn_index_open_memory(data, size, NULL, &index, NULL) != CSN_OK) return false;
    csn_index_close(index);
    int fd = file_of(data, size);
    require(dup2(fd, INDEX_FD) == INDEX_FD);
    close(fd);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *paths[] = { "/proc/self/fd/200" };
    if (memmem(data, size, "index", 5)) return 0; /* a line may name an index file: not of the machine that fuzzes */
    const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
    size_t text_size = nul ? (size_t)(nul - data) : size;
    bool has_index = nul && put_index(nul + 1, size - text_size - 1);
    const struct text_list files = { .items = paths, .count = has_index };
    const struct csn_str lines = { (const char *)data, text_size };
    for (int way = 0; way < 3; way++) {
        struct text want = answer(lines, &files, way == 0, way == 2, false);
        struct text got = answer(lines, &files, way == 0, way == 2, true);
        require(got.size == want.size && memcmp(got.bytes, want.bytes, got.size) == 0);
        free(want.bytes);
        free(got.bytes);
    }
    if (has_index) close(INDEX_FD);
    return 0;
}
