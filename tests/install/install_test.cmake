# Installs into a fresh prefix, builds the programs of examples/ against that, and runs them. Beside it, whether every header that is installed compiles by
# itself, whether docs/cpp.md shows the programs as they are, and what add_subdirectory brings.
cmake_minimum_required(VERSION 3.25)

set(work "${BUILD_DIR}/install_test")
set(prefix "${work}/prefix")
set(example "${SOURCE_DIR}/examples/quantize")
set(trainable_example "${SOURCE_DIR}/examples/trainable_quantizer")
file(REMOVE_RECURSE "${work}")
file(MAKE_DIRECTORY "${work}")

function(must what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what}: status ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(must_hold text part what)
  string(FIND "${text}" "${part}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${what}: this is not in it:\n${part}\n--- it is:\n${text}")
  endif()
endfunction()

file(READ "${SOURCE_DIR}/docs/cpp.md" docs)
foreach(path "${example}/CMakeLists.txt" "${example}/quantize.cpp" "${trainable_example}/CMakeLists.txt" "${trainable_example}/pact.cpp")
  file(READ "${path}" text)
  must_hold("${docs}" "${text}```" "docs/cpp.md")
endforeach()

must(install "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
must(configure "${CMAKE_COMMAND}" -S "${example}" -B "${work}/example" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
  -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror)
must(build "${CMAKE_COMMAND}" --build "${work}/example")
must(run "${work}/example/quantize" "${SOURCE_DIR}/web/public/demo/model.onnx" "${work}/quantized.onnx")
must_hold("${output}" "150777 bytes became " "what the example prints")
must(inspect "${prefix}/bin/tersor" inspect "${work}/quantized.onnx")
must_hold("${output}" " uint8" "the quantized model")  # weights of 4 bits, packed
must_hold("${output}" " int8, " "the quantized model")

must(configure_trainable "${CMAKE_COMMAND}" -S "${trainable_example}" -B "${work}/trainable_example" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}"
  "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror)
must(build_trainable "${CMAKE_COMMAND}" --build "${work}/trainable_example")
must(run_trainable "${work}/trainable_example/pact")
must_hold("${docs}" "${output}" "docs/cpp.md")

# Beside libc it needs nothing of the machine it runs on.
find_program(ldd ldd)
if(ldd)
  must(libraries "${ldd}" "${prefix}/bin/tersor")
  string(REGEX MATCHALL "lib[^ /]+\\.so[^ ]*" libraries "${output}")
  foreach(library IN LISTS libraries)
    if(NOT library MATCHES "^lib(c|m|pthread|dl|rt)\\.so")
      message(FATAL_ERROR "The installed program needs ${library}.")
    endif()
  endforeach()
endif()

# The same example where there is no CMake.
find_program(pkg_config pkg-config)
if(pkg_config)
  must(pkg_config "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/lib/pkgconfig" "${pkg_config}" --cflags --libs tersor)
  separate_arguments(flags UNIX_COMMAND "${output}")
  must(by_pkg_config "${COMPILER}" "${example}/quantize.cpp" -o "${work}/by_pkg_config" ${flags})
  must(run_by_pkg_config "${work}/by_pkg_config" "${SOURCE_DIR}/web/public/demo/model.onnx" "${work}/by_pkg_config.onnx")
  must(same "${CMAKE_COMMAND}" -E compare_files "${work}/quantized.onnx" "${work}/by_pkg_config.onnx")
endif()

foreach(file IN ITEMS share/man/man1/tersor.1.gz share/bash-completion/completions/tersor share/doc/tersor/copyright
  share/doc/tersor/THIRD_PARTY_NOTICES.txt share/doc/tersor/sbom.cdx.json)
  if(NOT EXISTS "${prefix}/${file}")
    message(FATAL_ERROR "${file} was not installed.")
  endif()
endforeach()

file(GLOB_RECURSE headers RELATIVE "${prefix}/include/tersor" "${prefix}/include/tersor/*.h")
list(LENGTH headers count)
if(count LESS 100)
  message(FATAL_ERROR "Only ${count} headers were installed.")
endif()
foreach(header IN LISTS headers)
  file(STRINGS "${prefix}/include/tersor/${header}" lines REGEX "^#include \"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    if(NOT EXISTS "${prefix}/include/tersor/${included}")
      message(FATAL_ERROR "${header} includes \"${included}\", which is not installed.")
    endif()
  endforeach()
endforeach()
list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
list(JOIN headers "\n" text)
file(WRITE "${work}/headers.cpp" "${text}\n")
must(headers "${COMPILER}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only "-I${prefix}/include/tersor" "${work}/headers.cpp")

# The whole would take minutes to compile; that the target is there, and nothing of tests and program, is seen without.
must(add_subdirectory "${CMAKE_COMMAND}" -S "${SOURCE_DIR}/tests/install/beside" -B "${work}/beside" -G "${GENERATOR}" "-DTERSOR_SOURCE_DIR=${SOURCE_DIR}"
  "-DCMAKE_CXX_COMPILER=${COMPILER}" -DTERSOR_DIR_catch2=/nowhere -DTERSOR_DIR_cli11=/nowhere)
must(targets "${CMAKE_COMMAND}" --build "${work}/beside" --target help)
must_hold("${output}" "libtersor.a" "the targets of add_subdirectory")
foreach(name test_base tersor_test_main bin/tersor)
  string(FIND "${output}" "${name}" at)
  if(NOT at EQUAL -1)
    message(FATAL_ERROR "add_subdirectory brings the target ${name}:\n${output}")
  endif()
endforeach()
