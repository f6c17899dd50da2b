# The standard headers that nearly every file includes, parsed once; for tests Catch2 too. Only for clang (Emscripten's, and the fuzzers'): beside the
# sanitizers GCC 12 crashes on some files with precompiled headers, and in all of them it forgets what Catch2's headers say about warnings.

set(standard_headers <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <tuple>
  <utility> <vector>)

function(tersor_precompiled name)
  add_library(${name} OBJECT "${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp")
  target_link_libraries(${name} PRIVATE tersor_flags third_party_catch2)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

if(EMSCRIPTEN OR TERSOR_FUZZ)
  tersor_precompiled(tersor_precompiled ${standard_headers})
  if(EMSCRIPTEN)
    target_compile_options(tersor_precompiled PRIVATE -Oz)  # as the rooms that use it (room.cmake)
    tersor_precompiled(tersor_test_precompiled ${standard_headers} <catch2/catch.hpp>)
  endif()
endif()
