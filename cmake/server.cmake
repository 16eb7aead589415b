# The server: `callsign serve` and `callsign store`, a program of its own beside the command. It is left out where one of its libraries
# is not found; CSN_SERVER_MISSING then names the packages, and the command says so.

set(CSN_SERVER_MISSING "")
set(CSN_SERVER_LIBRARIES "")
function(csn_server_needs name module package)
    if(CALLSIGN_OPTIONAL)
        pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
    endif()
    if(${name}_FOUND)
        message(STATUS "${module}: ${${name}_VERSION}")
        set(CSN_SERVER_LIBRARIES ${CSN_SERVER_LIBRARIES} PkgConfig::${name} PARENT_SCOPE)
        set(CSN_SERVER_FOUND "${CSN_SERVER_FOUND}, ${module} ${${name}_VERSION}" PARENT_SCOPE)
    else()
        message(STATUS "${module}: not found, no server is built")
        set(CSN_SERVER_MISSING ${CSN_SERVER_MISSING} ${package} PARENT_SCOPE)
    endif()
endfunction()
csn_server_needs(MICROHTTPD libmicrohttpd libmicrohttpd-dev)
csn_server_needs(SERVER_JANSSON jansson libjansson-dev)
csn_server_needs(CURL libcurl libcurl4-gnutls-dev)
csn_server_needs(SQLITE sqlite3 libsqlite3-dev)
csn_server_needs(ARCHIVE libarchive libarchive-dev)
list(JOIN CSN_SERVER_MISSING ", " CSN_SERVER_MISSING)

if(NOT CSN_SERVER_MISSING AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING)
    csn_glob(SERVER_SOURCES server/base server/store server/http server/routes)
    csn_embed(SERVER_SOURCES ${PROJECT_SOURCE_DIR}/server/deploy/openapi.json server_openapi routes/openapi.h)
    # Arrow's messages are read by what `callsign udf` reads them with, numbers in JSON by what `stack` does, and names shown as the command
    # shows them.
    list(APPEND SERVER_SOURCES cli/udf/flat_read.c cli/udf/flat_write.c cli/udf/ipc_read.c cli/udf/lz4_frame.c cli/ui/utf8.c
         cli/ui/json_token.c)
    add_library(csn-server OBJECT ${SERVER_SOURCES} server/artifact_line.c server/store_add.c server/store_command.c server/serve.c)
    target_include_directories(csn-server PUBLIC ${PROJECT_SOURCE_DIR}/server ${PROJECT_SOURCE_DIR}/cli)
    # Paths are bounded where a store is opened; what is cut nevertheless opens nothing.
    target_compile_options(csn-server PUBLIC $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)
    target_link_libraries(csn-server PUBLIC callsign-static csn-flags ${CSN_SERVER_LIBRARIES} m)
    add_executable(callsign-server server/main.c)
    target_link_libraries(callsign-server PRIVATE csn-server)
    install(TARGETS callsign-server RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/callsign)
    set(CSN_HAVE_SERVER ON)
endif()
