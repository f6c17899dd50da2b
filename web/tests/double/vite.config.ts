// SPDX-License-Identifier: Apache-2.0
//
// The page over the stand-in engine, in build/double: to look at states without an engine. Never shipped.
//   npx vite build --config web/tests/double/vite.config.ts

import { fileURLToPath } from 'node:url';
import { defineConfig, mergeConfig } from 'vite';

import site from '../../vite.config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig(async (environment) =>
  mergeConfig(typeof site === 'function' ? await site(environment) : await site, {
    resolve: { alias: { tersor: here('./index.ts') } },
    build: { outDir: here('../../../build/double') },
  }),
);
