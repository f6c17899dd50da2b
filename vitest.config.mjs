// SPDX-License-Identifier: Apache-2.0
//
// Every JavaScript suite: `npm test`, or one of them with `npx vitest run --project web`.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const suite = (name, include, more = {}) => ({
  extends: false,
  root: here('.'),
  test: { name, include, ...more },
});

// Files that do not share anything run two at a time: most of them wait for another process.
const together = { maxWorkers: 2 };

// Chromium on a machine with other work: what is waited for may take long. No test asserts a time, or is run a second time.
const patient = { expect: { poll: { timeout: 60_000 } }, hookTimeout: 120_000 };
const alone = { fileParallelism: false };

export default defineConfig({
  test: {
    projects: [
      // modules of the page over a stand-in engine
      {
        ...suite('web', ['web/tests/*.test.ts', 'web/tests/*.test.tsx'], together),
        resolve: { alias: { tersor: here('./web/tests/double/index.ts') } },
      },
      // the program's edge: exit status, errors, files
      suite('cli', ['tests/cli/*.test.mjs'], { testTimeout: 60_000, ...together }),
      // the program against ONNX Runtime, on models and samples from TERSOR_SHARED
      suite('zoo', ['tests/zoo/*.test.mjs'], { testTimeout: 600_000, hookTimeout: 300_000, ...together }),
      // the npm package in Node and in Chromium
      suite('package', ['tests/wasm/*.test.mjs'], { testTimeout: 120_000, ...patient, ...alone }),
      // the package as npm packs it, through bundlers and runtimes
      suite('embed', ['tests/embed/*.test.mjs'], { testTimeout: 120_000, ...patient, ...alone }),
      // the .deb and the archive of ./scripts/package
      suite('packages', ['tests/package/*.test.mjs'], { testTimeout: 60_000, ...together }),
      // the site behind nginx and Apache, and embedded
      suite('hosting', ['tests/hosting/*.test.mjs'], { testTimeout: 120_000, ...patient, ...alone }),
      // the built site as Lighthouse judges it
      suite('lighthouse', ['tests/lighthouse/*.test.mjs'], { testTimeout: 300_000, ...patient, ...alone }),
      // the built site in Chromium, which takes both cores by itself: two files at a time take as long
      suite('browser', ['tests/browser/**/*.test.mjs'], { testTimeout: 240_000, ...patient, ...alone }),
    ],
  },
});
