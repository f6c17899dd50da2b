// SPDX-License-Identifier: Apache-2.0
// The float engine against onnxruntime-web in one page of Chromium, one thread each; what watching all tensors costs, and
// the integer simulation against the float engine.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';

import { chromium } from 'playwright-core';

import { browserPath } from '../browser/browser_path.mjs';
import { geometricMean, row } from './rows.mjs';
import { sample } from './sample.mjs';

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

/** At most 20 % and 5 % more. */
const observingBars = { 'mobilenet-v2': 1 / 1.2, 'resnet-50': 1 / 1.05 };

/** Writes nets/NAME-int8.onnx, calibrated on two samples. */
function quantizeNet(root, nets, name) {
  const data = path.join(nets, 'samples.npy');
  const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 224, 224), }";
  const preamble = Buffer.from(`\x93NUMPY\x01\x00\x00\x00${header.padEnd(117)}\n`, 'latin1');
  preamble.writeUInt16LE(118, 8);
  writeFileSync(data, Buffer.concat([preamble, Buffer.from(sample(2 * 3 * 224 * 224).buffer)]));
  const file = (of) => path.join(nets, `${of}.onnx`);
  const args = ['quantize', file(name), '--data', data, '-o', file(`${name}-int8`)];
  const { status, stderr } = spawnSync(path.join(root, 'build/native/bin/tersor'), args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
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
    rows.push(geometricMean('float, Chromium, four networks', rows, 1.5));
    report(rows.at(-1));
    const between = async (name, ours, theirs, bar) => {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      await page.waitForFunction(() => 'compareModes' in window);
      const times = await page.evaluate((all) => window.compareModes(...all), [ours, theirs, rounds]);
      rows.push(row(name, times.ours, times.theirs, bar));
      report(rows.at(-1));
      await page.close();
    };
    for (const [name, most] of Object.entries(observingBars).filter(([one]) => names.includes(one)))
      await between(
        `observing all tensors of ${name}, Chromium, against not`,
        [name, 'observe'],
        [name, 'float'],
        most,
      );
    if (names.includes('mobilenet-v2')) {
      quantizeNet(root, nets, 'mobilenet-v2');
      const title = 'integer simulation of mobilenet-v2, Chromium, against float';
      await between(title, ['mobilenet-v2-int8', 'simulate'], ['mobilenet-v2', 'float'], 1.5);
    }
    return rows;
  } finally {
    await browser.close();
    server.close();
  }
}
