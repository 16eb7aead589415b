/* A thread reads a part under one lock and writes it under another, in the order in which parts were read. */
#include "stack/text/stack_threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ui/cli_message.h"
#include "ui/turns.h"

enum { PAGE_MAX = 4 << 20, IDLE_MS = 1000 }; /* bytes that a thread keeps before its turn */

struct stack_threads {
    const struct stack_feed *feed;
    pthread_mutex_t reading;     /* guards the following, the feed, and the users of snapshots */
    struct csn_str line;         /* that has been read already */
    bool line_is_part, has_line;
    bool input_over;             /* the last line was given */
    bool is_idle;                /* no line has come for a second */
    bool over;                   /* no part is taken any more */
    bool finished;               /* the feed has been told */
    bool no_memory;
    uint64_t parts_taken;
    struct module_snapshot *latest; /* handed from part to part */
    struct stack_worker *workers;
    unsigned worker_count, most_workers;

    struct turns turns;
    uint64_t shown;              /* stacks of the parts taken */
    uint64_t added;              /* of the last part written, see fill_line(); used by the thread that has the turn */
};

struct stack_worker {
    struct stack_threads *threads;
    struct stack_worker *next;
    pthread_t thread;
    struct stack_session session; /* a symbolicator and a tally */
    struct stack_output output;
    struct name_text names;
    struct out_buffer out;
    struct stack_part part;
    uint64_t number, shown_before; /* of the part */
    bool has_turn;
    char *page;                  /* what was written before its turn */
    size_t page_used, page_capacity;
};

/* ---- turns ---- */

/* Waits until it may write, and writes what it kept. */
static bool take_turn(struct stack_worker *worker) {
    if (worker->has_turn) return true;
    struct stack_threads *threads = worker->threads;
    if (!turns_wait(&threads->turns, worker->number)) return false;
    worker->has_turn = true;
    out_bytes(threads->feed->output->out, worker->page, worker->page_used);
    worker->page_used = 0;
    return !threads->feed->output->out->os_error;
}

/* What the worker's own buffer gives away: kept, or from a size on written when it is its turn. */
static bool keep_bytes(void *context, const char *bytes, size_t size) {
    struct stack_worker *worker = context;
    if (!worker->has_turn && worker->page_used + size > PAGE_MAX && !take_turn(worker)) return false;
    if (worker->has_turn) {
        out_bytes(worker->threads->feed->output->out, bytes, size);
        return !worker->threads->feed->output->out->os_error;
    }
    if (worker->page_used + size > worker->page_capacity) {
        size_t capacity = worker->page_capacity ? worker->page_capacity : 1 << 17;
        while (capacity < worker->page_used + size) capacity *= 2;
        char *page = realloc(worker->page, capacity);
        if (!page) return take_turn(worker) && keep_bytes(context, bytes, size);
        worker->page = page;
        worker->page_capacity = capacity;
    }
    memcpy(worker->page + worker->page_used, bytes, size);
    worker->page_used += size;
    return true;
}

/* ---- reading ---- */

/* Before the store closes indexes: all parts are answered, and no thread remembers an index. Called while reading. */
static void forget_indexes(void *context) {
    struct stack_threads *threads = context;
    turns_wait(&threads->turns, threads->parts_taken);
    for (struct stack_worker *worker = threads->workers; worker; worker = worker->next) {
        csn_symbolicator_forget(worker->session.symbolicator);
        worker->session.modules = NULL;
        worker->session.placings++;
    }
}

static enum line_result next_line(struct stack_threads *threads, bool may_wait, struct csn_str *line) {
    if (!threads->has_line) {
        const enum line_result result = line_input_next(threads->feed->input, may_wait, line);
        threads->is_idle = threads->is_idle && result == LINE_PAUSED;
        return result;
    }
    threads->has_line = false;
    *line = threads->line;
    return threads->line_is_part ? LINE_PART : LINE_WHOLE;
}

static bool has_step(const struct stack_feed *feed) { return feed->has_step && feed->has_step(feed->context); }

/* The next line, if it is there or `part` is empty. While it waits, what was written is flushed. */
static enum line_result wait_for_line(struct stack_threads *threads, struct stack_part *part, struct csn_str *line) {
    const struct stack_feed *feed = threads->feed;
    enum line_result result = next_line(threads, false, line);
    if (result != LINE_PAUSED || part->count) return result;
    if (!turns_wait(&threads->turns, threads->parts_taken) || !out_flush(feed->output->out)) return LINE_FAILED;
    if (feed->idle && (threads->is_idle || !line_input_wait(feed->input, IDLE_MS))) {
        threads->is_idle = true;
        if (!feed->idle(feed->context, part)) return LINE_FAILED;
    }
    return has_step(feed) || part->count ? LINE_PAUSED : next_line(threads, true, line);
}

/* A part that its thread has emptied gets the lines that are there. False: there is nothing left. */
static bool fill_stack_part(struct stack_threads *threads, struct stack_part *part) {
    const struct stack_feed *feed = threads->feed;
    bool good = true;
    while (good && !stack_part_is_full(part)) {
        struct csn_str line;
        if (has_step(feed)) {
            good = feed->step(feed->context, part);
            continue;
        }
        if (threads->input_over) {
            if (feed->over) feed->over(feed->context);
            if (has_step(feed)) continue;
            threads->over = true;
            break;
        }
        enum line_result result = wait_for_line(threads, part, &line);
        if (result == LINE_PAUSED && part->count) return true;
        if (result == LINE_WHOLE || result == LINE_PART) good = feed->read(feed->context, part, line, result == LINE_PART);
        else threads->input_over = result != LINE_PAUSED;
    }
    threads->over |= !good;
    if (good && threads->over && !threads->finished) {
        threads->finished = true;
        good = feed->finish(feed->context, part);
    }
    threads->no_memory |= !good;
    return good && part->count > 0;
}

