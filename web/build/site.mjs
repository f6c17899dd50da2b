// SPDX-License-Identifier: Apache-2.0
//
// Steps of the site's build: the security policy goes into the page; when all files are there a runtime to verify with is put
// beside them, the offline worker learns their names, the page learns the tool's compressed size, and all of it becomes one file.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { unzipSync } from 'fflate';

import { ofNpm, writeNotices } from '../../scripts/notices.mjs';
import { contentSecurityPolicy } from '../csp.mjs';
import { writeOneFile } from './one_file.mjs';

/** The engine that trains, whole: loaded when somebody first trains. */
export const wholeEngine = /^assets\/tersor-(?!light-|sans-)/;
/** What is not the tool itself: the demo's data, the optional runtime, what trains, and the tool once more as one file. */
const notTheTool = (file) => /^(demo\/|verify\/|tersor\.html$|THIRD_PARTY|sbom)/.test(file) || wholeEngine.test(file);
/** Fetched and kept when it is first used, or when the reader asks to keep all of it: what verifies, what trains, the photographs. */
const isLater = (file) =>
  /^(verify\/.*\.(mjs|wasm)$|demo\/fruit\/)/.test(file) || (wholeEngine.test(file) && !file.endsWith('.map'));
/** Not needed to work offline. */
const notOffline = (file) =>
  /^(verify\/|sw\.js$|fonts\/|tersor\.html$|THIRD_PARTY|sbom)|\.map$/.test(file) || isLater(file);

export function writePolicy() {
  return {
    name: 'tersor-policy',
    transformIndexHtml: (html) => html.replace('%CSP%', contentSecurityPolicy),
  };
}

/** Vite's helper loads the styles of lazy modules, which here have none. */
export function importPlainly() {
  return {
    name: 'tersor-import',
    enforce: 'pre',
    load: (id) => (id === '\0vite/preload-helper.js' ? 'export const __vitePreload = (load) => load();' : undefined),
  };
}

/**
 * Fits the package to the page: its worker is built together with the page, so that both load one copy of what they have in
 * common; what is for Node is left out; and the loader of the engine that trains is loaded with it, variants on first use.
 */
export function fitPackage() {
  const address = "new URL('./worker.js', import.meta.url)";
  const fits = {
    'start_worker.js'(code, id) {
      const worker = this.emitFile({ type: 'chunk', id: 'tersor/worker.js', name: 'worker', importer: id });
      return code.replace(`new Worker(${address}`, `new Worker(import.meta.ROLLUP_FILE_URL_${worker}`);
    },
    'host.js': (code) => code.replace(/(isNode = ).*;/, '$1false;').replace(/return import\(.*;/, 'throw name;'),
    'core.js': (code) =>
      code
        .replace("import makeWhole from './tersor.js';", '')
        .replace('makeWhole;', "(await import('./tersor.js')).default;"),
    // loaded when somebody makes them
    'model.js': (code) =>
      code
        .replace("import { variantsOf } from './variants.js';", '')
        .replace('yield* variantsOf(', "yield* (await import('./variants.js')).variantsOf("),
  };
  return {
    name: 'tersor-package',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      const name = /\/wasm\/dist\/(\w+\.js)$/.exec(id)?.[1];
      if (!(name in fits)) return null;
      const fitted = fits[name].call(this, code, id);
      if (fitted === code) this.error(`${name} of the package is not as web/build/site.mjs expects it.`);
      return fitted;
    },
  };
}

