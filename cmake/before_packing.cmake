# Run by cpack on the files of a package before it makes one of them.
set(staged "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
if(CPACK_GENERATOR STREQUAL "DEB")  # which has the license in the system, and a changelog in a form of its own
  set(doc "${staged}/usr/share/doc/tersor")
  file(WRITE "${doc}/copyright" "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tersor
Comment: What it holds of others, and their licenses, is in THIRD_PARTY_NOTICES.txt.

Files: *
Copyright: 2026 The authors of Tersor
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
")
  # SOURCE_DATE_EPOCH gives the time, where it is set.
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE "${doc}/changelog" "tersor (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * What changed is in CHANGELOG.md of the source.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
  execute_process(COMMAND gzip -9n "${doc}/changelog" COMMAND_ERROR_IS_FATAL ANY)
endif()
# The same build makes the same bytes, whenever it is packed.
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  execute_process(COMMAND find "${staged}" -exec touch --no-dereference "--date=@$ENV{SOURCE_DATE_EPOCH}" {} + COMMAND_ERROR_IS_FATAL ANY)
endif()
