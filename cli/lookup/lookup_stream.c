/* Threads take parts of the input in turn, answer them side by side and write them in the order in which they were taken.
 *
 * A part is a batch of queries; a line that is no address ends it. What a thread writes of a part it keeps until all
 * parts before are written. Reading that would have to wait waits for that, too, so that answers do not lie around. */
#include "lookup/lookup_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lookup/address_text.h"
#include "ui/cli_message.h"
#include "lookup/query_batch.h"
#include "ui/line_input.h"
#include "ui/turns.h"

enum { LINE_MAX_BYTES = 1 << 18, QUERY_MAX = 1 << 16 };

struct lookup_stream {
    const struct answer_printer *example;
    struct lookup_target *target; /* used by the thread whose turn it is to write */
    struct out_buffer *out;      /* of the thread whose turn it is to write */

    pthread_mutex_t reading;     /* guards the following */
    struct line_input input;
    bool over;                   /* no part is taken any more */
    uint64_t parts_taken;
    struct lookup_worker *workers;
    unsigned worker_count, most_workers;

    struct turns turns;
};

struct lookup_worker {
    struct lookup_stream *stream;
    struct lookup_worker *next;
    pthread_t thread;
    struct answer_printer printer;
    uint64_t part;               /* how many parts stand before */
    struct query_batch batch;
    uint64_t bad_number;         /* of the line after the batch that is no address; 0: there is none */
    struct csn_str bad_line;
    char bad_text[QUERY_MAX];
    struct out_buffer page;      /* of one answer */
};

static bool is_blank_line(struct csn_str line) {
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r') return false;
    return true;
}

static void add_line(struct lookup_worker *worker, struct csn_str line) {
    uint64_t addr;
    if (address_parse(line, &addr)) {
        query_batch_add(&worker->batch, addr);
    } else if (!is_blank_line(line)) {
        if (line.len > QUERY_MAX) line.len = QUERY_MAX;
        memcpy(worker->bad_text, line.ptr, line.len);
        worker->bad_line = (struct csn_str){ worker->bad_text, line.len };
        worker->bad_number = worker->stream->input.line;
    }
}

/* Lines that are there already. False: there is none, and there will be none. */
static bool gather(struct lookup_worker *worker) {
    struct lookup_stream *stream = worker->stream;
    enum line_result result = LINE_WHOLE;
    worker->batch.count = 0;
    worker->bad_number = 0;
    while (worker->batch.count < QUERIES_MAX && !worker->bad_number) {
        struct csn_str line;
        result = line_input_next(&stream->input, false, &line);
        if (result == LINE_PAUSED) {
            if (worker->batch.count) return true;
            if (!turns_wait(&stream->turns, stream->parts_taken) || !out_flush(stream->out)) return false;
            result = line_input_next(&stream->input, true, &line);
        }
        if (result != LINE_WHOLE) break;
        add_line(worker, line_input_text(&stream->input, line));
    }
    stream->over = result != LINE_WHOLE;
    return worker->batch.count || worker->bad_number;
}

static void start_worker(struct lookup_stream *stream);

static bool take_part(struct lookup_worker *worker) {
    struct lookup_stream *stream = worker->stream;
    pthread_mutex_lock(&stream->reading);
    bool good = !stream->over && gather(worker);
    if (good) worker->part = stream->parts_taken++;
    if (good && worker->batch.count == QUERIES_MAX) start_worker(stream);
    pthread_mutex_unlock(&stream->reading);
    return good;
}

/* Answers are written in the order of their addresses, while what they name is at hand. One that is too long for a page is
 * written when its turn comes. */
static bool answer_part(struct lookup_worker *worker) {
    struct query_batch *batch = &worker->batch;
    if (!query_batch_run(batch)) return false;
    for (size_t k = 0; k < batch->count; k++) {
        struct answer answer;
        out_init(&worker->page, -1);
        query_batch_answer(batch, k, &answer);
        answer_printer_put(&worker->printer, &answer, &worker->page);
        if (!worker->page.os_error) query_batch_keep(batch, k, worker->page.bytes, worker->page.used);
    }
    return true;
}

static struct csn_str shown_part(struct csn_str line) {
    return (struct csn_str){ line.ptr, line.len < BAD_LINE_SHOWN ? line.len : BAD_LINE_SHOWN };
}

/* A line that is no address may be a query of another form. */
static void run_other_query(struct lookup_worker *worker, struct out_buffer *out) {
    const char *fault = worker->bad_line.len < QUERY_MAX
                            ? lookup_target_run(worker->stream->target, &worker->printer, worker->bad_line, out)
                            : address_fault(worker->bad_line);
    if (fault) answer_printer_put_bad_line(&worker->printer, shown_part(worker->bad_line), fault, worker->bad_number, out);
}

