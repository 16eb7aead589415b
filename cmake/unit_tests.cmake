# Unit tests: one program per tests/unit/*/test_*.c, in folders like those of src/; the lookup-only library's promise; the exported symbols.

if(CMAKE_CROSSCOMPILING)
    # Debian has cmocka for other machines only where their whole archive is added; the tests need little of it.
    add_library(csn-cmocka STATIC tests/runner/cmocka.c)
    target_include_directories(csn-cmocka PUBLIC tests/runner)
    target_link_libraries(csn-cmocka PRIVATE csn-flags)
else()
    pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
    if(NOT CMOCKA_FOUND)
        message(FATAL_ERROR "cmocka not found: install libcmocka-dev, or configure with -DCALLSIGN_TESTS=OFF")
    endif()
    add_library(csn-cmocka INTERFACE)
    target_link_libraries(csn-cmocka INTERFACE PkgConfig::CMOCKA)
endif()

# zlib makes streams and judges them in test_deflate, where it is there.
if(CALLSIGN_OPTIONAL)
    pkg_check_modules(ZLIB IMPORTED_TARGET zlib)
endif()

# Helpers: writers of formats byte by byte, samples made with them, allocators that fail.
csn_glob(TEST_HELPERS tests/wire tests/support)
file(GLOB_RECURSE TEST_FILES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/test_*.c)
# The library that the tests link. A sanitizer makes each copy of its code 30 MB long, so there they share one whose internal
# functions are seen from outside, too.
set(CSN_TESTED callsign-static)
if(CALLSIGN_SANITIZE AND NOT APPLE AND NOT WIN32)
    set(CSN_TESTED callsign-tested)
    add_library(callsign-tested SHARED ${CSN_LOOKUP_OBJECTS} ${CSN_OBJECTS})
    target_include_directories(callsign-tested INTERFACE ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(callsign-tested PRIVATE csn-flags csn-dependencies)
endif()
add_library(csn-test INTERFACE)
target_include_directories(csn-test INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/tests)
target_compile_definitions(csn-test INTERFACE CSN_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
target_link_libraries(csn-test INTERFACE csn-cmocka csn-flags csn-dependencies)
if(NOT APPLE AND NOT WIN32)
    target_link_options(csn-test INTERFACE -Wl,-z,now) # test_stack_use measures lookups, not the dynamic linker
endif()
# Of a release build the library is tested; the tests themselves need not be fast.
target_compile_options(csn-test INTERFACE $<$<CONFIG:Release>:-O0>)
if(CALLSIGN_SWEEP_STEP)
    target_compile_definitions(csn-test INTERFACE CSN_TEST_SWEEP_STEP=${CALLSIGN_SWEEP_STEP})
endif()
if(ZLIB_FOUND)
    target_link_libraries(csn-test INTERFACE PkgConfig::ZLIB)
    target_compile_definitions(csn-test INTERFACE CSN_TEST_HAVE_ZLIB)
endif()
add_library(csn-test-helpers OBJECT ${TEST_HELPERS})
target_link_libraries(csn-test-helpers PRIVATE csn-test)

# ThreadSanitizer makes everything many times slower: it gets the tests that have threads.
set(HAS_THREADS "pthread_create|thread_pool\\.h|threads = [2-9]|uint32_t threads|threads\\[")
# musl has no stacks of a program's own.
include(CheckCSourceCompiles)
check_c_source_compiles("#include <ucontext.h>
static void run(void) {}
int main(void) { ucontext_t at; return getcontext(&at) ? 1 : (makecontext(&at, run, 0), swapcontext(&at, &at)); }" CSN_HAS_CONTEXTS)
foreach(file ${TEST_FILES})
    file(STRINGS ${file} has_threads REGEX "${HAS_THREADS}")
    if(CALLSIGN_SANITIZE STREQUAL "thread" AND NOT has_threads)
        continue()
    endif()
    get_filename_component(name ${file} NAME_WE)
    if(CALLSIGN_TEST_NAMES AND NOT name MATCHES "^test_(${CALLSIGN_TEST_NAMES})$")
        continue()
    endif()
    if(name STREQUAL "test_stack_use" AND (NOT CSN_HAS_CONTEXTS OR CALLSIGN_DEBUG_FLAGS MATCHES "-O0")) # frames are larger there
        continue()
    endif()
    if(name STREQUAL "test_backtrace" AND NOT CSN_HAS_BACKTRACE)
        continue()
    endif()
    add_executable(${name} ${file})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    if(name STREQUAL "test_backtrace")
        target_link_libraries(${name} PRIVATE callsign-backtrace-static callsign-static) # a library of its own, before the other
    else()
        target_link_libraries(${name} PRIVATE ${CSN_TESTED})
    endif()
    target_link_libraries(${name} PRIVATE csn-test csn-test-helpers)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${CSN_TEST_TIMEOUT})
endforeach()

if(NOT CALLSIGN_SANITIZE AND NOT CMAKE_CROSSCOMPILING AND CSN_HAS_BACKTRACE)
    add_test(NAME lookup_library_needs_only_libc
             COMMAND ${PROJECT_SOURCE_DIR}/scripts/check-lookup-library $<TARGET_FILE:callsign-lookup-shared>
                     $<TARGET_FILE:callsign-lookup-static>)
    add_test(NAME exported_symbols
             COMMAND ${PROJECT_SOURCE_DIR}/scripts/check-exports $<TARGET_FILE:callsign-shared>
                     $<TARGET_FILE:callsign-lookup-shared> $<TARGET_FILE:callsign-backtrace-shared>)
endif()
