/* BSYM as a format of indexes. A function is a symbol, numbered as in the file; frames have neither file nor line. */
#include "index/index_private.h"

static csn_status open_bsym(struct csn_index *index, const struct csni_index_source *source,
                            const struct csn_index_options *options, struct csn_error *err) {
    CSNI_TRY(csni_bsym_open(&index->bsym, source->bytes, index->allocator, err));
    if (csni_bsym_accel_build(&index->bsym, options->accelerator_bytes, index->allocator)) return CSN_OK;
    csni_bsym_close(&index->bsym, index->allocator);
    return csni_fail_memory(err, options->accelerator_bytes);
}

static void close_bsym(struct csn_index *index) {
    csni_bsym_accel_free(&index->bsym, index->allocator);
    csni_bsym_close(&index->bsym, index->allocator);
}

static void get_bsym_info(const struct csn_index *index, struct csn_index_info *out) {
    const struct csni_bsym *b = &index->bsym;
    uint64_t base = b->placed < b->segment_count ? b->segments[b->placed].address : 0;
    *out = (struct csn_index_info){ .format = CSN_FORMAT_BSYM, .big_endian = b->big, .address_size = 4,
                                    .base_address = base, .file_size = b->bytes.size, .function_count = b->symbol_count,
                                    .format_version = b->stored_version, .binary_count = b->segment_count,
                                    .image_checksum = b->checksum, .alias_count = b->rename_count,
                                    .accelerator_bytes = b->accel.memory_size, .unaccelerated_functions = b->accel.plain_count };
}

/* ---- frames ---- */

static csn_status fill_bsym_answer(const struct csni_bsym_answer *answer, csn_status status, uint64_t addr,
                                   struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out) {
    *out = (struct csn_lookup){ .reason = answer->reason, .binary = answer->has_segment ? answer->segment + 1 : 0 };
    if (status != CSN_OK) return status;
    out->function_start = answer->start;
    out->function_size = answer->size;
    out->function_index = answer->symbol;
    out->frame_count = 1;
    if (cap)
        frames[0] = (struct csn_frame_ref){ .name = answer->symbol, .offset = (addr & ~(uint64_t)1) - answer->start,
                                            .flags = answer->uncertain ? CSN_FRAME_UNCERTAIN : 0,
                                            .reason = answer->uncertain ? CSN_REASON_GAP : CSN_REASON_NO_LINE_TABLE };
    return CSN_OK;
}

static csn_status look_up_bsym_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                    struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                    struct csn_error *err) {
    (void)mode;
    (void)err;
    struct csni_bsym_answer answer;
    csn_status status = csni_bsym_lookup(&index->bsym, addr, &answer);
    return fill_bsym_answer(&answer, status, addr, frames, cap, out);
}

static void prefetch_bsym(const struct csn_index *index, uint64_t addr) { csni_bsym_prefetch(&index->bsym, addr); }

/* Neither fails nor writes beyond `size`. Returns how many bytes the name takes there; 0: it is a view of the file, or too long. */
static size_t resolve_bsym_name(const struct csni_bsym *b, const struct csni_bsym_name *name, char *scratch,
                                size_t size, struct csn_str *out) {
    if (csni_bsym_name_is_whole(b, name)) {
        *out = csni_bsym_view(name);
        return 0;
    }
    uint64_t need = csni_bsym_expand(b, name, 0, scratch, size);
    if (need > CSNI_BSYM_NAME_MAX) need = 0;
    *out = need && need <= size ? (struct csn_str){ scratch, (size_t)need } : (struct csn_str){ "", 0 };
    return (size_t)need;
}

static size_t resolve_bsym_into(const struct csn_index *index, const struct csn_frame_ref *ref, void *scratch,
                                size_t size, struct csn_frame *out) {
    const struct csni_bsym *b = &index->bsym;
    *out = (struct csn_frame){ .name = { "", 0 }, .directory = { "", 0 }, .base = { "", 0 }, .offset = ref->offset,
                               .flags = ref->flags, .reason = ref->reason };
    if (ref->name >= b->symbol_count) return 0;
    struct csni_bsym_name name = csni_bsym_symbol_name(b, (uint32_t)ref->name);
    size_t need = resolve_bsym_name(b, &name, scratch, size, &out->name);
    if (need > size) out->flags |= CSN_FRAME_NAME_IN_PIECES;
    return need;
}

