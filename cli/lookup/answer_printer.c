/* Writing the answers of `callsign lookup`. */
#include "lookup/answer_printer.h"

#include <stdio.h>
#include <string.h>

#include "lookup/address_text.h"
#include "lookup/candidates.h"
#include "ui/cli_message.h"

bool answer_printer_init_like(struct answer_printer *printer, const struct answer_printer *other) {
    *printer = (struct answer_printer){ .json = other->json, .merged = other->merged };
    name_text_init_like(&printer->names, &other->names);
    return index_query_init(&printer->query, other->query.index, other->query.mode);
}

void answer_printer_deinit(struct answer_printer *printer) {
    index_query_deinit(&printer->query);
    name_text_deinit(&printer->names);
}

void answer_printer_add_counts(struct answer_printer *printer, const struct answer_printer *other) {
    printer->damaged_count += other->damaged_count;
    printer->partial |= other->partial;
    if (!printer->loaded_addr) printer->loaded_addr = other->loaded_addr;
}

bool answer_printer_write(struct answer_printer *printer, const struct answer *answer, struct out_buffer *out) {
    const struct csn_index *index = printer->query.index;
    struct name_text *names = &printer->names;
    if (!printer->json) {
        answer_put_text(answer, names, out);
        return !printer->merged || candidates_put_text(index, answer, names, out);
    }
    struct json_out json = json_on(out);
    answer_begin_json(answer, names, &json);
    bool good = !printer->merged || candidates_put_json(index, answer, names, &json);
    json_end_object(&json);
    json_end_line(&json);
    return good;
}

void answer_printer_put(struct answer_printer *printer, const struct answer *answer, struct out_buffer *out) {
    if (answer->status != CSN_OK) printer->partial = true;
    if (answer->status == CSN_NONE && !printer->loaded_addr && address_looks_loaded(answer->addr))
        printer->loaded_addr = answer->addr;
    if (answer->status < 0) printer->damaged_count++;
    if (answer_printer_write(printer, answer, out)) return;
    printer->partial = true;
    printer->damaged_count++;
}

bool answer_printer_run(struct answer_printer *printer, struct csn_str text, struct out_buffer *out) {
    struct index_query *query = &printer->query;
    struct answer answer;
    struct csn_str name;
    uint64_t addr;
    if (address_parse(text, &addr))
        index_query_address(query, addr, &answer);
    else if (query->info.binary_count && named_address_parse(text, &name, &addr))
        index_query_named(query, name, addr, &answer);
    else
        return false;
    answer_printer_put(printer, &answer, out);
    return true;
}

/* An error in place of an answer. */
static void put_bad(struct answer_printer *printer, struct csn_str text, const char *fault, struct out_buffer *out) {
    printer->partial = true;
    if (text.len > BAD_LINE_SHOWN) text.len = BAD_LINE_SHOWN;
    if (printer->json) {
        char shown[BAD_LINE_SHOWN + 256] = "'"; /* a line may contain the byte 0 */
        memcpy(shown + 1, text.ptr, text.len);
        int rest = snprintf(shown + 1 + text.len, sizeof(shown) - 1 - text.len, "' is %s", fault);
        struct json_out json = json_on(out);
        json_begin_object(&json);
        json_key(&json, "error");
        json_str(&json, (struct csn_str){ shown, 1 + text.len + (size_t)rest });
        json_end_object(&json);
        json_end_line(&json);
    } else {
        out_safe(out, text);
        out_text(out, ": error: ");
        out_text(out, fault);
        out_char(out, '\n');
    }
}

void answer_printer_put_bad_line(struct answer_printer *printer, struct csn_str line, const char *fault, uint64_t number,
                                 struct out_buffer *out) {
    cli_error(NULL, "line %llu: '%.*s' is %s", (unsigned long long)number, (int)line.len, line.ptr, fault);
    put_bad(printer, line, fault, out);
}

void answer_printer_put_bad_operand(struct answer_printer *printer, struct csn_str text, const char *fault, bool shown,
                                    struct out_buffer *out) {
    cli_error(NULL, "'%.*s' is %s", (int)text.len, text.ptr, fault);
    if (shown) put_bad(printer, text, fault, out);
}

bool answer_printer_has_query(char **operands, int count, bool (*is_query)(struct csn_str text)) {
    for (int i = 0; i < count; i++)
        if (is_query((struct csn_str){ operands[i], strlen(operands[i]) })) return true;
    for (int i = 0; i < count; i++)
        cli_error(NULL, "'%s' is %s", operands[i], address_fault((struct csn_str){ operands[i], strlen(operands[i]) }));
    return !count;
}
