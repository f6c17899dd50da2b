# The standard headers that nearly every file of core includes, parsed once. Only for clang (Emscripten's, and the fuzzers'): GCC 12 crashes on some files with
# precompiled headers and sanitizers together.

if(EMSCRIPTEN OR TERSOR_FUZZ)
  add_library(tersor_precompiled OBJECT "${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp")
  target_link_libraries(tersor_precompiled PRIVATE tersor_flags)
  if(EMSCRIPTEN)
    target_compile_options(tersor_precompiled PRIVATE -Oz)  # as the rooms that use it (room.cmake)
  endif()
  target_precompile_headers(tersor_precompiled PRIVATE
    <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
    <tuple> <utility> <vector>)
endif()
