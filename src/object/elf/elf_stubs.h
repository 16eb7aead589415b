/* Decoding the code of procedure linkage tables, machine by machine. */
#ifndef CSNI_ELF_STUBS_H
#define CSNI_ELF_STUBS_H

#include "object/object_private.h"

/* Code that may hold stubs. */
struct csni_stub_code {
    struct csni_span bytes;
    uint64_t addr;
    uint64_t got;      /* what position-independent i386 code has in %ebx */
    bool big_endian;   /* of instructions */
    bool wide;
};

/* A stub that begins at `off` of the code. */
struct csni_stub_match {
    uint64_t slot;     /* address of the pointer that it jumps through */
    uint32_t symbol;   /* or the number of the dynamic symbol that it asks for; 0: by slot */
    uint32_t length;   /* bytes of code that were matched */
};

/* How stubs of a machine look. */
struct csni_stub_machine {
    uint32_t machine;  /* EM_ */
    uint8_t step;      /* stubs begin at multiples of it, from the section's start */
    uint8_t max_size;  /* a stub's bytes with what is behind its jump */
    bool (*match)(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out);
    uint32_t jump_slot, glob_dat, irelative; /* types of relocations that fill a slot; glob_dat, irelative 0: none */
};
/* NULL: not known. */
const struct csni_stub_machine *csni_stub_machine_of(uint32_t machine);

#endif
