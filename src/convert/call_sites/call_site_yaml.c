/* Call sites as the reference tool's YAML, of which JSON is a part:
 *
 *     functions:
 *       - name: main
 *         callsites:
 *           - return_offset: 0x20
 *             match_regex: ["total", "die.*"]
 *             flags: ["InternalCall"]
 *
 * Read event by event, so that what is nested deeper than this fails where it begins. Aliases have no use here and fail. */
#include "convert/call_sites/call_site_yaml.h"

#include "base/core/fail.h"
#include "base/core/span.h"

#ifdef CSNI_HAVE_LIBYAML
#include <yaml.h>

struct reading {
    const struct csn_call_site_file *file;
    struct csni_given_sites *out;
    struct csn_error *err;
    uint32_t number;
    yaml_parser_t parser;
    yaml_event_t event;      /* the one at hand */
    bool has_event;
};

static csn_status fail_here(const struct reading *r, const char *format, const char *name) {
    return csni_fail(r->err, CSN_E_FORMAT, NULL, 0, format, r->file->name, (unsigned)r->event.start_mark.line + 1,
                     (unsigned)r->event.start_mark.column + 1, name);
}

static csn_status next(struct reading *r) {
    if (r->has_event) yaml_event_delete(&r->event);
    r->has_event = false;
    if (yaml_parser_parse(&r->parser, &r->event)) {
        r->has_event = true;
        return CSN_OK;
    }
    if (r->parser.error == YAML_MEMORY_ERROR) return csni_fail_memory(r->err, r->file->size);
    return csni_fail(r->err, CSN_E_FORMAT, NULL, 0, "%s:%u:%u: no YAML: %s", r->file->name,
                     (unsigned)r->parser.problem_mark.line + 1, (unsigned)r->parser.problem_mark.column + 1,
                     r->parser.problem ? r->parser.problem : "it cannot be read");
}

static csn_status expect(struct reading *r, yaml_event_type_t type, const char *what) {
    return r->event.type == type ? CSN_OK : fail_here(r, "%s:%u:%u: %s is to be here", what);
}

static struct csn_str scalar(const struct reading *r) {
    return (struct csn_str){ (const char *)r->event.data.scalar.value, r->event.data.scalar.length };
}

