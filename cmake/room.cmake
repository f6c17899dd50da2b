# A room is one folder of core/ and one static library. It sees its own headers and those of the rooms it USES, nothing else:
# each room has an include folder of its own that holds a link to just that room, so an include upwards finds no file.
# Every .cpp of the folder belongs to it, and SOURCES beside them.
# FAST: its loops decide how long a job takes; FAST_SOURCES: those of these files do. The rest is built for size in WebAssembly,
# where every visitor loads it, and without optimization under the sanitizers, where it is compiled more often than it runs.
# Files of a room that is not FAST are compiled several at a time (TERSOR_FILES_AT_ONCE), as their headers take longer to read than they do:
# two of them may not give different things in unnamed namespaces the same name, or stand in ALONE. FAST_SOURCES stand alone too.

# The files of `target` are compiled `at_once` at a time, and as they stand where TERSOR_FILES_AT_ONCE is 1.
function(tersor_compile_together target at_once)
  if(TERSOR_FILES_AT_ONCE GREATER 1)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${at_once})
  endif()
endfunction()

# As every target is built whose loops do not decide how long a job takes.
function(tersor_rarely_hot target)
  tersor_compile_together(${target} ${TERSOR_FILES_AT_ONCE})
  if(EMSCRIPTEN)
    target_compile_options(${target} PRIVATE -Oz)
  elseif(TERSOR_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  if(TARGET tersor_precompiled)
    target_precompile_headers(${target} REUSE_FROM tersor_precompiled)
  endif()
endfunction()

function(tersor_room name)
  cmake_parse_arguments(ROOM "FAST" "" "SOURCES;FAST_SOURCES;ALONE;USES;THIRD_PARTY" ${ARGN})
  set(view "${PROJECT_BINARY_DIR}/rooms/${name}")
  file(MAKE_DIRECTORY "${view}/core")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/core/${name}" "${view}/core/${name}" SYMBOLIC)
  set_property(GLOBAL APPEND PROPERTY TERSOR_ROOMS tersor_${name})
  file(GLOB_RECURSE own RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "*.cpp")
  add_library(tersor_${name} STATIC ${own} ${ROOM_SOURCES})
  target_include_directories(tersor_${name} PUBLIC "${view}")
  target_link_libraries(tersor_${name} PUBLIC tersor_flags)
  if(NOT ROOM_FAST)
    tersor_rarely_hot(tersor_${name})
  endif()
  if(ROOM_ALONE OR ROOM_FAST_SOURCES)
    set_source_files_properties(${ROOM_ALONE} ${ROOM_FAST_SOURCES} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(ROOM_FAST_SOURCES AND (EMSCRIPTEN OR TERSOR_SANITIZE))
    set_source_files_properties(${ROOM_FAST_SOURCES} PROPERTIES COMPILE_OPTIONS "$<IF:$<BOOL:${EMSCRIPTEN}>,-O3,-O1>" SKIP_PRECOMPILE_HEADERS ON)
  endif()
  foreach(parent IN LISTS ROOM_USES)
    target_link_libraries(tersor_${name} PUBLIC tersor_${parent})
  endforeach()
  foreach(library IN LISTS ROOM_THIRD_PARTY)
    target_link_libraries(tersor_${name} PRIVATE third_party_${library})
  endforeach()
endfunction()

# A Catch2 program per room: tersor_test(<room> [SOURCES ...] USES <rooms>). Without SOURCES it is all of tests/<room>/*_test.cpp.
function(tersor_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;USES;THIRD_PARTY" ${ARGN})
  if(NOT TEST_SOURCES)
    file(GLOB TEST_SOURCES CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cpp")
  endif()
  add_executable(test_${name} ${TEST_SOURCES} $<TARGET_OBJECTS:tersor_test_main>)
  target_include_directories(test_${name} PRIVATE "${PROJECT_BINARY_DIR}/tests_view")
  target_link_libraries(test_${name} PRIVATE tersor_test_support third_party_catch2)
  # Natively tests are long to compile and quick to run; in WebAssembly they would run longer by more than is saved.
  if(NOT EMSCRIPTEN)
    target_compile_options(test_${name} PRIVATE -O0)
  endif()
  if(TARGET tersor_test_precompiled)
    target_precompile_headers(test_${name} REUSE_FROM tersor_test_precompiled)
  endif()
  foreach(parent IN LISTS TEST_USES)
    target_link_libraries(test_${name} PRIVATE tersor_${parent})
  endforeach()
  foreach(library IN LISTS TEST_THIRD_PARTY)
    target_link_libraries(test_${name} PRIVATE third_party_${library})
  endforeach()
  if(EMSCRIPTEN)
    target_link_options(test_${name} PRIVATE -O1 -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sEXIT_RUNTIME
      -sENVIRONMENT=node -sNODERAWFS -sWASM_BIGINT -sTOTAL_STACK=4MB
      --pre-js "${PROJECT_SOURCE_DIR}/tests/node_environment.js")
    set_target_properties(test_${name} PROPERTIES CROSSCOMPILING_EMULATOR "node;--no-experimental-fetch")
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()
