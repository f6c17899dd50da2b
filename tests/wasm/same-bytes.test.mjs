// SPDX-License-Identifier: Apache-2.0
//
// The quantized file is the same from the native program with one and two threads, from Node with one and two workers, from
// Chromium with one and two workers, and from the Python package.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { inWholeSuite } from '../suite.mjs';
import { emptyFolder, filesUnder, jobs, largeJob, program, root } from './jobs.mjs';
import { openPage } from './page/open.mjs';

/** Samples that each job calibrates with, spread evenly over its data set. */
const count = 24;

/** Beside the demo; other models are left to ./scripts/test all. */
const inShortSuite = [
  'mlperf-kws-dscnn',
  'mlperf-vww-mobilenetv1',
  'mlperf-ic-resnet8',
  'mlperf-ad-autoencoder',
  'imagenet-mobilenetv1-025-224',
];

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** What asks each door for a .tflite file. */
const ofTflite = { platform: 'tflite-micro', format: 'tflite' };

function natively(job, folder, threads, format = 'onnx') {
  const output = path.join(emptyFolder(`native-${job.name}-${threads}-${format}`), `out.${format}`);
  const more = format === 'tflite' ? ['--platform', ofTflite.platform] : [];
  if (job.preprocessing) {
    const file = path.join(path.dirname(output), 'preprocessing.json');
    writeFileSync(file, JSON.stringify(job.preprocessing));
    more.push('--preprocessing', file);
  }
  const args = ['quantize', job.model, '--data', folder, '--limit', count, '--threads', threads, '-o', output, ...more];
  execFileSync(program, args.map(String), { stdio: ['ignore', 'ignore', 'inherit'] });
  return sha256(readFileSync(output));
}

async function inNode(engine, job, folder, settings = {}) {
  const samples = filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
  const model = await engine.open(readFileSync(job.model));
  const made = await model.quantize({
    samples,
    selection: { part: 'calibration', count },
    ...settings,
    ...(job.preprocessing ? { preprocessing: job.preprocessing } : {}),
  });
  made.close();
  model.close();
  expect(made.report.output.sha256).toBe(sha256(made.model));
  return sha256(made.model);
}

/** Where ./scripts/build python has been; what it cannot be built with is said by scripts/test. */
const python = path.join(root, 'build/python/venv/bin/python');
const script = `
import json, sys, tersor
model, samples, count, preprocessing, settings, output = sys.argv[1:]
given = {"calibration_samples": int(count), "preprocessing": json.loads(preprocessing), "compare": False}
result = tersor.quantize(model, samples, **given, **json.loads(settings))
result.save(output)
`;

