# The two libraries, from one object library per folder of src/. What can be linked alone is a folder: the lookup-only library
# is the folders listed below and nothing but libc; a test holds it to that.

# csn_layer(OUT FOLDER...): the objects of each folder under src/, without its subfolders, appended to OUT. A folder sees
# src/ and include/, nothing else.
function(csn_layer out)
    foreach(folder ${ARGN})
        string(REPLACE "/" "-" target "csn-${folder}")
        csn_glob(files src/${folder})
        add_library(${target} OBJECT ${files})
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
        target_link_libraries(${target} PRIVATE csn-flags)
        # The dependencies' headers and CSNI_HAVE_ definitions: for all but the lookup-only library.
        if(NOT out STREQUAL CSN_LOOKUP_OBJECTS)
            target_link_libraries(${target} PRIVATE csn-dependencies)
        endif()
        list(APPEND ${out} $<TARGET_OBJECTS:${target}>)
    endforeach()
    set(${out} ${${out}} PARENT_SCOPE)
endfunction()

csn_layer(CSN_LOOKUP_OBJECTS
    base/core
    object/find
    formats/gsym/read formats/gsection/read formats/bsym/read
    index)
csn_layer(CSN_OBJECTS
    base inflate names names/itanium names/rust names/d names/msvc names/swift names/plain
    object object/elf object/macho object/pe object/wasm
    dwarf go btf pdb model unwind
    formats/gsym/write formats/gsection/write formats/bsym/write formats/breakpad formats/symbian formats/symbols
    embed convert convert/sources convert/dwarf convert/pdb convert/call_sites convert/outputs
    process store open remote debug symbolicate arrow profile)
# The own stack: where the dynamic linker lists the modules of a process as ELF systems do, and the compiler's unwinder links. That of a
# GCC for glibc (_dl_find_object) does not with another C library, such as musl-gcc's.
set(CSN_HAS_BACKTRACE FALSE)
include(CheckCSourceCompiles)
check_c_source_compiles("#include <unwind.h>
static _Unwind_Reason_Code each(struct _Unwind_Context *at, void *context) { (void)at; (void)context; return _URC_NO_REASON; }
int main(void) { return (int)_Unwind_Backtrace(each, 0); }" CSN_UNWINDER_LINKS)
if(UNIX AND NOT APPLE AND NOT CYGWIN AND CSN_UNWINDER_LINKS)
    set(CSN_HAS_BACKTRACE TRUE)
    csn_layer(CSN_BACKTRACE_OBJECTS backtrace backtrace/convert backtrace/symbols backtrace/libbacktrace)
endif()

# The page of profiles is a part of the library.
csn_embed(CSN_PROFILE_PAGE ${PROJECT_SOURCE_DIR}/src/profile/profile_page.html csni_profile_page profile/profile_page.h)
target_sources(csn-profile PRIVATE ${CSN_PROFILE_PAGE})

# A hash of the sources that decide what a conversion gives, for the entries of the cache.
set(CSN_CONVERTER_FOLDERS src/base src/base/core src/inflate src/names src/names/itanium src/names/rust src/names/d src/names/msvc
    src/names/swift src/names/plain src/object src/object/elf src/object/macho src/object/pe src/object/wasm src/dwarf src/go src/btf src/pdb src/model
    src/unwind src/embed src/formats/gsym src/formats/gsym/write src/formats/breakpad src/formats/symbian src/formats/symbols src/convert src/convert/sources
    src/convert/dwarf src/convert/pdb src/convert/call_sites src/convert/outputs src/open)
list(TRANSFORM CSN_CONVERTER_FOLDERS APPEND "/*.[ch]")
list(TRANSFORM CSN_CONVERTER_FOLDERS PREPEND "${PROJECT_SOURCE_DIR}/")
file(GLOB CSN_CONVERTER_SOURCES CONFIGURE_DEPENDS ${CSN_CONVERTER_FOLDERS})
set(CSN_GENERATED ${PROJECT_BINARY_DIR}/generated)
string(REPLACE ";" "\n" CSN_SOURCE_LIST "${CSN_CONVERTER_SOURCES}")
file(CONFIGURE OUTPUT ${CSN_GENERATED}/converter_sources.txt CONTENT "${CSN_SOURCE_LIST}\n")
add_custom_command(OUTPUT ${CSN_GENERATED}/source_hash.c
    COMMAND ${CMAKE_COMMAND} -DFILES=${CSN_GENERATED}/converter_sources.txt -DOUT=${CSN_GENERATED}/source_hash.c
            -P ${PROJECT_SOURCE_DIR}/cmake/source_hash.cmake
    DEPENDS ${CSN_CONVERTER_SOURCES} ${PROJECT_SOURCE_DIR}/cmake/source_hash.cmake ${CSN_GENERATED}/converter_sources.txt
    VERBATIM)
target_sources(csn-store PRIVATE ${CSN_GENERATED}/source_hash.c)
target_compile_definitions(csn-store PRIVATE CSNI_HAVE_SOURCE_HASH)

# Searching a window of 16-bit lanes becomes vector code at this level only, with every compiler.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/formats/gsym/write/gsym_line_window.c
                            ${PROJECT_SOURCE_DIR}/src/formats/bsym/read/bsym_accel.c PROPERTIES
    COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)

