/* Writing the answers of `callsign lookup`. */
#include "lookup/answerer.h"

#include <string.h>

#include "lookup/address_input.h"
#include "lookup/candidates.h"
#include "ui/complain.h"

bool answerer_init_like(struct answerer *answerer, const struct answerer *other) {
    *answerer = (struct answerer){ .json = other->json, .merged = other->merged };
    name_text_init_like(&answerer->names, &other->names);
    return asker_init(&answerer->asker, other->asker.index, other->asker.mode);
}

void answerer_deinit(struct answerer *answerer) {
    asker_deinit(&answerer->asker);
    name_text_deinit(&answerer->names);
}

void answerer_add_counts(struct answerer *answerer, const struct answerer *other) {
    answerer->damaged_count += other->damaged_count;
    answerer->partial |= other->partial;
}

bool answerer_write(struct answerer *answerer, const struct answer *answer, struct out_buffer *out) {
    const struct csn_index *index = answerer->asker.index;
    struct name_text *names = &answerer->names;
    if (!answerer->json) {
        answer_put_text(answer, names, out);
        return !answerer->merged || candidates_put_text(index, answer, names, out);
    }
    struct json_out json = json_on(out);
    answer_begin_json(answer, names, &json);
    bool good = !answerer->merged || candidates_put_json(index, answer, names, &json);
    json_end_object(&json);
    json_end_line(&json);
    return good;
}

void answerer_put(struct answerer *answerer, const struct answer *answer, struct out_buffer *out) {
    if (answer->status != CSN_OK) answerer->partial = true;
    if (answer->status < 0) answerer->damaged_count++;
    if (answerer_write(answerer, answer, out)) return;
    answerer->partial = true;
    answerer->damaged_count++;
}

bool answerer_answer(struct answerer *answerer, struct csn_str question, struct out_buffer *out) {
    struct asker *asker = &answerer->asker;
    struct answer answer;
    struct csn_str name;
    uint64_t addr;
    if (address_parse(question, &addr))
        asker_ask(asker, addr, &answer);
    else if (asker->info.binary_count && named_address_parse(question, &name, &addr))
        asker_ask_named(asker, name, addr, &answer);
    else
        return false;
    answerer_put(answerer, &answer, out);
    return true;
}

void answerer_put_bad_line(struct answerer *answerer, struct csn_str line, uint64_t number, struct out_buffer *out) {
    answerer->partial = true;
    complain(NULL, "line %llu: '%.*s' is not a hexadecimal address", (unsigned long long)number, (int)line.len, line.ptr);
    if (answerer->json) {
        static const char tail[] = "' is not a hexadecimal address";
        char text[1 + BAD_LINE_SHOWN + sizeof(tail)] = "'";
        memcpy(text + 1, line.ptr, line.len);
        memcpy(text + 1 + line.len, tail, sizeof(tail));
        struct json_out json = json_on(out);
        json_begin_object(&json);
        json_key(&json, "error");
        json_string(&json, (struct csn_str){ text, 1 + line.len + sizeof(tail) - 1 });
        json_end_object(&json);
        json_end_line(&json);
    } else {
        out_safe(out, line);
        out_text(out, ": error: not a hexadecimal address\n");
    }
}
