/* An object file as GNU's BFD library sees it: sections with addresses, and symbols by section. */
#ifndef CALLSIGN_CLI_BFD_OBJECT_H
#define CALLSIGN_CLI_BFD_OBJECT_H

#include <stdbool.h>

#include <callsign/debug_info.h>

struct bfd_section {
    const char *name;
    uint64_t vma;        /* 0 in a relocatable object */
    uint64_t addr;       /* as csn_debug_info has it */
    uint64_t size;
    bool is_alloc, is_code;
    uint32_t idx;        /* in the container */
};

/* A symbol that a function's name may come from. */
struct bfd_function_symbol {
    uint64_t value;      /* from the start of its section */
    uint64_t size;       /* at least 1 */
    uint32_t order;      /* in the symbol table */
    const char *name;
    const char *file;    /* of the FILE symbol that it stands under; NULL: none */
};

struct bfd_section_symbols {
    struct bfd_function_symbol *items; /* ascending by value; of several at one, the best alone */
    size_t count, capacity;
};

struct bfd_symbol {
    const char *name;
    const struct csn_debug_symbol *symbol;
};

struct bfd_object {
    struct csn_debug_info *info;
    struct csn_debug_object object;
    struct bfd_section *sections;
    uint32_t section_count;
    struct bfd_symbol *symbols;      /* that addr2line reads: static, or dynamic where there are none */
    size_t symbol_count;
    struct bfd_section_symbols *by_section; /* by section index; of the debug file's symbols where one is used */
    bool is_elf;
    bool knows_machine;
    const char *program;             /* for messages */
    char *unknown_name;              /* the last one that was looked for in vain */
    struct {                         /* of the last search, as BFD remembers it */
        const struct bfd_section *section;
        const struct bfd_function_symbol *found;
    } last;
};

/* Opens the file; false with *message, which tells why as BFD does. knows_machine: as a BFD that was made for the
 * machine, for which mapping symbols (`$x`, `$d`) name no code. */
bool bfd_object_open(struct bfd_object *object, const char *path, bool knows_machine, const char **message);
void bfd_object_close(struct bfd_object *object);

/* The symbol that BFD names a function by: the nearest one at or before `offset` of the section. NULL: none. */
const struct bfd_function_symbol *bfd_find_function(struct bfd_object *object, const struct bfd_section *section, uint64_t offset);

/* The file that a COFF symbol table names for an address; NULL: it names none. */
const char *bfd_coff_file(const struct bfd_object *object, const struct bfd_section *section, uint64_t addr);

/* Address of the first symbol of that name, else of the first whose demangled name it is. False: none. */
bool bfd_symbol_address(struct bfd_object *object, const char *name, uint64_t *addr);

#endif
