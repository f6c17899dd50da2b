// SPDX-License-Identifier: Apache-2.0
// The operators of files that hold integer operators themselves, one by one on seeded inputs: outputs of `tersor run` equal onnxruntime-node's
// (x64) and onnxruntime-web's (wasm). Scales are such that ties are frequent. x64 is asserted on CPUs with VNNI only.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as ortNode from 'onnxruntime-node';
import { describe, test } from 'vitest';

import { hasVnni } from '../cpu.mjs';
import { modelProto } from './protobuf.mjs';
import { random, tersor, withFolder } from './runtime.mjs';
import { npyBytes, readNpy } from './samples.mjs';

const microsoft = 'com.microsoft';
const samples = 6;

const seeded = random(7);
const integers = (Kind, dims, low, high) => ({
  dims,
  data: new Kind(dims.reduce((a, b) => a * b, 1)).map(() => Math.floor(low + ((seeded() + 1) / 2) * (high - low + 1))),
});
const scalar = (Kind, value) => ({ dims: [], data: new Kind([value]) });
const f32 = (value) => scalar(Float32Array, value);
const vector = (Kind, ...values) => ({ dims: [values.length], data: new Kind(values) });

/**
 * x -> QuantizeLinear -> `nodes`, which read "q" and give "y" -> DequantizeLinear -> z. `Code` is the activations' array type; `gives` says
 * that "y" is no code: its element type.
 */
function model({ shape, nodes, constants = {}, Code = Uint8Array, zero = 117, scale = 0.05, gives, opset = 17 }) {
  const all = { q_scale: f32(scale), q_zero: scalar(Code, zero), ...constants };
  const before = [{ op: 'QuantizeLinear', inputs: ['x', 'q_scale', 'q_zero'], outputs: ['q'] }];
  const after = [{ op: 'DequantizeLinear', inputs: ['y', 'out_scale', 'out_zero'], outputs: ['z'] }];
  if (!gives) Object.assign(all, { out_scale: f32(1), out_zero: scalar(Code, 0) });
  return modelProto(
    opset,
    {
      nodes: [...before, ...nodes, ...(gives ? [] : after)],
      constants: all,
      inputs: { x: [1, [1, ...shape]] },
      outputs: { [gives ? 'y' : 'z']: [gives ?? 1, null] },
    },
    { domains: { [microsoft]: 1 }, irVersion: 10 },
  );
}

const one = (op, inputs, attributes = {}, domain = microsoft) => [{ op, domain, inputs, outputs: ['y'], attributes }];
const own = (op, inputs, attributes) => one(op, inputs, attributes, '');

/** Parameters of a second operand and of the output, for uint8 and int8. */
function parameters(Code) {
  const shift = Code === Int8Array ? -128 : 0;
  return {
    Code,
    zero: 117 + shift,
    constants: {
      b_scale: f32(0.03125),
      b_zero: scalar(Code, 201 + shift),
      y_scale: f32(0.06),
      y_zero: scalar(Code, 99 + shift),
      weight: integers(Int8Array, [5, 4, 3, 3], -60, 60),
      matrix: integers(Int8Array, [12, 7], -60, 60),
      operand: integers(Code, [4, 6, 6], shift, shift + 255),
      row: integers(Code, [6], shift, shift + 255),
      w_scale: f32(0.02),
      w_scales: vector(Float32Array, 0.02, 0.01, 0.005, 0.03, 0.0125),
      m_scales: vector(Float32Array, 0.02, 0.01, 0.005, 0.03, 0.0125, 0.02, 0.04),
      w_zero: scalar(Int8Array, 0),
      w_zeros: vector(Int8Array, 0, 0, 0, 0, 0),
      m_zeros: vector(Int8Array, 0, 0, 0, 0, 0, 0, 0),
      bias: integers(Int32Array, [5], -3000, 3000),
      m_bias: integers(Int32Array, [7], -3000, 3000),
      p_scale: f32(1 / 256),
      p_zero: scalar(Code, shift),
    },
  };
}

const image = [4, 6, 6];
const matrix = [12];
const q = ['q', 'q_scale', 'q_zero'];
const y = ['y_scale', 'y_zero'];
const second = (name) => [name, 'b_scale', 'b_zero'];
const window = { kernel_shape: [3, 2], strides: [2, 1], pads: [1, 0, 1, 1] };

