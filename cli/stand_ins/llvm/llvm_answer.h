/* Answers of LLVM's symbolizer: what is at an address of a module. */
#ifndef CALLSIGN_CLI_LLVM_ANSWER_H
#define CALLSIGN_CLI_LLVM_ANSWER_H

#include "stand_ins/llvm/llvm_module.h"

/* How LLVM shows a text that it does not know, in few places. */
#define LLVM_INVALID "<invalid>"

/* One frame. Texts are owned; NULL: unknown. */
struct llvm_frame {
    char *function, *file, *start_file;
    uint32_t line, column, discriminator, start_line;
    uint64_t start_address;
    bool has_start_address, is_approximate;
};

struct llvm_frames {
    struct llvm_frame *items;
    size_t count, capacity;
};

struct llvm_global {
    char *name, *file;
    uint64_t start, size, line;
};

struct llvm_local {
    char *function, *name, *file;
    uint64_t line, size, tag_offset;
    int64_t frame_offset;
    bool has_size, has_tag_offset, has_frame_offset;
};

struct llvm_locals {
    struct llvm_local *items;
    size_t count, capacity;
};

struct llvm_request {
    enum llvm_name_kind names;
    enum llvm_path_kind paths;
    bool demangle, skip_line_zero;
    bool is_win32;           /* set by the module */
    bool no_variables;       /* of DWARF */
};

/* The frame at an address, with the name of the innermost function, or of the symbol. */
struct llvm_frame llvm_find_code(struct llvm_module *module, const struct llvm_request *request, uint64_t addr);
/* The frames that DWARF has for an address; none where it has nothing. */
struct llvm_frames llvm_find_dwarf_frames(struct llvm_module *module, const struct llvm_request *request, struct llvm_place place);
/* All frames at an address, at least one, with the name of the symbol. */
struct llvm_frames llvm_find_inlined(struct llvm_module *module, const struct llvm_request *request, uint64_t addr);
struct llvm_global llvm_find_data(struct llvm_module *module, const struct llvm_request *request, uint64_t addr);
struct llvm_locals llvm_find_locals(struct llvm_module *module, uint64_t addr);

void llvm_frame_free(struct llvm_frame *frame);
void llvm_frames_free(struct llvm_frames *frames);
void llvm_global_free(struct llvm_global *global);
void llvm_locals_free(struct llvm_locals *locals);

/* The name as LLVM's demangler writes it; a copy of the name where it is not mangled. */
char *llvm_demangle_name(const char *name, bool is_win32);

#endif
