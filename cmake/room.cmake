# A room is one folder of core/ and one static library. It sees its own headers and those of the rooms it USES, nothing else:
# each room has an include folder of its own that holds a link to just that room, so an include upwards finds no file.
# FAST: its loops decide how long a job takes. The other rooms are built for size in WebAssembly, where every visitor loads them.

function(tersor_room name)
  cmake_parse_arguments(ROOM "FAST" "" "SOURCES;USES;THIRD_PARTY" ${ARGN})
  set(view "${CMAKE_BINARY_DIR}/rooms/${name}")
  file(MAKE_DIRECTORY "${view}/core")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/core/${name}" "${view}/core/${name}" SYMBOLIC)
  add_library(tersor_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(tersor_${name} PUBLIC "${view}")
  target_link_libraries(tersor_${name} PUBLIC tersor_flags)
  if(EMSCRIPTEN AND NOT ROOM_FAST)
    target_compile_options(tersor_${name} PRIVATE -Oz)
  endif()
  if(TARGET tersor_precompiled AND NOT ROOM_FAST)
    target_precompile_headers(tersor_${name} REUSE_FROM tersor_precompiled)
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
  target_include_directories(test_${name} PRIVATE "${CMAKE_BINARY_DIR}/tests_view")
  target_link_libraries(test_${name} PRIVATE tersor_test_support third_party_catch2)
  if(NOT EMSCRIPTEN)  # where they would run longer by more
    target_compile_options(test_${name} PRIVATE -O0)  # tests are long to compile and quick to run
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
      --pre-js "${CMAKE_SOURCE_DIR}/tests/node_environment.js")
    set_target_properties(test_${name} PROPERTIES CROSSCOMPILING_EMULATOR "node;--no-experimental-fetch")
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
endfunction()
