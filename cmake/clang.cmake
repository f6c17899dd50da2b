# The clang that Emscripten stands on, for native builds under sanitizers: GCC 12 takes twice as long for them, and crashes there on precompiled
# headers.
execute_process(COMMAND dpkg-query -W "-f=\${Depends}" emscripten OUTPUT_VARIABLE depends ERROR_QUIET)
if(NOT depends MATCHES "clang-([0-9]+)")
  message(FATAL_ERROR "The package emscripten, whose clang builds this, is not here; ./scripts/install test brings it.")
endif()
set(CMAKE_C_COMPILER "clang-${CMAKE_MATCH_1}")
set(CMAKE_CXX_COMPILER "clang++-${CMAKE_MATCH_1}")
