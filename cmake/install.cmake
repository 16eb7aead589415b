# Headers, libraries, command, man pages, completions, pkg-config and CMake package files.

include(CMakePackageConfigHelpers)

install(DIRECTORY include/callsign DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS callsign-static callsign-shared callsign-lookup-static callsign-lookup-shared
        EXPORT callsign-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

file(GLOB MAN_PAGES CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.1")
install(FILES ${MAN_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/callsign.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME callsign)
install(FILES completions/callsign.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _callsign)
install(FILES completions/callsign.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

foreach(name callsign callsign-lookup)
    configure_file(${name}.pc.in ${name}.pc @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/callsign)
configure_package_config_file(cmake/callsign-config.cmake.in callsign-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(callsign-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/callsign-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/callsign-config-version.cmake
        DESTINATION ${package_dir})
install(EXPORT callsign-targets NAMESPACE callsign:: DESTINATION ${package_dir})
