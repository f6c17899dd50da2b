// SPDX-License-Identifier: Apache-2.0
//
// Where workers do not start, the error says why and what to do; and without workers the same bytes are made, in the
// thread of the caller: in a page, a service worker and Node.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { browserPath } from '../browser/browser_path.mjs';
import { smallProduct } from '../zoo/protobuf.mjs';

const dist = path.resolve(import.meta.dirname, '../../wasm/dist');
const model = smallProduct();
const table = 'a,b,c,d\n1,2,3,4\n0.5,-1,2,0.1\n-3,2,1,0\n';
const blank = '<!doctype html><link rel="icon" href="data:," /><script type="module" src="/main.js"></script>';

const job = `
  import { Tersor } from '/dist/index.js';
  export async function quantize(options) {
    try {
      const tersor = await Tersor.create(options);
      const model = await tersor.open(await (await fetch('/model.onnx')).blob());
      const made = await model.quantize({ samples: [{ path: 'samples.csv', data: new Blob([${JSON.stringify(table)}]) }] });
      const { workers } = tersor;
      tersor.close();
      return { workers, bytes: Array.from(made.model) };
    } catch ({ name, code, message, place, hint }) {
      return { name, code, message, place, hint };
    }
  }`;
const inServiceWorker = `
  import { quantize } from './job.js';
  addEventListener('message', async ({ data, ports }) => ports[0].postMessage(await quantize(data)));`;

const types = { '.js': 'text/javascript', '.mjs': 'text/javascript', '.wasm': 'application/wasm' };
let server, browser, address, answers, expected;

beforeAll(async () => {
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://x');
    const own = {
      '/': [blank, 'text/html'],
      '/model.onnx': [model, 'application/octet-stream'],
      '/job.js': [job, types['.js']],
      '/main.js': ["import { quantize } from './job.js';\nwindow.quantize = quantize;\n", types['.js']],
      '/sw.js': [inServiceWorker, types['.js']],
    }[pathname];
    const file = path.join(dist, pathname.replace('/dist/', ''));
    const { status = 200, type, policy } = answers(pathname);
    if (!own && (!existsSync(file) || status !== 200)) return response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': type ?? own?.[1] ?? types[path.extname(file)],
      ...(policy && { 'content-security-policy': policy }),
    });
    response.end(own ? own[0] : readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://localhost:${server.address().port}`;
  browser = await chromium.launch({ executablePath: browserPath(), args: ['--disable-dev-shm-usage'] });
  expected = await inNode({ workers: 1 });
});
afterAll(async () => {
  await browser?.close();
  server?.close();
});

async function inNode(options) {
  const tersor = await Tersor.create(options);
  const opened = await tersor.open(model);
  const made = await opened.quantize({ samples: [{ path: 'samples.csv', data: new TextEncoder().encode(table) }] });
  const { workers } = tersor;
  tersor.close();
  return { workers, bytes: Array.from(made.model) };
}

/** What the page's job says with these options, where the server answers so. */
async function inPage(options, serves = () => ({})) {
  answers = serves;
  const context = await browser.newContext();
  const page = await context.newPage();
  try {
    await page.goto(address);
    await page.waitForFunction(() => 'quantize' in window);
    return await page.evaluate((given) => window.quantize(given), options);
  } finally {
    await context.close();
  }
}

describe('without workers', () => {
  test('in Node', async () => {
    const made = await inNode({ workers: 0 });
    expect(made).toEqual({ workers: 0, bytes: expected.bytes });
  });

  test('an abort is heard between two samples', async () => {
    const tersor = await Tersor.create({ workers: 0 });
    const opened = await tersor.open(model);
    const controller = new AbortController();
    let given = 0;
    const samples = (function* () {
      for (; given < 100_000; ++given) yield { [opened.info.inputs[0].name]: new Float32Array(4).fill(given) };
    })();
    setTimeout(() => controller.abort('enough'), 20);
    await expect(opened.calibrate(samples, { signal: controller.signal })).rejects.toBe('enough');
    expect(given).toBeLessThan(100_000);
    tersor.close();
  });

  test('in a page', async () => {
    expect(await inPage({ workers: 0 })).toEqual({ workers: 0, bytes: expected.bytes });
  });

  test('in a service worker, where that is the default', async () => {
    answers = () => ({});
    const page = await browser.newPage();
    await page.goto(address);
    const made = await page.evaluate(async () => {
      await navigator.serviceWorker.register('/sw.js', { type: 'module' });
      const { active } = await navigator.serviceWorker.ready;
      const { port1, port2 } = new MessageChannel();
      active.postMessage({}, [port2]);
      return new Promise((resolve) => (port1.onmessage = ({ data }) => resolve(data)));
    });
    await page.close();
    expect(made).toEqual({ workers: 0, bytes: expected.bytes });
  });
});

describe('a worker that does not start says why', () => {
  const worker = (answer) => (pathname) => (pathname === '/dist/worker.js' ? answer : {});
  const page = (policy) => (pathname) => (pathname === '/' ? { policy } : {});
  const scripts = "script-src 'self' 'unsafe-eval' 'wasm-unsafe-eval'";
  test.each([
    ['no file', worker({ status: 404 }), /could not be loaded.*status 404/, /locateFile/],
    ['no type', worker({ type: 'application/octet-stream' }), /"application\/octet-stream"/, /text\/javascript/],
    ['a page in its place', worker({ type: 'text/html' }), /"text\/html"/, /A page came in its place/],
    ['a policy', page(`${scripts}; worker-src 'none'`), /Content-Security-Policy forbids workers/, /worker-src 'self'/],
    ['Trusted Types', page("require-trusted-types-for 'script'"), /Trusted Types/, /createPolicy/],
  ])('%s', async (name, serves, message, hint) => {
    const error = await inPage({ workers: 1 }, serves);
    expect(error).toMatchObject({ name: 'TersorError', code: 'worker_died' });
    expect(error.message).toMatch(message);
    expect(error.hint).toMatch(hint);
    if (name !== 'Trusted Types') expect(error.place).toBe(`${address}/dist/worker.js`);
  });

  test('in Node', async () => {
    const nowhere = new URL('nowhere/worker.js', import.meta.url);
    const locateFile = (name) => (name === 'worker.js' ? nowhere : new URL(name, `file://${dist}/`));
    await expect(Tersor.create({ workers: 1, locateFile })).rejects.toMatchObject({
      code: 'worker_died',
      message: "The worker's file is not there.",
      place: nowhere.href,
      hint: expect.stringContaining('serverExternalPackages'),
    });
  });

  test('who still answers for worker.mjs by name is heard', async () => {
    const nowhere = new URL('nowhere/worker.mjs', import.meta.url);
    const locateFile = (name) => (name === 'worker.mjs' ? nowhere : new URL(name, `file://${dist}/`));
    await expect(Tersor.create({ workers: 1, locateFile })).rejects.toMatchObject({ place: nowhere.href });
  });
});
