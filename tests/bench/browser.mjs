// SPDX-License-Identifier: Apache-2.0
// The float engine against onnxruntime-web in one page of Chromium, one thread each.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';

import { chromium } from 'playwright-core';

import { browserPath } from '../browser/browser_path.mjs';
import { geometricMean, row } from './rows.mjs';

const types = { '.mjs': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };

/** Serves each folder under its name, and an empty page at /. */
async function serveFolders(folders) {
  const server = createServer(async (request, response) => {
    const [, name, file] = /^\/(?:([^/]+)\/([\w.-]+))?/.exec(request.url);
    try {
      const body = name
        ? await readFile(path.join(folders[name], file))
        : '<!doctype html><script type="module" src="/bench/page.mjs"></script>';
      response.writeHead(200, {
        'Content-Type': types[path.extname(file ?? 'page.html')] ?? 'application/octet-stream',
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

export async function benchBrowser({ root, nets, names, rounds, report }) {
  const server = await serveFolders({
    bench: path.join(root, 'tests/bench'),
    engine: path.join(root, 'build/wasm/bin'),
    ort: path.join(root, 'node_modules/onnxruntime-web/dist'),
    nets,
  });
  const browser = await chromium.launch({ executablePath: browserPath(), args: ['--disable-dev-shm-usage'] });
  try {
    const rows = [];
    for (const name of names) {
      // A page for each, so that no model's memory weighs on the next.
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      await page.waitForFunction(() => 'measure' in window);
      const { ours, theirs, apart } = await page.evaluate(
        ([model, count]) => window.measure(model, count),
        [name, rounds],
      );
      if (!(apart < 1e-4)) throw new Error(`${name}: outputs are ${apart} of their range apart`);
      rows.push(row(`float ${name}, Chromium, against onnxruntime-web`, ours, theirs, 1.0));
      report(rows.at(-1));
      await page.close();
    }
    rows.push(geometricMean('float, Chromium, four networks', rows, 1.2));
    report(rows.at(-1));
    return rows;
  } finally {
    await browser.close();
    server.close();
  }
}
