// SPDX-License-Identifier: Apache-2.0
// Models of the zoo as int8 .tflite files, in pip's tflite-micro and ai-edge-litert: `tersor run` gives the first's outputs to the last
// bit. TERSOR_TFLITE_PYTHON names a Python that has both; where there is none, the test says that it was skipped.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'vitest';
import { modelProto, waves } from './protobuf.mjs';
import { withFolder } from './runtime.mjs';
import { makeSamples, npyBytes, readNpy, sharedFolder } from './samples.mjs';

const program = path.resolve(import.meta.dirname, '../../build/native/bin/tersor');
const script = path.join(import.meta.dirname, 'tflite_runtimes.py');
const python = process.env.TERSOR_TFLITE_PYTHON ?? path.resolve(import.meta.dirname, '../../build/tflite/bin/python');
const has = spawnSync(python, ['-c', 'import tflite_micro, ai_edge_litert']).status === 0;
const here = has && existsSync(sharedFolder);
if (!here) console.log('skipped: .tflite files in their runtimes (TERSOR_TFLITE_PYTHON or TERSOR_SHARED is not here)');

const run = (command, ...args) => {
  const done = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(done.status, 0, done.stderr);
};

const json = (...args) => JSON.parse(spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 }).stdout);

const models = [
  'mlperf-ic-resnet8',
  'mlperf-kws-dscnn',
  'mlperf-vww-mobilenetv1',
  'mlperf-ad-autoencoder',
  'cifar10-resnet20',
  'mnist-cntk',
  'imagenet-mobilenetv1-025-224',
  'hand-keypoint-mlp',
];
const files = [
  ...models.map((id) => [id, 'tflite-micro']),
  ...['mlperf-ic-resnet8', 'mlperf-kws-dscnn', 'mlperf-ad-autoencoder', 'mnist-cntk'].map((id) => [
    id,
    'tflite-micro-16x8',
  ]),
];

/** 10 log10 of the signal over what differs. */
const sqnr = (exact, other) => {
  let signal = 0;
  let noise = 0;
  for (let k = 0; k < exact.length; ++k) {
    signal += exact[k] ** 2;
    noise += (exact[k] - other[k]) ** 2;
  }
  return noise === 0 ? Infinity : 10 * Math.log10(signal / noise);
};

/** The .npy file of a sample with the channels of its picture last. */
const channelsLast = ({ shape, data }) => {
  if (shape.length !== 4 || shape[1] > shape[3]) return npyBytes(data, shape);
  const [, channels, height, width] = shape;
  const last = data.map((_, k) => data[(k % channels) * height * width + Math.floor(k / channels)]);
  return npyBytes(last, [1, height, width, channels]);
};

/** The first output of each sample, one after the other. */
const outputsOf = (folder) =>
  readdirSync(folder)
    .sort()
    .flatMap((sample) => {
      const [file] = readdirSync(path.join(folder, sample));
      return Array.from(readNpy(readFileSync(path.join(folder, sample, file))).data, Number);
    });

describe.skipIf(!here)('.tflite files in their runtimes', () => {
  test.each(files)('%s for %s', (id, platform) =>
    withFolder(async (folder) => {
      const at = (name) => path.join(folder, name);
      makeSamples(sharedFolder, id, folder);
      const calib = path.join(folder, id, 'calib');
      const onnx = path.join(sharedFolder, 'zoo', id, 'model.onnx');
      const quantize = ['quantize', onnx, '--data', calib, '--limit', '24', '--platform', platform, '--quiet'];
      run(program, ...quantize, '-o', at('q.tflite'), '--report', at('report.json'));
      const report = JSON.parse(readFileSync(at('report.json'), 'utf8'));
      assert.equal(report.runtime, 'tflite-micro');
      assert.equal(report.board.flash_bytes, readFileSync(at('q.tflite')).length);
      const some = readdirSync(calib).sort().slice(0, 6);
      const samples = some.map((name) => at(`last/${name}`));
      mkdirSync(at('first'));
      mkdirSync(at('last'));
      for (const name of some) {
        copyFileSync(path.join(calib, name), at(`first/${name}`));
        writeFileSync(at(`last/${name}`), channelsLast(readNpy(readFileSync(path.join(calib, name)))));
      }
      run(program, 'run', at('q.tflite'), '--data', at('last'), '--output', at('ours'));
      run(program, 'run', onnx, '--data', at('first'), '--output', at('float'));
      const ours = outputsOf(at('ours'));
      const exact = outputsOf(at('float'));
      for (const runtime of ['micro', 'litert']) {
        run(python, script, runtime, at('q.tflite'), at(`${runtime}.npy`), ...samples);
        const theirs = Array.from(readNpy(readFileSync(at(`${runtime}.npy`))).data);
        assert.equal(theirs.length, ours.length);
        if (runtime === 'micro') assert.deepEqual(theirs, ours);
        assert.ok(sqnr(exact, theirs) > 15, `${runtime}: ${sqnr(exact, theirs)} dB`);
      }
    }),
  );
});

