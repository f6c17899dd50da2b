// SPDX-License-Identifier: Apache-2.0
//
// QuantizeConfigs as objects with the documents' six methods: what they return acts in the file, and is in the recipe as data.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  AllValuesQuantizer,
  FixedQuantizer,
  LastValueQuantizer,
  MovingAverageQuantizer,
  Tersor,
} from '../../wasm/dist/index.js';
import { initializersOf, modelProto } from '../zoo/protobuf.mjs';

/** The requirement document's example. */
class MyDenseQuantizeConfig {
  get_weights_and_quantizers(layer) {
    return [[layer.kernel, new LastValueQuantizer()]];
  }
  get_activations_and_quantizers(layer) {
    return [[layer.activation, new MovingAverageQuantizer()]];
  }
  set_quantize_weights(layer, quantize_weights) {
    layer.kernel = quantize_weights[0];
  }
  set_quantize_activations(layer, quantize_activations) {
    layer.activation = quantize_activations[0];
  }
  get_output_quantizers() {
    return [];
  }
  get_config() {
    return {};
  }
}

/** The example with other quantizers. */
const dense = (weights, activation) =>
  Object.assign(new MyDenseQuantizeConfig(), {
    get_weights_and_quantizers: (layer) => [[layer.kernel, weights(layer)]],
    ...(activation ? { get_activations_and_quantizers: (layer) => [[layer.activation, activation]] } : {}),
  });

const wave = (length, factor) => Float32Array.from({ length }, (_, k) => factor * Math.sin(1 + 1.7 * k));
const w1 = { dims: [4, 6], data: wave(24, 0.9) };
const w2 = { dims: [6, 3], data: wave(18, 0.4) };
const b1 = { dims: [6], data: wave(6, 0.1) };
/** Nodes without names are called as their outputs. */
const graph = {
  nodes: [
    { op: 'Gemm', inputs: ['x', 'w1', 'b1'], outputs: ['dense'] },
    { op: 'Relu', inputs: ['dense'], outputs: ['relu'] },
    { op: 'Gemm', inputs: ['relu', 'w2'], outputs: ['last'] },
  ],
  constants: { w1, w2, b1 },
  inputs: { x: [1, [1, 4]] },
  outputs: { last: [1, [1, 3]] },
};
const samples = Array.from({ length: 12 }, (_, k) => ({ x: wave(4, 0.3 * (k + 1)) }));
const config = { weights_bias_correction: false };

let engine, model;
beforeAll(async () => {
  engine = await Tersor.create({ workers: 2 });
  model = await engine.open(modelProto(13, graph));
}, 60_000);
afterAll(() => engine?.close());

const quantize = (overrides) => model.quantize({ samples, platform: 'qnnpack', config, overrides });
const scaleOf = (made, part) =>
  initializersOf(made.model).find((one) => one.name.includes(part) && /scale/.test(one.name));
const largest = ({ data }) => Math.max(...data.map(Math.abs));