/** name: (uint8 or int8 parameters) => what model() takes. */
const operators = {
  QLinearAdd: (p) => ({ ...p, shape: image, nodes: one('QLinearAdd', [...q, ...second('operand'), ...y]) }),
  'QLinearAdd of a row': (p) => ({ ...p, shape: image, nodes: one('QLinearAdd', [...second('row'), ...q, ...y]) }),
  'QLinearAdd without a zero point of its output': (p) => ({
    ...p,
    shape: image,
    nodes: one('QLinearAdd', [...q, ...second('operand'), 'y_scale']),
  }),
  QLinearMul: (p) => ({ ...p, shape: image, nodes: one('QLinearMul', [...q, ...second('operand'), ...y]) }),
  QLinearSigmoid: (p) => ({ ...p, shape: image, nodes: one('QLinearSigmoid', [...q, 'p_scale', 'p_zero']) }),
  QLinearLeakyRelu: (p) => ({
    ...p,
    shape: image,
    nodes: one('QLinearLeakyRelu', [...q, ...y], { alpha: { float: 0.1 } }),
  }),
  QLinearSoftmax: (p) => ({
    ...p,
    shape: [3, 10],
    nodes: one('QLinearSoftmax', [...q, 'p_scale', 'p_zero'], { axis: -1, opset: 13 }),
  }),
  QLinearConcat: (p) => ({
    ...p,
    shape: image,
    constants: { ...p.constants, part: { ...p.constants.operand, dims: [1, ...image] } },
    nodes: one('QLinearConcat', [...y, ...q, ...second('part')], { axis: 1 }),
  }),
  QLinearGlobalAveragePool: (p) => ({ ...p, shape: image, nodes: one('QLinearGlobalAveragePool', [...q, ...y]) }),
  QLinearAveragePool: (p) => ({ ...p, shape: image, nodes: one('QLinearAveragePool', [...q, ...y], window) }),
  QLinearConv: (p) => ({
    ...p,
    shape: image,
    nodes: own('QLinearConv', [...q, 'weight', 'w_scales', 'w_zeros', ...y, 'bias'], { pads: [1, 1, 1, 1] }),
  }),
  QLinearMatMul: (p) => ({
    ...p,
    shape: matrix,
    nodes: own('QLinearMatMul', [...q, 'matrix', 'w_scale', 'w_zero', ...y]),
  }),
  QGemm: (p) => ({
    ...p,
    shape: matrix,
    nodes: one('QGemm', [...q, 'matrix', 'm_scales', 'm_zeros', 'm_bias', ...y]),
  }),
  'QGemm to float': (p) => ({
    ...p,
    shape: matrix,
    nodes: one('QGemm', [...q, 'matrix', 'm_scales', 'm_zeros', 'm_bias']),
    gives: 1,
  }),
  MatMulIntegerToFloat: (p) => ({
    ...p,
    shape: matrix,
    nodes: one('MatMulIntegerToFloat', ['q', 'matrix', 'q_scale', 'm_scales', 'q_zero', 'm_zeros']),
    gives: 1,
  }),
  MatMulInteger: (p) => ({ ...p, shape: matrix, nodes: own('MatMulInteger', ['q', 'matrix', 'q_zero']), gives: 6 }),
};

