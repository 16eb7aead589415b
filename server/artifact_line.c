/* What `callsign store` prints of a file. */
#include "artifact_line.h"

static void put_json(struct text *out, const struct artifact *a) {
    text_char(out, '{');
    text_json_member(out, "build_id", *a->build_id ? a->build_id : *a->debug_id ? a->debug_id : a->htlhash);
    text_json_member(out, "name", a->name);
    text_json_member(out, "kind", artifact_kind_name(a->kind));
    text_format(out, ",\"bytes\":%llu", (unsigned long long)a->bytes);
    text_json_member(out, "path", a->path);
    if (*a->debug_id) text_json_member(out, "debug_id", a->debug_id);
    if (*a->code_id) text_json_member(out, "code_id", a->code_id);
    if (*a->htlhash) text_json_member(out, "htlhash", a->htlhash);
    if (*a->arch) text_json_member(out, "arch", a->arch);
    text_json_member(out, "source", a->source);
    text_put(out, "}\n");
}

static void put_text(struct text *out, const struct artifact *a) {
    text_format(out, "%-40s %-10s %12llu ", *a->build_id ? a->build_id : *a->debug_id ? a->debug_id : a->htlhash,
                artifact_kind_name(a->kind), (unsigned long long)a->bytes);
    text_safe(out, *a->name ? a->name : "-");
    text_put(out, " (");
    text_safe(out, a->path);
    text_put(out, ")\n");
}

void artifact_line(struct text *out, const struct artifact *artifact, bool is_json) {
    if (is_json) put_json(out, artifact);
    else put_text(out, artifact);
}
