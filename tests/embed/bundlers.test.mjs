// SPDX-License-Identifier: Apache-2.0
//
// The same app through each bundler, in Chromium: it quantizes to the bytes that Node gives.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { browserPath } from '../browser/browser_path.mjs';
import { expected, install, quantizedBy, serve, tools } from './installed.mjs';

const require = createRequire(path.join(tools, 'x.cjs'));
let installed, browser, bytes;
beforeAll(async () => {
  installed = install('bundlers');
  browser = await chromium.launch({ executablePath: browserPath(), args: ['--disable-dev-shm-usage'] });
  bytes = await expected();
});
afterAll(() => browser?.close());

/** `folder` in the browser, with the app's page where the bundler makes none. */
async function check(folder, options) {
  const server = await serve(folder);
  try {
    const { made, complaints } = await quantizedBy(browser, `${server.url}/index.html`, options);
    expect(complaints).toEqual([]);
    expect(made.equals(bytes)).toBe(true);
  } finally {
    await server.close();
  }
}

const at = (...parts) => path.join(installed.folder, ...parts);

/** Of an app that was built: the engines that it carries. */
const engines = (folder) =>
  readdirSync(folder, { recursive: true }).filter((name) => /\.wasm$/.test(name) && !name.includes('cache'));

async function builtByVite(app, outDir) {
  const { build } = await import('vite');
  await build({ root: app, base: './', configFile: false, logLevel: 'error', build: { outDir, target: 'es2022' } });
}

test('Vite', async () => {
  await builtByVite(at(), at('vite'));
  await check(at('vite'));
  expect(engines(at('vite'))).toHaveLength(1);
});

test('Vite, the light engine', async () => {
  mkdirSync(at('light'));
  cpSync(at('index.html'), at('light/index.html'));
  const app = readFileSync(at('main.js'), 'utf8').replace('workers: 2', 'workers: 2, light');
  writeFileSync(at('light/main.js'), `import light from 'tersor/light';\n${app}`);
  await builtByVite(at('light'), at('vite-light'));
  await check(at('vite-light'));
  expect(engines(at('vite-light'))).toHaveLength(2);
});

test("Vite's development server", async () => {
  const { createServer } = await import('vite');
  const server = await createServer({
    root: at(),
    configFile: false,
    logLevel: 'error',
    optimizeDeps: { exclude: ['tersor'] },
    server: { host: '127.0.0.1', port: 0 },
  });
  try {
    await server.listen();
    const { made, complaints } = await quantizedBy(browser, server.resolvedUrls.local[0]);
    expect(complaints.filter((one) => !one.startsWith('[vite]'))).toEqual([]);
    expect(made.equals(bytes)).toBe(true);
  } finally {
    await server.close();
  }
});

test('a worker as Vite up to 7 builds it, by Rollup: a file that ends in itself', async () => {
  const { rollup } = require('rollup');
  const built = await rollup({ input: path.join(installed.place, 'dist/worker.js'), onwarn: () => undefined });
  const { output } = await built.generate({ format: 'iife' });
  expect(output).toHaveLength(1);
});

test('webpack', async () => {
  const webpack = require('webpack');
  const stats = await new Promise((resolve, reject) =>
    webpack(
      {
        context: at(),
        mode: 'production',
        entry: './main.js',
        output: { path: at('webpack'), filename: 'main.js' },
        performance: { hints: false },
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    ),
  );
  expect(stats.toJson({ all: false, errors: true, warnings: true })).toMatchObject({ errors: [], warnings: [] });
  cpSync(at('index.html'), at('webpack/index.html'));
  await check(at('webpack'));
  expect(engines(at('webpack'))).toHaveLength(1);
});

test('Parcel', async () => {
  const { Parcel } = require('@parcel/core');
  await new Parcel({
    entries: at('index.html'),
    defaultConfig: require.resolve('@parcel/config-default'),
    mode: 'production',
    shouldDisableCache: true,
    cacheDir: at('parcel-cache'), // it makes one all the same
    defaultTargetOptions: { distDir: at('parcel'), publicUrl: './', sourceMaps: false },
  }).run();
  await check(at('parcel'));
  expect(engines(at('parcel'))).toHaveLength(1);
}, 60_000);

test('esbuild, with the worker as an entry of its own', async () => {
  const { build } = require('esbuild');
  const { errors, warnings } = await build({
    absWorkingDir: at(),
    entryPoints: { main: 'main.js', worker: 'tersor/worker.js' },
    bundle: true,
    format: 'esm',
    minify: true,
    outdir: at('esbuild'),
    logLevel: 'silent',
  });
  expect([...errors, ...warnings]).toEqual([]);
  cpSync(at('index.html'), at('esbuild/index.html'));
  cpSync(path.join(installed.place, 'dist/tersor.wasm'), at('esbuild/tersor.wasm'));
  await check(at('esbuild'));
});

test('rollup, with the worker as an entry of its own', async () => {
  const { rollup } = require('rollup');
  const { nodeResolve } = require('@rollup/plugin-node-resolve');
  const warnings = [];
  const bundle = await rollup({
    input: { main: at('main.js'), worker: 'tersor/worker.js' },
    plugins: [nodeResolve({ browser: true, rootDir: at() })],
    onwarn: (warning) => warnings.push(warning.message),
  });
  await bundle.write({ dir: at('rollup'), format: 'es' });
  expect(warnings).toEqual([]);
  cpSync(at('index.html'), at('rollup/index.html'));
  cpSync(path.join(installed.place, 'dist/tersor.wasm'), at('rollup/tersor.wasm'));
  await check(at('rollup'));
});

test('no bundler, in a worker of the page', async () => {
  cpSync(path.join(installed.place, 'dist'), at('in-worker/tersor'), { recursive: true });
  cpSync(at('in-worker.js'), at('in-worker/in-worker.js'));
  writeFileSync(
    at('in-worker/main.js'),
    `const worker = new Worker('./in-worker.js', { type: 'module' });
    const next = () => new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
    await next();
    window.quantize = async (model, table) => {
      worker.postMessage([model, new TextEncoder().encode(table)]);
      return Array.from(await next());
    };
    `,
  );
  cpSync(at('index.html'), at('in-worker/index.html'));
  await check(at('in-worker'));
});

test('no bundler, and the package on another origin', async () => {
  const elsewhere = await serve(path.join(installed.place, 'dist'));
  try {
    const map = JSON.stringify({ imports: { tersor: `${elsewhere.url}/index.js` } });
    const page = `<!doctype html><link rel="icon" href="data:,"><script type="importmap">${map}</script>
      <script type="module" src="./main.js"></script>`;
    cpSync(at('main.js'), at('elsewhere/main.js'));
    writeFileSync(at('elsewhere/index.html'), page);
    await check(at('elsewhere'));
  } finally {
    await elsewhere.close();
  }
});
