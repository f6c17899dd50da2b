# What stands beside the program where it is installed, made by it: manual page and completions, in build/.../share.
set(share "${PROJECT_BINARY_DIR}/share")
set(manual "${share}/man/man1/tersor.1")
set(bash "${share}/bash-completion/completions/tersor")
set(zsh "${share}/zsh/vendor-completions/_tersor")
set(fish "${share}/fish/vendor_completions.d/tersor.fish")
foreach(file IN ITEMS "${manual}" "${bash}" "${zsh}" "${fish}")
  get_filename_component(folder "${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
endforeach()
add_custom_command(OUTPUT "${manual}.gz" "${bash}" "${zsh}" "${fish}" VERBATIM DEPENDS tersor
  COMMAND tersor help --manual > "${manual}"
  COMMAND gzip -9nf "${manual}"
  COMMAND tersor help --completion bash > "${bash}"
  COMMAND tersor help --completion zsh > "${zsh}"
  COMMAND tersor help --completion fish > "${fish}")
add_custom_target(tersor_share ALL DEPENDS "${manual}.gz" "${bash}" "${zsh}" "${fish}")

# The same program for machines that have libc and nothing else; scripts/package gives Highway's sources, of which the distribution has a shared
# library only. What they define is not looked for there any more.
set(TERSOR_HIGHWAY_SOURCE "" CACHE PATH "Highway's sources, for the target tersor_portable")
if(EXISTS "${TERSOR_HIGHWAY_SOURCE}/hwy/targets.cc")
  add_executable(tersor_portable EXCLUDE_FROM_ALL $<TARGET_OBJECTS:tersor> "${TERSOR_HIGHWAY_SOURCE}/hwy/targets.cc")
  target_link_libraries(tersor_portable PRIVATE $<TARGET_PROPERTY:tersor,LINK_LIBRARIES>)
  target_link_options(tersor_portable PRIVATE -static-libstdc++ -static-libgcc -Wl,--as-needed)
  set_target_properties(tersor_portable PROPERTIES OUTPUT_NAME tersor RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/portable")
  set_source_files_properties("${TERSOR_HIGHWAY_SOURCE}/hwy/targets.cc" PROPERTIES COMPILE_OPTIONS -Wno-error)
endif()
