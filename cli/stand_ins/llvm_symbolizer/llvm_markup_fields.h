/* Parts of the markup filter: what it is in the middle of, colours, messages, and the fields of elements. */
#ifndef CALLSIGN_CLI_LLVM_MARKUP_FIELDS_H
#define CALLSIGN_CLI_LLVM_MARKUP_FIELDS_H

#include "stand_ins/llvm_symbolizer/llvm_session.h"

enum { MAX_FIELDS = 64, NO_COLOR = -1, RED_BOLD = -2, BLUE = 4, GREEN = 2, CYAN = 6 };

struct markup_span {
    const char *ptr;
    size_t len;
};

/* A part of a line: an element, or text (without a tag). */
struct markup_node {
    struct markup_span text, tag;
    struct markup_span fields[MAX_FIELDS];
    size_t field_count;
};

struct markup_nodes {
    struct markup_node *items;
    size_t count, capacity;
};

struct mark_module {
    uint64_t id;
    char *name, *build_id;
};

struct mark_map {
    uint64_t addr, size, relative;
    size_t module;
    char mode[8];
};

struct markup_filter {
    struct llvm_session *session;
    bool colors, bold;
    int color;               /* of the log, or NO_COLOR */
    struct markup_span line;
    struct { struct mark_module *items; size_t count, capacity; } modules;
    struct { struct mark_map *items; size_t count, capacity; } maps; /* ascending */
    bool has_info_line;
    size_t info_module;
    struct { struct mark_map *items; size_t count, capacity; } info_maps;
};

bool markup_is(struct markup_span s, const char *text);
void markup_put(struct markup_span s);
void markup_change_color(const struct markup_filter *f, int color, bool bold);
void markup_highlight(const struct markup_filter *f);
void markup_restore_color(const struct markup_filter *f);
void markup_reset_color(struct markup_filter *f);
void markup_put_value(const struct markup_filter *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *markup_line_ending(const struct markup_filter *f);
void markup_point_at(const struct markup_filter *f, const char *at);
void markup_report(const struct markup_filter *f, const char *text, const char *at);
bool markup_has_fields(const struct markup_filter *f, const struct markup_node *n, size_t count);
bool markup_has_fields_at_least(const struct markup_filter *f, const struct markup_node *n, size_t count);
void markup_warn_fields_at_most(const struct markup_filter *f, const struct markup_node *n, size_t count);
bool markup_read_addr(const struct markup_filter *f, struct markup_span text, uint64_t *out);
bool markup_read_number(const struct markup_filter *f, struct markup_span text, const char *type, uint64_t *out);
/* In base 10. */
bool markup_read_frame_number(const struct markup_filter *f, struct markup_span text, uint64_t *out);
bool markup_read_pc_type(const struct markup_filter *f, struct markup_span text, bool *is_return);
bool markup_read_mode(const struct markup_filter *f, struct markup_span text, char mode[8]);
bool markup_read_build_id(const struct markup_filter *f, struct markup_span text, char **out);

#endif
