# What cpack makes of the program, for scripts/package: a .deb and an archive.
set(CPACK_GENERATOR DEB TXZ)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};tersor;program;/")
set(CPACK_PACKAGE_NAME tersor)
set(CPACK_PACKAGE_VENDOR Tersor)
string(JSON project_author GET "${project_facts}" author)
string(JSON project_homepage GET "${project_facts}" homepage)
if(project_author STREQUAL "")  # a package without an address is none: this one says that nobody reads it (RFC 2606)
  set(project_author "The authors of Tersor <tersor@example.org>")
endif()
set(CPACK_PACKAGE_CONTACT "${project_author}")
set(CPACK_PACKAGE_HOMEPAGE_URL "${project_homepage}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Quantizes float ONNX models to int8 on your own samples")
set(CPACK_PACKAGE_DESCRIPTION "It reads a model in the form of ONNX or TensorFlow Lite and samples
(pictures, arrays), decides what runs in integers on the platform that is
named, and writes a file that is smaller and faster, with a report of what
that costs: right answers, error by layer, size and time.")
set(CPACK_PACKAGE_FILE_NAME "tersor-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)  # which Debian and Ubuntu both unpack
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/before_packing.cmake")
include(CPack)