/** Two LSTMs over `steps` steps and a product: X with the batch first, as PyTorch exports it, or with the time first. */
const recurrent = (seed, steps, inputs, units, batchFirst) => {
  const scaled = (data, by) => data.map((value) => value * by);
  const lstm = (x, name, length) => ({
    nodes: [
      {
        op: 'LSTM',
        inputs: [x, `${name}w`, `${name}r`, `${name}b`],
        outputs: [`${name}y`],
        attributes: { hidden_size: units },
      },
      { op: 'Squeeze', inputs: [`${name}y`, 'axis'], outputs: [`${name}s`] },
    ],
    constants: {
      [`${name}w`]: {
        dims: [1, 4 * units, length],
        data: scaled(waves(seed + length, 4 * units * length), 1.5 / Math.sqrt(length)),
      },
      [`${name}r`]: {
        dims: [1, 4 * units, units],
        data: scaled(waves(seed + 0.3, 4 * units * units), 1.5 / Math.sqrt(units)),
      },
      [`${name}b`]: { dims: [1, 8 * units], data: scaled(waves(seed + 0.7, 8 * units), 0.5) },
    },
  });
  const [one, two] = [lstm(batchFirst ? 't' : 'x', 'a', inputs), lstm('as', 'b', units)];
  const turn = (from, to) => ({ op: 'Transpose', inputs: [from], outputs: [to], attributes: { perm: [1, 0, 2] } });
  return modelProto(13, {
    nodes: [
      ...(batchFirst ? [turn('x', 't')] : []),
      ...one.nodes,
      ...two.nodes,
      ...(batchFirst ? [turn('bs', 'u')] : []),
      { op: 'MatMul', inputs: [batchFirst ? 'u' : 'bs', 'v'], outputs: ['y'] },
    ],
    constants: {
      ...one.constants,
      ...two.constants,
      axis: { dims: [1], data: BigInt64Array.of(1n) },
      v: { dims: [units, 3], data: waves(seed, 3 * units) },
    },
    inputs: { x: [1, batchFirst ? [1, steps, inputs] : [steps, 1, inputs]] },
    outputs: { y: [1, batchFirst ? [1, steps, 3] : [steps, 1, 3]] },
  });
};

/** Quantizes a model of one input and runs the file: all of it in integers, and equal to what tflite-micro gives. */
const checkRuntimes = (seed, model, shape, platform) =>
  withFolder(async (folder) => {
    const at = (name) => path.join(folder, name);
    writeFileSync(at('model.onnx'), model);
    for (const name of ['first', 'last']) mkdirSync(at(name));
    const count = shape.reduce((product, dim) => product * dim, 1);
    for (let k = 0; k < 12; ++k) {
      const data = waves(seed + k * k, count);
      writeFileSync(at(`first/s${k + 10}.npy`), npyBytes(data, shape));
      writeFileSync(at(`last/s${k + 10}.npy`), channelsLast({ shape, data }));
    }
    const quantize = ['quantize', at('model.onnx'), '--data', at('first'), '--platform', platform, '--quiet'];
    run(program, ...quantize, '-o', at('q.tflite'), '--report', at('report.json'));
    assert.deepEqual(JSON.parse(readFileSync(at('report.json'), 'utf8')).coverage.stays_float, []);
    run(program, 'run', at('q.tflite'), '--data', at('last'), '--output', at('ours'));
    run(program, 'run', at('model.onnx'), '--data', at('first'), '--output', at('float'));
    const samples = readdirSync(at('last')).map((name) => at(`last/${name}`));
    for (const runtime of ['micro', 'litert']) {
      run(python, script, runtime, at('q.tflite'), at(`${runtime}.npy`), ...samples);
      const theirs = Array.from(readNpy(readFileSync(at(`${runtime}.npy`))).data);
      if (runtime === 'micro') assert.deepEqual(theirs, outputsOf(at('ours')));
      const likeness = sqnr(outputsOf(at('float')), theirs);
      assert.ok(likeness > 20, `${runtime}: ${likeness} dB`);
    }
  });

