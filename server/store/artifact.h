/* A file of the store: what it is, and the ids that name it. */
#ifndef CALLSIGN_SERVER_ARTIFACT_H
#define CALLSIGN_SERVER_ARTIFACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum artifact_kind {
    ARTIFACT_EXECUTABLE = 1, /* has the code */
    ARTIFACT_DEBUGINFO = 2,  /* has debug information, or at least symbols split off from the code */
    ARTIFACT_GSYM = 4,       /* an index, BSYM included */
    ARTIFACT_BREAKPAD = 8,   /* a Breakpad symbol file */
    ARTIFACT_PDB = 16,
    ARTIFACT_ANY = 31
};

enum { ID_TEXT_SIZE = 2 * 64 + 1, DEBUG_ID_SIZE = 32 + 8 + 1, NAME_SIZE = 256, STORE_PATH_SIZE = 1024 };

struct artifact {
    char path[STORE_PATH_SIZE];  /* in the store, relative */
    uint32_t kind;               /* bits of enum artifact_kind: an unstripped program is executable and debuginfo */
    char build_id[ID_TEXT_SIZE]; /* lower-case hex: GNU build id, UUID, GUID of a PDB; empty: none */
    char debug_id[DEBUG_ID_SIZE]; /* Breakpad's form: GUID and age in capitals; empty: none */
    char code_id[ID_TEXT_SIZE];  /* PE: time stamp and size, lower-case; else empty */
    char htlhash[33];
    char name[NAME_SIZE];        /* of the image: libshop.so, shop.pdb; empty: unknown */
    char arch[16];
    char source[NAME_SIZE];      /* how it came: "add", "upload", "scan", a URL */
    uint64_t image_base;
    uint64_t bytes;
    int64_t modified_ns;
    uint32_t container;          /* enum csn_identity_container; 0: an index or a text */
};

/* The word of `store list`: debuginfo, executable, gsym, breakpad, pdb. */
const char *artifact_kind_name(uint32_t kind);
/* The id that stands for the file in trees by build id: its build id, else the htlhash. */
const char *artifact_tree_id(const struct artifact *artifact);

/* Reads what the file at `path` is. `name` is what it was called where it came from; its last part names the image, unless the
 * file itself does. 0: identified; 1: nothing that a store keeps (`why` has the reason); -1: it cannot be read. */
int artifact_identify(const char *path, const char *name, struct artifact *out, char *why, size_t why_size);

/* The debug id of an ELF image: client-protocols 1.2. `id` is hexadecimal. False: it is too long or not hexadecimal. */
bool debug_id_of_build_id(const char *id, char out[DEBUG_ID_SIZE]);
/* Any spelling of a debug id (dashes, small letters, without age) in Breakpad's form. False: not an id. */
bool debug_id_canonical(const char *text, char out[DEBUG_ID_SIZE]);
/* Lower case; false unless all are hexadecimal digits, of even number, and fit. */
bool build_id_canonical(const char *text, size_t size, char out[ID_TEXT_SIZE]);
/* The size in digits of the next shorter build id that keys of SSQP fill up with zeros to `id`, from `size` on; 0:
 * there is none. */
size_t build_id_shorter(const char *id, size_t size);
/* Whether a name may be a file's name in the store: no separators, control characters, and not ., .. or the folder
 * that a store keeps for itself. */
bool artifact_name_is_safe(const char *name);

#endif
