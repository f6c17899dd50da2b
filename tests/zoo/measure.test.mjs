// SPDX-License-Identifier: Apache-2.0
// `measure` takes the fastest of the files that are as accurate, as a timer says, and its recipe repeats the bytes without one.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { Tersor, timerOf } from '../../wasm/dist/index.js';
import { sharedFolder, zooSamples } from './samples.mjs';

const id = 'mlperf-kws-dscnn';
const zoo = path.join(sharedFolder, 'zoo');
const here = existsSync(zoo);
if (!here) console.log('skipped: measuring files of the zoo (TERSOR_SHARED is not here)');

const same = (a, b) => Buffer.from(a).equals(Buffer.from(b));

describe('measure', () => {
  let tersor;
  let model;
  const samples = [];
  beforeAll(async () => {
    if (!here) return;
    tersor = await Tersor.create({ workers: 2 });
    model = await tersor.open(readFileSync(path.join(zoo, id, 'model.onnx')));
    const { calibration } = zooSamples(sharedFolder, id, 24);
    const names = readdirSync(calibration).filter((name) => name.endsWith('.npy'));
    for (const name of names.sort().slice(0, 24))
      samples.push({ path: name, data: readFileSync(path.join(calibration, name)) });
  });
  afterAll(() => tersor?.close());

  const config = { effort: 0 };
  const times = (milliseconds) => ({ runtime: 'a runtime 1.0', threads: 1, milliseconds });

  test.skipIf(!here)('the fastest file is taken, and its recipe repeats it without measuring', async () => {
    const given = [];
    const timer = (fastest) => (files, inputs) => {
      given.push({ files, inputs });
      return Promise.resolve(times(files.map((_, k) => (k === 0 ? 9 : k === fastest(files.length) ? 1 : 3))));
    };
    const asked = { ...config, prefer: 'BALANCED' };
    const plain = await model.quantize({ samples, config: asked });
    for (const fastest of [() => 1, (count) => count - 1]) {
      const made = await model.quantize({ samples, config: asked, measure: timer(fastest) });
      const { files, inputs } = given.at(-1);
      assert.equal(inputs.length, 1);
      assert.equal(inputs[0].data.length, 490);
      const { time } = made.report;
      assert.equal(time.measured, true);
      assert.equal(time.timed.length, files.length - 1);
      assert.equal(time.timed[0].prefer, 'BALANCED');
      assert(time.timed.length > 1);
      const taken = time.timed.findIndex((one) => one.taken);
      assert.equal(taken + 1, fastest(files.length));
      assert.equal(time.float_ms, 9);
      assert.equal(time.quantized_ms, 1);
      assert(same(files[taken + 1], made.model));
      assert.equal(made.recipe.quantization_config.prefer, time.timed[taken].prefer);
      if (taken === 0) assert(same(made.model, plain.model));
      const again = await model.quantize({ samples, recipe: made.recipe });
      assert(same(again.model, made.model));
      assert.deepEqual(again.recipe, made.recipe);
      made.close();
      again.close();
    }
    plain.close();
  });

  test.skipIf(!here)('where there is one file it says so, of statistics too', async () => {
    const statistics = await model.calibrate(samples.slice(0, 4), { config });
    for (const given of [{ samples: samples.slice(0, 4) }, { statistics }]) {
      const measure = (files) => Promise.resolve(times(files.map(() => 2)));
      const made = await model.quantize({ ...given, config: { ...config, prefer: 'INTEGERS' }, measure });
      assert.match(made.report.time.sentence, /^It runs 1\.00 times as fast .*no other file to choose\.$/);
      made.close();
    }
  });

  test.skipIf(!here)('times that are none, and a runtime that fails, are errors', async () => {
    const refused = (measure) => model.quantize({ samples: samples.slice(0, 4), config, measure });
    for (const wrong of [times([]), times([1, -1]), times([1, 'fast']), {}])
      await assert.rejects(
        refused(() => Promise.resolve(wrong)),
        { code: 'invalid_argument' },
      );
    const broken = timerOf({
      env: { versions: { common: '1.0', web: '1.0' }, wasm: {} },
      InferenceSession: { create: () => Promise.reject(new Error('No such kernel.')) },
    });
    await assert.rejects(refused(broken), /onnxruntime-web 1\.0 could not open the float model.*No such kernel/);
    await assert.rejects(refused('yes'), { code: 'invalid_argument', place: 'options.measure' });
  });

  test.skipIf(!here)('files are timed in the runtime that is installed', async () => {
    const made = await model.quantize({ samples, config, measure: true });
    const { time } = made.report;
    assert.match(time.runtime, /^onnxruntime-node \d+\.\d+/);
    assert.equal(time.measured, true);
    assert(time.float_ms > 0 && time.quantized_ms > 0);
    assert.match(time.sentence, /measured, one thread/);
    const again = await model.quantize({ samples, recipe: made.recipe });
    assert(same(again.model, made.model));
    made.close();
    again.close();
  });
});
