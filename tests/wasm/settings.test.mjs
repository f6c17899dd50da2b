// SPDX-License-Identifier: Apache-2.0
//
// Settings over the package's edge: the type made from the field list, platforms of one's own, operators kept in float; and
// samples as tables and recordings.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { configTypes } from '../../wasm/config_types.mjs';
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
    const wav = Buffer.alloc(44 + 6);
    wav.write('RIFF', 0);
    wav.write('WAVEfmt ', 8);
    wav.writeUInt32LE(16, 16);
    wav.writeUInt16LE(1, 20);
    wav.writeUInt16LE(1, 22);
    wav.writeUInt32LE(16000, 24);
    wav.writeUInt32LE(32000, 28);
    wav.writeUInt16LE(2, 32);
    wav.writeUInt16LE(16, 34);
    wav.write('data', 36);
    wav.writeUInt32LE(6, 40);
    [16384, -32768, 8192].forEach((value, k) => wav.writeInt16LE(value, 44 + 2 * k));
    const recordings = [{ path: 'a.wav', data: new Uint8Array(wav) }];
    const short = await small.inspectSamples(recordings);
    expect(short.errors[0].error.hint).toMatch(/"length": 4/);
    const how = { ...tersor.preprocessingPreset('raw'), rate: 16000, length: 4 };
    const info = await small.inspectSamples(recordings, { preprocessing: how });
    expect([...info.first.tensors[0].values]).toEqual([0.5, -1, 0.25, 0]);
    const made = await small.quantize({ samples: recordings, preprocessing: how });
    expect(made.recipe.preprocessing).toMatchObject({ rate: 16000, length: 4 });
  });
});
