/* The index that a target gives to `callsign stack`, made once. */
#ifndef CALLSIGN_FUZZ_GIVEN_INDEX_H
#define CALLSIGN_FUZZ_GIVEN_INDEX_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <callsign/builder.h>

static inline void require(bool condition) {
    if (!condition) abort();
}

/* "liborders.so=FILE", with what `build` adds. */
static inline const char *given_index(void (*build)(struct csn_builder *builder)) {
    static char text[64];
    struct csn_builder *builder;
    struct csn_bytes bytes;
    if (text[0]) return text;
    require(csn_builder_create(NULL, &builder, NULL) == CSN_OK);
    build(builder);
    require(csn_builder_save_memory(builder, &bytes, NULL) == CSN_OK);
    int fd = memfd_create("index", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes.ptr, bytes.size) == (ssize_t)bytes.size);
    csn_bytes_free(&bytes);
    csn_builder_destroy(builder);
    snprintf(text, sizeof(text), "liborders.so=/proc/self/fd/%d", fd);
    return text;
}

#endif
