// SPDX-License-Identifier: Apache-2.0
//
// Makes wasm/dist: the compiled TypeScript beside the core that CMake built (build/wasm/bin).

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { configTypes } from './config_types.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const core = ['tersor.mjs', 'tersor.wasm', 'cli.cjs', 'cli.wasm'];

for (const name of core) {
  if (!existsSync(here(`../build/wasm/bin/${name}`))) {
    console.error(`build/wasm/bin/${name} is not there: run scripts/build wasm.`);
    process.exit(1);
  }
}
mkdirSync(here('dist'), { recursive: true });
for (const name of core) copyFileSync(here(`../build/wasm/bin/${name}`), here(`dist/${name}`));

/** The fields of QuantizationConfig, asked of the core that was built. */
async function fields() {
  const { default: makeModule } = await import(new URL('dist/tersor.mjs', import.meta.url));
  const bytes = readFileSync(here('dist/tersor.wasm'));
  const core = await makeModule({
    instantiateWasm(imports, done) {
      void WebAssembly.instantiate(bytes, imports).then(({ instance, module }) => done(instance, module));
      return {};
    },
  });
  return JSON.parse(core.describeQuantizationConfig().value);
}

const types = here('src/quantization_config.ts');
const made = configTypes(await fields());
if (!existsSync(types) || readFileSync(types, 'utf8') !== made) writeFileSync(types, made);
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', here('tsconfig.json')], { stdio: 'inherit' });

// What npm packs beside: the license, and those of what is compiled into the two WebAssembly files, as the distribution's packages
// that these were built from state them.
copyFileSync(here('../LICENSE'), here('LICENSE'));
const library = /^(\*|include\/)/;
const inside = [
  ['nlohmann-json3-dev', 'JSON', library],
  ['libprotozero-dev', "protobuf's wire format", library],
  ['libhwy-dev', 'SIMD', library],
  ['libcli11-dev', 'the command line, in cli.wasm', library],
  [
    'emscripten',
    'the C and C++ libraries, and the glue in JavaScript',
    /^(\*$|system\/lib\/(libc|compiler-rt|dlmalloc|emmalloc))/,
  ],
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
const notices = inside.map(([name, what, files]) => {
  const text = stated(readFileSync(`/usr/share/doc/${name}/copyright`, 'utf8'), files);
  return `${rule}\n${name}: ${what}\n${rule}\n\n${text}\n`;
});
const head = 'Tersor (Apache-2.0, see LICENSE) holds parts of the following, compiled to WebAssembly.\n\n';
writeFileSync(here('THIRD_PARTY_NOTICES.txt'), head + notices.join('\n'));
