// A C++17 program against the public headers: builds an index, looks into it, prints the frames of an address.
#include <cstdio>
#include <string>
#include <vector>

#include <callsign/callsign.h>

static std::string path_of(const csn_frame &frame) {
    std::string path(csn_frame_path(&frame, nullptr, 0), '\0');
    csn_frame_path(&frame, path.data(), path.size() + 1);
    return path;
}

static csn_status build(csn_bytes *out, csn_error *err) {
    csn_builder_options options = CSN_BUILDER_OPTIONS_INIT;
    options.format = CSN_FORMAT_GSYM_V2;
    csn_builder *builder = nullptr;
    csn_status status = csn_builder_create(&options, &builder, err);
    uint32_t file = 0;
    if (status >= 0) status = csn_builder_add_file(builder, CSN_STR("/src"), CSN_STR("jit.cc"), &file, err);
    if (status >= 0) status = csn_builder_begin_function(builder, 0x1000, 0x40, CSN_STR("outer"), err);
    if (status >= 0) status = csn_builder_add_row(builder, 0x1000, file, 7, err);
    const csn_range range = { 0x1010, 0x1020 };
    if (status >= 0) status = csn_builder_begin_inline(builder, &range, 1, CSN_STR("inner"), file, 9, err);
    if (status >= 0) status = csn_builder_end_inline(builder, err);
    if (status >= 0) status = csn_builder_save_memory(builder, out, err);
    csn_builder_destroy(builder);
    return status;
}

int main() {
    csn_error err = CSN_ERROR_INIT;
    csn_bytes bytes = {};
    csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.accelerator_bytes = UINT64_MAX;
    csn_index *index = nullptr;
    std::vector<csn_frame> frames(8);
    size_t count = 0;
    if (build(&bytes, &err) < 0 || csn_index_open_memory(bytes.ptr, bytes.size, &options, &index, &err) < 0 ||
        csn_index_lookup(index, 0x1014, frames.data(), frames.size(), &count, &err) != CSN_OK) {
        std::fprintf(stderr, "%s\n", csn_error_text(&err));
        return 1;
    }
    frames.resize(count);
    for (const csn_frame &frame : frames)
        std::printf("%.*s+%u %s:%u\n", static_cast<int>(frame.name.len), frame.name.ptr, static_cast<unsigned>(frame.offset),
                    path_of(frame).c_str(), frame.line);
    csn_index_close(index);
    csn_bytes_free(&bytes);
    return 0;
}
