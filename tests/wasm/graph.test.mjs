// SPDX-License-Identifier: Apache-2.0
//
// The graph of a model, what the runtime runs of a result, and the study of one range, through the package.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';

const demo = readFileSync(fileURLToPath(new URL('../../web/public/demo/model.onnx', import.meta.url)));

let tersor;
let model;
let made;
beforeAll(async () => {
  tersor = await Tersor.create({ workers: 2 });
  model = await tersor.open(demo);
  const elements = model.info.inputs[0].shape.slice(1).reduce((product, dim) => product * dim, 1);
  const samples = Array.from({ length: 4 }, (_, k) =>
    Float32Array.from({ length: elements }, (_, i) => Math.sin(i * (k + 1))),
  );
  const name = model.info.inputs[0].name;
  made = await model.quantize({ samples: samples.map((values) => ({ [name]: values })), config: { effort: 0 } });
});
afterAll(() => tersor?.close());

it('gives every node with what it reads, so that all values have a maker', async () => {
  const { nodes, inputs, outputs } = await model.graph();
  const values = new Set([...inputs.map(({ name }) => name), ...nodes.flatMap((node) => node.outputs)]);
  for (const node of nodes) for (const input of node.inputs) expect(values.has(input)).toBe(true);
  for (const { name } of outputs) expect(values.has(name)).toBe(true);
  const relu = nodes.find(({ op }) => op === 'Relu');
  expect(relu.support).toBe('fused');
  expect(nodes[relu.joined].op).toBe('Conv');
  expect(nodes[relu.joined].weights_n_bits).toBe(8);
  const coverage = await model.coverage();
  const float = nodes.filter(({ support }) => support === 'float').map(({ name }) => name);
  expect(float).toEqual(coverage.stays_float.map(({ name }) => name));
});

it('says what the runtime runs under the names of the float model, and its time adds up to the forecast', async () => {
  const nodes = await made.runtimeNodes();
  const { nodes: drawn } = await model.graph();
  const conv = drawn.find(({ op }) => op === 'Relu');
  expect(nodes.find(({ outputs }) => outputs.includes(conv.outputs[0])).op).toBe('QLinearConv');
  const sum = nodes.reduce((total, { milliseconds }) => total + milliseconds, 0);
  expect(sum).toBeGreaterThan(0.8 * made.report.time.quantized_ms);
  expect(sum).toBeLessThan(1.001 * made.report.time.quantized_ms);
});

it('studies a range: what each method would choose, and any other', async () => {
  const row = made.report.ranges.find(({ tensor }) => tensor !== model.info.inputs[0].name);
  const question = { tensor: row.tensor, method: row.method, n_bits: row.n_bits, is_signed: false };
  const study = await made.studyRange(question);
  expect(study.choices.map(({ method }) => method)).toEqual(
    expect.arrayContaining(['NOCLIPPING', 'MSE', 'MAE', 'KL', 'Lp', 'Entropy', 'Percentile', 'MovingAverage']),
  );
  const all = study.choices.find(({ method }) => method === 'NOCLIPPING').figures;
  expect(all.lost).toBe(0);
  const half = await study.at(all.low, all.high / 4);
  expect(half.lost).toBeGreaterThan(0);
  expect(half.sqnr_db).toBeLessThan(all.sqnr_db);
  await expect(study.at(1, 0)).rejects.toMatchObject({ code: 'invalid_argument' });
  study.close();
  await expect(made.studyRange({ ...question, tensor: 'nothing' })).rejects.toMatchObject({ code: 'mismatch' });
});

it('says how well the channels of a weight survive', async () => {
  const { nodes } = await model.graph();
  const conv = nodes.find(({ op }) => op === 'Conv');
  const { channels, n_bits, per_channel } = await model.weightChannels(conv.name);
  expect(channels).toHaveLength(parseInt(conv.detail, 10));
  expect(n_bits).toBe(8);
  expect(per_channel).toBe(true);
  for (const { sqnr_db } of channels) expect(sqnr_db).toBeGreaterThan(25);
  const coarse = await model.weightChannels(conv.name, { config: { weights_per_channel_threshold: false } });
  expect(Math.min(...coarse.channels.map(({ sqnr_db }) => sqnr_db))).toBeLessThan(
    Math.min(...channels.map(({ sqnr_db }) => sqnr_db)),
  );
  await expect(model.weightChannels('nothing')).rejects.toMatchObject({ code: 'invalid_argument' });
});