describe.skipIf(!here)('LSTMs in their runtimes', () => {
  test.each([
    [1, 9, 5, 7, true],
    [2, 20, 8, 16, false],
    [3, 33, 3, 10, true],
  ])('%s', (seed, steps, inputs, units, batchFirst) =>
    checkRuntimes(
      seed,
      recurrent(seed, steps, inputs, units, batchFirst),
      batchFirst ? [1, steps, inputs] : [steps, 1, inputs],
      'tflite-micro',
    ),
  );
});

/** A picture that a transposed convolution makes larger, cut on all sides. */
const upsampled = (seed) =>
  modelProto(13, {
    nodes: [
      { op: 'Conv', inputs: ['x', 'w'], outputs: ['c'], attributes: { pads: [1, 1, 1, 1] } },
      { op: 'Relu', inputs: ['c'], outputs: ['r'] },
      {
        op: 'ConvTranspose',
        inputs: ['r', 'v', 'b'],
        outputs: ['t'],
        attributes: { strides: [2, 2], pads: [1, 1, 1, 1], output_padding: [seed % 2, 0] },
      },
      { op: 'Relu', inputs: ['t'], outputs: ['z'] },
      { op: 'Flatten', inputs: ['z'], outputs: ['y'] },
    ],
    constants: {
      w: { dims: [6, 3, 3, 3], data: waves(seed, 162) },
      v: { dims: [6, 4, 3, 3], data: waves(seed + 0.4, 216) },
      b: { dims: [4], data: waves(seed, 4) },
    },
    inputs: { x: [1, [1, 3, 6, 7]] },
    outputs: { y: [1, [1, 4 * (11 + (seed % 2)) * 13]] },
  });

/** Rows that look at each other: two products of activations. */
const attention = (seed) =>
  modelProto(13, {
    nodes: [
      ...['q', 'k', 'v'].map((name) => ({ op: 'MatMul', inputs: ['x', `w${name}`], outputs: [name] })),
      { op: 'Transpose', inputs: ['k'], outputs: ['kt'], attributes: { perm: [0, 2, 1] } },
      { op: 'MatMul', inputs: ['q', 'kt'], outputs: ['a'] },
      { op: 'Softmax', inputs: ['a'], outputs: ['p'], attributes: { axis: 2 } },
      { op: 'MatMul', inputs: ['p', 'v'], outputs: ['o'] },
      { op: 'Add', inputs: ['o', 'x'], outputs: ['y'] },
    ],
    constants: Object.fromEntries(
      ['q', 'k', 'v'].map((name, k) => [`w${name}`, { dims: [8, 8], data: waves(seed + k / 3, 64) }]),
    ),
    inputs: { x: [1, [1, 5, 8]] },
    outputs: { y: [1, [1, 5, 8]] },
  });

describe.skipIf(!here)('transposed convolutions and products of activations in their runtimes', () => {
  test.each(['tflite-micro', 'tflite-micro-16x8'])('%s', async (platform) => {
    for (const seed of [1, 2]) {
      await checkRuntimes(seed, upsampled(seed), [1, 3, 6, 7], platform);
      await checkRuntimes(seed, attention(seed), [1, 5, 8], platform);
    }
  });
});