/* An empty value, as in "callsites:" with nothing after it. */
static bool is_null(const struct reading *r) {
    if (r->event.type != YAML_SCALAR_EVENT || r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
    struct csn_str s = scalar(r);
    return !s.len || csni_str_is(s, "~") || csni_str_is(s, "null");
}

typedef csn_status read_item(struct reading *r, void *context);

/* A sequence, at its beginning; ends past it. */
static csn_status read_sequence(struct reading *r, const char *what, read_item *item, void *context) {
    if (is_null(r)) return next(r);
    CSNI_TRY(expect(r, YAML_SEQUENCE_START_EVENT, what));
    CSNI_TRY(next(r));
    while (r->event.type != YAML_SEQUENCE_END_EVENT) CSNI_TRY(item(r, context));
    return next(r);
}

static csn_status fail_key(const struct reading *r, const char *problem, struct csn_str key) {
    return csni_fail(r->err, CSN_E_FORMAT, NULL, 0, "%s:%u:%u: %s '%.*s'", r->file->name,
                     (unsigned)r->event.start_mark.line + 1, (unsigned)r->event.start_mark.column + 1, problem,
                     (int)(key.len < 60 ? key.len : 60), key.ptr);
}

/* A mapping, at its beginning; ends past it. *seen gets a bit for each key there is. */
static csn_status read_mapping(struct reading *r, const char *what, const char *const *keys, read_item *const *values,
                               unsigned *seen, void *context) {
    CSNI_TRY(expect(r, YAML_MAPPING_START_EVENT, what));
    CSNI_TRY(next(r));
    *seen = 0;
    while (r->event.type != YAML_MAPPING_END_EVENT) {
        CSNI_TRY(expect(r, YAML_SCALAR_EVENT, "a key"));
        unsigned k = 0;
        while (keys[k] && !csni_str_is(scalar(r), keys[k])) k++;
        if (!keys[k]) return fail_key(r, "unknown key", scalar(r));
        if (*seen >> k & 1) return fail_key(r, "a second key", scalar(r));
        *seen |= 1u << k;
        CSNI_TRY(next(r));
        CSNI_TRY(values[k](r, context));
    }
    return next(r);
}

/* ---- one call site: the last of `out` ---- */

static struct csni_given_site *last_site(const struct reading *r) {
    return &r->out->sites.items[r->out->sites.count - 1];
}

static csn_status read_offset(struct reading *r, void *context) {
    (void)context;
    CSNI_TRY(expect(r, YAML_SCALAR_EVENT, "a return offset"));
    if (!csni_call_site_number(scalar(r), &last_site(r)->return_off))
        return fail_key(r, "a return offset such as 0x20 is to be here, not", scalar(r));
    return next(r);
}

static csn_status read_yaml_pattern(struct reading *r, void *context) {
    (void)context;
    CSNI_TRY(expect(r, YAML_SCALAR_EVENT, "a regular expression"));
    if (!scalar(r).len) return fail_key(r, "an empty regular expression", scalar(r));
    if (memchr(scalar(r).ptr, 0, scalar(r).len)) return fail_key(r, "a NUL in the regular expression", scalar(r));
    CSNI_TRY(csni_given_add_pattern(r->out, scalar(r), false, r->err));
    return next(r);
}

static csn_status read_patterns(struct reading *r, void *context) {
    return read_sequence(r, "a list of regular expressions", read_yaml_pattern, context);
}

static csn_status read_flag(struct reading *r, void *context) {
    (void)context;
    CSNI_TRY(expect(r, YAML_SCALAR_EVENT, "a flag"));
    uint32_t flag = csni_call_site_flag(scalar(r), false);
    if (!flag) return fail_key(r, "unknown flag", scalar(r));
    last_site(r)->flags |= flag;
    return next(r);
}

static csn_status read_flags(struct reading *r, void *context) {
    return read_sequence(r, "a list of flags", read_flag, context);
}

static csn_status read_yaml_site(struct reading *r, void *context) {
    static const char *const keys[] = { "return_offset", "match_regex", "flags", NULL };
    static read_item *const values[] = { read_offset, read_patterns, read_flags };
    unsigned seen;
    struct csni_given_site site = { .function = { "", 0 }, .file = r->number, .line = (uint32_t)r->event.start_mark.line + 1 };
    CSNI_TRY(csni_given_add_site(r->out, &site, r->err));
    yaml_mark_t at = r->event.start_mark;
    CSNI_TRY(read_mapping(r, "a call site", keys, values, &seen, context));
    if ((seen & 3) == 3) return CSN_OK;
    return csni_fail(r->err, CSN_E_FORMAT, NULL, 0, "%s:%u:%u: the call site has no '%s'", r->file->name,
                     (unsigned)at.line + 1, (unsigned)at.column + 1, seen & 1 ? keys[1] : keys[0]);
}

/* ---- functions ---- */

static csn_status read_yaml_name(struct reading *r, void *context) {
    struct csn_str *name = context;
    CSNI_TRY(expect(r, YAML_SCALAR_EVENT, "a function's name"));
    name->ptr = csni_arena_copy(r->out->arena, scalar(r).ptr, scalar(r).len);
    name->len = scalar(r).len;
    return name->ptr ? next(r) : csni_fail_memory(r->err, name->len);
}

static csn_status read_sites(struct reading *r, void *context) {
    return read_sequence(r, "a list of call sites", read_yaml_site, context);
}

static csn_status read_yaml_function(struct reading *r, void *context) {
    static const char *const keys[] = { "name", "callsites", NULL };
    static read_item *const values[] = { read_yaml_name, read_sites };
    (void)context;
    unsigned seen;
    struct csn_str name = { "", 0 };
    size_t first = r->out->sites.count;
    yaml_mark_t at = r->event.start_mark;
    CSNI_TRY(read_mapping(r, "a function", keys, values, &seen, &name));
    if (!name.len)
        return csni_fail(r->err, CSN_E_FORMAT, NULL, 0, "%s:%u:%u: the function has no 'name'", r->file->name,
                         (unsigned)at.line + 1, (unsigned)at.column + 1);
    for (size_t i = first; i < r->out->sites.count; i++) r->out->sites.items[i].function = name;
    return CSN_OK;
}

static csn_status read_yaml_functions(struct reading *r, void *context) {
    return read_sequence(r, "a list of functions", read_yaml_function, context);
}

static csn_status read_document(struct reading *r) {
    static const char *const keys[] = { "functions", NULL };
    static read_item *const values[] = { read_yaml_functions };
    unsigned seen;
    CSNI_TRY(next(r)); /* the stream begins */
    CSNI_TRY(next(r));
    if (r->event.type == YAML_STREAM_END_EVENT) return CSN_OK;
    CSNI_TRY(next(r)); /* after the beginning of the document */
    if (is_null(r)) return CSN_OK;
    CSNI_TRY(read_mapping(r, "'functions:'", keys, values, &seen, NULL));
    CSNI_TRY(next(r)); /* after its end */
    return expect(r, YAML_STREAM_END_EVENT, "the end of the file");
}

csn_status csni_call_site_yaml_read(const struct csn_call_site_file *file, uint32_t number, struct csni_given_sites *out,
                                    struct csn_error *err) {
    struct reading r = { .file = file, .out = out, .err = err, .number = number };
    if (!yaml_parser_initialize(&r.parser)) return csni_fail_memory(err, sizeof r.parser);
    yaml_parser_set_input_string(&r.parser, file->bytes, file->size);
    csn_status status = read_document(&r);
    if (r.has_event) yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return status;
}
#else
csn_status csni_call_site_yaml_read(const struct csn_call_site_file *file, uint32_t number, struct csni_given_sites *out,
                                    struct csn_error *err) {
    (void)number;
    (void)out;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "%s: YAML and JSON need libyaml, which this build lacks; lines of text "
                     "do not", file->name);
}
#endif
