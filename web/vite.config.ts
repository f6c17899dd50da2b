// SPDX-License-Identifier: Apache-2.0

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

import { makeFont } from '../scripts/font/subset.mjs';
import { demoFacts, finishSite, fitPackage, importPlainly, noteLinked, writePolicy } from './build/site.mjs';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig(async () => {
  await makeFont(here('./src/generated/tersor-sans.woff2'));
  const common = {
    root: here('.'),
    base: './',
    define: { __TERSOR_DEMO__: JSON.stringify(await demoFacts(here('./public/demo/fruit'))) },
    oxc: { jsx: { runtime: 'automatic' as const, importSource: 'preact' } },
    build: { target: 'es2022' },
  };
  return {
    ...common,
    plugins: [
      fitPackage(),
      importPlainly(),
      writePolicy(),
      noteLinked(),
      finishSite({ ...common, plugins: [importPlainly()] }),
    ],
    build: {
      ...common.build,
      outDir: here('./dist'),
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rollupOptions: {
        input: { index: here('./index.html'), sw: here('./src/offline/sw.ts') },
        output: {
          entryFileNames: (chunk: { name: string }) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
          // parts that load on first use take what they need from chunks that are there: more of them compress worse
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [
              {
                name: 'page',
                test: /\/node_modules\/@?preact\/|\/web\/src\/(job\/(?!likeliest|tokens|verify|variants)|numbers)/,
              },
              {
                name: 'package',
                test: /\/wasm\/dist\/(?!answers|core|error|host|packed|protocol|tersor|text|variants|worker)\w+\.js$/,
              },
            ],
          },
        },
      },
    },
    worker: { format: 'es' as const, plugins: () => [noteLinked()] },
  };
});
