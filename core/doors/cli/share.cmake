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