async function refusal(overrides) {
  try {
    await quantize(overrides);
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was refused.');
}

describe('an object with the six methods', () => {
  test('quantizes as the same thing said as data does, and the recipe has the data', async () => {
    const made = await quantize([{ name: 'dense', quantize_config: new MyDenseQuantizeConfig() }]);
    const data = {
      class_name: 'LayerQuantizeConfig',
      config: {
        weights: { kernel: { class_name: 'LastValueQuantizer', config: {} } },
        activation: { class_name: 'MovingAverageQuantizer', config: {} },
        outputs: [],
      },
    };
    const same = await quantize([{ name: 'dense', quantize_config: data }]);
    expect(Buffer.from(made.model).equals(same.model)).toBe(true);
    const plain = await quantize([]);
    expect(Buffer.from(made.model).equals(plain.model)).toBe(false);
    expect(scaleOf(made, 'w1').data[0]).toBeCloseTo(largest(w1) / 127, 7);
    const [told] = made.recipe.overrides;
    expect(told.quantize_config.config.weights.kernel.class_name).toBe('LastValueQuantizer');
    const again = await model.quantize({ samples, recipe: JSON.parse(JSON.stringify(made.recipe)) });
    expect(Buffer.from(again.model).equals(made.model)).toBe(true);
  });

  test('what the quantizers say is in the file: a fixed range, a range of its own', async () => {
    const fixed = new FixedQuantizer(-2, 2, { symmetric: true, narrow_range: true });
    const made = await quantize([
      { name: 'dense', quantize_config: dense(() => fixed, new FixedQuantizer(0, 5.1)) },
      { name: 'last', quantize_config: dense(() => new AllValuesQuantizer({ symmetric: true, narrow_range: true })) },
    ]);
    expect(scaleOf(made, 'w1').data[0]).toBeCloseTo(2 / 127, 7);
    expect(scaleOf(made, 'w2').data[0]).toBeCloseTo(largest(w2) / 127, 7);
    expect(initializersOf(made.model).some(({ data }) => Math.abs(Number(data[0]) - 5.1 / 255) < 1e-8)).toBe(true);
  });

  test('sees each layer that a type or a pattern chooses, and may answer differently', async () => {
    const seen = [];
    const byShape = dense((layer) => {
      seen.push(layer);
      const [inputs] = layer.kernel.shape;
      return new FixedQuantizer(-inputs, inputs, { symmetric: true, narrow_range: true });
    });
    const made = await quantize([{ type: 'Gemm', quantize_config: byShape }]);
    expect(seen.map(({ name, type, outputs }) => ({ name, type, outputs }))).toEqual([
      { name: 'dense', type: 'Gemm', outputs: 1 },
      { name: 'last', type: 'Gemm', outputs: 1 },
    ]);
    expect(seen[0].weights.map(({ name }) => name)).toEqual(['kernel', 'bias']);
    expect([...seen[0].bias.data]).toEqual([...b1.data]);
    expect(seen.map(({ activation }) => activation.name)).toEqual(['relu', 'linear']);
    expect(scaleOf(made, 'w1').data[0]).toBeCloseTo(4 / 127, 7);
    expect(scaleOf(made, 'w2').data[0]).toBeCloseTo(6 / 127, 7);
    // one override as it was given: a name still beats it
    const [told] = made.recipe.overrides;
    expect(told).toMatchObject({ type: 'Gemm', quantize_config: { class_name: 'ByLayerQuantizeConfig' } });
    const both = await quantize([
      { name: 'last', quantize_config: dense(() => new LastValueQuantizer()) },
      { type: 'Gemm', quantize_config: byShape },
    ]);
    expect(scaleOf(both, 'w1').data[0]).toBeCloseTo(4 / 127, 7);
    expect(scaleOf(both, 'w2').data[0]).toBeCloseTo(largest(w2) / 127, 7);
    const patterns = await quantize([{ name: 'la*', quantize_config: byShape }]);
    expect(scaleOf(patterns, 'w2').data[0]).toBeCloseTo(6 / 127, 7);
  });

  test('is asked for coverage and calibration too', async () => {
    const none = {
      ...Object.fromEntries(
        ['set_quantize_weights', 'set_quantize_activations'].map((name) => [name, () => undefined]),
      ),
      ...Object.fromEntries(
        ['get_weights_and_quantizers', 'get_activations_and_quantizers', 'get_output_quantizers'].map((name) => [
          name,
          () => [],
        ]),
      ),
      get_config: () => ({}),
    };
    const overrides = [{ name: 'last', quantize_config: none }];
    const coverage = await model.coverage({ platform: 'qnnpack', overrides });
    expect(coverage.stays_float.map(({ name }) => name)).toContain('last');
    const options = { platform: 'qnnpack', config, overrides };
    const statistics = await model.calibrate(samples, options);
    const made = await model.quantize({ ...options, statistics });
    expect(Buffer.from(made.model).equals((await quantize(overrides)).model)).toBe(true);
  });
});

describe('what an object says wrongly is refused by name', () => {
  const place = 'overrides[1].quantize_config';
  const second = (quantize_config) =>
    refusal([
      { name: 'last', quantize_config: 'NoOpQuantizeConfig' },
      { name: 'dense', quantize_config },
    ]);
  const changed = (methods) => Object.assign(new MyDenseQuantizeConfig(), methods);

  test('methods that are missing', async () => {
    const error = await second({ get_weights_and_quantizers: () => [] });
    expect(error).toMatchObject({ code: 'invalid_config', place });
    expect(error.message).toContain('set_quantize_weights');
    expect(error.message).not.toContain('get_weights_and_quantizers');
  });

  test('weights that are not there, twice, or not put back', async () => {
    const elsewhere = { name: 'kernel', shape: [1], data: new Float32Array(1) };
    const quantizer = new LastValueQuantizer();
    for (const [methods, message] of [
      [{ get_weights_and_quantizers: () => [[elsewhere, quantizer]] }, 'not of the layer'],
      [
        {
          get_weights_and_quantizers: ({ kernel }) => [
            [kernel, quantizer],
            [kernel, quantizer],
          ],
        },
        'twice',
      ],
      [{ set_quantize_weights: () => undefined }, 'does not put it back'],
      [{ set_quantize_activations: () => undefined }, 'does not put it back'],
      [{ get_activations_and_quantizers: () => [['relu', quantizer]] }, 'not of the layer'],
      [{ get_output_quantizers: () => [quantizer, quantizer] }, '2 output quantizers'],
      [{ get_weights_and_quantizers: ({ kernel }) => [[kernel, new LastValueQuantizer({ num_bits: 99 })]] }, '99'],
    ]) {
      const error = await second(changed(methods));
      expect(error.code).toBe('invalid_config');
      expect(error.place).toContain('overrides[1]');
      expect(error.message).toContain(message);
    }
    const bias = dense((layer) => layer.bias && quantizer);
    const missing = await refusal([{ name: 'last', quantize_config: bias }]);
    expect(missing.message).toBe('The layer "last" (Gemm) has no constant weight called "bias".');
  });

  test('an override that matches nothing, and what a method throws', async () => {
    const error = await refusal([{ name: 'dens', quantize_config: new MyDenseQuantizeConfig() }]);
    expect(error).toMatchObject({
      code: 'invalid_config',
      hint: 'Did you mean "dense"? Name a node of the model, or a pattern with * and ?.',
    });
    const own = new RangeError('mine');
    const thrown = await second(
      changed({
        get_output_quantizers() {
          throw own;
        },
      }),
    );
    expect(thrown).toBe(own);
  });
});