/** Operators of float inputs, which model() would quantize: (constants, nodes) of x. */
const ofFloats = {
  DynamicQuantizeLinear: {
    nodes: [
      { op: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['q', 's', 'z0'] },
      { op: 'DequantizeLinear', inputs: ['q', 's', 'z0'], outputs: ['y'] },
    ],
  },
  'MatMulInteger after DynamicQuantizeLinear': {
    constants: { matrix: integers(Uint8Array, [12, 7], 0, 255), m_zero: scalar(Uint8Array, 128), m_scale: f32(0.01) },
    nodes: [
      { op: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['q', 's', 'z0'] },
      { op: 'MatMulInteger', inputs: ['q', 'matrix', 'z0', 'm_zero'], outputs: ['sum'] },
      { op: 'Cast', inputs: ['sum'], outputs: ['f'], attributes: { to: 1 } },
      { op: 'Mul', inputs: ['s', 'm_scale'], outputs: ['factor'] },
      { op: 'Mul', inputs: ['f', 'factor'], outputs: ['y'] },
    ],
  },
  DynamicQuantizeMatMul: {
    constants: {
      matrix: integers(Uint8Array, [12, 7], 0, 255),
      m_zero: scalar(Uint8Array, 128),
      m_scale: f32(0.01),
      bias: { dims: [7], data: new Float32Array(7).map(() => seeded()) },
    },
    nodes: [
      {
        op: 'DynamicQuantizeMatMul',
        domain: microsoft,
        inputs: ['x', 'matrix', 'm_scale', 'm_zero', 'bias'],
        outputs: ['y'],
      },
    ],
  },
  'ConvInteger after DynamicQuantizeLinear': {
    shape: image,
    constants: { weight: integers(Uint8Array, [5, 4, 3, 3], 0, 255), w_zero: scalar(Uint8Array, 120) },
    nodes: [
      { op: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['q', 's', 'z0'] },
      { op: 'ConvInteger', inputs: ['q', 'weight', 'z0', 'w_zero'], outputs: ['sum'], attributes: { strides: [2, 2] } },
      { op: 'Cast', inputs: ['sum'], outputs: ['y'], attributes: { to: 1 } },
    ],
  },
  'com.microsoft QuantizeLinear and DequantizeLinear, 16 bits': {
    constants: { scale: f32(0.001), zero: scalar(Uint16Array, 32770) },
    nodes: [
      { op: 'QuantizeLinear', domain: microsoft, inputs: ['x', 'scale', 'zero'], outputs: ['q'] },
      { op: 'DequantizeLinear', domain: microsoft, inputs: ['q', 'scale', 'zero'], outputs: ['y'] },
    ],
  },
  'QuantizeLinear and DequantizeLinear, int16 by channel': {
    shape: image,
    opset: 21,
    constants: { scale: vector(Float32Array, 0.001, 0.02, 0.25, 0.003), zero: vector(Int16Array, 3, -70, 0, 9) },
    nodes: [
      { op: 'QuantizeLinear', inputs: ['x', 'scale', 'zero'], outputs: ['q'], attributes: { axis: 1 } },
      { op: 'DequantizeLinear', inputs: ['q', 'scale', 'zero'], outputs: ['y'], attributes: { axis: 1 } },
    ],
  },
  'QuantizeLinear and DequantizeLinear, 4 bits': {
    opset: 21,
    constants: { scale: f32(0.5), zero: { dims: [], data: new Uint8Array([6]), type: 21 } },
    nodes: [
      { op: 'QuantizeLinear', inputs: ['x', 'scale', 'zero'], outputs: ['q'] },
      { op: 'DequantizeLinear', inputs: ['q', 'scale', 'zero'], outputs: ['y'] },
    ],
  },
  'DequantizeLinear in blocks of 4 bits': {
    opset: 21,
    constants: {
      codes: { ...integers(Uint8Array, [24], 0, 255), dims: [12, 4], type: 22 },
      scale: { dims: [3, 4], data: new Float32Array(12).map(() => seeded() / 4 + 0.5) },
    },
    nodes: [
      { op: 'DequantizeLinear', inputs: ['codes', 'scale'], outputs: ['w'], attributes: { axis: 0, block_size: 4 } },
      { op: 'Unsqueeze', inputs: ['x', 'last'], outputs: ['column'] },
      { op: 'Mul', inputs: ['column', 'w'], outputs: ['y'] },
    ],
    more: { last: vector(BigInt64Array, 2n) },
  },
};

const sizeOf = (shape) => shape.reduce((product, dim) => product * dim, 1);

function ours(file, data, folder, runtime) {
  const output = path.join(folder, runtime);
  tersor('run', file, '--data', data, '--output', output, '--runtime', runtime);
  return readdirSync(output)
    .sort()
    .map((sample) => readNpy(readFileSync(path.join(output, sample, readdirSync(path.join(output, sample))[0]))).data);
}

async function theirs(ort, bytes, x, shape) {
  const session = await ort.InferenceSession.create(bytes, {
    intraOpNumThreads: 1,
    logSeverityLevel: 4,
    executionProviders: [ort === ortNode ? 'cpu' : 'wasm'],
  });
  const results = [];
  for (let k = 0; k < samples; ++k) {
    const size = sizeOf(shape);
    const feed = new ort.Tensor('float32', x.slice(k * size, (k + 1) * size), [1, ...shape]);
    results.push((await session.run({ x: feed }))[session.outputNames[0]].data);
  }
  await session.release();
  return results;
}