/** Packages of npm that code of the site or of its workers comes from, by name: the folder they lie in. */
const linked = new Map();
export function noteLinked() {
  return {
    name: 'tersor-linked',
    generateBundle(_options, bundle) {
      for (const id of Object.values(bundle).flatMap(({ modules = {} }) => Object.keys(modules))) {
        const found = /^\0?(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(id);
        if (found) linked.set(found[2], found[1]);
      }
    },
  };
}

/** What the first paint says of the demo, before its files are loaded. */
export async function demoFacts(folder) {
  const about = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'));
  const model = await readFile(join(folder, about.model));
  const archive = await readFile(join(folder, about.samples));
  let samples = 0;
  unzipSync(archive, {
    filter: (entry) => {
      if (/\.(png|jpg)$/.test(entry.name)) samples += 1;
      return false;
    },
  });
  return { modelBytes: model.length, samples, bytes: model.length + archive.length };
}

async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort();
}

const runtime = fileURLToPath(new URL('../../node_modules/onnxruntime-web/', import.meta.url));
const runtimeFiles = ['ort.wasm.bundle.min.mjs', 'ort-wasm-simd-threaded.wasm'];
const runtimeLicence = `ONNX Runtime Web is under the MIT License; the notices of what it holds are ThirdPartyNotices.txt of the ONNX Runtime project.

MIT License

Copyright (c) Microsoft Corporation

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;

/** Puts onnxruntime-web into verify/, where the project has it. What the page says of it: its version and its bytes. */
async function bringRuntime(folder) {
  if (!existsSync(runtime)) return '';
  const { version } = JSON.parse(await readFile(join(runtime, 'package.json'), 'utf8'));
  await mkdir(join(folder, 'verify'), { recursive: true });
  let bytes = 0;
  for (const file of runtimeFiles) {
    await copyFile(join(runtime, 'dist', file), join(folder, 'verify', file));
    bytes += (await readFile(join(runtime, 'dist', file))).length;
  }
  await writeFile(join(folder, 'verify/LICENSE.txt'), runtimeLicence);
  return `${version} ${bytes}`;
}

/** `config`: what the site is built with, and the one file too. */
export function finishSite(config) {
  let folder;
  let failed = false;
  return {
    name: 'tersor-finish',
    apply: 'build',
    configResolved(resolved) {
      folder = resolved.build.outDir;
    },
    buildEnd(error) {
      failed = error !== undefined;
    },
    async closeBundle() {
      if (failed) return;
      const used = [...linked].sort(([a], [b]) => (a < b ? -1 : 1));
      const npm = used.map(([name, place]) => ofNpm(name, 'in the page', place));
      const typeface = ofNpm('@ibm/plex-sans-variable', 'the typeface');
      writeNotices('page', join(folder, 'THIRD_PARTY_NOTICES.txt'), [...npm, typeface]);
      const verify = await bringRuntime(folder);
      const files = await filesBelow(folder);
      const contents = new Map();
      for (const file of files) contents.set(file, await readFile(join(folder, file)));

      const tool = files.filter((file) => !notTheTool(file) && !file.endsWith('.map'));
      const size = tool.reduce((sum, file) => sum + gzipSync(contents.get(file), { level: 9 }).length, 0);
      const training = files.filter((file) => wholeEngine.test(file));
      const trainingSize = training.reduce((sum, file) => sum + gzipSync(contents.get(file), { level: 9 }).length, 0);
      const page = contents
        .get('index.html')
        .toString()
        .replace('%SIZE%', String(size))
        .replace('%TRAINING%', String(trainingSize))
        .replace('%VERIFY%', verify);
      contents.set('index.html', Buffer.from(page));
      await writeFile(join(folder, 'index.html'), page);

      const offline = files.filter((file) => !notOffline(file));
      const hash = createHash('sha256');
      for (const file of offline) hash.update(`${file}\0`).update(contents.get(file));
      const worker = contents
        .get('sw.js')
        .toString()
        .replace('%FILES%', offline.map((file) => (file === 'index.html' ? './' : file)).join('|'))
        .replace('%LATER%', files.filter(isLater).join('|'))
        .replace('%VERSION%', hash.digest('hex').slice(0, 16));
      await writeFile(join(folder, 'sw.js'), worker);
      await writeOneFile(config, folder, files);
    },
  };
}
