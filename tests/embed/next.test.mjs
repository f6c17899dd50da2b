// SPDX-License-Identifier: Apache-2.0
//
// An app of Next through both of its bundlers: the client component in Chromium and the route on the server give the bytes
// that Node gives.
import { spawn, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { browserPath } from '../browser/browser_path.mjs';
import { expected, install, model, quantizedBy, table, tools } from './installed.mjs';

const next = path.join(tools, 'next/dist/bin/next');
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };

let browser, bytes;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: browserPath(), args: ['--disable-dev-shm-usage'] });
  bytes = await expected();
});
afterAll(() => browser?.close());

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function started(folder) {
  const port = await freePort();
  const server = spawn(process.execPath, [next, 'start', '--hostname', '127.0.0.1', '--port', String(port)], {
    cwd: folder,
    env,
  });
  await new Promise((resolve, reject) => {
    server.stdout.on('data', (said) => String(said).includes('Ready') && resolve());
    server.on('exit', (code) => reject(new Error(`next start ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}`, stop: () => server.kill() };
}

test.each(['turbopack', 'webpack'])('Next with %s', { timeout: 1_200_000 }, async (bundler) => {
  const { folder } = install(`next-${bundler}`, 'next');
  for (const name of ['next', 'react', 'react-dom'])
    symlinkSync(path.join(tools, name), path.join(folder, 'node_modules', name));
  const built = spawnSync(process.execPath, [next, 'build', `--${bundler}`], {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: 900_000, // a worker that refers to itself is followed for ever
  });
  expect(`${built.stdout}${built.stderr}`).toContain('/quantize');
  expect(built.status).toBe(0);
  const { url, stop } = await started(folder);
  try {
    const { made, complaints } = await quantizedBy(browser, url);
    expect(complaints).toEqual([]);
    expect(made.equals(bytes)).toBe(true);
    const response = await fetch(`${url}/quantize`, {
      method: 'POST',
      body: JSON.stringify({ model: Buffer.from(model).toString('base64'), table }),
    });
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  } finally {
    stop();
  }
});
