# What stands beside the program where it is installed, in build/.../share: manual page and completions, made by it, and the notices of what it holds.
set(share "${PROJECT_BINARY_DIR}/share")
set(manual "${share}/man/man1/tersor.1")
set(bash "${share}/bash-completion/completions/tersor")
set(zsh "${share}/zsh/vendor-completions/_tersor")
set(fish "${share}/fish/vendor_completions.d/tersor.fish")
set(notices "${share}/doc/tersor/THIRD_PARTY_NOTICES.txt")
foreach(file IN ITEMS "${manual}" "${bash}" "${zsh}" "${fish}" "${notices}")
  get_filename_component(folder "${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
endforeach()
add_custom_command(OUTPUT "${manual}.gz" "${bash}" "${zsh}" "${fish}" VERBATIM DEPENDS tersor
  COMMAND tersor help --manual > "${manual}"
  COMMAND gzip -9nf "${manual}"
  COMMAND tersor help --completion bash > "${bash}"
  COMMAND tersor help --completion zsh > "${zsh}"
  COMMAND tersor help --completion fish > "${fish}")
find_program(TERSOR_NODE node)
if(TERSOR_NODE AND EXISTS /usr/share/doc/libhwy-dev/copyright)  # it reads what the distribution's packages state
  add_custom_command(OUTPUT "${notices}" "${share}/doc/tersor/sbom.cdx.json" VERBATIM
    DEPENDS "${PROJECT_SOURCE_DIR}/scripts/notices.mjs" "${PROJECT_SOURCE_DIR}/project.json"
    COMMAND "${TERSOR_NODE}" "${PROJECT_SOURCE_DIR}/scripts/notices.mjs" program "${notices}")
else()
  set(notices "")
endif()
add_custom_target(tersor_share ALL DEPENDS "${manual}.gz" "${bash}" "${zsh}" "${fish}" ${notices})
