// SPDX-License-Identifier: Apache-2.0
//
// Makes wasm/dist: the compiled TypeScript beside the core that CMake built (build/wasm/bin).

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const core = ['tersor.mjs', 'tersor.wasm'];

for (const name of core) {
  if (!existsSync(here(`../build/wasm/bin/${name}`))) {
    console.error(`build/wasm/bin/${name} is not there: run scripts/build wasm.`);
    process.exit(1);
  }
}
mkdirSync(here('dist'), { recursive: true });
for (const name of core) copyFileSync(here(`../build/wasm/bin/${name}`), here(`dist/${name}`));
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', here('tsconfig.json')], { stdio: 'inherit' });
