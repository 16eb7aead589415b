/* Callsign: identify a file: what it is, and the ids by which symbol stores name it. Only headers are read. */
#ifndef CALLSIGN_IDENTITY_H
#define CALLSIGN_IDENTITY_H

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The container of an identified file. */
enum csn_identity_container {
    CSN_IDENTITY_ELF = 1,
    CSN_IDENTITY_MACHO = 2,
    CSN_IDENTITY_PE = 3,
    CSN_IDENTITY_WASM = 4,
    CSN_IDENTITY_PDB = 5     /* a program database: build_id is its GUID, `age` its age */
};

enum {
    CSN_IDENTITY_CODE = 1,       /* it contains the bytes of executable sections: an executable or a library */
    CSN_IDENTITY_DEBUG_INFO = 2, /* it contains DWARF, or is a PDB */
    CSN_IDENTITY_SYMBOLS = 4,    /* it has a static symbol table */
    CSN_IDENTITY_LINKED = 8      /* its addresses are final: not an object file for the linker */
};

/* What a file is. Later versions may add fields at the end; see "Structs that grow" in base.h. */
struct csn_identity {
    uint32_t container;          /* enum csn_identity_container */
    uint32_t flags;              /* CSN_IDENTITY_ */
    char arch[16];               /* "x86_64", "arm64"; empty: this library has no name for the machine */
    uint64_t image_base;         /* address of the image's first byte: ELF: of the first segment; Mach-O: of __TEXT; PE: ImageBase */
    uint8_t build_id[64];        /* GNU build id, UUID or CodeView GUID in the file's byte order; its first 64 bytes */
    uint32_t build_id_size;      /* bytes; 0: none */
    uint32_t age;                /* PE and PDB: counts builds with that GUID */
    uint32_t pe_timestamp, pe_image_size; /* PE: TimeDateStamp and SizeOfImage, by which symbol servers name an image */
    uint8_t htlhash[16];         /* SHA-256 of the first and last 4096 bytes and the size: OpenTelemetry's id of any file */
};

/* Identifies the image or program database in memory. out_size is sizeof *out.
 * CSN_OK; CSN_E_UNSUPPORTED: neither an object file nor a PDB; only `htlhash` is then set. CSN_E_ARGUMENT: a
 * universal file of several images, which csn_image_list_memory() lists. CSN_E_FORMAT, CSN_E_TRUNCATED: damaged
 * headers. CSN_E_MEMORY. Any thread. Cost: reads headers and the table of sections; no section is inflated. */
CSN_API csn_status csn_identify_memory(const void *bytes, size_t size, struct csn_identity *out, size_t out_size,
                                       struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
