// SPDX-License-Identifier: Apache-2.0
// Constants that no integers stand for, wherever an operator takes them: a file comes of it, or a refusal with a name.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { modelProto } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { npyBytes } from '../zoo/samples.mjs';
import { run } from './job.mjs';

const numbers = (dims, from = 0.5) => ({
  dims,
  data: Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, k) => from + (k % 5) / 8),
});

/** Operators on N x 4 x 6 x 6 (on N x 4 for products) with the constants that they read after it. */
const operators = {
  Conv: { constants: { w: numbers([4, 4, 3, 3]), b: numbers([4]) } },
  ConvTranspose: { constants: { w: numbers([4, 4, 3, 3]), b: numbers([4]) } },
  Gemm: { flat: true, constants: { w: numbers([4, 4]), b: numbers([4]) } },
  BatchNormalization: {
    constants: { scale: numbers([4]), b: numbers([4]), mean: numbers([4]), variance: numbers([4]) },
  },
  InstanceNormalization: { constants: { scale: numbers([4]), b: numbers([4]) } },
  LayerNormalization: { constants: { scale: numbers([6]), b: numbers([6]) } },
  PRelu: { constants: { slope: numbers([4, 1, 1]) } },
  Add: { constants: { b: numbers([4, 1, 1]) } },
  Mul: { constants: { w: numbers([4, 1, 1]) } },
};

/** conv -> op -> relu -> conv, so that the operator has quantized tensors around it; on rows, of products. */
function model({ op, flat, constants }) {
  const kernel = flat ? numbers([4, 4], -0.3) : numbers([4, 4, 1, 1], -0.3);
  const product = (x, y) => ({ op: flat ? 'MatMul' : 'Conv', inputs: [x, `kernel_of_${y}`], outputs: [y] });
  const shape = flat ? [2, 4] : [1, 4, 6, 6];
  return modelProto(17, {
    nodes: [
      product('x', 'first'),
      { op, inputs: ['first', ...Object.keys(constants)], outputs: ['made'] },
      { op: 'Relu', inputs: ['made'], outputs: ['cut'] },
      product('cut', 'y'),
    ],
    constants: { ...constants, kernel_of_first: kernel, kernel_of_y: kernel },
    inputs: { x: [1, shape] },
    outputs: { y: [1, null] },
  });
}

function quantize(folder, bytes, flat, platform) {
  const file = (name) => path.join(folder, name);
  writeFileSync(file('model.onnx'), bytes);
  const shape = flat ? [2, 4] : [1, 4, 6, 6];
  const length = shape.reduce((a, b) => a * b);
  writeFileSync(
    file('x.npy'),
    npyBytes(
      Float32Array.from({ length }, (_, k) => Math.sin(k)),
      shape,
    ),
  );
  const more = ['--data', file('x.npy'), '-o', file('out.onnx'), '--platform', platform];
  return run('quantize', file('model.onnx'), ...more, '--threads', '1', '--json');
}

/** 0, or 1 with an error that names one of these. */
function expectTold({ status, stderr, signal }, names, what) {
  assert.equal(signal, null, what);
  if (status === 0) return;
  assert.equal(status, 1, `${what}: ${stderr}`);
  const error = JSON.parse(stderr.slice(stderr.indexOf('{')));
  assert.notEqual(error.code, 'internal', `${what}: ${stderr}`);
  const told = `${error.place} ${error.message}`;
  assert(
    names.some((name) => told.includes(`"${name}"`) || told.includes(`(${name})`)),
    `${what}: ${told}`,
  );
}

test(
  'a constant with an infinity or NaN',
  () =>
    withFolder((folder) => {
      for (const platform of ['ort-cpu', 'qnn', 'tensorrt']) {
        for (const [op, { flat = false, constants }] of Object.entries(operators)) {
          for (const name of Object.keys(constants)) {
            for (const value of [-Infinity, NaN]) {
              const { dims, data } = constants[name];
              const broken = { dims, data: data.map((one, k) => (k === 1 ? value : one)) };
              const bytes = model({ op, flat, constants: { ...constants, [name]: broken } });
              const done = quantize(folder, bytes, flat, platform);
              // what is folded into a kernel is told by the kernel's name, what spoils the numbers by the first value
              const names = [name, 'kernel_of_first', 'kernel_of_first_bias', 'made', 'cut', 'y', 'x', op];
              expectTold(done, names, `${platform}: ${op}.${name} with ${value}`);
            }
          }
        }
      }
    }),
  300_000,
);

test('a bias that is not finite is refused with its name', () =>
  withFolder((folder) => {
    for (const [op, flat] of [
      ['Conv', false],
      ['ConvTranspose', false],
      ['Gemm', true],
    ]) {
      const { constants } = operators[op];
      const b = { dims: [4], data: Float32Array.of(0, -Infinity, 0, 0) };
      const { stderr, status } = quantize(folder, model({ op, flat, constants: { ...constants, b } }), flat, 'ort-cpu');
      assert.equal(status, 1);
      const error = JSON.parse(stderr.slice(stderr.indexOf('{')));
      assert.equal(error.place, 'graph.initializer "b"');
      assert.match(error.message, /bias is not finite: -inf/);
    }
  }));

test(
  'a bias of another shape works, or is refused with its name',
  () =>
    withFolder((folder) => {
      for (const platform of ['ort-cpu', 'qnn']) {
        for (const [op, channels, flat] of [
          ['Conv', 4, false],
          ['Conv', 1, false],
          ['ConvTranspose', 4, false],
          ['ConvTranspose', 1, false],
          ['Gemm', 4, true],
          ['Gemm', 1, true],
        ]) {
          const dims = flat ? [4, channels] : op === 'Conv' ? [channels, 4, 3, 3] : [4, channels, 3, 3];
          for (const shape of [[], [1, channels], [1, 1, 1, 1, 1, 1], [0], [7]]) {
            for (const follower of [null, 'Mul', 'Add', 'BatchNormalization']) {
              if (follower === 'BatchNormalization' && flat) continue;
              const vector = numbers([channels]);
              const more =
                follower === 'BatchNormalization' ? { s: vector, t: vector, m: vector, v: vector } : { s: numbers([]) };
              const bytes = modelProto(17, {
                nodes: [
                  { op, inputs: ['x', 'w', 'b'], outputs: [follower ? 'made' : 'y'] },
                  ...(follower ? [{ op: follower, inputs: ['made', ...Object.keys(more)], outputs: ['y'] }] : []),
                ],
                constants: { w: numbers(dims, -0.4), b: numbers(shape), ...(follower ? more : {}) },
                inputs: { x: [1, flat ? [2, 4] : [1, 4, 6, 6]] },
                outputs: { y: [1, null] },
              });
              const what = `${platform}: ${op} of ${channels}, bias [${shape}], ${follower}`;
              expectTold(quantize(folder, bytes, flat, platform), ['b', op, 'made', 'y'], what);
            }
          }
        }
      }
    }),
  300_000,
);