/* In the order of the queries. */
static bool write_part(struct lookup_worker *worker, struct out_buffer *out) {
    struct query_batch *batch = &worker->batch;
    for (size_t place = 0; place < batch->count; place++) {
        size_t k = batch->answer_of[place];
        struct csn_str kept = query_batch_kept(batch, k);
        out_bytes(out, kept.ptr, kept.len);
        if (kept.len) continue;
        struct answer answer;
        query_batch_answer(batch, k, &answer);
        answer_printer_write(&worker->printer, &answer, out);
    }
    if (worker->bad_number) run_other_query(worker, out);
    return !out->os_error;
}

static void *work(void *argument) {
    struct lookup_worker *worker = argument;
    struct lookup_stream *stream = worker->stream;
    while (take_part(worker)) {
        bool answered = answer_part(worker);
        if (!turns_wait(&stream->turns, worker->part)) break;
        if (!answered) cli_error_memory("frames");
        bool good = answered && write_part(worker, stream->out);
        turns_end(&stream->turns, good);
        if (!good) break;
    }
    pthread_mutex_lock(&stream->reading);
    stream->over = true; /* after a failure, too; so that no worker is started any more */
    pthread_mutex_unlock(&stream->reading);
    return NULL;
}

static void worker_destroy(struct lookup_worker *worker) {
    query_batch_deinit(&worker->batch);
    answer_printer_deinit(&worker->printer);
    free(worker);
}

static struct lookup_worker *worker_create(struct lookup_stream *stream) {
    struct lookup_worker *worker = calloc(1, sizeof(*worker));
    if (!worker) return NULL;
    worker->stream = stream;
    if (answer_printer_init_like(&worker->printer, stream->example) &&
        query_batch_init(&worker->batch, &worker->printer.query, !worker->printer.json))
        return worker;
    worker_destroy(worker);
    return NULL;
}

/* One more, unless there are enough. Where that fails, the others do the work. */
static void start_worker(struct lookup_stream *stream) {
    if (stream->worker_count >= stream->most_workers) return;
    struct lookup_worker *worker = worker_create(stream);
    if (worker && worker_thread_start(&worker->thread, work, worker)) {
        worker->next = stream->workers;
        stream->workers = worker;
        stream->worker_count++;
        return;
    }
    if (worker) worker_destroy(worker);
    stream->most_workers = stream->worker_count;
}

/* Waits for the threads. */
static void end_workers(struct lookup_stream *stream, struct answer_printer *printer) {
    while (stream->workers) {
        struct lookup_worker *worker = stream->workers;
        stream->workers = worker->next;
        pthread_join(worker->thread, NULL);
        answer_printer_add_counts(printer, &worker->printer);
        worker_destroy(worker);
    }
}

/* Of an image of many binaries, whose names are put together one by one, and of what is not an address of the index. */
static bool answer_one_by_one(struct line_input *input, struct lookup_target *target, struct answer_printer *printer,
                              struct out_buffer *out) {
    for (;;) {
        struct csn_str line;
        enum line_result result = line_input_next_flushed(input, out, &line);
        if (result != LINE_WHOLE) return result == LINE_END;
        line = line_input_text(input, line);
        const char *fault = is_blank_line(line) ? NULL : lookup_target_run(target, printer, line, out);
        if (fault) answer_printer_put_bad_line(printer, shown_part(line), fault, input->line, out);
    }
}

static bool answer_in_parts(struct lookup_stream *stream, struct answer_printer *printer) {
    struct lookup_worker *own = worker_create(stream);
    if (!own) {
        cli_error_memory("frames");
        return false;
    }
    stream->worker_count = 1;
    work(own);
    end_workers(stream, printer);
    answer_printer_add_counts(printer, &own->printer);
    worker_destroy(own);
    return !stream->turns.failed && !stream->input.os_error && !stream->input.no_memory;
}

bool lookup_stream(struct lookup_target *target, struct answer_printer *printer, unsigned threads, struct out_buffer *out) {
    static struct lookup_stream stream = { .reading = PTHREAD_MUTEX_INITIALIZER };
    turns_init(&stream.turns);
    stream.example = printer;
    stream.target = target;
    stream.out = out;
    stream.most_workers = threads ? threads : usable_cores();
    if (!line_input_init(&stream.input, STDIN_FILENO, LINE_MAX_BYTES)) {
        cli_error_memory("a line");
        return false;
    }
    stream.input.cuts_long = true;
    bool one_by_one = printer->query.info.binary_count || printer->query.info.member_count || !lookup_target_is_plain(target);
    bool good = one_by_one ? answer_one_by_one(&stream.input, target, printer, out) : answer_in_parts(&stream, printer);
    if (stream.input.os_error) cli_error(NULL, "standard input: %s", strerror(stream.input.os_error));
    line_input_deinit(&stream.input);
    turns_deinit(&stream.turns);
    return good;
}
