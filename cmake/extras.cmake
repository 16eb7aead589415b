# Examples (public headers only) and benches (may reach inside).

csn_glob(EXAMPLE_FILES examples)
foreach(file ${EXAMPLE_FILES})
    get_filename_component(name ${file} NAME_WE)
    add_executable(example-${name} ${file})
    set_target_properties(example-${name} PROPERTIES OUTPUT_NAME ${name}
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/examples")
    target_link_libraries(example-${name} PRIVATE callsign-static csn-flags)
endforeach()

csn_glob(BENCH_FILES bench)
foreach(file ${BENCH_FILES})
    get_filename_component(name ${file} NAME_WE)
    add_executable(bench-${name} ${file})
    set_target_properties(bench-${name} PROPERTIES OUTPUT_NAME ${name}
                          RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
    target_include_directories(bench-${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(bench-${name} PRIVATE callsign-static csn-flags csn-dependencies)
endforeach()

# What counts the pages that a rival touches, and keeps its memory at its end. 64-bit Linux alone: mmap() there takes whole offsets.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT CALLSIGN_SANITIZE)
    foreach(name touched_pages hold_at_exit)
        add_library(bench-${name} MODULE bench/preload/${name}.c)
        set_target_properties(bench-${name} PROPERTIES PREFIX "" OUTPUT_NAME ${name} C_VISIBILITY_PRESET default
                              LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bench")
        target_link_libraries(bench-${name} PRIVATE csn-flags)
    endforeach()
endif()
