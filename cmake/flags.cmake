# Compiler and linker flags of every target: warnings as errors, and the same numbers on every machine.

add_library(tersor_flags INTERFACE)
target_compile_options(tersor_flags INTERFACE
  -Wall -Wextra -Wshadow $<$<BOOL:${PROJECT_IS_TOP_LEVEL}>:-Werror>  # whoever takes this in has a compiler that we have not seen
  -ffp-contract=off   # a*b+c is never fused: equal bytes on every target
  -fno-math-errno)
if(NOT EMSCRIPTEN AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees an overlapping copy in std::string concatenation that is not there (GCC bug 105651).
  target_compile_options(tersor_flags INTERFACE -Wno-restrict -Wno-psabi)
endif()

if(EMSCRIPTEN)
  target_compile_options(tersor_flags INTERFACE -msimd128 -mnontrapping-fptoint -fwasm-exceptions)
  target_link_options(tersor_flags INTERFACE -fwasm-exceptions)
  # Built for size, Emscripten 3.1.6 lets Clang inline nothing, not even what is shorter than its call.
  target_compile_options(tersor_flags INTERFACE -finline-functions)
  # From -O2 on, linking runs acorn, which only the distribution's own Node finds by itself.
  if(IS_DIRECTORY /usr/share/nodejs/acorn)
    set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
  endif()
else()
  find_package(Threads REQUIRED)
  if(TERSOR_SANITIZE)
    # Null pointers need no check of their own: what they are read by ends under ASan. Without it a tenth less to compile.
    target_compile_options(tersor_flags INTERFACE -fsanitize=address,undefined -fno-sanitize=null -fno-omit-frame-pointer
      -fno-sanitize-recover=undefined)
    target_link_options(tersor_flags INTERFACE -fsanitize=address,undefined)
  endif()
  if(TERSOR_FUZZ)
    target_compile_options(tersor_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    target_link_options(tersor_flags INTERFACE -fsanitize=fuzzer-no-link,address,undefined)
  endif()
endif()
