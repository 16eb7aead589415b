# Fuzz targets: with libFuzzer (CALLSIGN_FUZZ), or with a driver that runs each saved input once. As tests, both do
# the latter, over fuzz/corpus/NAME for the target fuzz_NAME. Either way fuzz/budget/ stands between engine and target.

file(GLOB FUZZ_FILES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c")

# csn_fuzz_program(NAME FILE TARGET): FILE with the budget of TARGET, and the engine or the driver.
function(csn_fuzz_program name file target)
    add_executable(${name} ${file} ${PROJECT_SOURCE_DIR}/fuzz/budget/budget.c ${PROJECT_SOURCE_DIR}/fuzz/budget/budget_rows.c)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/fuzz")
    # Not by the linker's --wrap, which Apple's has not.
    set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=fuzz_one_input)
    # An emulator takes many times as long; saved inputs as tests run beside others, under ThreadSanitizer or MemorySanitizer too.
    set(factor $<IF:$<BOOL:${CALLSIGN_FUZZ}>,1,$<IF:$<BOOL:${CMAKE_CROSSCOMPILING}>,20,5>>)
    target_compile_definitions(${name} PRIVATE FUZZ_TARGET="${target}" FUZZ_TIME_FACTOR=${factor})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz)
    target_link_libraries(${name} PRIVATE csn-flags)
    if(CALLSIGN_FUZZ)
        target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
        target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/driver.c)
    endif()
endfunction()

# Mutators that know the format of a target's input. AFL++ (CALLSIGN_AFL) brings its own.
file(GLOB FUZZ_MUTATORS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/structure/mutate_*.c")
foreach(target convert object embed index debug_info)
    set(FUZZ_CONTAINER_${target} file)
endforeach()
set(FUZZ_CONTAINER_dwarf dwarf)
set(FUZZ_CONTAINER_symbolicate stack)
set(FUZZ_CONTAINER_companions companions)

add_custom_target(fuzzers)
foreach(file ${FUZZ_FILES})
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "^fuzz_" "" corpus ${name})
    if(corpus STREQUAL "stack_json" AND APPLE)
        continue() # Apple's linker has no --wrap
    endif()
    if(corpus MATCHES "^server_" AND NOT CSN_HAVE_SERVER)
        continue()
    endif()
    csn_fuzz_program(${name} ${file} ${corpus})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PRIVATE callsign-static csn-dependencies)
    add_dependencies(fuzzers ${name})
    if(corpus MATCHES "^(stack|udf)")
        target_link_libraries(${name} PRIVATE csn-cli)
    endif()
    if(corpus MATCHES "^server_")
        target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/server/scratch_store.c)
        target_link_libraries(${name} PRIVATE csn-server)
    endif()
    if(corpus STREQUAL "server_http")
        target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/fuzz/server/fake_http.c)
    endif()
    if(corpus STREQUAL "stack_json")
        # The target decides which reader sees a line.
        target_link_options(${name} PRIVATE -Wl,--wrap=stack_json_plain_line)
    endif()
    if(CALLSIGN_FUZZ)
        if(DEFINED FUZZ_CONTAINER_${corpus} AND NOT CALLSIGN_AFL)
            target_sources(${name} PRIVATE ${FUZZ_MUTATORS} ${PROJECT_SOURCE_DIR}/fuzz/structure/container_${FUZZ_CONTAINER_${corpus}}.c)
        endif()
        set(arguments -runs=0 -rss_limit_mb=0)
    else()
        set(arguments)
    endif()
    add_test(NAME ${name} COMMAND ${name} ${arguments} ${PROJECT_SOURCE_DIR}/fuzz/corpus/${corpus})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${CSN_TEST_TIMEOUT})
endforeach()

# That a budget can be exceeded, and that it is told.
csn_fuzz_program(budget_sample ${PROJECT_SOURCE_DIR}/fuzz/budget/sample.c sample)
add_dependencies(fuzzers budget_sample)
set(measures_heap OFF)
if(CALLSIGN_SANITIZE MATCHES address)
    set(measures_heap ON)
endif()
add_test(NAME fuzz_budget COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:budget_sample> -DFOLDER=${CMAKE_BINARY_DIR}/fuzz/budget
                                  -DHEAP=${measures_heap} "-DEMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
                                  -P ${PROJECT_SOURCE_DIR}/cmake/fuzz_budget_test.cmake)

if(CALLSIGN_FUZZ)
    # Coverage feedback for the code under test; csn-flags reaches every layer.
    target_compile_options(csn-flags INTERFACE -fsanitize=fuzzer-no-link)
    set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/convert/dwarf/source_dwarf.c
                 APPEND PROPERTY COMPILE_DEFINITIONS FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
endif()
