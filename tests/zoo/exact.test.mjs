// SPDX-License-Identifier: Apache-2.0
// The exact preview against the real runtimes: outputs of `tersor run` equal onnxruntime-node's (x64) and onnxruntime-web's (wasm) byte for
// byte, on quantized models of others and on our own. x64 is asserted on CPUs with VNNI only: elsewhere the runtime saturates.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import * as ortNode from 'onnxruntime-node';

import { readNpy, zooSamples } from './samples.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const shared = process.env.TERSOR_SHARED ?? path.join(root, '../shared');
const program = path.join(root, 'build/native/bin/tersor');
const hasVnni = existsSync('/proc/cpuinfo') && /avx512_vnni|avx_vnni/.test(readFileSync('/proc/cpuinfo', 'latin1'));
const count = 100;

const eight = [
  'mlperf-ic-resnet8',
  'mlperf-kws-dscnn',
  'mlperf-vww-mobilenetv1',
  'mlperf-ad-autoencoder',
  'cifar10-resnet20',
  'mnist-cntk',
  'imagenet-mobilenetv1-025-224',
  'hand-keypoint-mlp',
];
const twins = {
  'mlperf-ic-resnet8': 'int8-qdq.onnx',
  'mlperf-kws-dscnn': 'int8-qdq.onnx',
  'mlperf-vww-mobilenetv1': 'int8-qdq.onnx',
  'mlperf-ad-autoencoder': 'int8-qdq.onnx',
  'imagenet-mobilenetv1-025-224': 'uint8-qdq.onnx',
};

const tersor = (...args) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });

/** Outputs of `tersor run`, one array of float or integer data per sample, first output. */
function ours(model, data, runtime) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tersor-exact-'));
  try {
    tersor('run', model, '--data', data, '--output', folder, '--runtime', runtime, '--limit', String(count));
    return readdirSync(folder)
      .sort()
      .map((sample) => {
        const files = readdirSync(path.join(folder, sample)).sort();
        return readNpy(readFileSync(path.join(folder, sample, files[0])));
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function theirs(ort, bytes, samples) {
  const session = await ort.InferenceSession.create(bytes, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const results = [];
  for (const sample of samples) {
    const feed = { [session.inputNames[0]]: new ort.Tensor('float32', sample.data, sample.shape) };
    const output = await session.run(feed);
    results.push(output[session.outputNames[0]].data);
  }
  await session.release();
  return results;
}

function assertEqual(got, wanted, what) {
  assert.equal(got.length, wanted.length, `${what}: number of samples`);
  let differing = 0;
  let largest = 0;
  for (let i = 0; i < wanted.length; ++i)
    for (let k = 0; k < wanted[i].length; ++k)
      if (got[i].data[k] !== wanted[i][k] && !(Number.isNaN(got[i].data[k]) && Number.isNaN(wanted[i][k]))) {
        ++differing;
        largest = Math.max(largest, Math.abs(Number(got[i].data[k]) - Number(wanted[i][k])));
      }
  assert.equal(differing, 0, `${what}: ${differing} values differ, by ${largest} at most`);
}

async function compare(model, samples, what) {
  const bytes = readFileSync(model);
  if (hasVnni)
    assertEqual(ours(model, samples.folder, 'x64'), await theirs(ortNode, bytes, samples.list), `${what}, x64`);
  else console.log(`skipped: ${what}, x64 (this CPU has no VNNI)`);
  const ortWeb = await import('onnxruntime-web/wasm');
  ortWeb.env.wasm.numThreads = 1;
  assertEqual(ours(model, samples.folder, 'wasm'), await theirs(ortWeb, bytes, samples.list), `${what}, wasm`);
}

for (const id of eight) {
  const zoo = path.join(shared, 'zoo', id);
  const here = existsSync(zoo);
  test(
    `${id}: the vendor's quantized model`,
    { skip: here ? (twins[id] ? false : 'there is none') : 'TERSOR_SHARED is not here' },
    async () => {
      await compare(path.join(zoo, twins[id]), zooSamples(shared, id, count), `${id} by its vendor`);
    },
  );
  test(`${id}: our own quantized model`, { skip: here ? false : 'TERSOR_SHARED is not here' }, async () => {
    const folder = path.join(root, 'build/zoo-quantized');
    mkdirSync(folder, { recursive: true });
    const samples = zooSamples(shared, id, count);
    const output = path.join(folder, `${id}.onnx`);
    tersor('quantize', path.join(zoo, 'model.onnx'), '--data', samples.calibration, '-o', output);
    await compare(output, samples, `${id} by Tersor`);
  });
}
