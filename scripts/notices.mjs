// SPDX-License-Identifier: Apache-2.0
//
// The notices of what is compiled in, as the distribution's packages that it was built from state them.
//
//   node scripts/notices.mjs FILE     writes those of the program that needs nothing but libc

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const library = /^(\*|include\/)/;
/** A package, what it is here, and which of the files that its copyright file names are compiled in. */
export const libraries = [
  ['nlohmann-json3-dev', 'JSON', library],
  ['libprotozero-dev', "protobuf's wire format", library],
  ['libhwy-dev', 'SIMD', library],
  ['libcli11-dev', 'the command line', library],
];

/** The paragraphs about the files that match, and the licenses that those name (the form is Debian's machine-readable one). */
function stated(copyright, files) {
  const paragraphs = copyright.split(/\n(?:[ \t]*\n)+/);
  const field = (paragraph, name) =>
    new RegExp(`^${name}:((?:.*)(?:\\n[ \\t].*)*)`, 'm').exec(paragraph)?.[1].trim() ?? '';
  const about = paragraphs.filter((one) =>
    field(one, 'Files')
      .split(/\s+/)
      .some((path) => files.test(path)),
  );
  const named = new Set(
    about.flatMap((one) =>
      field(one, 'License')
        .split('\n')[0]
        .split(/,? (?:and|or) /),
    ),
  );
  const licenses = paragraphs.filter((one) => !/^Files:/m.test(one) && named.has(field(one, 'License').split('\n')[0]));
  if (about.length === 0) throw new Error('The copyright file names no file that is compiled in.');
  return [...about, ...licenses].join('\n\n');
}

const rule = '='.repeat(100);

/** One text about all of them; `files` null takes what a package states as a whole. */
export function notices(packages, head) {
  const parts = packages.map(([name, what, files]) => {
    const text = readFileSync(`/usr/share/doc/${name}/copyright`, 'utf8');
    return `${rule}\n${name}: ${what}\n${rule}\n\n${files ? stated(text, files) : text}\n`;
  });
  return `${head}\n\n${parts.join('\n')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const runtime = ['libstdc++6', "the C++ library of GCC, under GCC's Runtime Library Exception", null];
  const head = 'Tersor (Apache-2.0, see LICENSE) holds parts of the following.';
  writeFileSync(process.argv[2], notices([...libraries, runtime], head));
}
