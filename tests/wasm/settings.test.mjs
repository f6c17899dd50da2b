// SPDX-License-Identifier: Apache-2.0
//
// Settings over the package's edge: the type made from the field list, platforms of one's own, operators kept in float; and
// samples as tables and recordings.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { configTypes } from '../../wasm/config_types.mjs';
import { recording } from '../browser/files.mjs';
import { smallProduct } from '../zoo/protobuf.mjs';
import { demo, demoFiles } from './jobs.mjs';

let tersor, model, files;
beforeAll(async () => {
  tersor = await Tersor.create({ workers: 2 });
  model = await tersor.open(readFileSync(demo.model));
  files = demoFiles();
}, 60_000);
afterAll(() => tersor?.close());

const { preprocessing } = demo;
const selection = { part: 'calibration', count: 8 };
const bytes = (text) => new TextEncoder().encode(text);

test('the type of the configuration is that of the fields', () => {
  const file = new URL('../../wasm/src/quantization_config.ts', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(configTypes(tersor.describeQuantizationConfig()));
});

describe('platforms', () => {
  test('a platform written out makes the file that its name makes', async () => {
    const platform = tersor.getTargetPlatformCapabilities('ort-cpu');
    expect(tersor.readPlatform(JSON.stringify(platform))).toEqual(platform);
    const statistics = await model.calibrate(files, { preprocessing, selection, platform });
    const named = await model.quantize({ statistics });
    const written = await model.quantize({ statistics, platform });
    expect(Buffer.from(written.model).equals(named.model)).toBe(true);
  });

  test('faults of a platform are listed, each with its path', () => {
    const platform = { ...tersor.getTargetPlatformCapabilities('ort-cpu'), version: 'one', title: 7 };
    let thrown;
    try {
      tersor.readPlatform(JSON.stringify(platform));
    } catch (error) {
      thrown = error;
    }
    expect(thrown.code).toBe('invalid_platform');
    expect(thrown.message).toMatch(/platform\.version/);
    expect(thrown.message).toMatch(/platform\.title/);
  });
});

describe('files of settings', () => {
  const refusal = (file) =>
    tersor.readSettings(file, { name: 'mine.json', model }).then(
      () => null,
      (error) => error,
    );
  const recipe = (members) => ({ format: 'tersor-recipe', format_version: 1, ...members });

  test('a recipe and a platform are told apart and written out in full', async () => {
    const short = JSON.stringify(recipe({ quantization_config: { effort: 0 }, preprocessing: { scale: 0.5 } }));
    const read = await tersor.readSettings(new Blob([short]), { model });
    expect(read.kind).toBe('recipe');
    expect(read.recipe.quantization_config).toEqual({ ...tersor.quantizationConfig(), effort: 0 });
    expect(read.recipe.preprocessing).toMatchObject({ scale: 0.5, mean: [0], std: [1], crop: 'none' });
    const platform = tersor.getTargetPlatformCapabilities('ort-cpu');
    expect(await tersor.readSettings(JSON.stringify(platform))).toEqual({ kind: 'platform', platform });
  });

  test('every fault is told at once, with its place, and in little time whatever the length', async () => {
    const many = Array.from({ length: 80_000 }, (_, k) => k);
    const keys = Object.fromEntries(many.map((k) => [`key${k}`, 1]));
    const cases = [
      [{ quantization_config: { effort: 9 }, preprocessing: { mean: 1 } }, ['config.effort', 'preprocessing.mean']],
      [{ quantization_config: keys }, ['more than 50 faults']],
      [{ framework_info: keys }, ['more than 50 faults']],
      [{ overrides: many }, ['more than 50 faults']],
      [{ overrides: many.map(() => ({ name: 'a', config: { bits: 1 } })) }, ['more than 50 faults']],
      [{ preprocessing: keys }, ['There is no field "key0"']],
      [{ ['k'.repeat(5_000_000)]: 1 }, ['There is no field "kkk']],
    ];
    for (const [members, says] of cases) {
      const error = await refusal(JSON.stringify(recipe(members)));
      expect(error.code).toBe('invalid_config');
      for (const one of says) expect(`${error.place}: ${error.message}`).toContain(one);
      expect(error.message.length).toBeLessThan(60_000);
    }
    const deep = await refusal('['.repeat(1_000_000));
    expect(deep).toMatchObject({ code: 'invalid_config', place: 'mine.json' });
    expect(deep.message).toContain('64 deep');
  });

  test('what is no JSON is an error of the call', async () => {
    const circle = {};
    circle.circle = circle;
    let deep = [];
    for (let k = 0; k < 100_000; ++k) deep = [deep];
    for (const config of [circle, { z_threshold: deep }, { z_threshold: 1n }]) {
      await expect(model.coverage({ config })).rejects.toMatchObject({ name: 'TersorError', place: 'config' });
    }
  });
});

test('an option that a call does not have is an error with the nearest name', async () => {
  const slips = {
    platfrom: model.coverage({ platfrom: 'qnn' }),
    Config: model.calibrate(files, { Config: {} }),
    recipes: model.quantize({ samples: files, recipes: {} }),
    batch: model.evaluate(files, null, { batch: 3 }),
    preprocesing: model.inspectSamples(files, { preprocesing: 'unit' }),
    cout: model.calibrate(files, { selection: { part: 'calibration', cout: 3 } }),
    externaldata: tersor.open(new Uint8Array(), { externaldata: new Map() }),
    worker: Tersor.create({ worker: 1 }),
  };
  for (const [name, call] of Object.entries(slips)) {
    const error = await call.then(
      () => null,
      (thrown) => thrown,
    );
    expect(error, name).toMatchObject({ name: 'TersorError', code: 'invalid_argument' });
    expect(error.message).toContain(`"${name}"`);
    expect(error.hint).toContain('The options are: ');
    if (name !== 'batch') expect(error.hint).toMatch(/^Did you mean "/);
  }
  expect((await model.coverage({ platfrom: undefined })).stays_float).toBeDefined();
});

test("the documents' names of config and FrameworkInfo are taken, one of two names at a time", async () => {
  const info = { no_quantization_ops: ['Conv'] };
  const ours = await model.coverage({ config: { weights_n_bits: 7 }, frameworkInfo: info, platform: 'any' });
  const theirs = await model.coverage({
    quantization_config: { weights_n_bits: 7 },
    framework_info: info,
    platform: 'any',
  });
  expect(theirs).toEqual(ours);
  expect(theirs).not.toEqual(await model.coverage({ platform: 'any' }));
  await expect(model.coverage({ config: {}, quantization_config: {} })).rejects.toMatchObject({
    code: 'invalid_argument',
    place: 'options.quantization_config',
  });
  const mapping = { weights_quantizer_mapping: { SYMMETRIC: (values) => values } };
  await expect(model.coverage({ frameworkInfo: mapping })).rejects.toMatchObject({
    code: 'invalid_argument',
    place: 'frameworkInfo.weights_quantizer_mapping',
  });
});

test('limit 0 means all samples, as it does in the program', async () => {
  const few = files.filter(({ path }) => /\.png$/.test(path)).slice(0, 3);
  const made = await model.quantize({ samples: few, preprocessing });
  expect((await made.compare(few, { preprocessing, limit: 0 })).samples).toBe(3);
  expect((await made.compare(few, { preprocessing, limit: 2 })).samples).toBe(2);
  for (const limit of [-1, 1.5, NaN, '2']) {
    await expect(made.compare(few, { preprocessing, limit })).rejects.toMatchObject({ place: 'options.limit' });
  }
  made.close();
});

test('every node that is listed can be named by an override', async () => {
  const nodes = await model.nodes();
  expect(nodes).toContainEqual({ name: 'pool', type: 'GlobalAveragePool' });
  expect(nodes.length).toBeLessThanOrEqual(model.info.nodes);
  expect(nodes.some(({ type }) => type === 'BatchNormalization')).toBe(false);
  const config = { enable_activation_quantization: false };
  await model.coverage({
    overrides: [
      { name: 'pool', config },
      { type: 'Relu', config },
    ],
  });
  await model.coverage({ overrides: nodes.map(({ name }) => ({ name, config: { activation_n_bits: 8 } })) });
});

test('an operator is kept in float by an override', async () => {
  const before = await model.coverage();
  const conv = model.info.operators.find((one) => one.op === 'Conv');
  expect(conv.nodes).toBeGreaterThan(0);
  const config = { enable_weights_quantization: false, enable_activation_quantization: false };
  const overrides = [{ type: 'Conv', config }];
  const after = await model.coverage({ overrides });
  expect(before.stays_float.filter((node) => node.op === 'Conv')).toEqual([]);
  expect(after.stays_float.filter((node) => node.op === 'Conv').length).toBe(conv.nodes);
});

describe('samples', () => {
  test('rows of a table are samples', async () => {
    const small = await tersor.open(smallProduct());
    const table = [{ path: 't.csv', data: bytes('a,b,c,d\n1,2,3,4\n0.5,-1,0,1e1\n') }];
    const info = await small.inspectSamples(table);
    expect(info.count).toBe(2);
    expect(info.formats).toEqual({ csv: 2 });
    expect([...(await small.previewSample(table, 1)).tensors[0].values]).toEqual([0.5, -1, 0, 10]);
    const bad = await small.inspectSamples([{ path: 't.csv', data: new Blob(['1,2\n']) }]);
    expect(bad.errors[0].error.message).toMatch(/Line 1: There are 2 values/);
    const made = await small.quantize({ samples: table });
    expect(made.recipe.data_set.samples).toBe(2);
  });

  test('recordings are brought to length, and the recipe says so', async () => {
    const small = await tersor.open(smallProduct());
    const recordings = [{ path: 'a.wav', data: new Uint8Array(recording([16384, -32768, 8192])) }];
    const raw = { ...tersor.preprocessingPreset('raw'), rate: 16000 };
    const short = await small.inspectSamples(recordings, { preprocessing: { ...raw, length: 3 } });
    expect(short.errors[0].error.hint).toMatch(/"length": 4/);
    const fitted = await small.inspectSamples(recordings);
    expect([...fitted.first.tensors[0].values]).toEqual([0.5, -1, 0.25, 0]);
    const how = { ...raw, length: 4 };
    const info = await small.inspectSamples(recordings, { preprocessing: how });
    expect([...info.first.tensors[0].values]).toEqual([0.5, -1, 0.25, 0]);
    const made = await small.quantize({ samples: recordings, preprocessing: how });
    expect(made.recipe.preprocessing).toMatchObject({ rate: 16000, length: 4 });
  });
});
