// SPDX-License-Identifier: Apache-2.0
//
// The package as npm packs it, unpacked as npm installs it, with apps beside it; and a browser that opens them.
import { execFileSync } from 'node:child_process';
import {
  createReadStream,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';

import { smallProduct } from '../zoo/protobuf.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const work = path.join(root, 'build/embed-tests');
export const tools = path.join(import.meta.dirname, 'node_modules');

// ResNet20 where it is here, else a product; its samples as a table, a row each.
const resnet = path.join(process.env.TERSOR_SHARED ?? path.join(root, '../shared'), 'zoo/cifar10-resnet20/model.onnx');
const isThere = existsSync(resnet);
const [columns, rows] = isThere ? [3 * 32 * 32, 4] : [4, 3];
export const model = isThere ? readFileSync(resnet) : smallProduct();
const row = (r) => Array.from({ length: columns }, (_, c) => Math.sin(r * 7 + c * 0.37).toFixed(3)).join(',');
const head = Array.from({ length: columns }, (_, c) => `c${c}`).join(',');
export const table = [head, ...Array.from({ length: rows }, (_, r) => row(r)), ''].join('\n');

/** A fresh folder `name` whose apps have the package installed. The archive is what `npm publish` would send. `apps`: a folder here. */
export function install(name, apps = 'app') {
  const folder = path.join(work, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(path.join(import.meta.dirname, apps), folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const npm = (cwd, ...args) => execFileSync('npm', args, { cwd, encoding: 'utf8' });
  const [{ filename }] = JSON.parse(npm(path.join(root, 'wasm'), 'pack', '--json', '--pack-destination', folder));
  // it depends on nothing, so there is nothing to ask a registry for
  npm(folder, 'install', '--offline', '--no-audit', '--no-fund', `./${filename}`);
  return { folder, archive: path.join(folder, filename), place: path.join(folder, 'node_modules/tersor') };
}

const types = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** Serves a folder; pages of other origins may read it. */
export async function serve(folder) {
  const server = createServer((request, response) => {
    const file = path.join(folder, decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const found = file.startsWith(folder) && existsSync(file) && statSync(file).isFile();
    response.writeHead(found ? 200 : 404, {
      'Content-Type': types[path.extname(file)] ?? 'application/octet-stream',
      'Access-Control-Allow-Origin': '*',
    });
    if (found) createReadStream(file).pipe(response);
    else response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** What the page at `url` makes of the model. */
export async function quantizedBy(browser, url, options = {}) {
  const page = await browser.newPage();
  const complaints = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  try {
    await page.goto(url);
    await page
      .waitForFunction(() => 'quantize' in window, undefined, { timeout: 10_000 })
      .catch((error) => {
        throw new Error(`${error.message}\n${complaints.join('\n')}`);
      });
    const made = await page.evaluate(
      ([text64, text, more]) => {
        const bytes = Uint8Array.from(atob(text64), (one) => one.charCodeAt(0));
        return window.quantize(bytes, text, more);
      },
      [Buffer.from(model).toString('base64'), table, options],
    );
    return { made: Buffer.from(made), complaints };
  } finally {
    await page.close();
  }
}

/** What the package makes of it here. */
export async function expected() {
  const { Tersor } = await import('../../wasm/dist/index.js');
  const tersor = await Tersor.create({ workers: 1 });
  const opened = await tersor.open(model);
  const quantized = await opened.quantize({
    samples: [{ path: 'samples.csv', data: new TextEncoder().encode(table) }],
  });
  tersor.close();
  return Buffer.from(quantized.model);
}

export const packageFiles = (place) => JSON.parse(readFileSync(path.join(place, 'package.json'), 'utf8'));
