# The libraries we stand on, each as its own target so that only the rooms that own it can include it. Header-only packages
# lie directly in the system include folder, which a cross compiler must not see: each is linked into a folder of its own.
#
#   json        nlohmann_json (MIT): the usual C++ JSON library, kept up since 2013
#   protozero   (BSD-2): reads and writes protobuf's wire format without generated code, small enough for the browser
#   highway     (Apache-2.0): one SIMD source for AVX2, AVX-512, NEON and WebAssembly; of headers alone (core/kernels/cpu_targets.cpp)
#   eigen       (MPL-2.0): the judge of our own algebra in tests. The core sums in one order on every target, for equal bytes;
#               the blocks of Eigen's products, and so its sums, follow the caches of the CPU that it runs on
#   cli11       (BSD-3): command line parsing with readable help
#   catch2      (BSL-1.0): tests

function(tersor_third_party name header folder)
  set(where HINTS "${PROJECT_SOURCE_DIR}/third_party" PATHS /usr/include /usr/include/${folder} /usr/include/eigen3)  # a source distribution brings its own
  if(EMSCRIPTEN)
    list(APPEND where NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  endif()
  find_path(TERSOR_DIR_${name} NAMES ${header} ${where} REQUIRED)
  set(stage "${PROJECT_BINARY_DIR}/stage/${name}")
  file(MAKE_DIRECTORY "${stage}")
  if(EXISTS "${TERSOR_DIR_${name}}/${folder}")
    file(CREATE_LINK "${TERSOR_DIR_${name}}/${folder}" "${stage}/${folder}" SYMBOLIC)
  endif()
  add_library(third_party_${name} INTERFACE)
  target_include_directories(third_party_${name} SYSTEM INTERFACE "${stage}")
endfunction()

tersor_third_party(json nlohmann/json.hpp nlohmann)
tersor_third_party(protozero protozero/pbf_reader.hpp protozero)
tersor_third_party(highway hwy/highway.h hwy)
if(TERSOR_PROGRAM)
  tersor_third_party(cli11 CLI/CLI.hpp CLI)
endif()
if(TERSOR_TESTS)
  tersor_third_party(catch2 catch2/catch.hpp catch2)
  tersor_third_party(eigen Eigen/Core Eigen)
  target_compile_definitions(third_party_eigen INTERFACE EIGEN_MPL2_ONLY)
endif()
if(EMSCRIPTEN)
  target_compile_definitions(third_party_highway INTERFACE HWY_COMPILE_ONLY_STATIC)
else()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    # The kernels keep arrays of vectors, which those of SVE cannot be in; CPUs that have it have NEON too.
    target_compile_definitions(third_party_highway INTERFACE "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE_256|HWY_SVE2|HWY_SVE2_128)")
  else()
    # Each target is compiled: what has SSSE3 and not SSE4 is of 2007, and runs the scalar kernels.
    target_compile_definitions(third_party_highway INTERFACE HWY_DISABLED_TARGETS=HWY_SSSE3)
  endif()
endif()
