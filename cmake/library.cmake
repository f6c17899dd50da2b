# The library that others link: `Tersor::tersor`, every room in one archive, whether it is installed and found with find_package(Tersor) or taken in
# with add_subdirectory.

get_property(rooms GLOBAL PROPERTY TERSOR_ROOMS)
list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(tersor_library STATIC EXCLUDE_FROM_ALL ${objects})
add_library(Tersor::tersor ALIAS tersor_library)
set_target_properties(tersor_library PROPERTIES OUTPUT_NAME tersor EXPORT_NAME tersor LINKER_LANGUAGE CXX)
target_compile_features(tersor_library INTERFACE cxx_std_20)
# The headers' own functions are compiled by whoever includes them, and are to give the numbers that the archive gives.
target_compile_options(tersor_library INTERFACE -ffp-contract=off)

# Here the headers are seen through a folder that holds nothing else.
set(headers "${PROJECT_BINARY_DIR}/include")
if(IS_SYMLINK "${headers}/core")  # as it was before the wings
  file(REMOVE "${headers}/core")
endif()
file(MAKE_DIRECTORY "${headers}/core")
foreach(room IN LISTS rooms)
  get_target_property(folder ${room} SOURCE_DIR)
  get_filename_component(name "${folder}" NAME)
  file(CREATE_LINK "${folder}" "${headers}/core/${name}" SYMBOLIC)
endforeach()
# Version 0.1 had these in core/ itself and in core/ptq; a line stands there for one version more.
foreach(room IN ITEMS line/job line/trial quantize/decide quantize/choose quantize/correct quantize/export quantize/sweep)
  file(GLOB own RELATIVE "${PROJECT_SOURCE_DIR}/core/${room}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/core/${room}/*.h")
  get_filename_component(name "${room}" NAME)
  foreach(header IN LISTS own)
    set(old "core/ptq/${header}")
    if(room MATCHES "^line/")
      set(old "core/${header}")
    endif()
    file(CONFIGURE OUTPUT "${headers}/${old}" CONTENT "#pragma once\n#include \"core/${name}/${header}\"  // moved\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT "${headers}/core/report_of.h" CONTENT "#pragma once\n#include \"core/report/report_of.h\"  // moved\n")
target_include_directories(tersor_library INTERFACE "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>" "$<INSTALL_INTERFACE:include/tersor>")

# nlohmann_json: the type of get_config() and to_json().
target_link_libraries(tersor_library
  INTERFACE "$<BUILD_INTERFACE:third_party_json>" "$<INSTALL_INTERFACE:nlohmann_json::nlohmann_json>"
  INTERFACE Threads::Threads)

if(NOT TERSOR_INSTALL)
  return()
endif()
set_target_properties(tersor_library PROPERTIES EXCLUDE_FROM_ALL OFF)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Tersor")

install(TARGETS tersor_library EXPORT TersorTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
install(EXPORT TersorTargets NAMESPACE Tersor:: DESTINATION "${package_dir}" COMPONENT library)
configure_package_config_file(cmake/TersorConfig.cmake.in "${PROJECT_BINARY_DIR}/TersorConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TersorConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/tersor.pc.in "${PROJECT_BINARY_DIR}/tersor.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/tersor.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT library)
install(FILES "${PROJECT_BINARY_DIR}/TersorConfig.cmake" "${PROJECT_BINARY_DIR}/TersorConfigVersion.cmake" DESTINATION "${package_dir}" COMPONENT library)
install(CODE "set(TERSOR_HEADERS \"${headers}\")" COMPONENT library)
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake" COMPONENT library)
if(TERSOR_PROGRAM)
  install(TARGETS tersor RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT program)
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT program RENAME copyright)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/share/" DESTINATION "${CMAKE_INSTALL_DATADIR}" COMPONENT program)
endif()
