// SPDX-License-Identifier: Apache-2.0
// Chromium and the server whose pages the benches run in. The pages are isolated: clocks count in 5 microseconds there, and
// onnxruntime-web may have threads.
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';

import { chromium } from 'playwright-core';

import { browserPath } from '../browser/browser_path.mjs';

const types = {
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
  '.html': 'text/html',
};

const isolation = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cache-Control': 'no-store',
};

/** Each folder under its name; /page/NAME.mjs is a page that runs just that script of this folder. */
async function serveFolders(folders) {
  const server = createServer(async (request, response) => {
    const [, place, file] = /^\/([^/]+)\/([\w./-]+)/.exec(request.url) ?? [];
    try {
      if (place === 'page') {
        response.writeHead(200, { ...isolation, 'Content-Type': 'text/html' });
        response.end(`<!doctype html><input type="file" /><script type="module" src="/bench/${file}"></script>`);
        return;
      }
      const whole = path.join(folders[place], path.normalize(`/${file}`));
      const { size } = await stat(whole);
      response.writeHead(200, {
        ...isolation,
        'Content-Type': types[path.extname(file)] ?? 'application/octet-stream',
        'Content-Length': size,
      });
      if (size < 1 << 20) response.end(await readFile(whole));
      else createReadStream(whole).pipe(response);
    } catch {
      response.writeHead(404, isolation).end();
    }
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

/** A browser with the benches' pages. */
export class Pages {
  static async start({ root, nets, shared, files }) {
    const server = await serveFolders({
      bench: path.join(root, 'tests/bench'),
      engine: path.join(root, 'build/wasm/bin'),
      package: path.join(root, 'wasm/dist'),
      ort: path.join(root, 'node_modules/onnxruntime-web/dist'),
      zoo: path.join(shared ?? root, 'zoo'),
      samples: path.join(root, 'build/zoo-samples'),
      nets,
      files,
    });
    const browser = await chromium.launch({ executablePath: browserPath(), args: ['--disable-dev-shm-usage'] });
    return Object.assign(new Pages(), { server, browser });
  }

  /** `work` with a page of its own that runs `script`, so that no model's memory weighs on the next. */
  async with(script, work) {
    const page = await this.browser.newPage();
    try {
      await page.goto(`http://127.0.0.1:${this.server.address().port}/page/${script}`);
      await page.waitForFunction(() => 'ready' in window);
      return await work(page);
    } finally {
      await page.close();
    }
  }

  async close() {
    await this.browser.close();
    this.server.close();
  }
}

/** What `work` does with pages; they are closed after it. */
export async function withPages(options, work) {
  const pages = await Pages.start(options);
  try {
    return await work(pages);
  } finally {
    await pages.close();
  }
}
