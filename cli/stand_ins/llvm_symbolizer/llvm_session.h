/* The modules that one run of LLVM's symbolizer has open. */
#ifndef CALLSIGN_CLI_LLVM_SESSION_H
#define CALLSIGN_CLI_LLVM_SESSION_H

#include "stand_ins/llvm_symbolizer/llvm_gsym.h"
#include "stand_ins/llvm_symbolizer/llvm_index.h"
#include "stand_ins/llvm_symbolizer/llvm_options.h"

struct llvm_open_module {
    char *name, *path, *arch; /* arch NULL: none was given */
    struct llvm_index *index; /* NULL: none is used */
    struct csn_index *gsym;   /* in the place of DWARF; NULL: there is none, or the module is not open */
    bool is_opened;           /* or that was tried */
    struct llvm_module *module; /* NULL: it is not open; it cannot be, which was reported, if is_opened */
};

struct llvm_session {
    const struct llvm_options *options;
    struct llvm_printer printer;
    struct llvm_request request;
    uint64_t last_addr;      /* that was asked for */
    bool is_repeatable;      /* the last answer is that of an index, which its address alone decides */
    struct { struct llvm_open_module **items; size_t count, capacity; } modules;
};

void llvm_session_init(struct llvm_session *session, const struct llvm_options *options);
/* The module of a name, which is opened if it has no index. NULL: it cannot be opened; *message as below. */
struct llvm_open_module *llvm_session_find(struct llvm_session *session, const char *name, const char **message);
/* Opens a module that was found. */
struct llvm_module *llvm_session_open(struct llvm_session *session, struct llvm_open_module *found, const char **message);
/* The module at a path, which ":ARCH" may follow. NULL: it cannot be opened; *message says why, the first time. */
struct llvm_module *llvm_session_module(struct llvm_session *session, const char *name, const char **message);
/* The module of a build id in hexadecimal digits. */
struct llvm_open_module *llvm_session_find_build_id(struct llvm_session *session, const char *id, const char **message);
struct llvm_module *llvm_session_build_id(struct llvm_session *session, const char *id, const char **message);
/* A build id as LLVM writes it; the caller frees it. */
char *llvm_build_id_text(const char *id);

#endif
