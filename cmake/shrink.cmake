# tersor_shrink(target file.wasm): two rounds for size after the link of a WebAssembly program.
# Fewer bytes to load, at the same speed; in the same call it would undo what the compiler does for
# speed. No trap is part of what the engine does: errors are exceptions, and memory that is not there is one of them.
# Emscripten leaves the first kilobyte of memory unused.

find_program(TERSOR_WASM_OPT wasm-opt REQUIRED)  # binaryen's, of which Emscripten needs the package

function(tersor_shrink target file)
  add_custom_command(TARGET ${target} POST_BUILD VERBATIM
    COMMAND "${TERSOR_WASM_OPT}" -Oz -Oz --traps-never-happen --low-memory-unused --enable-simd --enable-exception-handling --enable-bulk-memory
      --enable-nontrapping-float-to-int --enable-sign-ext --enable-mutable-globals ${file} -o ${file}
    WORKING_DIRECTORY "$<TARGET_FILE_DIR:${target}>")
endfunction()
