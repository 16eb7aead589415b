# What the library stands on. Only xxHash's header and threads are a must. For each optional library found:
# CSNI_HAVE_X and CSNI_X_VERSION as definitions, X_LINK for the linker here, and its name for callsign.pc.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

add_library(csn-dependencies INTERFACE)
target_link_libraries(csn-dependencies INTERFACE Threads::Threads)
set(CSN_PRIVATE_LIBS "-pthread")   # for static linking by others: Libs.private
set(CSN_PRIVATE_DEPENDENCIES "")   # the same by their names in cmake/package/callsign-dependencies.cmake
set(CSN_PRIVATE_REQUIRES "")       # Requires.private

find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
    message(FATAL_ERROR "xxhash.h not found: install libxxhash-dev")
endif()
if(CMAKE_CROSSCOMPILING)
    # The header alone: its folder is that of this machine's C library.
    configure_file(${XXHASH_INCLUDE_DIR}/xxhash.h ${CMAKE_BINARY_DIR}/xxhash/xxhash.h COPYONLY)
    target_include_directories(csn-dependencies SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/xxhash)
else()
    target_include_directories(csn-dependencies SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
endif()

# What links library `name`: its archive for the targets that have CSN_ARCHIVES, else the shared one. Starting six shared libraries takes a
# command that answers one address a fifth of its time.
function(csn_linked name out)
    set(${out} PkgConfig::${name} PARENT_SCOPE)
    list(LENGTH ${name}_LIBRARIES count)
    if(NOT CALLSIGN_ARCHIVES OR CALLSIGN_SANITIZE OR CMAKE_CROSSCOMPILING OR NOT count EQUAL 1)
        return()
    endif()
    find_library(CSN_${name}_ARCHIVE NAMES lib${${name}_LIBRARIES}.a HINTS ${${name}_LIBDIR} ${${name}_LIBRARY_DIRS})
    mark_as_advanced(CSN_${name}_ARCHIVE)
    if(CSN_${name}_ARCHIVE)
        set(${out} "$<IF:$<BOOL:$<TARGET_PROPERTY:CSN_ARCHIVES>>,${CSN_${name}_ARCHIVE},PkgConfig::${name}>" PARENT_SCOPE)
    endif()
endfunction()

function(csn_optional name module)
    if(NOT CALLSIGN_OPTIONAL)
        return()
    endif()
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
    if(NOT ${name}_FOUND)
        message(STATUS "${module}: not found, built without")
        return()
    endif()
    message(STATUS "${module}: ${${name}_VERSION}")
    csn_linked(${name} linked)
    target_link_libraries(csn-dependencies INTERFACE ${linked})
    target_compile_definitions(csn-dependencies INTERFACE CSNI_HAVE_${name} CSNI_${name}_VERSION="${${name}_VERSION}")
    set(CSN_PRIVATE_REQUIRES ${CSN_PRIVATE_REQUIRES} ${module} PARENT_SCOPE)
    set(CSN_PRIVATE_DEPENDENCIES ${CSN_PRIVATE_DEPENDENCIES} ${module} PARENT_SCOPE)
endfunction()
csn_optional(LIBDEFLATE libdeflate)
csn_optional(ZSTD libzstd)
csn_optional(LIBLZMA liblzma)
csn_optional(PCRE2 libpcre2-8)
csn_optional(LIBYAML yaml-0.1)
csn_optional(ZLIB zlib)

# libdebuginfod is loaded when it is needed, not linked: it brings some thirty libraries along, which take a process that
# only looks up an address from 1.4 to 9.8 ms. With older C libraries, loading is a library of its own.
message(STATUS "libdebuginfod: looked for at run time")
target_link_libraries(csn-dependencies INTERFACE ${CMAKE_DL_LIBS})
foreach(library ${CMAKE_DL_LIBS})
    string(APPEND CSN_PRIVATE_LIBS " -l${library}")
endforeach()

list(JOIN CSN_PRIVATE_REQUIRES ", " CSN_PRIVATE_REQUIRES)
