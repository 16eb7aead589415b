/* ELF headers and notes where they stand: in a core dump, in the memory that it holds, or in a file. Everything may be damaged. */
#ifndef CALLSIGN_CLI_CORE_ELF_H
#define CALLSIGN_CLI_CORE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_bytes {
    const unsigned char *at;
    size_t size;
};

/* How numbers are written. */
struct core_form {
    bool is_64, big;
};
unsigned core_word_size(struct core_form form);
uint64_t core_number(struct core_form form, const unsigned char *at, unsigned size);
/* One of as many bytes as an address has. */
uint64_t core_word(struct core_form form, const unsigned char *at);

struct core_elf {
    struct core_bytes bytes;
    struct core_form form;
    uint16_t type;
    uint32_t count;          /* program headers */
    uint32_t entry_size;     /* of each, as the file's header says */
    uint64_t headers;        /* where they are */
    uint64_t sections, section_count, sections_end;
};
enum { CORE_ELF_EXECUTABLE = 2 };  /* ET_EXEC */
enum { CORE_LOAD = 1, CORE_DYNAMIC = 2, CORE_NOTE = 4, CORE_HEADERS = 6 }; /* PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_PHDR */
struct core_header {
    uint32_t type;
    uint64_t off, addr, file_size, memory_size, align;
};

/* Whether it begins as an ELF file. */
bool core_elf_is_named(struct core_bytes bytes);
/* False: no ELF header is there as a whole. */
bool core_elf_read(struct core_bytes bytes, struct core_elf *out);
/* Bytes of a program header of that form. */
size_t core_header_size(struct core_form form);
void core_header_read(struct core_form form, const unsigned char *at, struct core_header *out);

struct core_notes {
    struct core_bytes bytes;
    struct core_form form;
    size_t at;
    unsigned align;          /* 4 or 8 */
};
struct core_note {
    uint32_t type;
    struct core_bytes name, content; /* the name with its NUL */
};
bool core_note_next(struct core_notes *notes, struct core_note *out);
bool core_note_is(const struct core_note *note, uint32_t type, const char *name);
/* The build id in notes; size 0: none that is used. */
struct core_bytes core_build_id(struct core_notes notes);

/* What is asked of a file that may be an image of the process. */
struct core_file {
    struct core_elf elf;
    bool has_dynamic;
    uint64_t dynamic;        /* address of PT_DYNAMIC */
    uint64_t low, end;       /* address of the first segment, rounded down; end of the last */
    unsigned char id[64];
    size_t id_size;          /* 0: it has none */
    uint64_t id_addr;
};
/* False: it cannot be opened, or is no ELF file. What *out has of its bytes is gone. */
bool core_file_read(const char *path, struct core_file *out);
/* The program headers of a file, which the caller frees; size 0: they are not of that count. */
struct core_bytes core_file_headers(const char *path, uint64_t count, uint64_t entry_size);

/* The file in memory, until munmap(); size 0: it cannot be read, and errno tells why, or (errno 0) it is empty or no file. */
struct core_bytes core_map_file(const char *path);

#endif