static void resolve_bsym(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out) {
    resolve_bsym_into(index, ref, NULL, 0, out);
}

static csn_status look_up_bsym(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                               size_t *out_count, struct csn_error *err) {
    struct csn_frame_ref ref;
    struct csn_lookup found;
    csn_status status = look_up_bsym_refs(index, addr, CSN_LOOKUP_DEFAULT, &ref, 1, &found, err);
    if (found.frame_count && cap) resolve_bsym(index, &ref, &frames[0]);
    *out_count = found.frame_count;
    return status;
}

/* ---- looking inside ---- */

static csn_status get_no_file(const struct csn_index *index, uint32_t idx, struct csn_str *directory,
                              struct csn_str *base, struct csn_error *err) {
    (void)index;
    if (idx) return csni_index_fail_beyond("file", idx, 1, err);
    *directory = *base = (struct csn_str){ "", 0 };
    return CSN_OK;
}

static struct csn_str get_bsym_string(const struct csn_index *index, uint64_t offset) {
    struct csni_bsym_name name = { .has_scope = false };
    if (offset <= UINT32_MAX) csni_bsym_string(&index->bsym, (uint32_t)offset, &name.name);
    return csni_bsym_view(&name);
}

static csn_status get_bsym_record(const struct csn_index *index, uint32_t idx, struct csn_record *out,
                                  struct csn_error *err) {
    const struct csni_bsym *b = &index->bsym;
    if (idx >= b->symbol_count)
        return csni_index_fail_beyond("function", idx, b->symbol_count, err);
    const uint8_t *p = csni_bsym_symbol_record(b, idx);
    *out = (struct csn_record){ p, b->symbol_size, csni_bsym_symbol_address(b, idx), (uint64_t)(p - b->body.ptr) };
    return CSN_OK;
}

static csn_status get_bsym_function_start(const struct csn_index *index, uint32_t idx, uint64_t *out,
                                          struct csn_error *err) {
    if (idx >= index->bsym.symbol_count) return csni_index_fail_beyond("function", idx, index->bsym.symbol_count, err);
    *out = csni_bsym_symbol_address(&index->bsym, idx);
    return CSN_OK;
}

static csn_status get_bsym_function(const struct csn_index *index, const struct csn_record *rec,
                                    struct csn_function *out, struct csn_error *err) {
    const struct csni_bsym *b = &index->bsym;
    uint64_t off = (uint64_t)(rec->bytes - b->symbols);
    if (off / b->symbol_size >= b->symbol_count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "a record of another index");
    uint32_t symbol = (uint32_t)(off / b->symbol_size);
    const struct csni_bsym_segment *s = csni_bsym_owner(b, symbol);
    struct csni_bsym_name name = csni_bsym_symbol_name(b, symbol);
    *out = (struct csn_function){ .start = rec->start, .size = csni_bsym_symbol_length(b, s, symbol),
                                  .record_offset = rec->offset, .binary = s ? (uint32_t)(s - b->segments) + 1 : 0,
                                  .record_size = b->symbol_size + (name.has_scope ? name.scope.size : 0) + name.name.size };
    resolve_bsym_name(b, &name, NULL, 0, &out->name);
    return CSN_OK;
}

static csn_status check_bsym_record(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct csn_function function;
    CSNI_TRY(get_bsym_function(index, record, &function, err));
    const uint32_t symbol = (uint32_t)((uint64_t)(record->bytes - index->bsym.symbols) / index->bsym.symbol_size);
    if (csni_bsym_symbol_name_is_there(&index->bsym, symbol)) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, "BSYM", record->offset, "the name of symbol %u is not within 0x%zx bytes", symbol,
                     index->bsym.text.size);
}

static csn_status verify_bsym(const struct csn_index *index, csn_verify_callback *callback, void *context,
                              struct csn_verify_counts *out, struct csn_error *err) {
    (void)err;
    return csni_bsym_verify(&index->bsym, callback, context, out);
}

/* ---- binaries ---- */