async function compare(bytes, shape, tolerance = 0) {
  const ortWeb = await import('onnxruntime-web/wasm');
  ortWeb.env.wasm.numThreads = 1;
  // Eighths of 0.05 and numbers between.
  const x = new Float32Array(samples * sizeOf(shape)).map((_, k) =>
    k % 3 === 0 ? Math.round(seeded() * 800) * 0.00625 : seeded() * 5,
  );
  await withFolder(async (folder) => {
    const [file, data] = [path.join(folder, 'model.onnx'), path.join(folder, 'x.npy')];
    writeFileSync(file, bytes);
    writeFileSync(data, npyBytes(x, [samples, ...shape]));
    for (const [runtime, ort] of [
      ['x64', ortNode],
      ['wasm', ortWeb],
    ]) {
      if (runtime === 'x64' && !hasVnni) continue;
      const wanted = await theirs(ort, bytes, x, shape);
      const got = ours(file, data, folder, runtime);
      assert.equal(got.length, wanted.length);
      let differing = 0;
      wanted.forEach((output, k) => {
        assert.equal(got[k].length, output.length, runtime);
        output.forEach((value, at) => {
          if (!Object.is(got[k][at], value) && !(Math.abs(got[k][at] - value) <= tolerance)) ++differing;
        });
      });
      assert.equal(differing, 0, `${runtime}: ${differing} of ${sizeOf(shape) * samples} values differ`);
    }
  });
}

describe.each([
  ['uint8', Uint8Array],
  ['int8', Int8Array],
])('integer operators of %s activations', (_, Code) => {
  test.each(Object.keys(operators))('%s', async (name) => {
    const of = operators[name](parameters(Code));
    await compare(model(of), of.shape);
  });
});

describe('integer operators of float inputs', () => {
  test.each(Object.keys(ofFloats))('%s', async (name) => {
    const { nodes, constants = {}, more = {}, shape = matrix, opset = 17 } = ofFloats[name];
    const graph = {
      nodes,
      constants: { ...constants, ...more },
      inputs: { x: [1, [1, ...shape]] },
      outputs: { y: [1, null] },
    };
    await compare(modelProto(opset, graph, { domains: { [microsoft]: 1 }, irVersion: 10 }), shape);
  });

  test.each([
    ['int8 by column', { ...integers(Int8Array, [48, 9], -128, 127), scales: 9 }],
    ['uint8 with one scale', { ...integers(Uint8Array, [48, 9], 0, 255), scales: 0 }],
    ['int4 by column', { ...integers(Uint8Array, [216], 0, 255), dims: [48, 9], type: 22, scales: 9 }],
    ['uint4 in blocks', { ...integers(Uint8Array, [144], 0, 255), dims: [32, 9], type: 21, scales: [2, 9] }],
    ['int8 by column, with a bias', { ...integers(Int8Array, [48, 9], -128, 127), scales: 9, bias: true }],
  ])(
    'a product with weights of few bits, %s, to the order of its float sums',
    async (_, { scales, bias, ...codes }) => {
      const dims = Array.isArray(scales) ? scales : scales > 0 ? [scales] : [];
      const scale = { dims, data: new Float32Array(sizeOf(dims)).map(() => seeded() / 100 + 0.02) };
      const attributes = Array.isArray(scales) ? { axis: 0, block_size: 16 } : dims.length > 0 ? { axis: 1 } : {};
      const graph = {
        nodes: [
          { op: 'DequantizeLinear', inputs: ['codes', 'scale'], outputs: ['w'], attributes },
          bias
            ? { op: 'Gemm', inputs: ['x', 'w', 'bias'], outputs: ['y'] }
            : { op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] },
        ],
        constants: { codes, scale, ...(bias ? { bias: vector(Float32Array, 1, 2, 3, 4, 5, 6, 7, 8, 9) } : {}) },
        inputs: { x: [1, [1, codes.dims[0]]] },
        outputs: { y: [1, null] },
      };
      await compare(modelProto(21, graph, { irVersion: 10 }), [codes.dims[0]], 1e-4);
    },
  );

  test('MatMulNBits, to the order of its float sums', async () => {
    const [depth, columns, block] = [64, 9, 32];
    const bytes = modelProto(
      17,
      {
        nodes: [
          {
            op: 'MatMulNBits',
            domain: microsoft,
            inputs: ['x', 'codes', 'scales', 'zeros'],
            outputs: ['y'],
            attributes: { K: depth, N: columns, bits: 4, block_size: block, accuracy_level: 4 },
          },
        ],
        constants: {
          codes: integers(Uint8Array, [columns, depth / block, block / 2], 0, 255),
          scales: { dims: [(columns * depth) / block], data: new Float32Array((columns * depth) / block).fill(0.03) },
          zeros: integers(Uint8Array, [columns], 0, 255),
        },
        inputs: { x: [1, [1, depth]] },
        outputs: { y: [1, null] },
      },
      { domains: { [microsoft]: 1 }, irVersion: 10 },
    );
    await compare(bytes, [depth], 1e-4);
  });
});
