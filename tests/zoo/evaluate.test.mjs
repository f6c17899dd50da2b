// SPDX-License-Identifier: Apache-2.0
// `tersor evaluate` on the zoo's labelled models: top-1 counts and AUC equal those that ONNX Runtime reaches on the same samples.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { test } from 'vitest';

import { labelledModels, makeSamples, npyBytes, sharedFolder } from './samples.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(root, 'build/native/bin/tersor');
const peers = path.join(sharedFolder, 'anchors/peers.json');
const here = existsSync(peers);
if (!here) console.log('skipped: accuracies of the zoo (TERSOR_SHARED is not here)');

const model = (id) => path.join(sharedFolder, 'zoo', id, 'model.onnx');

function evaluate(...args) {
  return JSON.parse(execFileSync(program, ['evaluate', ...args, '--json'], { encoding: 'utf8', stdio: 'pipe' }));
}

/** The error object of a call that must fail. */
function fault(...args) {
  try {
    evaluate(...args);
  } catch (error) {
    assert.equal(error.status, 1, error.stderr);
    return JSON.parse(error.stderr);
  }
  return assert.fail(`${args.join(' ')} did not fail`);
}

for (const id of labelledModels) {
  test.skipIf(!here)(`${id}: accuracy equals that of ONNX Runtime`, () => {
    const wanted = JSON.parse(readFileSync(peers, 'utf8')).accuracy[id];
    const folder = makeSamples(sharedFolder, id);
    const meta = JSON.parse(readFileSync(path.join(folder, 'meta.json'), 'utf8'));
    const data = ['--data', path.join(folder, 'eval_x.npy'), '--labels', path.join(folder, 'eval_y.npy')];
    const metric = ['--metric', meta.metric, '--group', String(meta.group)];
    const result = evaluate(model(id), ...data, ...metric);
    assert.equal(result.count, wanted.n);
    assert.equal(Number(result.value.toFixed(4)), wanted.float);
    if (result.correct !== null) assert.equal(result.correct, Math.round(wanted.float * wanted.n));
  });
}

test.skipIf(!here)('the number of threads changes nothing, and a model agrees with itself exactly', () => {
  const folder = makeSamples(sharedFolder, 'mnist-cntk');
  const data = [
    '--data',
    path.join(folder, 'eval_x.npy'),
    '--labels',
    path.join(folder, 'eval_y.npy'),
    '--limit',
    '100',
  ];
  const one = evaluate(model('mnist-cntk'), ...data, '--threads', '1', '--reference', model('mnist-cntk'));
  const three = evaluate(model('mnist-cntk'), ...data, '--threads', '3', '--reference', model('mnist-cntk'));
  assert.deepEqual(one, three);
  assert.equal(one.count, 100);
  assert.deepEqual(one.agreement, { same: 100, count: 100 });
  assert.equal(one.outputs[0].exact, true);
});

test.skipIf(!here)('bad samples and labels end in a sentence that names them', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tersor-evaluate-'));
  const put = (name, bytes) => {
    writeFileSync(path.join(folder, name), bytes);
    return path.join(folder, name);
  };
  try {
    const good = put('good.npy', npyBytes(new Float32Array(2 * 42), [2, 42]));
    const hand = model('hand-keypoint-mlp');
    assert.match(fault(hand, '--data', path.join(folder, 'missing')).message, /no such file or folder/);
    assert.match(fault(hand, '--data', put('text.md', 'hello')).message, /There are no samples here/);
    const wrong = fault(hand, '--data', put('wrong.npy', npyBytes(new Float32Array(2 * 41), [2, 41])));
    assert.equal(wrong.code, 'invalid_samples');
    assert.match(wrong.message, /The shape is 2x41, the input ".*" takes .*x42\./);
    const broken = new Float32Array(2 * 42);
    broken[42 + 7] = NaN;
    const labels = put('labels.csv', '0\n1\n');
    // What is only run may be anything that the model takes; an answer that is not a number is no class.
    const nan = put('nan.npy', npyBytes(broken, [2, 42]));
    assert.equal(evaluate(hand, '--data', nan, '--labels', labels).count, 2);
    const few = fault(hand, '--data', good, '--labels', put('few.csv', '0\n'));
    assert.equal(few.code, 'invalid_labels');
    assert.match(few.message, /There are 1 labels for 2 samples: the first without one is "good.0001"/);
    const picture = fault(model('mlperf-vww-mobilenetv1'), '--data', put('cut.png', '\x89PNG\r\n'));
    assert.match(picture.message, /named \.png/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Unpacks a zip archive; enough for those that the demo's maker writes. */
function unzip(bytes, folder) {
  let at = bytes.readUInt32LE(bytes.length - 22 + 16);
  for (let left = bytes.readUInt16LE(bytes.length - 22 + 10); left > 0; --left) {
    const [name, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field));
    const file = path.join(folder, bytes.toString('utf8', at + 46, at + 46 + name));
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
    mkdirSync(path.dirname(file), { recursive: true });
    if (!file.endsWith('/')) writeFileSync(file, bytes.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed));
    at += 46 + name + extra + comment;
  }
}

test("the demo's pictures in class folders are read and classified", () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tersor-demo-'));
  try {
    const demo = path.join(root, 'web/public/demo');
    const { preprocessing } = JSON.parse(readFileSync(path.join(demo, 'demo.json'), 'utf8'));
    unzip(readFileSync(path.join(demo, 'samples.zip')), path.join(folder, 'samples'));
    writeFileSync(path.join(folder, 'preprocessing.json'), JSON.stringify(preprocessing));
    const result = evaluate(
      path.join(demo, 'model.onnx'),
      ...['--data', path.join(folder, 'samples'), '--preprocessing', path.join(folder, 'preprocessing.json')],
    );
    assert.equal(result.count, 320);
    // The demo's maker measures the same with Pillow and ONNX Runtime.
    assert.equal(result.correct, 306);
    assert.equal(result.chance, 1 / 16);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
