# Files that become part of a program.

# csn_embed(OUT FILE NAME HEADER): a C file with the bytes of FILE as NAME and their number as NAME_size, both of which
# HEADER declares. Made again when FILE changes.
function(csn_embed out file name header)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    get_filename_component(base ${file} NAME)
    set(made ${CMAKE_BINARY_DIR}/embedded/${name}.c)
    file(CONFIGURE OUTPUT ${made} @ONLY CONTENT
"/* The bytes of @base@: change that instead. */
#include \"@header@\"

const unsigned char @name@[] = {
@bytes@
};
const size_t @name@_size = sizeof(@name@);
")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    set(${out} ${${out}} ${made} PARENT_SCOPE)
endfunction()
