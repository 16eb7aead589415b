/* Callsign: symbolicate columns of addresses, or whole stacks, through the Arrow C data interface. No Arrow library is
 * needed. Not part of the lookup-only library.
 * Serves: Arrow columnar format 1.4, "The Arrow C data interface". */
#ifndef CALLSIGN_ARROW_H
#define CALLSIGN_ARROW_H

#include <callsign/index.h>
#include <callsign/store.h>
#include <callsign/symbolicate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The two structs of the interface, as its specification has them; the guard lets any number of headers repeat them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

enum {
    CSN_ARROW_RETURN_ADDRESSES = 1, /* each address is a return address: the byte before it is looked up, offsets are the
                                     * address's own. Of a stack: the first frame too */
    CSN_ARROW_PLAIN_STRINGS = 2     /* strings as utf8, for consumers without dictionaries */
};

struct csn_arrow_options {
    size_t struct_size;                    /* set by CSN_ARROW_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the arrays that are returned */
    struct csn_store *store;               /* finds the index of each module; NULL: `index` serves all */
    const struct csn_index *index;         /* of addresses without a module column; NULL: `store` serves */
    const char *module_column;             /* name of the field with module ids; NULL: "module" */
    const char *address_column;            /* name of the field with addresses; NULL: "address" */
    csn_name_callback *demangle;           /* such as csn_rename_demangled(); called once for each name. NULL: stored names */
    void *demangle_context;
    uint32_t flags;                        /* CSN_ARROW_ */
    uint32_t reserved;
};
#define CSN_ARROW_OPTIONS_INIT CSN_SIZED_INIT(csn_arrow_options)
CSN_API void csn_arrow_options_init(struct csn_arrow_options *options);

/* Symbolicates an Arrow array. `array` has one of these types:
 * - struct<module, address>, other fields are ignored: each row is one address;
 * - uint64 or int64: addresses of `options->index`;
 * - list<struct<module, address>>, list<uint64> or list<int64>: each row is a stack, innermost frame first. All frames but
 *   the first are return addresses.
 * `module` is utf8, binary (also large, view or fixed-size) or a dictionary of these: a build id, as bytes or at least 16
 * hexadecimal digits, or a name or path that the store knows. `address` is an address of the image, with the load bias
 * subtracted: uint64, int64 (two's complement), uint32, or decimal128 of scale 0 that fits 64 bits. Lists may be large.
 * Any slice or null is allowed.
 *
 * The result has as many rows. Of an address: struct<frames, reason>. `frames` is
 * list<struct<function: string, offset: uint64, file: string, line: uint32, inlined: bool>>, innermost first; unknown values
 * are null. It is empty if no function covers the address, and null if the address or module is null, or the address has
 * more than 64 bits. `reason` says in English what is missing, and is null if nothing is. Of a stack:
 * list<struct<frames, reason, chosen, confidence, candidates>>;
 * `chosen` is the merged function that the callers decide for, `confidence` one of "none", "low", "medium", "high",
 * "certain", and `candidates` the names at the address if there are several. Strings are dictionaries with 32-bit indices, but for
 * `chosen` and `candidates`, unless CSN_ARROW_PLAIN_STRINGS is set. They are UTF-8: each byte of a name or path that is
 * not becomes U+FFFD.
 *
 * symbolicator: needed for stacks, otherwise may be NULL. Its modules are replaced. Indexes that `store` opened stay open
 * until csn_store_trim(), which this function calls before it begins when the store is full. Symbolicators may take turns
 * with a store: each forgets what it knows when the store has closed indexes since its last batch, or is another one. Before
 * csn_store_destroy() call csn_symbolicator_forget() if the symbolicator is used on.
 * schema, array: moved in; the callee releases both, also on failure. *out_schema and *out_array belong to the caller, who
 * calls their release(). Any thread may release them.
 * CSN_OK; CSN_E_UNSUPPORTED: a type that is not listed above, an array with a negative length, unknown flags or fields;
 * CSN_E_ARGUMENT: no such field, no store for a module
 * column, or no symbolicator for stacks; CSN_E_LIMIT: more than 2^31 - 1 frames or string bytes: pass smaller batches;
 * CSN_E_MEMORY. One thread at a time for each symbolicator and store.
 * Cost: sorts the addresses, looks each distinct one up once in ascending order, and reads each distinct string once. */
CSN_API csn_status csn_symbolicate_arrow(struct csn_symbolicator *symbolicator, struct ArrowSchema *schema,
                                         struct ArrowArray *array, const struct csn_arrow_options *options,
                                         struct ArrowSchema *out_schema, struct ArrowArray *out_array, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