describe.skipIf(!here)('int8 .tflite files of others beside their float models', () => {
  test.each(['mlperf-ic-resnet8', 'mlperf-kws-dscnn', 'mlperf-vww-mobilenetv1', 'mlperf-ad-autoencoder'])('%s', (id) =>
    withFolder(async (folder) => {
      const at = (name) => path.join(folder, name);
      makeSamples(sharedFolder, id, folder);
      const [onnx, int8] = ['model.onnx', 'int8.tflite'].map((name) => path.join(sharedFolder, 'zoo', id, name));
      const calib = path.join(folder, id, 'calib');
      mkdirSync(at('some'));
      mkdirSync(at('own'));
      const some = readdirSync(calib).sort().slice(0, 6);
      const { shape } = json('inspect', int8, '--json').inputs[0];
      for (const name of some) {
        copyFileSync(path.join(calib, name), at(`some/${name}`));
        const sample = readNpy(readFileSync(path.join(calib, name)));
        const isOwn = String(sample.shape.slice(1)) === String(shape.slice(1));
        writeFileSync(at(`own/${name}`), isOwn ? npyBytes(sample.data, sample.shape) : channelsLast(sample));
      }
      run(program, 'run', onnx, '--data', at('some'), '--output', at('float'));
      run(python, script, 'micro', int8, at('micro.npy'), ...some.map((name) => at(`own/${name}`)));
      const theirs = Array.from(readNpy(readFileSync(at('micro.npy'))).data);
      const wanted = sqnr(outputsOf(at('float')), theirs);
      const compared = json('compare', onnx, int8, '--data', at('some'), '--json');
      assert.equal(compared.runtime, 'tflite-micro');
      assert.ok(Math.abs(compared.outputs[0].sqnr_db - wanted) < 1e-6, `${compared.outputs[0].sqnr_db} for ${wanted}`);
      const answers = ['--metric', 'answers', '--reference', onnx, '--json'];
      const evaluated = json('evaluate', int8, '--data', at('some'), ...answers);
      assert.ok(Math.abs(evaluated.outputs[0].sqnr_db - wanted) < 1e-6, `${evaluated.outputs[0].sqnr_db}`);
    }),
  );
});

/** Shapes of the first input, as the files declare them; those of other models are told by their ONNX twins. */
const floatModels = {
  'mlperf-ic-resnet8': [1, 32, 32, 3],
  'mlperf-vww-mobilenetv1': [1, 96, 96, 3],
  'mlperf-ad-autoencoder': [1, 640],
  'imagenet-mobilenetv1-025-224': [1, 224, 224, 3],
  'hand-keypoint-mlp': [1, 42],
  'kwt-1': [1, 16000],
  'basic-pitch': [1, 43844, 1],
};

describe.skipIf(!here)('float .tflite files as models', () => {
  test.each(Object.entries(floatModels))('%s', (id, shape) =>
    withFolder(async (folder) => {
      const at = (name) => path.join(folder, name);
      const model = path.join(sharedFolder, 'zoo', id, 'model.tflite');
      const count = shape.reduce((a, b) => a * b);
      let seed = 1;
      const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
      mkdirSync(at('samples'));
      const samples = ['a.npy', 'b.npy', 'c.npy'].map((name) => at(`samples/${name}`));
      for (const sample of samples)
        writeFileSync(sample, npyBytes(Float32Array.from({ length: count }, random), shape));
      run(program, 'run', model, '--data', at('samples'), '--output', at('ours'));
      run(python, script, 'litert-first', model, at('theirs.npy'), ...samples);
      const theirs = Array.from(readNpy(readFileSync(at('theirs.npy'))).data);
      const ours = outputsOf(at('ours'));
      assert.equal(ours.length, theirs.length);
      const [low, high] = theirs.reduce(
        ([a, b], value) => [Math.min(a, value), Math.max(b, value)],
        [Infinity, -Infinity],
      );
      const range = high - low;
      const apart = ours.reduce((most, value, k) => Math.max(most, Math.abs(value - theirs[k])), 0);
      assert.ok(apart <= 1e-4 * range, `${apart} of ${range}`);
    }),
  );
});
