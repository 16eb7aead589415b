# Language, warnings, build types, sanitizers: everything that all targets share sits on the target csn-flags.

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
if(NOT CALLSIGN_SANITIZE) # there the tests share one library and reach into it (cmake/unit_tests.cmake)
    set(CMAKE_C_VISIBILITY_PRESET hidden)
endif()
# One compile serves the static and the shared library.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The command at build/release/callsign, the libraries beside it.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()
if(CALLSIGN_DEBUG_FLAGS)
    set(CMAKE_C_FLAGS_DEBUG "${CALLSIGN_DEBUG_FLAGS}")
elseif(CALLSIGN_SANITIZE)
    # A sanitizer's report needs functions and lines; what variables are is a third of each program.
    set(CMAKE_C_FLAGS_DEBUG "-O1 -g1")
else()
    set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
endif()
set(CMAKE_C_FLAGS_RELEASE "-O2 -g -DNDEBUG")

add_library(csn-flags INTERFACE)
target_compile_options(csn-flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes)
if(CALLSIGN_WERROR)
    # gcc's guess about uninitialized variables changes with the optimization level and the sanitizer: a warning only.
    target_compile_options(csn-flags INTERFACE -Werror $<$<C_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)
endif()
if(CALLSIGN_SANITIZE)
    target_compile_options(csn-flags INTERFACE -fsanitize=${CALLSIGN_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(csn-flags INTERFACE -fsanitize=${CALLSIGN_SANITIZE})
    if(CALLSIGN_SANITIZE MATCHES undefined)
        target_compile_options(csn-flags INTERFACE -fno-sanitize-recover=all)
    endif()
endif()
if(CALLSIGN_PORTABLE)
    target_compile_definitions(csn-flags INTERFACE CSNI_PORTABLE)
endif()
# Files of more than 2 GB on 32-bit machines: for every file, or structures differ between them.
target_compile_definitions(csn-flags INTERFACE _FILE_OFFSET_BITS=64)
if(CALLSIGN_LTO)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

# The C sources of folders, without their subfolders, found again at each build.
function(csn_glob out)
    list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE patterns)
    list(TRANSFORM patterns APPEND "/*.c")
    file(GLOB found CONFIGURE_DEPENDS ${patterns})
    set(${out} "${found}" PARENT_SCOPE)
endfunction()