static csn_status check_binary(const struct csn_index *index, uint32_t idx, struct csn_error *err) {
    uint32_t count = index->bsym.segment_count;
    return idx < count ? CSN_OK : csni_index_fail_beyond("binary", idx, count, err);
}

static csn_status get_binary(const struct csn_index *index, uint32_t idx, void *scratch, size_t size,
                             struct csn_binary *out, size_t *out_need, struct csn_error *err) {
    CSNI_TRY(check_binary(index, idx, err));
    const struct csni_bsym *b = &index->bsym;
    const struct csni_bsym_segment *s = &b->segments[idx];
    struct csni_bsym_name name = csni_bsym_segment_name(b, s);
    uint32_t last = csni_bsym_in_order(b, s->first + s->count - 1);
    uint64_t end = (uint64_t)csni_bsym_symbol_address(b, last) + csni_bsym_symbol_length(b, s, last);
    *out = (struct csn_binary){ .address = s->address, .size = end > s->address ? end - s->address : 0,
                                .first_function = s->first, .function_count = s->count };
    *out_need = resolve_bsym_name(b, &name, scratch, size, &out->name);
    return CSN_OK;
}

static csn_status get_alias(const struct csn_index *index, uint32_t idx, void *scratch, size_t size,
                            struct csn_str *out, uint32_t *out_binary, size_t *out_need, struct csn_error *err) {
    const struct csni_bsym *b = &index->bsym;
    uint32_t number;
    if (idx >= b->rename_count) return csni_index_fail_beyond("alias", idx, b->rename_count, err);
    struct csni_bsym_name name = csni_bsym_rename(b, idx, &number);
    *out_need = resolve_bsym_name(b, &name, scratch, size, out);
    *out_binary = 0;
    for (uint32_t i = 0; i < b->segment_count; i++)
        if (b->segments[i].number == number) *out_binary = i + 1;
    return CSN_OK;
}

static csn_status find_binary(const struct csn_index *index, struct csn_str name, uint32_t *out_idx,
                              uint32_t *out_match) {
    return csni_bsym_find(&index->bsym, name, out_idx, out_match);
}

static csn_status look_up_in_binary(const struct csn_index *index, uint32_t binary, uint64_t offset,
                                    struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                    struct csn_error *err) {
    CSNI_TRY(check_binary(index, binary, err));
    struct csni_bsym_answer answer;
    const struct csni_bsym *b = &index->bsym;
    csn_status status = csni_bsym_lookup_in(b, binary, offset, &answer);
    return fill_bsym_answer(&answer, status, b->segments[binary].address + offset, frames, cap, out);
}

static const struct csni_index_binaries binaries = {
    .binary = get_binary, .alias = get_alias, .find = find_binary, .lookup = look_up_in_binary,
};

static csn_status get_bsym_part_bytes(const struct csn_index *index, uint64_t *out, struct csn_error *err) {
    return csni_bsym_part_bytes(&index->bsym, index->allocator, out, err);
}

static csn_status get_bsym_record_sizes(const struct csn_index *index, const struct csn_record *record,
                                        struct csni_counted_bytes *counted, struct csn_function_stats *out) {
    uint32_t symbol = (uint32_t)((uint64_t)(record->bytes - index->bsym.symbols) / index->bsym.symbol_size);
    return csni_bsym_record_bytes(&index->bsym, symbol, counted, &out->record_bytes);
}

const struct csni_index_format csni_index_bsym = {
    .recognize = csni_bsym_recognize, .open = open_bsym, .close = close_bsym, .get_info = get_bsym_info,
    .lookup = look_up_bsym, .lookup_refs = look_up_bsym_refs, .lookup_batch = csni_index_lookup_each,
    .prefetch = prefetch_bsym, .resolve = resolve_bsym, .resolve_into = resolve_bsym_into, .file = get_no_file,
    .string = get_bsym_string, .record = get_bsym_record, .function_start = get_bsym_function_start,
    .function = get_bsym_function, .check = check_bsym_record, .verify = verify_bsym, .part_bytes = get_bsym_part_bytes,
    .record_sizes = get_bsym_record_sizes, .binaries = &binaries,
};
