/* Makes an index of its own, as a JIT or a linker would: files, functions, rows, an inlined call, a call site. Saves it to a
 * file, keeps it in memory too, and looks an address up there.
 *
 *     cc build_index.c $(pkg-config --cflags --libs callsign) -o build_index
 *     ./build_index jit.gsym */
#include <stdio.h>
#include <string.h>

#include <callsign/callsign.h>

static struct csn_str str(const char *text) { return (struct csn_str){ text, strlen(text) }; }

/* total() [0x1000, 0x1040) calls area(), which the compiler inlined at [0x1010, 0x1020), and then show(). */
static csn_status add_total(struct csn_builder *b, uint32_t main_c, uint32_t shapes_h, struct csn_error *err) {
    static const struct { uint64_t addr; int in_header; uint32_t line; } rows[] = {
        { 0x1000, 0, 10 }, { 0x1008, 0, 11 }, { 0x1010, 1, 4 }, { 0x1018, 1, 5 }, { 0x1020, 0, 12 } };
    static const struct csn_range inlined = { 0x1010, 0x1020 };
    const struct csn_str callee = str("^show$");
    csn_status status = csn_builder_begin_function(b, 0x1000, 0x40, str("total"), err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status >= 0; i++)
        status = csn_builder_add_row(b, rows[i].addr, rows[i].in_header ? shapes_h : main_c, rows[i].line, err);
    if (status >= 0) status = csn_builder_begin_inline(b, &inlined, 1, str("area"), main_c, 11, err);
    if (status >= 0) status = csn_builder_end_inline(b, err);
    /* The call's return address is 0x1030. */
    if (status >= 0) status = csn_builder_add_call_site(b, 0x30, CSN_CALL_SITE_INTERNAL, &callee, 1, err);
    return status;
}

static csn_status add_all(struct csn_builder *b, struct csn_error *err) {
    uint32_t main_c, shapes_h;
    csn_status status = csn_builder_add_file(b, str("/src"), str("main.c"), &main_c, err);
    if (status >= 0) status = csn_builder_add_file(b, str("/src"), str("shapes.h"), &shapes_h, err);
    /* Functions may come in any order, with as little as is known of them. */
    if (status >= 0) status = csn_builder_begin_function(b, 0x1100, 0x20, str("show"), err);
    if (status >= 0) status = add_total(b, main_c, shapes_h, err);
    return status;
}

static csn_status look_up(const struct csn_bytes *bytes, uint64_t addr, struct csn_error *err) {
    struct csn_index *index;
    struct csn_frame frames[8];
    size_t count = 0;
    csn_status status = csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, err);
    if (status < 0) return status;
    status = csn_index_lookup(index, addr, frames, 8, &count, err);
    for (size_t i = 0; status == CSN_OK && i < count && i < 8; i++)
        printf("0x%llx: %.*s, %.*s line %u\n", (unsigned long long)addr, (int)frames[i].name.len, frames[i].name.ptr,
               (int)frames[i].base.len, frames[i].base.ptr, frames[i].line);
    csn_index_close(index);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: build_index OUTPUT\n");
        return 2;
    }
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_builder *builder = NULL;
    struct csn_bytes bytes = { NULL, 0, NULL };
    csn_status status = csn_builder_create(NULL, &builder, &err);
    if (status >= 0) status = add_all(builder, &err);
    if (status >= 0) status = csn_builder_save_file(builder, argv[1], &err);
    if (status >= 0) status = csn_builder_save_memory(builder, &bytes, &err);
    if (status >= 0) printf("%s: %zu bytes\n", argv[1], bytes.size);
    if (status >= 0) status = look_up(&bytes, 0x1014, &err);
    if (status < 0) fprintf(stderr, "%s\n", csn_error_text(&err));
    csn_bytes_free(&bytes);
    csn_builder_destroy(builder);
    return status < 0;
}
