/* One address to its frames. */
#include "index/index_private.h"

const char *csn_reason_text(uint32_t reason) {
    switch (reason) {
    case CSN_REASON_COMPLETE: return "nothing is missing";
    case CSN_REASON_BEFORE_FIRST: return "the address is below the first function of the index";
    case CSN_REASON_GAP: return "the address is after the end of the function that starts before it";
    case CSN_REASON_NO_LINE_TABLE: return "the function has no line table";
    case CSN_REASON_NO_ROW: return "the function has no line for this address";
    case CSN_REASON_BAD_FILE: return "the line names a file that the index does not have";
    case CSN_REASON_NO_BINARY: return "the index has no binary of that name";
    case CSN_REASON_NO_CALL_FILE: return "the inlined call names no file";
    case CSN_REASON_NO_MODULE: return "no module covers the address";
    case CSN_REASON_NO_INDEX: return "there is no index for the module";
    default: return "the reason is not known to this version of the library";
    }
}

csn_status csn_index_lookup(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                            size_t *out_count, struct csn_error *err) {
    return index->format->lookup(index, addr, frames, cap, out_count, err);
}

csn_status csni_index_fail_mode(uint32_t mode, struct csn_error *err) {
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "lookup mode %u is not known, need <= %d", mode, CSN_LOOKUP_LLVM);
}

csn_status csn_index_lookup_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                 struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                 struct csn_error *err) {
    struct csn_lookup ignored;
    if ((uint32_t)mode > CSN_LOOKUP_LLVM) return csni_index_fail_mode((uint32_t)mode, err);
    return index->format->lookup_refs(index, addr, mode, frames, cap, out ? out : &ignored, err);
}

void csn_index_resolve(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out) {
    index->format->resolve(index, ref, out);
}

size_t csn_index_resolve_into(const struct csn_index *index, const struct csn_frame_ref *ref, void *scratch,
                              size_t size, struct csn_frame *out) {
    if (index->format->resolve_into) return index->format->resolve_into(index, ref, scratch, size, out);
    index->format->resolve(index, ref, out);
    return 0;
}
