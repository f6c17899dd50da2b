// SPDX-License-Identifier: Apache-2.0
// For python/tersor/prices.py: times the graphs of a folder in onnxruntime-web in Chromium, one thread.
//
//   node tests/bench/prices_web.mjs FOLDER SECONDS      a line for each entry of cases.json: {count of operators: least seconds of a run}
//   node tests/bench/prices_web.mjs --about             the runtime's name and version, and the browser's
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { browserVersion } from './browser_version.mjs';
import { withPages } from './pages.mjs';

const [folder, seconds] = process.argv.slice(2);
/** Graphs of so many cases share a page, so that no page's memory grows without end. */
const casesOfPage = 16;

if (folder === '--about') {
  const { version } = JSON.parse(
    readFileSync(path.join(path.dirname(createRequire(import.meta.url).resolve('onnxruntime-web')), '../package.json')),
  );
  console.log(`ONNX Runtime Web ${version}\n${browserVersion()}`);
} else {
  const cases = JSON.parse(readFileSync(path.join(folder, 'cases.json'), 'utf8'));
  await withPages({ root: fileURLToPath(new URL('../..', import.meta.url)), nets: folder }, async (pages) => {
    for (let begin = 0; begin < cases.length; begin += casesOfPage)
      await pages.with('prices_page.mjs', async (page) => {
        for (const one of cases.slice(begin, begin + casesOfPage)) {
          const times = await page.evaluate((given) => window.measureChains(given), {
            ...one,
            seconds: Number(seconds),
          });
          console.log(JSON.stringify(times));
        }
      });
  });
}
