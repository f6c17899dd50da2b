// SPDX-License-Identifier: Apache-2.0
//
// Two steps of the site's build: the security policy goes into the page, and when all files are there the offline worker
// learns their names and the page the tool's compressed size.

import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { unzipSync } from 'fflate';

import { contentSecurityPolicy } from '../csp.mjs';

/** Folders that are not the tool itself: the demo's data and the optional runtime. */
const notTheTool = /^(demo|verify)\//;
/** Not needed to work offline. */
const notOffline = /^(verify\/|sw\.js$|fonts\/)|\.map$/;

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
 * common, and what is for Node is left out.
 */
export function fitPackage() {
  const address = "new URL('./worker.mjs', import.meta.url)";
  return {
    name: 'tersor-package',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      if (!code.includes(`new Worker(${address}`)) return null;
      const worker = this.emitFile({ type: 'chunk', id: 'tersor/worker.mjs', name: 'worker', importer: id });
      return code
        .replace(address, `import.meta.ROLLUP_FILE_URL_${worker}`)
        .replace(/(isNode = ).*;/, '$1false;')
        .replace(/return import\(.*;/, 'throw name;');
    },
  };
}

/** What the first paint says of the demo, before its files are loaded. */
export async function demoFacts(folder) {
  const about = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'));
  const model = await readFile(join(folder, about.model));
  let samples = 0;
  unzipSync(await readFile(join(folder, about.samples)), {
    filter: (entry) => {
      if (entry.name.endsWith('.png')) samples += 1;
      return false;
    },
  });
  return { modelBytes: model.length, samples };
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

export function finishSite() {
  let folder;
  let failed = false;
  return {
    name: 'tersor-finish',
    apply: 'build',
    configResolved(config) {
      folder = config.build.outDir;
    },
    buildEnd(error) {
      failed = error !== undefined;
    },
    async closeBundle() {
      if (failed) return;
      const files = await filesBelow(folder);
      const contents = new Map();
      for (const file of files) contents.set(file, await readFile(join(folder, file)));

      const tool = files.filter((file) => !notTheTool.test(file) && !file.endsWith('.map'));
      const size = tool.reduce((sum, file) => sum + gzipSync(contents.get(file), { level: 9 }).length, 0);
      const page = contents.get('index.html').toString().replace('%SIZE%', String(size));
      contents.set('index.html', Buffer.from(page));
      await writeFile(join(folder, 'index.html'), page);

      const offline = files.filter((file) => !notOffline.test(file));
      const hash = createHash('sha256');
      for (const file of offline) hash.update(`${file}\0`).update(contents.get(file));
      const worker = contents
        .get('sw.js')
        .toString()
        .replace('%FILES%', offline.map((file) => (file === 'index.html' ? './' : file)).join('|'))
        .replace('%VERSION%', hash.digest('hex').slice(0, 16));
      await writeFile(join(folder, 'sw.js'), worker);
    },
  };
}
