/* Symbols of WebAssembly modules as LLVM has them. */
#ifndef CALLSIGN_CLI_LLVM_WASM_H
#define CALLSIGN_CLI_LLVM_WASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct llvm_wasm_symbol {
    uint64_t addr, size;
    char *name;
    bool is_function;
    uint64_t idx;            /* of a function, imported ones counted */
};

struct llvm_wasm_symbols {
    struct llvm_wasm_symbol *items; /* functions and data, in the order of the table */
    size_t count, capacity;
    uint64_t code_start, code_end; /* of the code section, as addresses of functions count */
};

/* Reads a module's symbols: of its linking section, else its name section, else its exports. Those before damage count.
 * Addresses of functions are places in the code section, of linked modules in the file: those of their sizes, not of their code. */
void llvm_wasm_read_symbols(const char *path, struct llvm_wasm_symbols *out);

#endif
