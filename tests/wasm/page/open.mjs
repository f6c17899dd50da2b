// SPDX-License-Identifier: Apache-2.0
//
// The package in Chromium as it lies in wasm/dist: imported by a plain module script, under the policy that docs/hosting.md asks
// for, from a small server of this test.
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { chromium } from 'playwright-core';

const dist = path.resolve(import.meta.dirname, '../../../wasm/dist');
const types = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.html': 'text/html',
};
const policy =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src 'self' data:";

function serve(places) {
  const server = createServer((request, response) => {
    const [, place, ...rest] = decodeURIComponent(new URL(request.url, 'http://x').pathname).split('/');
    const file =
      place === 'page' ? path.join(import.meta.dirname, ...rest) : path.join(places.get(place) ?? '', ...rest);
    if ((place !== 'page' && !places.has(place)) || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    const type = types[path.extname(file)] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'content-security-policy': policy });
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

/** `host`: what the server is called by; only localhost and addresses like it are secure contexts. */
export async function openPage({ host = 'localhost' } = {}) {
  const places = new Map([['dist', dist]]);
  const server = await serve(places);
  const address = `http://${host}:${server.address().port}`;
  const browser = await chromium.launch({
    executablePath: process.env.TERSOR_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--disable-dev-shm-usage', `--host-resolver-rules=MAP ${host} 127.0.0.1`],
  });
  const page = await browser.newPage();
  const complaints = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
  await page.goto(`${address}/page/index.html`);
  return {
    page,
    complaints,
    /** Of the quantized file for each platform, made in the page: its SHA-256, or the sentence that refuses it. */
    async quantize(job, folder, names, { count, workers, platforms = ['ort-cpu'] }) {
      places.set('model', path.dirname(job.model)).set('data', folder);
      const settings = {
        model: `/model/${path.basename(job.model)}`,
        names,
        count,
        workers,
        preprocessing: job.preprocessing,
        platforms,
      };
      return page.evaluate((given) => window.quantize(given), settings);
    },
    async close() {
      await browser.close();
      server.close();
    },
  };
}
