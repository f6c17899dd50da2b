// SPDX-License-Identifier: Apache-2.0
//
// What others wrote and we pass on, in one list: for each artefact its notices, as the packages that it was built from state
// them, and the same as a bill of materials (CycloneDX).
//
//   node scripts/notices.mjs program|package|wheel FILE     writes FILE, and sbom.cdx.json beside it

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const library = /^(\*|include\/)/;

/** A package of the distribution; `files`: which of those that its copyright file names are passed on (null: all). */
const ofDebian = (name, what, license, files = library, holds = []) => ({
  name,
  what,
  license,
  holds,
  version: () => execFileSync('dpkg-query', ['-W', '-f=${Version}', name], { encoding: 'utf8' }),
  purl: (version) => `pkg:deb/debian/${name}@${encodeURIComponent(version)}`,
  text() {
    const text = readFileSync(`/usr/share/doc/${name}/copyright`, 'utf8');
    return files ? stated(text, files) : text;
  },
});

/** A package of npm, as it lies in node_modules. */
export function ofNpm(name, what, folder = path.join(root, 'node_modules', name)) {
  const { version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  return {
    name,
    what,
    license,
    holds: [],
    version: () => version,
    purl: () => `pkg:npm/${name.replace('@', '%40')}@${version}`,
    text: () =>
      readFileSync(
        path.join(
          folder,
          readdirSync(folder).find((file) => /^licen[cs]e/i.test(file)),
        ),
        'utf8',
      ),
  };
}

/** A package of the Python that builds the wheel. */
function ofPython(name, what, license, holds = []) {
  const packages = path.join(root, 'build/python/venv/lib');
  const site = path.join(packages, readdirSync(packages)[0], 'site-packages');
  const info = readdirSync(site).find((one) => one.startsWith(`${name}-`) && one.endsWith('.dist-info'));
  const version = info.slice(name.length + 1, -'.dist-info'.length);
  const licenses = path.join(site, info, 'licenses');
  const files = readdirSync(licenses, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const texts = files.map((file) => readFileSync(path.join(file.parentPath, file.name), 'utf8'));
  return {
    name,
    what,
    license,
    holds,
    version: () => version,
    purl: () => `pkg:pypi/${name}@${version}`,
    text: () => texts.join('\n\n'),
  };
}

/** What the rooms name in CMake (THIRD_PARTY), and what it is. */
export const thirdParty = {
  json: ofDebian('nlohmann-json3-dev', 'JSON', 'MIT'),
  protozero: ofDebian('libprotozero-dev', "protobuf's wire format", 'BSD-2-Clause AND Apache-2.0'),
  highway: ofDebian('libhwy-dev', 'SIMD', 'Apache-2.0'),
  cli11: ofDebian('libcli11-dev', 'the command line', 'BSD-3-Clause'),
};
const { json, protozero, highway, cli11 } = thirdParty;
const inCore = [json, protozero, highway];
const runtime = ofDebian(
  'libstdc++6',
  "the C++ library of GCC, under GCC's Runtime Library Exception",
  'GPL-3.0-or-later WITH GCC-exception-3.1',
  null,
);
const emscripten = ofDebian(
  'emscripten',
  'the C and C++ libraries, and the glue in JavaScript',
  'MIT OR NCSA',
  /^(\*$|system\/lib\/(libc|compiler-rt|dlmalloc|emmalloc))/,
  [
    ['musl', 'MIT'],
    ['libc++ and libc++abi', 'Apache-2.0 WITH LLVM-exception'],
    ['compiler-rt', 'Apache-2.0 WITH LLVM-exception'],
    ['dlmalloc', 'CC0-1.0'],
  ],
);

/** Of each artefact; the page has packages of npm beside these, which its build names. */
export const artefacts = {
  program: () => [...inCore, cli11, runtime],
  package: () => [...inCore, cli11, emscripten],
  page: () => [...inCore, emscripten],
  wheel: () => [
    ...inCore,
    ofPython('nanobind', 'the bindings to Python', 'BSD-3-Clause', [['robin-map', 'MIT']]),
    runtime,
  ],
};

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

function notices(components) {
  const parts = components.map(({ name, version, what, license, holds, text }) => {
    const held = holds.map(([one, its]) => `, holds ${one} (${its})`).join('');
    return `${rule}\n${name} ${version()}: ${what}\n${license}${held}\n${rule}\n\n${text()}\n`;
  });
  return `Tersor (Apache-2.0, see LICENSE) holds parts of the following.\n\n${parts.join('\n')}`;
}

const licensed = (license) => [
  / (AND|OR|WITH) /.test(license) ? { expression: license } : { license: { id: license } },
];

/** CycloneDX 1.5, without a date, so that the same build writes the same bytes. */
function materials(components) {
  const { version } = JSON.parse(readFileSync(path.join(root, 'project.json'), 'utf8'));
  const own = { type: 'application', name: 'tersor', version, licenses: licensed('Apache-2.0') };
  const list = components.map(({ name, version: of, license, purl, holds }) => ({
    type: 'library',
    name,
    version: of(),
    licenses: licensed(license),
    purl: purl(of()),
    ...(holds.length > 0 && {
      components: holds.map(([held, its]) => ({ type: 'library', name: held, licenses: licensed(its) })),
    }),
  }));
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: own },
    components: list,
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Writes both files of an artefact; `more`: components that its own build found. */
export function writeNotices(artefact, file, more = []) {
  const components = [...artefacts[artefact](), ...more];
  writeFileSync(file, notices(components));
  writeFileSync(path.join(path.dirname(file), 'sbom.cdx.json'), materials(components));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeNotices(process.argv[2], path.resolve(process.argv[3]));
