# Headers, libraries, command, man pages, completions, pkg-config and CMake package files.

include(CMakePackageConfigHelpers)

install(DIRECTORY include/callsign DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
set(shared_libraries callsign-shared callsign-lookup-shared callsign-lookup-static)
set(pc_files callsign callsign-lookup)
if(CSN_HAS_BACKTRACE)
    install(FILES include/backtrace.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
    list(APPEND shared_libraries callsign-backtrace-shared)
    list(APPEND pc_files callsign-backtrace)
    install(TARGETS callsign-backtrace-static EXPORT callsign-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(CSN_HAS_SANITIZER)
    install(FILES ${CSN_SANITIZER_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR})
    list(APPEND pc_files callsign-sanitizer)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/callsign)
install(TARGETS ${shared_libraries} EXPORT callsign-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS callsign-static EXPORT callsign-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/stand_ins)
# Links by whose names callsign stands in for other symbolizers.
set(CSN_STAND_INS addr2line atos eu-addr2line gsymutil llvm-addr2line llvm-gsymutil llvm-symbolizer)
set(stand_in_dir ${CMAKE_INSTALL_LIBEXECDIR}/callsign/bin)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_BINDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBEXECDIR}/callsign/bin OUTPUT_VARIABLE stand_in_up)
foreach(name ${CSN_STAND_INS})
    file(CREATE_LINK ${stand_in_up}/callsign ${CMAKE_CURRENT_BINARY_DIR}/stand_ins/${name} SYMBOLIC)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stand_ins/${name} DESTINATION ${stand_in_dir})
endforeach()

file(GLOB MAN_PAGES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.1")
install(FILES ${MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/callsign.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME callsign)
install(FILES completions/callsign.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _callsign)
install(FILES completions/callsign.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# Folders below the prefix are written relative to the .pc file, so that the prefix may be moved.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR is_absolute)
if(is_absolute)
    set(CSN_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE up)
    set(CSN_PC_PREFIX "\${pcfiledir}/${up}")
    string(REGEX REPLACE "/$" "" CSN_PC_PREFIX "${CSN_PC_PREFIX}")
endif()
foreach(folder INCLUDEDIR LIBDIR)
    set(CSN_PC_${folder} "\${prefix}")
    cmake_path(APPEND CSN_PC_${folder} "${CMAKE_INSTALL_${folder}}")
endforeach()
foreach(name ${pc_files})
    configure_file(cmake/package/${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

list(JOIN CSN_PRIVATE_DEPENDENCIES " " CSN_PRIVATE_DEPENDENCIES)
configure_package_config_file(cmake/package/callsign-config.cmake.in callsign-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(callsign-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/callsign-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/callsign-config-version.cmake
              cmake/package/callsign-dependencies.cmake
        DESTINATION ${package_dir})
install(EXPORT callsign-targets NAMESPACE callsign:: DESTINATION ${package_dir})
install(EXPORT callsign-static-targets NAMESPACE callsign:: DESTINATION ${package_dir})
