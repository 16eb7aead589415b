/* A store: a folder of symbol files in the trees of layout.h, and its catalogue. Files appear whole, by rename; what
 * was acknowledged is on disk. Any number of servers on a machine may use one folder. Any thread.
 *
 * DIR/.callsign/catalogue.db, DIR/.callsign/incoming/ (files that arrive), DIR/.callsign/converted/ (a cache of conversions). */
#ifndef CALLSIGN_SERVER_SYMBOL_STORE_H
#define CALLSIGN_SERVER_SYMBOL_STORE_H

#include "store/catalogue.h"
#include "store/layout.h"

struct symbol_store;
struct remote;

enum store_status {
    STORE_OK = 0,
    STORE_NONE = 1,         /* it has no such thing */
    STORE_REJECTED = 2,     /* the file is nothing that a store keeps */
    STORE_AMBIGUOUS = 3,    /* several images share the id */
    STORE_UNREACHABLE = -1, /* the bucket or a server failed */
    STORE_FULL = -2,        /* no space is left */
    STORE_FAILED = -3       /* the folder failed, or memory is short */
};

struct store_options {
    const char *dir;
    enum layout layout;
    struct remote *const *remotes; /* asked in this order for what the folder does not have */
    size_t remote_count;
    uint32_t negative_s;           /* for which a remote is not asked again for what it does not have */
};
int symbol_store_open(const struct store_options *options, struct symbol_store **out, char *why, size_t why_size);
void symbol_store_close(struct symbol_store *store); /* NULL is fine */
const char *symbol_store_dir(const struct symbol_store *store);
struct catalogue *symbol_store_catalogue(struct symbol_store *store);
/* The catalogue was missing when the store was opened; symbol_store_scan() fills it. */
bool symbol_store_is_new(const struct symbol_store *store);

/* A file that is being written: at `path`, locked through `fd`. */
struct incoming {
    char path[STORE_PATH_SIZE];
    int fd;
    bool is_kept;        /* of an upload that goes on: discarding closes it only */
};
int incoming_create(struct symbol_store *store, struct incoming *out, char *why, size_t why_size);
void incoming_discard(struct incoming *incoming);

/* Identifies the file, syncs it and moves it to its place. `name`: what it is called; `source`: where it came from.
 * *out describes it. The incoming file is used up. Universal files become one file for each image; *out is the
 * first. */
enum store_status symbol_store_put(struct symbol_store *store, struct incoming *incoming, const char *name, const char *source,
                                   struct artifact *out, char *why, size_t why_size);

/* The file at `path`, from the store's folder on, is gone: so is its entry, and what was converted from it. */
void symbol_store_forget(struct symbol_store *store, const char *path);

/* The file that answers a query of a tree; `path` of it is relative to the folder. Asks remotes. */
enum store_status symbol_store_find(struct symbol_store *store, const struct tree_query *query, struct artifact *out, char *why,
                                    size_t why_size);
/* The same without asking remotes. */
enum store_status symbol_store_find_local(struct symbol_store *store, const struct tree_query *query,
                                          struct artifact *out, char *why, size_t why_size);

struct scan_counts {
    uint64_t files, added, removed, rejected;
};
/* Brings the catalogue up to date with the files: one that changed counts as a new one, or goes if it is nothing that a store
 * keeps. Returns 0, or -1: the folder cannot be read. */
int symbol_store_scan(struct symbol_store *store, struct scan_counts *out, char *why, size_t why_size);
/* Adds the files that the catalogue lacks. What it says of the others stays, even if they changed or are gone. `rejected` is called
 * with each that is nothing that a store keeps. */
typedef void scan_rejected_callback(void *context, const char *path, const char *why);
int symbol_store_scan_new(struct symbol_store *store, scan_rejected_callback *rejected, void *context, struct scan_counts *out,
                          char *why, size_t why_size);

#endif
