# The standard headers that nearly every file includes, parsed once; for tests Catch2 too. Only for clang (Emscripten's, the sanitizers' and the
# fuzzers'): GCC 12 forgets in precompiled headers what Catch2's say about warnings, and crashes on some files with them beside the sanitizers.

set(standard_headers <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <tuple>
  <utility> <vector>)

function(tersor_precompiled name)
  add_library(${name} OBJECT "${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp")
  target_link_libraries(${name} PRIVATE tersor_flags)
  if(TARGET third_party_catch2)
    target_link_libraries(${name} PRIVATE third_party_catch2)
  endif()
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  tersor_precompiled(tersor_precompiled ${standard_headers})
  if(TERSOR_TESTS AND NOT TERSOR_FUZZ)
    tersor_precompiled(tersor_test_precompiled ${standard_headers} <catch2/catch.hpp>)
  endif()
  # As the rooms and tests that use them (core/CMakeLists.txt, room.cmake).
  if(NOT EMSCRIPTEN AND NOT TERSOR_SANITIZE AND NOT TERSOR_FUZZ)
    set_target_properties(tersor_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endif()
  if(EMSCRIPTEN)
    target_compile_options(tersor_precompiled PRIVATE -Oz -fno-rtti)
  elseif(TERSOR_SANITIZE)
    target_compile_options(tersor_precompiled PRIVATE -O0)
  endif()
  if(TARGET tersor_test_precompiled AND NOT EMSCRIPTEN)
    target_compile_options(tersor_test_precompiled PRIVATE -O0)
  endif()
endif()
