/* Functions that share their code. */
#include "lookup/candidates.h"

#include <callsign/inspect.h>

#include "ui/index_row.h"
#include "ui/path_text.h"

static void put_place(const struct csn_index *index, const struct csn_row *row, struct out_buffer *out) {
    struct csn_str directory, base;
    if (csn_index_file(index, row->file, &directory, &base, NULL) != CSN_OK || (!directory.len && !base.len)) return;
    out_text(out, " at ");
    path_put(out, directory, base);
    path_put_line(out, row->line);
}

static void put_candidate(const struct csn_index *index, const struct csn_record *record, const struct csn_function *function,
                          uint64_t addr, struct name_text *names, struct out_buffer *out) {
    struct csn_row row;
    out_text(out, "or ");
    if (function->name.len) out_safe(out, name_text(names, function->name));
    else out_text(out, "(no name)");
    out_text(out, " + ");
    out_decimal(out, addr - function->start);
    if (index_row_at(index, record, addr, &row)) put_place(index, &row, out);
    out_char(out, '\n');
}

/* The functions folded into the answer's, one after another. */
struct folded {
    struct csn_merged_iter iter;
    struct csn_record record;
    struct csn_function function;
};

static csn_status folded_begin(struct folded *folded, const struct csn_index *index, const struct answer *answer) {
    csn_status status = csn_index_record(index, answer->found.function_index, &folded->record, NULL);
    if (status == CSN_OK) status = csn_record_function(index, &folded->record, &folded->function, NULL);
    if (status == CSN_OK) status = csn_merged_iter_init(&folded->iter, index, &folded->record, NULL);
    return status;
}

static csn_status folded_next(struct folded *folded, const struct csn_index *index) {
    csn_status status = csn_merged_iter_next(&folded->iter, &folded->record, NULL);
    return status == CSN_OK ? csn_record_function(index, &folded->record, &folded->function, NULL) : status;
}

bool candidates_put_text(const struct csn_index *index, const struct answer *answer, struct name_text *names,
                         struct out_buffer *out) {
    struct folded folded;
    if (answer->status != CSN_OK) return true;
    csn_status status = folded_begin(&folded, index, answer);
    while (status == CSN_OK && (status = folded_next(&folded, index)) == CSN_OK) {
        out_spaces(out, answer_indent(answer));
        put_candidate(index, &folded.record, &folded.function, answer->addr, names, out);
    }
    return status >= 0;
}

bool candidates_put_json(const struct csn_index *index, const struct answer *answer, struct name_text *names,
                         struct json_out *json) {
    struct folded folded;
    if (answer->status != CSN_OK) return true;
    csn_status status = folded_begin(&folded, index, answer);
    if (status < 0) return false;
    json_key(json, "candidates");
    json_begin_array(json);
    json_str(json, name_text(names, folded.function.name));
    while ((status = folded_next(&folded, index)) == CSN_OK) json_str(json, name_text(names, folded.function.name));
    json_end_array(json);
    return status >= 0;
}
