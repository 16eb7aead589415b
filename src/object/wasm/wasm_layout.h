/* WebAssembly modules on the wire: constants, nothing else. Names are those of the specification and of the tool
 * conventions ("Linking.md"). */
#ifndef CSNI_WASM_LAYOUT_H
#define CSNI_WASM_LAYOUT_H

enum { WASM_HEADER_SIZE = 8, WASM_MAGIC_SIZE = 4, WASM_VERSION = 1 };

enum { WASM_SEC_CUSTOM = 0, WASM_SEC_IMPORT = 2, WASM_SEC_MEMORY = 5, WASM_SEC_EXPORT = 7, WASM_SEC_CODE = 10,
       WASM_SEC_DATA = 11, WASM_SEC_TAG = 13 };

/* Kinds of imports and exports. */
enum { WASM_EXTERNAL_FUNCTION = 0, WASM_EXTERNAL_TABLE = 1, WASM_EXTERNAL_MEMORY = 2, WASM_EXTERNAL_GLOBAL = 3,
       WASM_EXTERNAL_TAG = 4 };
/* Before a heap type that follows. */
enum { WASM_TYPE_NULLABLE = 0x63, WASM_TYPE_NONNULLABLE = 0x64 };
enum { WASM_LIMITS_HAS_MAX = 1, WASM_LIMITS_IS_64 = 4, WASM_LIMITS_HAS_PAGE_SIZE = 8 };

enum { WASM_NAMES_FUNCTION = 1 };

/* How a data segment begins; the instructions of its address. */
enum { WASM_DATA_ACTIVE = 0, WASM_DATA_PASSIVE = 1, WASM_DATA_IN_MEMORY = 2 };
enum { WASM_END = 0x0b, WASM_I32_CONST = 0x41, WASM_I64_CONST = 0x42 };

enum { WASM_METADATA_VERSION = 2, WASM_SYMBOL_TABLE = 8 };
enum { WASM_SYMBOL_TYPE_FUNCTION = 0, WASM_SYMBOL_TYPE_DATA = 1, WASM_SYMBOL_TYPE_SECTION = 3 };
enum { WASM_SYMBOL_BINDING_WEAK = 1, WASM_SYMBOL_BINDING_LOCAL = 2, WASM_SYMBOL_UNDEFINED = 0x10,
       WASM_SYMBOL_EXPLICIT_NAME = 0x40 };

#endif
