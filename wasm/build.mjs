// SPDX-License-Identifier: Apache-2.0
//
// Makes wasm/dist: the compiled TypeScript beside the core that CMake built (build/wasm/bin).

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

import { writeNotices } from '../scripts/notices.mjs';
import { configTypes } from './config_types.mjs';
import { sampleFiles } from './sample_files.mjs';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const made = (name) => here(`../build/wasm/bin/${name}`);
/** Servers that know no .mjs send it without a type that browsers run. */
const packed = (name) => here(`dist/${name.replace(/\.mjs$/, '.js')}`);
const core = ['tersor.mjs', 'tersor.wasm', 'tersor-light.mjs', 'tersor-light.wasm'];
const program = 'cli'; // which the page does not need: scripts/build web leaves it out

for (const name of core) {
  if (!existsSync(made(name))) {
    console.error(`build/wasm/bin/${name} is not there: run scripts/build wasm.`);
    process.exit(1);
  }
}
rmSync(here('dist'), { recursive: true, force: true }); // npm packs all that lies there
mkdirSync(here('dist'));
for (const name of core) copyFileSync(made(name), packed(name));
// Emscripten's loader names its file where bundlers see it, and is never asked (instantiate(), core.ts): they would put the light
// engine into every app.
const lightLoader = readFileSync(made('tersor-light.mjs'), 'utf8');
const unnamed = lightLoader.replace(/new URL\(("tersor-light\.wasm"), import\.meta\.url\)/, '$1');
if (unnamed === lightLoader) throw new Error('tersor-light.mjs names tersor-light.wasm in another way.');
writeFileSync(packed('tersor-light.mjs'), unnamed);
if (existsSync(made(`${program}.wasm`))) {
  copyFileSync(made(`${program}.cjs`), packed(`${program}.cjs`));
  // Node alone reads it (bin.mjs), and it lies in the node_modules of everybody who wants the engine.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 22 };
  writeFileSync(packed(`${program}.wasm.br`), brotliCompressSync(readFileSync(made(`${program}.wasm`)), { params }));
}

/** The core that was built. */
async function builtCore() {
  const { default: makeModule } = await import(new URL('dist/tersor.js', import.meta.url));
  const bytes = readFileSync(here('dist/tersor.wasm'));
  return makeModule({
    instantiateWasm(imports, done) {
      void WebAssembly.instantiate(bytes, imports).then(({ instance, module }) => done(instance, module));
      return {};
    },
  });
}

function write(name, text) {
  const file = here(`src/${name}`);
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
}

// What TypeScript and the core both know is asked of the core.
const built = await builtCore();
write('quantization_config.ts', configTypes(JSON.parse(built.describeQuantizationConfig().value)));
write('sample_files.ts', sampleFiles(JSON.parse(built.describeSampleFiles().value)));
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', here('tsconfig.json')], { stdio: 'inherit' });
// The name that the worker had in version 0.1, for one version more.
writeFileSync(here('dist/worker.mjs'), "import './worker.js';\n");

// What npm packs beside: the license, and those of what is compiled into the WebAssembly files.
copyFileSync(here('../LICENSE'), here('LICENSE'));
writeNotices('package', here('THIRD_PARTY_NOTICES.txt'));
