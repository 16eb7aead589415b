/* Any bytes as a stream of stacks, as `callsign stack` reads it: as text in place, as text answered, as JSON lines, and as an .ips
 * report in place; then as text and as a report in place with an index. Invariant: without an index, what is filled
 * in place is what it was. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "given_index.h"
#include "stack/dialects/dialects.h"
#include "stack/dialects/stack_json.h"
#include "stack/text/stack_text.h"
#include "ui/line_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct run {
    struct stack_session session;
    struct stack_output output;
    struct name_text names;
    struct out_buffer out;
};

static struct csn_str str(const char *text) { return (struct csn_str){ text, strlen(text) }; }

/* The functions of the samples' liborders.so; with a function that was folded. */
static void build_functions(struct csn_builder *builder) {
    static const struct csn_range inlined = { 0x1120, 0x1140 };
    const struct csn_str callee = str("^orders_load$");
    uint32_t file;
    require(csn_builder_add_file(builder, str("/opt/app"), str("liborders.c"), &file, NULL) == CSN_OK);
    require(csn_builder_begin_function(builder, 0x10f9, 0x5f, str("parse_line"), NULL) == CSN_OK);
    require(csn_builder_add_row(builder, 0x10f9, file, 15, NULL) == CSN_OK);
    require(csn_builder_begin_inline(builder, &inlined, 1, str("check"), file, 16, NULL) == CSN_OK);
    require(csn_builder_end_inline(builder, NULL) == CSN_OK);
    require(csn_builder_begin_function(builder, 0x1158, 0x1c, str("orders_load"), NULL) == CSN_OK);
    require(csn_builder_add_row(builder, 0x1158, file, 20, NULL) == CSN_OK);
    require(csn_builder_add_call_site(builder, 9, CSN_CALL_SITE_INTERNAL, &callee, 1, NULL) == CSN_OK);
}

static int file_of(const uint8_t *data, size_t size) {
    int fd = memfd_create("stack", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static void read_text(struct run *run, int in, bool in_place) {
    struct line_input input;
    struct stack_text text;
    struct csn_str line;
    enum line_result result;
    require(line_input_init(&input, in, 1 << 20));
    require(stack_text_init(&text, &run->session, &run->output, in_place, stack_dialects, DIALECT_COUNT, NULL));
    while ((result = line_input_next_flushed(&input, &run->out, &line)) == LINE_WHOLE || result == LINE_PART)
        require(stack_text_line(&text, line, result == LINE_PART));
    require(result == LINE_END && stack_text_end(&text));
    stack_text_deinit(&text);
    line_input_deinit(&input);
}

static void read_json(struct run *run, int in, const uint8_t *data, size_t size) {
    struct line_input input;
    struct csn_str line;
    require(line_input_init(&input, in, 1 << 20));
    while (line_input_next_flushed(&input, &run->out, &line) == LINE_WHOLE)
        stack_json_line(&run->session, line_text(line), &run->output);
    line_input_deinit(&input);
    struct csn_str all = { (const char *)data, size };
    struct stack_json_error error;
    stack_report(&run->session, all, NULL, false, &run->output, &error);
}

static void fill_report(struct run *run, const uint8_t *data, size_t size) {
    struct stack_json_error error;
    stack_report(&run->session, (struct csn_str){ (const char *)data, size }, NULL, true, &run->output, &error);
}

static void check_same(int out, const uint8_t *data, size_t size) {
    uint8_t *got = malloc(size + 1);
    require(got && pread(out, got, size + 1, 0) == (ssize_t)size && memcmp(got, data, size) == 0);
    free(got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct run run;
    static const struct text_list none;
    enum { WAYS = 7 };
    const char *index_name = given_index(build_functions);
    const struct text_list given = { &index_name, 1 };
    for (int way = 0; way < WAYS; way++) {
        /* A JSON line may name an index file: not of the machine that fuzzes. */
        if (way == 3 && memmem(data, size, "index", 5)) continue;
        int in = file_of(data, size), out = memfd_create("answer", MFD_CLOEXEC);
        out_init(&run.out, out);
        name_text_init(&run.names, false);
        run.output = (struct stack_output){ .out = &run.out, .names = &run.names, .json = way == 1, .explain = way == 2 };
        require(session_init(&run.session, way < 5 ? &none : &given, &none, NULL, 1000, 1 << 16));
        if (way < 3 || way == 5) read_text(&run, in, way == 0 || way == 5);
        else if (way == 3) read_json(&run, in, data, size);
        else fill_report(&run, data, size);
        session_deinit(&run.session);
        name_text_deinit(&run.names);
        require(out_flush(&run.out));
        if (way == 0 || way == 4) check_same(out, data, size);
        close(in);
        close(out);
    }
    return 0;
}
