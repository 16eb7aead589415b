# The two libraries, from one object library per layer. The lookup-only library takes the readers alone and, of base,
# only what they call; a test holds it to libc.

set(CSN_LOOKUP_BASE alloc error file_map vec)

# csn_layer(NAME OUT FILE...): objects of a layer. It sees src/ and include/, nothing else.
function(csn_layer name out)
    if(NOT ARGN)
        return()
    endif()
    add_library(csn-${name} OBJECT ${ARGN})
    target_include_directories(csn-${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(csn-${name} PRIVATE csn-flags)
    set(${out} ${${out}} $<TARGET_OBJECTS:csn-${name}> PARENT_SCOPE)
    set(CSN_LAYERS ${CSN_LAYERS} csn-${name} PARENT_SCOPE)
endfunction()

# base, gsym and bsym stand in both libraries in part: split their files.
csn_glob(BASE_FILES src/base)
csn_glob(GSYM_FILES src/gsym)
csn_glob(BSYM_FILES src/bsym)
csn_glob(GSECTION_FILES src/gsection)
csn_glob(LOOKUP_FILES src/lookup)
csn_glob(OBJECT_FILES src/object)
# Searching the line window is a loop over 16-bit lanes that only this level turns into vector code with every compiler.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/gsym/gsym_line_window.c
                            ${PROJECT_SOURCE_DIR}/src/bsym/bsym_accel.c PROPERTIES
    COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)
set(GSYM_WRITE_FILES ${GSYM_FILES})
list(FILTER GSYM_WRITE_FILES INCLUDE REGEX "/gsym(_v[0-9]+)?_write[a-z_]*\\.c$")
if(GSYM_WRITE_FILES)
    list(REMOVE_ITEM GSYM_FILES ${GSYM_WRITE_FILES})
endif()
set(BSYM_WRITE_FILES ${BSYM_FILES})
list(FILTER BSYM_WRITE_FILES INCLUDE REGEX "/bsym_write[a-z_]*\\.c$")
if(BSYM_WRITE_FILES)
    list(REMOVE_ITEM BSYM_FILES ${BSYM_WRITE_FILES})
endif()
set(GSECTION_WRITE_FILES ${GSECTION_FILES})
list(FILTER GSECTION_WRITE_FILES INCLUDE REGEX "/gsection_write[a-z_]*\\.c$")
if(GSECTION_WRITE_FILES)
    list(REMOVE_ITEM GSECTION_FILES ${GSECTION_WRITE_FILES})
endif()
# An index in a section of an object file is found without the rest of that layer.
set(OBJECT_FIND_FILES ${OBJECT_FILES})
list(FILTER OBJECT_FIND_FILES INCLUDE REGEX "/(section_find[a-z_]*|macho_arch)\\.c$")
list(REMOVE_ITEM OBJECT_FILES ${OBJECT_FIND_FILES})
list(JOIN CSN_LOOKUP_BASE "|" pattern)
set(BASE_LOOKUP_FILES ${BASE_FILES})
list(FILTER BASE_LOOKUP_FILES INCLUDE REGEX "/(${pattern})\\.c$")
if(BASE_LOOKUP_FILES)
    list(REMOVE_ITEM BASE_FILES ${BASE_LOOKUP_FILES})
endif()

csn_layer(base-lookup CSN_LOOKUP_OBJECTS ${BASE_LOOKUP_FILES})
csn_layer(gsym-read CSN_LOOKUP_OBJECTS ${GSYM_FILES})
csn_layer(bsym-read CSN_LOOKUP_OBJECTS ${BSYM_FILES})
csn_layer(gsection-read CSN_LOOKUP_OBJECTS ${GSECTION_FILES})
csn_layer(object-find CSN_LOOKUP_OBJECTS ${OBJECT_FIND_FILES})
csn_layer(lookup CSN_LOOKUP_OBJECTS ${LOOKUP_FILES})

set(lookup_layers ${CSN_LAYERS})
csn_layer(base CSN_OBJECTS ${BASE_FILES})
csn_layer(gsym-write CSN_OBJECTS ${GSYM_WRITE_FILES})
csn_layer(bsym-write CSN_OBJECTS ${BSYM_WRITE_FILES})
csn_layer(gsection-write CSN_OBJECTS ${GSECTION_WRITE_FILES})
csn_layer(object CSN_OBJECTS ${OBJECT_FILES})
foreach(layer embed companions dwarf go symbols symbian breakpad model convert symbolicate)
    csn_glob(files src/${layer})
    csn_layer(${layer} CSN_OBJECTS ${files})
endforeach()
# The dependencies' headers and CSNI_HAVE_ definitions go to every layer but those of the lookup-only library.
foreach(layer ${CSN_LAYERS})
    if(NOT layer IN_LIST lookup_layers)
        target_link_libraries(${layer} PRIVATE csn-dependencies)
    endif()
endforeach()

# csn_library(NAME OBJECTS...): NAME.a as target NAME-static, NAME.so as NAME-shared.
function(csn_library name)
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
        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/callsign.map)
    target_link_options(${name}-shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/callsign.map)
    # A sanitizer's run-time library is the program's to bring.
    if(NOT CALLSIGN_SANITIZE)
        target_link_options(${name}-shared PRIVATE -Wl,--no-undefined -Wl,--as-needed)
    endif()
endfunction()

csn_library(callsign-lookup ${CSN_LOOKUP_OBJECTS})
csn_library(callsign ${CSN_LOOKUP_OBJECTS} ${CSN_OBJECTS})
target_link_libraries(callsign-shared PRIVATE $<BUILD_INTERFACE:csn-dependencies>)
target_link_libraries(callsign-static PRIVATE $<BUILD_INTERFACE:csn-dependencies>)
foreach(library ${CSN_PRIVATE_LIBRARIES} Threads::Threads)
    target_link_libraries(callsign-static PRIVATE $<INSTALL_INTERFACE:${library}>)
endforeach()