# csn_library(NAME MAP OBJECTS...): NAME.a as target NAME-static, NAME.so as NAME-shared, which exports what the version
# script MAP lists.
function(csn_library name map)
    # Below 1.0 each minor version may change the interface, so the soname has it.
    set(soversion ${PROJECT_VERSION_MAJOR})
    if(PROJECT_VERSION_MAJOR EQUAL 0)
        string(APPEND soversion .${PROJECT_VERSION_MINOR})
    endif()
    foreach(kind STATIC SHARED)
        string(TOLOWER ${kind} suffix)
        set(target ${name}-${suffix})
        add_library(${target} ${kind} ${ARGN})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
        target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:csn-flags>)
    endforeach()
    set_target_properties(${name}-shared PROPERTIES
        VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/${map})
    # What is exported: visibility hides the rest already, so that a linker without such lists does well, too.
    if(APPLE)
        target_link_options(${name}-shared PRIVATE -Wl,-exported_symbol,_csn_*)
    elseif(NOT WIN32)
        target_link_options(${name}-shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/${map})
    endif()
    # A sanitizer's run-time library is the program's to bring.
    if(NOT CALLSIGN_SANITIZE AND NOT APPLE)
        target_link_options(${name}-shared PRIVATE -Wl,--no-undefined -Wl,--as-needed)
        # Bound when it is loaded: a lookup within a signal handler must not enter the dynamic linker.
        if(NOT WIN32)
            target_link_options(${name}-shared PRIVATE -Wl,-z,now)
        endif()
    endif()
endfunction()

csn_library(callsign-lookup src/callsign.map ${CSN_LOOKUP_OBJECTS})
csn_library(callsign src/callsign.map ${CSN_LOOKUP_OBJECTS} ${CSN_OBJECTS})
set(CSN_WHOLE_LIBRARIES callsign)
set(CSN_LIBRARY_KINDS callsign lookup)
# It stands alone, and calls its own functions: a program may have it preloaded that uses another version of the others.
if(CSN_HAS_BACKTRACE)
    csn_library(callsign-backtrace src/backtrace/backtrace.map ${CSN_BACKTRACE_OBJECTS} ${CSN_LOOKUP_OBJECTS} ${CSN_OBJECTS})
    target_link_options(callsign-backtrace-shared PRIVATE -Wl,-Bsymbolic)
    list(APPEND CSN_WHOLE_LIBRARIES callsign-backtrace)
    list(APPEND CSN_LIBRARY_KINDS backtrace)
endif()
foreach(name ${CSN_WHOLE_LIBRARIES})
    target_link_libraries(${name}-shared PRIVATE $<BUILD_INTERFACE:csn-dependencies>)
    target_link_libraries(${name}-static PRIVATE $<BUILD_INTERFACE:csn-dependencies>)
    # Of an installed library they are found by callsign-dependencies.cmake.
    foreach(dependency ${CSN_PRIVATE_DEPENDENCIES})
        target_link_libraries(${name}-static PRIVATE $<INSTALL_INTERFACE:callsign::dependency-${dependency}>)
    endforeach()
    target_link_libraries(${name}-static PRIVATE $<INSTALL_INTERFACE:Threads::Threads> $<INSTALL_INTERFACE:${CMAKE_DL_LIBS}>)
endforeach()

# The names that users know, of an installation and of the tree added as a subdirectory.
foreach(kind ${CSN_LIBRARY_KINDS})
    string(REGEX REPLACE "^(lookup|backtrace)$" "callsign-\\1" target ${kind})
    set_target_properties(${target}-shared PROPERTIES EXPORT_NAME ${kind})
    set_target_properties(${target}-static PROPERTIES EXPORT_NAME ${kind}-static)
    add_library(callsign::${kind} ALIAS ${target}-shared)
    add_library(callsign::${kind}-static ALIAS ${target}-static)
endforeach()
