/* The options that say where the symbols of modules are searched, and the search set up by them: the cache and the opener. */
#ifndef CALLSIGN_CLI_SYMBOL_SEARCH_H
#define CALLSIGN_CLI_SYMBOL_SEARCH_H

#include <callsign/open.h>

#include "input/companion_options.h"
#include "ui/progress_bar.h"

/* The folder of the cache. */
struct cache_values {
    const char *dir;  /* NULL: by the environment */
    bool none;
    uint64_t max_memory;  /* of filling it; 0: the default */
};
enum { CACHE_OPTION_COUNT = 2 };

struct search_values {
    bool none;        /* --no-search */
    bool offline;
    struct text_list debug_dirs;
    struct cache_values cache;
};
enum { SEARCH_OPTION_COUNT = 5 };
extern const struct option_spec search_options[SEARCH_OPTION_COUNT];

struct symbol_search {
    struct csn_cache *cache;   /* NULL: there is none */
    struct csn_opener *opener; /* NULL: nothing is searched, or not yet */
    struct progress_bar bar;
    /* Of a search that begins when something is searched; NULL: it has begun, or there is none. */
    const struct companion_values *companions;
    const struct cache_values *cache_values;
    bool offline;
};
/* False, with a message. `values` NULL or with `none`: nothing is searched. */
bool symbol_search_begin(struct symbol_search *search, const struct search_values *values);
/* The same with the places of a command that reads images. `offline`: no servers. */
bool symbol_search_begin_with(struct symbol_search *search, const struct companion_values *companions,
                              const struct cache_values *cache, bool offline);
/* The same, but cache and opener are made by the first symbol_search_start(). What is given has to outlive that. */
void symbol_search_plan(struct symbol_search *search, const struct companion_values *companions,
                        const struct cache_values *cache, bool offline);
bool symbol_search_start(struct symbol_search *search); /* false, with a message */
static inline bool symbol_search_is_on(const struct symbol_search *search) { return search->opener || search->companions; }
void symbol_search_end(struct symbol_search *search); /* a zeroed one is fine */

/* A csn_store_convert; the context is the search. */
csn_status symbol_search_find(void *search, const struct csn_store_module *module, struct csn_index **out,
                              struct csn_store_explanation *explanation, struct csn_error *err);

#endif
