// SPDX-License-Identifier: Apache-2.0
//
// The package in Node, over its edge: what calls give, how they fail, and how they stop.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Tersor, TersorError } from '../../wasm/dist/index.js';
import { demo, demoFiles, emptyFolder } from './jobs.mjs';

let tersor, model, files;
beforeAll(async () => {
  tersor = await Tersor.create({ workers: 2 });
  model = await tersor.open(readFileSync(demo.model));
  files = demoFiles();
}, 60_000);
afterAll(() => tersor?.close());

/** What a call rejects with; fails when it does not. */
async function refusal(call) {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('The call was not refused.');
}

const preprocessing = demo.preprocessing;
const picked = (count) => ({ preprocessing, selection: { part: 'calibration', count } });

describe('the tables', () => {
  test('platforms, capabilities, configuration and presets are there at once', () => {
    expect(tersor.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(tersor.workers).toBe(2);
    expect(tersor.platforms()).toContainEqual(expect.objectContaining({ name: 'ort-cpu', version: 1 }));
    expect(tersor.getTargetPlatformCapabilities('ort-cpu')).toEqual(tersor.getTargetPlatformCapabilities('ort-cpu', 1));
    expect(tersor.describeQuantizationConfig().length).toBeGreaterThanOrEqual(19);
    expect(tersor.quantizationConfig({ l_p_value: 3 })).toMatchObject({ l_p_value: 3, weights_bias_correction: true });
    const { scale, mean, std } = tersor.preprocessingPreset('signed');
    expect((0 * scale - mean[0]) / std[0]).toBe(-1);
    expect((255 * scale - mean[0]) / std[0]).toBe(1);
  });

  test('wrong names are errors with all four fields', () => {
    const attempt = (call) => {
      try {
        call();
      } catch (error) {
        return error;
      }
      return null;
    };
    const field = attempt(() => tersor.quantizationConfig({ weights_bits: 8 }));
    expect(field).toBeInstanceOf(TersorError);
    expect(field).toBeInstanceOf(Error);
    expect(field.code).toBe('invalid_config');
    expect(field.message).toContain('weights_bits');
    expect(field.place).toContain('config');
    expect(JSON.parse(JSON.stringify(field))).toEqual({
      code: field.code,
      message: field.message,
      place: field.place,
      hint: field.hint,
    });
    expect(attempt(() => tersor.getTargetPlatformCapabilities('nowhere')).code).toBe('invalid_platform');
    expect(attempt(() => tersor.getTargetPlatformCapabilities('ort-cpu', 99)).code).toBe('invalid_platform');
  });
});

describe('models', () => {
  test('open from bytes, a buffer, a Blob and a file address alike', async () => {
    const bytes = readFileSync(demo.model);
    const address = new URL('../../web/public/demo/model.onnx', import.meta.url);
    const buffer = new Uint8Array(bytes).buffer;
    for (const source of [new Uint8Array(bytes), buffer, new Blob([bytes]), address]) {
      const opened = await tersor.open(source);
      expect(opened.info).toEqual(model.info);
      opened.close();
    }
    expect(model.info.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(model.info.size_bytes).toBe(bytes.length);
    expect(model.info.macs).toBeGreaterThan(0);
    expect(model.info.operators.every((op) => op.runs)).toBe(true);
  });

  test('what is no model says what it seems to be', async () => {
    const html = await refusal(tersor.open(new TextEncoder().encode('<!doctype html><html></html>')));
    expect(html).toBeInstanceOf(TersorError);
    expect(html.code).toBe('invalid_model');
    expect(html.message).toContain('HTML');
    for (const cut of [0, 1, 100, 5000]) {
      const error = await refusal(tersor.open(new Uint8Array(readFileSync(demo.model)).subarray(0, cut)));
      expect(error.code).toBe('invalid_model');
      expect(error.message).not.toBe('');
    }
    expect((await refusal(tersor.open(5))).code).toBe('invalid_argument');
    expect((await refusal(tersor.open('not/there.onnx'))).code).toBe('io');
    expect((await refusal(tersor.open(new URL('file:///not/there.onnx')))).code).toBe('io');
  });

  test('coverage is known before any sample', async () => {
    const coverage = await model.coverage();
    expect(coverage.core_nodes).toBeGreaterThan(0);
    expect(coverage.integer_core_nodes).toBe(coverage.core_nodes);
    expect(coverage.estimated_size_bytes).toBeLessThan(model.info.size_bytes);
    expect((await refusal(model.coverage({ platform: 'nowhere' }))).code).toBe('invalid_platform');
  });

  test('resources are known before any sample, and follow the bits', async () => {
    const settings = (bits) => ({ platform: 'any', config: { weights_n_bits: bits, activation_n_bits: bits } });
    const [eight, four] = await Promise.all([8, 4].map((bits) => model.resourceUtilization(settings(bits))));
    expect(eight.weights_memory).toBeGreaterThan(0);
    expect(eight.activation_memory).toBeGreaterThan(0);
    expect(eight.total_memory).toBe(eight.weights_memory + eight.activation_memory);
    expect(four.weights_memory).toBe(eight.weights_memory / 2);
    expect(four.activation_memory).toBe(eight.activation_memory / 2);
    expect(four.bops).toBe(eight.bops / 4);
    expect((await refusal(model.resourceUtilization({ platform: 'nowhere' }))).code).toBe('invalid_platform');
  });

  test('a closed model refuses', async () => {
    const opened = await tersor.open(readFileSync(demo.model));
    opened.close();
    expect((await refusal(opened.coverage())).code).toBe('invalid_argument');
  });
});

describe('samples', () => {
  test('a folder of pictures is described and shown', async () => {
    const info = await model.inspectSamples(files, { preprocessing });
    const pictures = files.filter((file) => file.path.endsWith('.png'));
    expect(info.count).toBe(pictures.length);
    expect(info.formats).toEqual({ png: pictures.length });
    expect(info.classes.length).toBeGreaterThan(1);
    expect(info.classes.reduce((sum, one) => sum + one.count, 0)).toBe(info.count);
    expect(info.errors).toEqual([]);
    expect(info.preprocessing_is_guess).toBe(false);
    const { width, height, rgba } = info.first.picture;
    expect(rgba).toBeInstanceOf(Uint8ClampedArray);
    expect(rgba.length).toBe(4 * width * height);
    const [tensor] = info.first.tensors;
    expect(tensor.values).toBeInstanceOf(Float32Array);
    expect(tensor.values.length).toBe(tensor.shape.reduce((product, dim) => product * dim, 1));
    expect(Math.min(...tensor.values)).toBeCloseTo(tensor.whole.min, 6);
    const last = await model.previewSample(files, info.count - 1, { preprocessing });
    expect(last.index).toBe(info.count - 1);
    expect(last.path).not.toBe(info.first.path);
    expect((await refusal(model.previewSample(files, info.count, { preprocessing }))).code).toBe('invalid_argument');
    const unlabelled = pictures.map(({ path: name, data }) => ({ path: name.replaceAll('/', '-'), data }));
    const guessed = await model.inspectSamples(unlabelled);
    expect(guessed.preprocessing_is_guess).toBe(true);
    expect(guessed.preprocessing_trial).toBe(null);
  });

  test('class folders choose the preprocessing, and the whole job goes by it', async () => {
    const info = await model.inspectSamples(files);
    const { tried, best, samples, is_chance } = info.preprocessing_trial;
    expect(info.preprocessing_is_guess).toBe(false);
    expect(is_chance).toBe(false);
    expect(tried.map(({ name }) => name)).toEqual(expect.arrayContaining(['imagenet', 'unit', 'signed', 'raw']));
    const right = tried.find(({ name }) => name === best).right;
    expect(right).toBeGreaterThan(samples / 2);
    expect(right).toBeGreaterThanOrEqual(tried[0].right - 2);
    const asTold = await model.evaluate(files, 'folders', { preprocessing, metric: 'top1' });
    expect(asTold.samples).toEqual(Array.from({ length: asTold.count }, (_, k) => k));
    const selection = { part: 'evaluation', count: 2 };
    const rest = await model.evaluate(files, 'folders', { preprocessing, metric: 'top1', selection });
    expect(rest.samples).toEqual(asTold.samples.filter((k) => k !== 0 && k !== Math.floor(asTold.count / 2)));
    const asTried = await model.evaluate(files, 'folders', { metric: 'top1' });
    expect(asTried.value).toBeGreaterThan(asTold.value - 0.05);
  });

  test('a file that cannot be a sample is a row of its own, and stops a job', async () => {
    const broken = [...files.slice(0, 8), { path: 'zz/broken.png', data: files[3].data.subarray(0, 20) }];
    const info = await model.inspectSamples(broken, { preprocessing });
    expect(info.errors).toHaveLength(1);
    expect(info.errors[0].path).toBe('zz/broken.png');
    expect(info.errors[0].error.message).not.toBe('');
    const error = await refusal(model.calibrate(broken, { preprocessing }));
    expect(error).toMatchObject({ code: 'invalid_samples' });
    expect(error.place).toContain('zz/broken.png');
  });

  test('no samples, the wrong shape, a missing input and a NaN are refused with their place', async () => {
    expect((await refusal(model.calibrate([]))).code).toBe('invalid_samples');
    const name = model.info.inputs[0].name;
    const none = await refusal(model.calibrate((async function* () {})()));
    expect(none.code).toBe('invalid_samples');
    const size = model.info.inputs[0].shape.slice(1).reduce((product, dim) => product * dim, 1);
    const good = new Float32Array(size).fill(0.25);
    const shape = await refusal(model.calibrate([{ [name]: good }, { [name]: new Float32Array(5) }]));
    expect(shape).toMatchObject({ code: 'invalid_samples' });
    expect(shape.place).toContain('samples[1]');
    expect(shape.message).toContain('5 values');
    const missing = await refusal(model.calibrate([{ [name]: good }, {}]));
    expect(missing.message).toContain(name);
    const nan = good.slice();
    nan[7] = NaN;
    const notFinite = await refusal(model.calibrate([{ [name]: good }, { [name]: good }, { [name]: nan }]));
    expect(notFinite.place).toContain('samples[2]');
  });

  test('tensors, listed or streamed, give the statistics of the same files', async () => {
    const few = files.filter((file) => file.path.endsWith('.png')).slice(0, 6);
    const name = model.info.inputs[0].name;
    const tensors = [];
    for (let k = 0; k < few.length; ++k) {
      const { tensors: shown } = await model.previewSample(few, k, { preprocessing });
      tensors.push({ [name]: { data: shown[0].values, shape: shown[0].shape } });
    }
    const fromTensors = await model.quantize({ samples: tensors });
    const { shape, data } = tensors[0][name];
    const filledAgain = new Float32Array(data.length);
    const stream = async function* () {
      for (const tensor of tensors) {
        filledAgain.set(tensor[name].data);
        yield { [name]: { data: filledAgain, shape } };
      }
    };
    const streamed = await model.quantize({ samples: stream() });
    expect(filledAgain).toEqual(tensors.at(-1)[name].data);
    const fromFiles = await model.quantize({ samples: few, preprocessing });
    expect(fromTensors.recipe.data_set).toEqual(fromFiles.recipe.data_set);
    expect(fromTensors.model).toEqual(streamed.model);

    const selection = { part: 'calibration', count: 3 };
    const listedPart = await model.calibrate(tensors, { selection });
    const streamedPart = await model.calibrate(stream(), { selection });
    expect(streamedPart.bytes).toEqual(listedPart.bytes);

    // nothing is measured on them later: their memory serves the samples after them
    const config = { weights_bias_correction: false, holdout: false };
    const alone = await model.calibrate(stream(), { config });
    expect(alone.bytes).toEqual((await model.calibrate(tensors, { config })).bytes);
    const unmeasured = await refusal(model.quantize({ statistics: alone }));
    expect(unmeasured).toMatchObject({ code: 'invalid_config', place: 'config.effort' });
    expect(unmeasured.hint).toContain('Give the samples');
    const measured = await model.quantize({ statistics: alone, samples: stream() });
    expect(measured.model).toEqual(fromTensors.model);
  });
});

describe('the whole line', () => {
  test('quantizes, evaluates and compares; the numbers do not depend on the number of workers', async () => {
    const results = [];
    for (const workers of [1, 3]) {
      const engine = await Tersor.create({ workers });
      const opened = await engine.open(readFileSync(demo.model));
      const stages = new Set();
      const options = {
        ...picked(40),
        onProgress: ({ stage, done, total }) => {
          expect(done).toBeLessThanOrEqual(total);
          stages.add(stage);
        },
      };
      const statistics = await opened.calibrate(files, options);
      expect(statistics.sampleCount).toBe(40);
      const made = await opened.quantize({ ...options, statistics });
      const evaluation = { preprocessing, selection: { part: 'evaluation', count: 40 } };
      const float = await opened.evaluate(files, 'folders', evaluation);
      const int8 = await made.evaluate(files, 'folders', { ...options, ...evaluation, reference: float });
      const comparison = await made.compare(files, { ...options, ...evaluation, limit: 16 });
      expect(float.value).toBeGreaterThan(0.9);
      expect(int8.value).toBeGreaterThan(float.value - 0.05);
      expect(int8.answers).toBeInstanceOf(Int32Array);
      expect(int8.agreement.count).toBe(float.count);
      expect(comparison.samples).toBe(16);
      expect(comparison.output_sqnr_db).toBeGreaterThan(15);
      expect(comparison.layers.length).toBeGreaterThan(3);
      expect(comparison.layers.some((row) => row.histogram !== null)).toBe(true);
      expect(made.report.comparison).toEqual(comparison);
      const counted = ({ samples, ...result }) => result;
      expect(int8.samples).toHaveLength(int8.count);
      expect(made.report.evaluation).toEqual({ float: counted(float), quantized: counted(int8) });
      expect(made.report.samples).toEqual({ calibration: 40, evaluation: float.count, held_aside: true });
      expect(made.report.verdict.usability).toBe('usable');
      expect(made.model.length).toBeLessThan(0.5 * model.info.size_bytes);
      expect([...stages]).toEqual(expect.arrayContaining(['calibrate', 'choose', 'write', 'evaluate', 'compare']));
      results.push({ statistics, model: made.model, recipe: made.recipe, float, int8 });
      engine.close();
    }
    expect(results[1]).toEqual(results[0]);
  }, 120_000);

  test('says what x64 processors without VNNI make of the samples, where sums saturate there', async () => {
    const made = await model.quantize({ samples: files, ...picked(40) });
    const asked = { preprocessing, selection: { part: 'evaluation', count: 40 } };
    let early = null;
    const comparison = await made.compare(files, { ...asked, onComparison: (figures) => (early = figures) });
    const { verdict } = made.report;
    expect(early).toEqual({ ...comparison, without_vnni: null });
    const { output_sqnr_db, agreement, without_vnni } = await made.compare(files, {
      ...asked,
      runtime: 'avx2',
      report: false,
    });
    expect(without_vnni).toBeNull();
    expect(output_sqnr_db).toBeLessThan(comparison.output_sqnr_db - 1);
    expect(comparison.without_vnni).toEqual({ output_sqnr_db, agreement });
    expect(verdict.cautions.join()).toContain(`There the output SQNR is ${output_sqnr_db.toFixed(1)} dB`);
    expect(made.report).toMatchObject({ comparison, verdict });
    // 7-bit weights never saturate
    const everywhere = await model.quantize({ samples: files, ...picked(40), platform: 'ort-cpu-avx2' });
    expect((await everywhere.compare(files, asked)).without_vnni).toBeNull();
  });

  test('says that calibration has seen the samples where none is left aside', async () => {
    const made = await model.quantize({ samples: files, ...picked(files.length) });
    const selection = { part: 'evaluation', count: files.length };
    for (const measure of [
      () => made.evaluate(files, null, { selection }),
      () => made.compare(files, { selection, limit: 4 }),
    ]) {
      await measure();
      expect(made.report.samples.held_aside).toBe(false);
    }
    expect(made.report.verdict.reason).toMatch(/seen by calibration too\.$/);
  });

  test('a recipe makes the same file again, and says what does not fit', async () => {
    const first = await model.quantize({ samples: files, ...picked(24), config: { weights_bias_correction: false } });
    const again = await model.quantize({ samples: files, recipe: JSON.parse(JSON.stringify(first.recipe)) });
    expect(again.model).toEqual(first.model);
    expect(again.recipe).toEqual(first.recipe);
    const other = await refusal(model.quantize({ samples: files, recipe: first.recipe, ...picked(12) }));
    expect(other.code).toBe('mismatch');
    const anyway = await model.quantize({ samples: files, recipe: first.recipe, ...picked(12), allowMismatch: true });
    expect(anyway.recipe.data_set.samples).toBe(12);
  }, 60_000);

  test('labels that do not fit are refused', async () => {
    const options = { preprocessing };
    const count = (await model.inspectSamples(files, options)).count;
    const few = await refusal(model.evaluate(files, [1, 2, 3], options));
    expect(few.code).toBe('invalid_labels');
    expect(few.message).toContain(String(count));
    const high = await refusal(model.evaluate(files, new Array(count).fill(999), options));
    expect(high.code).toBe('invalid_labels');
    expect(high.message).toContain('999');
  });

  test('settings that there are not are refused by name', async () => {
    const samples = { samples: files, ...picked(4) };
    expect((await refusal(model.quantize({ ...samples, config: { no_such_field: 1 } }))).message).toContain(
      'no_such_field',
    );
    expect((await refusal(model.quantize({ ...samples, config: { effort: 3 } }))).place).toContain('effort');
    const unsampled = await refusal(model.quantize({}));
    expect(unsampled.code).toBe('invalid_samples');
    expect(unsampled.message).toContain('no samples to calibrate with');
    const broken = { bytes: new Uint8Array([1, 2, 3]), sampleCount: 1 };
    expect(await refusal(model.quantize({ statistics: broken }))).toBeInstanceOf(TersorError);
  });
});

describe('stopping', () => {
  test('an abort rejects at once with its reason, and the next call works', async () => {
    const controller = new AbortController();
    let steps = 0;
    const call = model.calibrate(files, {
      preprocessing,
      signal: controller.signal,
      onProgress: ({ done }) => {
        if (done === 0 || ++steps > 1) return;
        controller.abort();
      },
    });
    const error = await refusal(call);
    expect(error.name).toBe('AbortError');
    expect(error).toBe(controller.signal.reason);
    const after = steps;
    const statistics = await model.calibrate(files, picked(4));
    expect(statistics.sampleCount).toBe(4);
    expect(steps).toBe(after);
    expect(await refusal(model.calibrate(files, { signal: AbortSignal.abort('enough') }))).toBe('enough');
  });

  test('a worker that dies is replaced, and what it had in hand is done again', async () => {
    const marker = path.join(emptyFolder('dying'), 'marker');
    writeFileSync(marker, '');
    process.env.TERSOR_TEST_MARKER = marker;
    const dying = new URL('dying-worker.mjs', import.meta.url);
    const packaged = (name) => new URL(`../../wasm/dist/${name}`, import.meta.url);
    const engine = await Tersor.create({
      workers: 1,
      locateFile: (name) => (name === 'worker.mjs' ? dying : packaged(name)),
    });
    const opened = await engine.open(readFileSync(demo.model));
    const both = [opened.calibrate(files, { preprocessing }), opened.coverage()];
    const [statistics] = await Promise.all(both);
    expect(existsSync(marker)).toBe(false);
    const { bytes } = await opened.calibrate(files, { preprocessing });
    expect(Buffer.from(statistics.bytes).equals(bytes)).toBe(true);
    expect((await opened.calibrate(files, picked(4))).sampleCount).toBe(4);
    engine.close();
  });

  test('a closed engine refuses, and create refuses what makes no sense', async () => {
    const engine = await Tersor.create({ workers: 1 });
    const opened = await engine.open(readFileSync(demo.model));
    const pending = opened.calibrate(files, { preprocessing });
    engine.close();
    expect((await refusal(pending)).code).toBe('cancelled');
    expect((await refusal(opened.coverage())).code).toBe('cancelled');
    expect((await refusal(Tersor.create({ workers: -1 }))).code).toBe('invalid_argument');
    expect((await refusal(Tersor.create({ wasmBinary: new Uint8Array([0, 1, 2, 3]) }))).code).toBe('io');
    expect((await refusal(Tersor.create({ signal: AbortSignal.abort() }))).name).toBe('AbortError');
  });
});
