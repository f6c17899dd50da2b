// SPDX-License-Identifier: Apache-2.0
//
// What file names tell of samples, made from the core's list of formats.

const quoted = (names) => names.map((name) => `'${name}'`);

/** The text of src/sample_files.ts. `known`: what describeSampleFiles() gives. */
export function sampleFiles(known) {
  return `// SPDX-License-Identifier: Apache-2.0
// Made by build.mjs from the core's list of formats: do not edit.

/** Endings of files that can be read as samples, in lower case. */
export const sampleExtensions: readonly string[] = [
  ${quoted(known.extensions).join(',\n  ')},
];
/** Files and folders that systems leave lying about, never meant as samples; so are those that begin with a dot. */
export const hiddenNames: readonly string[] = [${quoted(known.hidden_names).join(', ')}];
`;
}