static void start_stack_worker(struct stack_threads *threads);

/* Snapshots are counted under the lock of reading. */
static bool take_stack_part(struct stack_worker *worker) {
    struct stack_threads *threads = worker->threads;
    pthread_mutex_lock(&threads->reading);
    stack_part_clear(&worker->part);
    worker->part.latest = threads->latest;
    bool good = !threads->over && fill_stack_part(threads, &worker->part);
    threads->latest = worker->part.latest;
    worker->part.latest = NULL;
    worker->number = threads->parts_taken;
    worker->shown_before = threads->shown;
    if (good) threads->parts_taken++;
    if (good) threads->shown += worker->part.stack_count;
    if (good && stack_part_is_full(&worker->part)) start_stack_worker(threads);
    pthread_mutex_unlock(&threads->reading);
    return good;
}

/* ---- answering ---- */

static bool answer_stack_part(struct stack_worker *worker) {
    struct stack_threads *threads = worker->threads;
    uint64_t added = 0;
    worker->has_turn = false;
    worker->page_used = 0;
    out_init(&worker->out, -1);
    out_set_sink(&worker->out, keep_bytes, worker);
    worker->output.stack_count = worker->shown_before;
    if (worker->part.items[0].goes_on) { /* numbers go on from the part before */
        if (!take_turn(worker)) return false;
        added = threads->added;
    }
    bool good = stack_part_answer(&worker->part, &worker->session, &worker->output, threads->feed->in_place, &added);
    if (!good) cli_error_memory("a stack");
    good = out_flush(&worker->out) && good;
    good = take_turn(worker) && good;
    threads->added = added;
    turns_end(&threads->turns, good);
    return good;
}

static void *run_stack_worker(void *argument) {
    struct stack_worker *worker = argument;
    struct stack_threads *threads = worker->threads;
    while (take_stack_part(worker) && answer_stack_part(worker)) continue;
    pthread_mutex_lock(&threads->reading);
    threads->over = true; /* after a failure, too; so that no worker is started any more */
    pthread_mutex_unlock(&threads->reading);
    return NULL;
}

/* ---- workers ---- */

static void destroy_stack_worker(struct stack_worker *worker) {
    csn_symbolicator_destroy(worker->session.symbolicator);
    text_cache_deinit(&worker->output.kept);
    name_text_deinit(&worker->names);
    stack_part_deinit(&worker->part);
    free(worker->page);
    free(worker);
}

static struct stack_worker *create_stack_worker(struct stack_threads *threads) {
    const struct stack_feed *feed = threads->feed;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    struct stack_worker *worker = calloc(1, sizeof(*worker));
    if (!worker) return NULL;
    worker->threads = threads;
    worker->part.before_trim = forget_indexes;
    worker->part.context = threads;
    options.max_frames = feed->session->max_frames;
    options.cache_bytes = feed->cache_bytes - feed->cache_bytes / 3;
    worker->output = (struct stack_output){ .out = &worker->out, .names = &worker->names, .json = feed->output->json,
                                            .explain = feed->output->explain };
    text_cache_init(&worker->output.kept, feed->cache_bytes / 3);
    name_text_init_like(&worker->names, feed->output->names);
    if (csn_symbolicator_create(&options, &worker->session.symbolicator, NULL) == CSN_OK) return worker;
    destroy_stack_worker(worker);
    return NULL;
}

/* One more, unless there are enough. Where that fails, the others do the work. */
static void start_stack_worker(struct stack_threads *threads) {
    if (threads->worker_count >= threads->most_workers) return;
    struct stack_worker *worker = create_stack_worker(threads);
    if (worker) {
        worker->next = threads->workers;
        threads->workers = worker;
        if (worker_thread_start(&worker->thread, run_stack_worker, worker)) {
            threads->worker_count++;
            return;
        }
        threads->workers = worker->next;
        destroy_stack_worker(worker);
    }
    threads->most_workers = threads->worker_count;
}

static void end_stack_workers(struct stack_threads *threads, const struct stack_worker *own) {
    for (struct stack_worker *worker = threads->workers; worker; worker = worker->next)
        if (worker != own) pthread_join(worker->thread, NULL);
    while (threads->workers) {
        struct stack_worker *worker = threads->workers;
        threads->workers = worker->next;
        tally_add(&threads->feed->session->tally, &worker->session.tally);
        destroy_stack_worker(worker);
    }
}

bool stack_threads_run(const struct stack_feed *feed, unsigned threads_wanted, struct csn_str line, bool is_part) {
    struct stack_threads threads = { .feed = feed, .line = line, .line_is_part = is_part, .has_line = true,
                                     .shown = feed->output->stack_count, .worker_count = 1, .most_workers = threads_wanted };
    pthread_mutex_init(&threads.reading, NULL);
    turns_init(&threads.turns);
    struct stack_worker *own = create_stack_worker(&threads);
    if (own) {
        threads.workers = own;
        run_stack_worker(own);
        end_stack_workers(&threads, own);
    }
    struct stack_part rest = { .latest = threads.latest };
    stack_part_deinit(&rest);
    feed->output->stack_count = threads.shown;
    turns_deinit(&threads.turns);
    pthread_mutex_destroy(&threads.reading);
    if (!own || threads.no_memory) cli_error_memory("a stack");
    return own && !threads.no_memory && !threads.turns.failed;
}