function inPython(job, folder, settings = {}) {
  const output = path.join(emptyFolder(`python-${job.name}`), `out.${settings.format ?? 'onnx'}`);
  const given = [String(count), JSON.stringify(job.preprocessing), JSON.stringify(settings)];
  const args = ['-c', script, job.model, folder, ...given, output];
  execFileSync(python, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return sha256(readFileSync(output));
}

let one, two, light, page;
beforeAll(async () => {
  one = await Tersor.create({ workers: 1 });
  two = await Tersor.create({ workers: 2 });
  light = await Tersor.create({ workers: 2, light: true });
  page = await openPage();
}, 60_000);
afterAll(async () => {
  one?.close();
  two?.close();
  light?.close();
  await page?.close();
});

describe('the same bytes everywhere', () => {
  for (const job of [...jobs(), largeJob()]) {
    const run = job.name === 'demo' || inShortSuite.includes(job.name) ? test : inWholeSuite;
    run.skipIf(job.missing !== '')(`${job.name}${job.missing && ` (skipped: ${job.missing})`}`, async () => {
      expect(existsSync(program), `${program} is not there: run scripts/build native`).toBe(true);
      const folder = job.data();
      const inPage = async (workers) => (await page.quantize(job, folder, filesUnder(folder), { count, workers }))[0];
      const digests = {
        'native, 1 thread': natively(job, folder, 1),
        'native, 2 threads': natively(job, folder, 2),
        'Node, 1 worker': await inNode(one, job, folder),
        'Node, 2 workers': await inNode(two, job, folder),
        'Node, the light engine': await inNode(light, job, folder),
        'Chromium, 1 worker': await inPage(1),
        'Chromium, 2 workers': await inPage(2),
        ...(existsSync(python) ? { Python: inPython(job, folder) } : {}),
      };
      expect(digests).toEqual(
        Object.fromEntries(Object.keys(digests).map((key) => [key, digests['native, 1 thread']])),
      );
    });
  }

  for (const name of ['demo', 'mlperf-kws-dscnn']) {
    const job = jobs().find((one) => one.name === name);
    test.skipIf(job.missing !== '')(`${name} as a .tflite file`, async () => {
      const folder = job.data();
      const digests = {
        'native, 1 thread': natively(job, folder, 1, 'tflite'),
        'native, 2 threads': natively(job, folder, 2, 'tflite'),
        'Node, 1 worker': await inNode(one, job, folder, ofTflite),
        'Node, the light engine': await inNode(await Tersor.create({ workers: 2, light: true }), job, folder, ofTflite),
        ...(existsSync(python) ? { Python: inPython(job, folder, ofTflite) } : {}),
      };
      expect(digests).toEqual(
        Object.fromEntries(Object.keys(digests).map((key) => [key, digests['native, 1 thread']])),
      );
    });
  }

  test('the figures of a .tflite file are those that the program has of it', async () => {
    const job = jobs().find(({ name }) => name === 'demo');
    const folder = job.data();
    const samples = filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
    const model = await one.open(readFileSync(job.model));
    const { preprocessing } = job;
    const given = { samples, preprocessing, selection: { part: 'calibration', count } };
    const made = await model.quantize({ ...given, ...ofTflite });
    expect(made.report.runtime).toBe('tflite-micro');
    expect(made.report.board.flash_bytes).toBe(made.model.length);
    expect(made.report.board.arena_bytes).toBeGreaterThan(made.report.board.activation_bytes);
    const all = { preprocessing, selection: { part: 'all', count: 0 } };
    const ours = await made.compare(samples, all);
    const answers = await made.evaluate(samples, null, all);
    const work = emptyFolder('tflite-figures');
    writeFileSync(path.join(work, 'q.tflite'), made.model);
    writeFileSync(path.join(work, 'p.json'), JSON.stringify(preprocessing));
    const data = ['--data', folder, '--preprocessing', path.join(work, 'p.json'), '--json'];
    const said = (...args) => JSON.parse(execFileSync(program, [...args, ...data], { encoding: 'utf8' }));
    const theirs = said('compare', job.model, path.join(work, 'q.tflite'));
    expect(theirs.runtime).toBe('tflite-micro');
    expect(theirs.outputs).toEqual(ours.outputs);
    const isListed = ({ output }) => theirs.layers.some((row) => row.output === output);
    // Tensors that were equalized have no row in a file by itself.
    const listed = ours.layers.filter(isListed);
    expect(listed.length).toBeGreaterThan(4);
    const errors = (rows) => rows.map((row) => [row.output, row.accumulated_sqnr_db]);
    expect(errors(theirs.layers)).toEqual(errors(listed));
    const evaluated = said('evaluate', path.join(work, 'q.tflite'), '--metric', 'answers', '--reference', job.model);
    expect(evaluated.count).toBe(answers.count);
    // The file itself opens here too, and says that it is quantized.
    const opened = await one.open(made.model);
    expect([opened.info.quantized, opened.info.inputs[0].type]).toEqual([true, 'int8']);
    await expect(opened.quantize({ samples, preprocessing })).rejects.toThrow('quantized already');
    opened.close();
    made.close();
    model.close();
  });

  test('with the bits of each operator chosen within a budget', async () => {
    const job = jobs().find(({ name }) => name === 'demo');
    const folder = job.data();
    const output = path.join(emptyFolder('native-budget'), 'out.onnx');
    const preprocessing = path.join(path.dirname(output), 'preprocessing.json');
    writeFileSync(preprocessing, JSON.stringify(job.preprocessing));
    const budget = ['--platform', 'any', '--weights-memory', '20kB'];
    const data = ['--data', folder, '--limit', String(count), '--preprocessing', preprocessing];
    execFileSync(program, ['quantize', job.model, ...data, ...budget, '-o', output], { stdio: 'ignore' });
    const samples = filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
    for (const engine of [one, two]) {
      const model = await engine.open(readFileSync(job.model));
      const made = await model.quantize({
        samples,
        selection: { part: 'calibration', count },
        preprocessing: job.preprocessing,
        platform: 'any',
        config: { target_resource_utilization: { weights_memory: 20_000 } },
      });
      const { taken, operators } = made.report.trial.bits;
      expect(taken.weights_memory).toBeLessThanOrEqual(20_000);
      expect(
        new Set(operators.map(({ candidates, chosen }) => candidates[chosen].weights_n_bits)).size,
      ).toBeGreaterThan(1);
      expect(sha256(made.model)).toBe(sha256(readFileSync(output)));
      made.close();
      model.close();
    }
  });

  inWholeSuite(
    'with bits chosen by Hessian scores, of the light engine too, which loads the other for it',
    async () => {
      const folder = jobs()
        .find(({ name }) => name === 'demo')
        .data();
      const samples = filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
      const digests = [];
      const begun = await Tersor.create({ workers: 1, light: true });
      for (const engine of [two, begun]) {
        const model = await engine.open(readFileSync(path.join(root, 'web/public/demo/model.onnx')));
        const made = await model.quantize({
          samples,
          selection: { part: 'calibration', count },
          platform: 'any',
          config: {
            target_resource_utilization: { weights_memory: 20_000 },
            mixed_precision_config: { distance_weighting_method: 'HESSIAN' },
          },
        });
        digests.push(sha256(made.model));
        made.close();
        model.close();
      }
      begun.close();
      expect(digests[1]).toBe(digests[0]);
    },
  );

  test('trained, in the program, with one worker and with two; stopped, by its recipe', async () => {
    const job = jobs().find(({ name }) => name === 'demo');
    const folder = job.data();
    const output = path.join(emptyFolder('native-tune'), 'out.onnx');
    const preprocessing = path.join(path.dirname(output), 'preprocessing.json');
    writeFileSync(preprocessing, JSON.stringify(job.preprocessing));
    const data = ['--data', folder, '--limit', String(count), '--preprocessing', preprocessing];
    const natively = (...more) => {
      execFileSync(program, ['tune', job.model, ...data, '--platform', 'any', ...more, '-o', output], {
        stdio: 'ignore',
      });
      return sha256(readFileSync(output));
    };
    const whole = natively('--set', 'weights_n_bits=4', '--epochs', '12');
    const samples = filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
    const quantize = async (engine, more = {}) => {
      const model = await engine.open(readFileSync(job.model));
      const made = await model.quantize({
        samples,
        selection: { part: 'calibration', count },
        preprocessing: job.preprocessing,
        platform: 'any',
        config: { weights_n_bits: 4, gradient_ptq_config: { n_epochs: 12 } },
        ...more,
      });
      made.close();
      model.close();
      return made;
    };
    for (const engine of [one, two, light]) {
      const seen = [];
      const made = await quantize(engine, { onProgress: (progress) => seen.push(progress) });
      expect(sha256(made.model)).toBe(whole);
      expect(made.report.training.taken).toBe(true);
      const training = seen.filter(({ stage }) => stage === 'train').map((progress) => progress.training);
      expect(training.at(-1).step).toBe(training.at(-1).steps);
      expect(training.some(({ loss }) => loss > 0)).toBe(true);
    }
    const stop = new AbortController();
    const stopped = await quantize(two, {
      stop: stop.signal,
      onProgress: ({ training }) => training?.step >= 2 && stop.abort(),
    });
    const steps = stopped.recipe.quantization_config.gradient_ptq_config.most_steps;
    expect(steps).toBeGreaterThanOrEqual(2);
    expect(steps).toBeLessThan(stopped.report.training.steps_planned);
    const recipe = path.join(path.dirname(output), 'recipe.json');
    writeFileSync(recipe, JSON.stringify(stopped.recipe));
    expect(natively('--recipe', recipe)).toBe(sha256(stopped.model));
  });

  inWholeSuite('tuned, stopped, and gone on from its checkpoint in another engine and in the program', async () => {
    const job = jobs().find(({ name }) => name === 'demo');
    const folder = job.data();
    const place = emptyFolder('checkpoints');
    const preprocessing = path.join(place, 'preprocessing.json');
    writeFileSync(preprocessing, JSON.stringify(job.preprocessing));
    const natively = (...more) => {
      const output = path.join(place, 'out.onnx');
      const data = ['--data', folder, '--limit', String(count), '--preprocessing', preprocessing];
      const settings = ['--platform', 'any', '--set', 'weights_n_bits=3', '--epochs', '12'];
      execFileSync(program, ['tune', job.model, ...data, ...settings, ...more, '-o', output], { stdio: 'ignore' });
      return sha256(readFileSync(output));
    };
    const samples = filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
    const tune = async (engine, more = {}) => {
      const model = await engine.open(readFileSync(job.model));
      const made = await model.tune({
        samples,
        selection: { part: 'calibration', count },
        preprocessing: job.preprocessing,
        platform: 'any',
        config: { weights_n_bits: 3, gradient_ptq_config: { n_epochs: 12 } },
        ...more,
      });
      made.close();
      model.close();
      return made;
    };
    const checkpoints = [];
    const seen = [];
    const stop = new AbortController();
    const stopped = await tune(two, {
      stop: stop.signal,
      onCheckpoint: (bytes) => checkpoints.push(bytes),
      onProgress({ training }) {
        if (!training) return;
        seen.push(training);
        if (training.step >= 5) stop.abort();
      },
    });
    expect(stopped.report.training.steps).toBeLessThan(stopped.report.training.steps_planned);
    expect(seen[0]).toMatchObject({ step: 0, samples_per_second: null, seconds_left: null });
    expect(seen.at(-1).samples_per_second).toBeGreaterThan(0);
    expect(seen.at(-1).seconds_left).toBeGreaterThan(0);
    const resume = checkpoints.at(-1);
    const state = path.join(place, 'state.bin');
    writeFileSync(state, resume);
    const whole = natively();
    expect(sha256((await tune(one, { resume })).model)).toBe(whole);
    expect(natively('--resume', state)).toBe(whole);
    // How many epochs a budget was is known by the checkpoint alone.
    expect(sha256((await tune(light, { resume, minutes: 5 })).model)).toBe(whole);
    // By its recipe it stops where it was stopped.
    const { recipe } = stopped;
    expect(sha256((await tune(two, { recipe, resume, platform: undefined, config: undefined })).model)).toBe(
      sha256(stopped.model),
    );
    await expect(tune(two, { resume, config: { gradient_ptq_config: { n_epochs: 13 } } })).rejects.toMatchObject({
      code: 'mismatch',
      message: /n_epochs 12 there and 13 here/,
    });
    await expect(tune(two, { resume: resume.slice(0, 100) })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: /no whole checkpoint/,
    });
    await expect(tune(two, { minutes: 0 })).rejects.toMatchObject({ place: 'options.minutes' });
    const brief = await tune(two, { minutes: 0.02 });
    expect(brief.recipe.quantization_config.gradient_ptq_config.n_epochs).toBeGreaterThanOrEqual(1);
    expect(brief.report.training.steps).toBe(brief.report.training.steps_planned);
  });

  inWholeSuite('trained towards labels, on mixed samples', async () => {
    const job = jobs().find(({ name }) => name === 'demo');
    const folder = job.data();
    const output = path.join(emptyFolder('native-labels'), 'out.onnx');
    const preprocessing = path.join(path.dirname(output), 'preprocessing.json');
    writeFileSync(preprocessing, JSON.stringify(job.preprocessing));
    const training = { n_epochs: 12, label_weight: 0.5, augmentation: 0.5, train_scales: true };
    const data = ['--data', folder, '--limit', String(count), '--preprocessing', preprocessing];
    const settings = ['--set', 'weights_n_bits=3', '--set', `gradient_ptq_config=${JSON.stringify(training)}`];
    execFileSync(program, ['tune', job.model, ...data, '--platform', 'any', ...settings, '-o', output], {
      stdio: 'ignore',
    });
    const samples = filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
    for (const engine of [one, two]) {
      const model = await engine.open(readFileSync(job.model));
      const options = {
        samples,
        selection: { part: 'calibration', count },
        preprocessing: job.preprocessing,
        platform: 'any',
        config: { weights_n_bits: 3, gradient_ptq_config: training },
      };
      await expect(model.quantize(options)).rejects.toMatchObject({ code: 'invalid_labels' });
      const seen = [];
      const onProgress = (progress) => seen.push(progress);
      const made = await model.quantize({ ...options, labels: 'folders', onProgress });
      expect(sha256(made.model)).toBe(sha256(readFileSync(output)));
      expect(made.report.training.labels).toMatch(/^[0-9a-f]{64}$/);
      expect(made.report.training.before_right).toBeGreaterThan(0);
      const first = seen.find(({ training: now }) => now).training;
      expect(first.step).toBe(0);
      expect(first.bytes_per_worker).toBeGreaterThan(0);
      made.close();
      model.close();
    }
  });

  test('in a page that is no secure context, where the browser takes no digests', async () => {
    const job = jobs().find(({ name }) => name === 'demo');
    const folder = job.data();
    const plain = await openPage({ host: 'tersor.test' });
    try {
      expect(await plain.page.evaluate(() => [isSecureContext, typeof crypto.subtle])).toEqual([false, 'undefined']);
      const [digest] = await plain.quantize(job, folder, filesUnder(folder), { count, workers: 2 });
      expect(digest).toBe(await inNode(one, job, folder));
      expect(plain.complaints).toEqual([]);
    } finally {
      await plain.close();
    }
  });

  test('nothing was said on the console and no request failed', () => {
    expect(page.complaints).toEqual([]);
  });
});
