# libcallsign-sanitizer.a: the hooks by which sanitizers name addresses within the process. One object file: hooks, converter
# and src/sanitizer/sanitizer_libc.c, in which each function of libc is replaced by that file's and everything but the hooks is local.
# Nothing in it is intercepted by a sanitizer then, and nothing in it clashes with a program's own functions.

set(CSN_HAS_SANITIZER FALSE)
if(NOT CSN_HAS_BACKTRACE OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8 OR NOT CMAKE_OBJCOPY
   OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|aarch64|arm64|riscv64)$" OR CALLSIGN_SANITIZE OR CALLSIGN_LTO OR CALLSIGN_FUZZ)
    # s390x passes the arguments of mmap in memory; where there is no sanitizer, there is nothing to name.
    message(STATUS "libcallsign-sanitizer.a: not built (needs Linux on x86-64, AArch64 or RISC-V, objcopy, no sanitizer and no link-time optimization)")
    return()
endif()
set(CSN_HAS_SANITIZER TRUE)

# Files that would need an optional library are compiled once more, without it.
set(CSN_SANITIZER_BARE src/inflate/inflate.c src/inflate/inflater.c src/inflate/inflate_xz.c src/store/crc32.c src/symbolicate/pattern.c
    src/convert/call_sites/call_site_yaml.c)
csn_glob(sanitizer_files src/sanitizer src/backtrace/symbols)
set(libc_file ${PROJECT_SOURCE_DIR}/src/sanitizer/sanitizer_libc.c)
list(REMOVE_ITEM sanitizer_files ${libc_file})
add_library(csn-sanitizer OBJECT ${sanitizer_files} ${CSN_SANITIZER_BARE})
add_library(csn-sanitizer-libc OBJECT ${libc_file})
foreach(target csn-sanitizer csn-sanitizer-libc)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${target} PRIVATE csn-flags)
endforeach()
# A loop that copies must not become a call of the function that it is.
target_compile_options(csn-sanitizer-libc PRIVATE -O2 -ffreestanding -fno-builtin $<$<C_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>)

# "memcpy csni_sanitizer_memcpy" for each function there.
file(READ ${libc_file} libc_text)
string(REGEX MATCHALL "\nCSNI_(LIBC|ABSENT)\\([^,]+, [A-Za-z0-9_]+" libc_names "${libc_text}")
list(TRANSFORM libc_names REPLACE "\nCSNI_(LIBC|ABSENT)\\([^,]+, " "")
list(REMOVE_DUPLICATES libc_names)
list(TRANSFORM libc_names REPLACE "(.+)" "\\1 csni_sanitizer_\\1")
list(JOIN libc_names "\n" libc_names)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${libc_file})
set(hook_names "")
foreach(hook code data frame flush demangle set_demangle set_inline_frames)
    string(APPEND hook_names "__sanitizer_symbolize_${hook}\n")
endforeach()
set(folder ${PROJECT_BINARY_DIR}/sanitizer)
file(CONFIGURE OUTPUT ${folder}/libc_names.txt CONTENT "${libc_names}\n")
file(CONFIGURE OUTPUT ${folder}/hook_names.txt CONTENT "${hook_names}")

set(CSN_SANITIZER_ARCHIVE ${PROJECT_BINARY_DIR}/libcallsign-sanitizer.a)
set(relink ${CMAKE_C_COMPILER} ${CMAKE_C_COMPILER_TARGET_OPTION} -r -nostdlib)
add_custom_command(OUTPUT ${CSN_SANITIZER_ARCHIVE}
    COMMAND ${relink} $<TARGET_OBJECTS:csn-sanitizer> $<TARGET_FILE:callsign-static> -o ${folder}/converter.o
    COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${folder}/libc_names.txt ${folder}/converter.o
    COMMAND ${relink} ${folder}/converter.o $<TARGET_OBJECTS:csn-sanitizer-libc> -o ${folder}/callsign_sanitizer.o
    COMMAND ${CMAKE_OBJCOPY} --keep-global-symbols=${folder}/hook_names.txt ${folder}/callsign_sanitizer.o
    COMMAND ${CMAKE_COMMAND} -E rm -f ${CSN_SANITIZER_ARCHIVE}
    COMMAND ${CMAKE_AR} qcs ${CSN_SANITIZER_ARCHIVE} ${folder}/callsign_sanitizer.o
    DEPENDS csn-sanitizer csn-sanitizer-libc callsign-static $<TARGET_OBJECTS:csn-sanitizer> $<TARGET_OBJECTS:csn-sanitizer-libc>
            ${folder}/libc_names.txt ${folder}/hook_names.txt
    COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(callsign-sanitizer ALL DEPENDS ${CSN_SANITIZER_ARCHIVE})
