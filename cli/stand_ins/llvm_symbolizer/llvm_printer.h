/* What LLVM's symbolizer prints, in its three styles. */
#ifndef CALLSIGN_CLI_LLVM_PRINTER_H
#define CALLSIGN_CLI_LLVM_PRINTER_H

#include "stand_ins/llvm/llvm_answer.h"

enum llvm_style { LLVM_STYLE_LLVM, LLVM_STYLE_GNU, LLVM_STYLE_JSON };

struct llvm_printer {
    enum llvm_style style;
    bool print_address, print_functions, pretty, verbose;
    int64_t context_lines;
    bool in_list;            /* JSON: answers to addresses of the command line form one array */
    bool list_has_item;
    const char *program;     /* for messages */
};

/* A request that is answered. */
struct llvm_asked {
    const char *module;
    uint64_t addr;
    bool has_addr;
    const char *symbol;      /* NULL: an address was asked for */
    bool has_stale_addr;     /* `addr` is that of the request before: the tool prints it where data is asked for by symbol */
};

void llvm_print_frame(struct llvm_printer *printer, const struct llvm_asked *asked, const struct llvm_frame *frame);
void llvm_print_frames(struct llvm_printer *printer, const struct llvm_asked *asked, const struct llvm_frames *frames);
/* The places of a symbol. */
void llvm_print_places(struct llvm_printer *printer, const struct llvm_asked *asked, const struct llvm_frames *frames);
void llvm_print_global(struct llvm_printer *printer, const struct llvm_asked *asked, const struct llvm_global *global);
void llvm_print_locals(struct llvm_printer *printer, const struct llvm_asked *asked, const struct llvm_locals *locals);
/* A message on standard error: `about`, which may be empty, and why. */
void llvm_print_message(const struct llvm_printer *printer, const char *about, const char *message);
/* A module that cannot be opened. True: an empty answer is to follow. */
bool llvm_print_error(struct llvm_printer *printer, const struct llvm_asked *asked, const char *message);
void llvm_list_begin(struct llvm_printer *printer);
void llvm_list_end(struct llvm_printer *printer);

/* Lines around `line` of a file, as they are printed; NULL: there are none. The caller frees it. */
char *llvm_source_context(const char *file, int64_t line, int64_t count);

/* The same as JSON (llvm_json.c). */
void llvm_json_frames(struct llvm_printer *printer, const struct llvm_asked *asked, const struct llvm_frames *frames,
                      const char *key);
void llvm_json_global(struct llvm_printer *printer, const struct llvm_asked *asked, const struct llvm_global *global);
void llvm_json_locals(struct llvm_printer *printer, const struct llvm_asked *asked, const struct llvm_locals *locals);
void llvm_json_error(struct llvm_printer *printer, const struct llvm_asked *asked, const char *message);

#endif
