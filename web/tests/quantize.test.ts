// SPDX-License-Identifier: Apache-2.0

import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { Arrival } from '../src/job/intake';
import { forgetResults } from '../src/job/kept_results';
import { addArrivals, leaveOutBadSamples } from '../src/job/load';
import { cancel, currentStop, goOnAnyway, quantize } from '../src/job/quantize';
import {
  backToDefaults,
  formRows,
  isDocument,
  namesOf,
  setField,
  setKeepFloat,
  setPlatform,
  toDocumentDefaults,
} from '../src/job/settings';
import { platformChoices } from '../src/job/platform';
import * as state from '../src/job/state';
import { behaviour, Tersor } from './double';

const pictures = (folder: string, n: number): Arrival[] =>
  Array.from({ length: n }, (_, k) => ({ path: `set/${folder}/${k}.png`, data: new Blob([String(k)]) }));
const model: Arrival = { path: 'net.onnx', data: new Blob(['m']) };
const set = [...pictures('cat', 60), ...pictures('dog', 40)];

beforeEach(async () => {
  Object.assign(behaviour, {
    pace: 0,
    openError: null,
    sampleErrors: [],
    quantizeError: null,
    labelled: true,
    statisticsFit: true,
    calls: [],
  });
  forgetResults();
  state.engine.value = await Tersor.create();
  for (const signal of [
    state.model,
    state.modelProblem,
    state.coverage,
    state.coverageProblem,
    state.samples,
    state.samplesInfo,
  ]) {
    signal.value = null;
  }
  for (const signal of [
    state.samplesProblem,
    state.preprocessing,
    state.preview,
    state.chosenCalibration,
    state.recipe,
  ])
    signal.value = null;
  for (const signal of [state.settingsProblem, state.run, state.runProblem, state.result]) signal.value = null;
  state.fields.value = {};
  state.keepFloat.value = {};
  state.ownPlatforms.value = [];
  state.platformName.value = 'ort-cpu';
  state.runNote.value = '';
  state.measured.value = { dataKey: '', float: null, statistics: [] };
  behaviour.calls.length = 0;
});

/** Until the job that begins by itself has ended. */
async function settle(): Promise<void> {
  await new Promise((r) => setTimeout(r, 300));
  while (state.run.value !== null) await new Promise((r) => setTimeout(r, 5));
}

describe('opening', () => {
  it('lets nobody start on what is about to be replaced', async () => {
    await addArrivals([model, ...set]);
    const arriving = addArrivals([{ path: 'other.onnx', data: new Blob(['o']) }, ...pictures('bird', 60)]);
    expect(state.canQuantize.value).toBe(false);
    await arriving;
    expect(state.canQuantize.value).toBe(true);
  });

  it('takes samples before the model and the model before the samples', async () => {
    await addArrivals(set);
    expect(state.missing.value).toMatch(/model/);
    await addArrivals([model]);
    expect(state.sampleCount.value).toBe(100);
    expect(state.canQuantize.value).toBe(true);
    expect(state.calibrationCount.value).toBe(50);
    expect(state.evaluationCount.value).toBe(50);
  });

  it('keeps the open model when the next one cannot be opened', async () => {
    await addArrivals([model, ...set]);
    behaviour.openError = {
      code: 'invalid_model',
      message: 'bad.onnx is cut short.',
      place: '',
      hint: 'Copy it again.',
    };
    await addArrivals([{ path: 'bad.onnx', data: new Blob(['x']) }]);
    expect(state.modelProblem.value?.message).toBe('bad.onnx is cut short.');
    expect(state.modelProblem.value?.place).toBe('bad.onnx');
    expect(state.modelProblem.value?.hint).toBe('Copy it again. net.onnx stays open.');
    expect(state.model.value?.name).toBe('net.onnx');
    expect(state.canQuantize.value).toBe(true);
  });

  it('keeps the samples when the next ones do not fit', async () => {
    await addArrivals([model, ...set]);
    behaviour.sampleErrors = [
      { path: 'bad.npy', error: { code: 'invalid_samples', message: 'bad.npy has 4 axes.', place: '', hint: '' } },
    ];
    await addArrivals([{ path: 'bad.npy', data: new Blob(['x']) }]);
    expect(state.samplesProblem.value?.message).toBe('bad.npy has 4 axes.');
    expect(state.samples.value?.name).toBe('set');
    expect(state.sampleCount.value).toBe(100);
  });

  it('tries a model again when the file of its weights arrives', async () => {
    behaviour.openError = {
      code: 'io',
      message: 'net.onnx.data is missing.',
      place: 'graph.initializer[0].net.onnx.data',
      hint: 'Drop that file too.',
    };
    await addArrivals([model]);
    expect(state.model.value).toBeNull();
    // a foreign file is looked at for itself, and the model still waits
    behaviour.openError = { code: 'invalid_model', message: 'This is a checkpoint.', place: '', hint: '' };
    await addArrivals([{ path: 'net.pth', data: new Blob(['p']) }]);
    expect(state.modelProblem.value?.place).toBe('net.pth');
    behaviour.openError = null;
    await addArrivals([{ path: 'net.onnx.data', data: new Blob(['w']) }]);
    expect(state.model.value?.name).toBe('net.onnx');
    expect(state.modelProblem.value).toBeNull();
  });

  it('asks before it leaves unreadable samples out', async () => {
    behaviour.sampleErrors = [
      { path: 'cat/0.png', error: { code: 'invalid_samples', message: 'cut short', place: '', hint: '' } },
    ];
    await addArrivals([model, ...set]);
    expect(state.canQuantize.value).toBe(false);
    await leaveOutBadSamples();
    expect(state.canQuantize.value).toBe(true);
    expect(state.sampleCount.value).toBe(99);
  });

  it('reads a recipe into the settings and refuses what is none', async () => {
    await addArrivals([model]);
    const recipe = {
      format: 'tersor-recipe',
      format_version: 1,
      platform: { name: 'ort-cpu', version: 1 },
      quantization_config: { activation_threshold_method: 'NOCLIPPING', weights_n_bits: 8 },
      overrides: [],
      data_set: { samples: 0, of: 0, digest: '' },
    };
    await addArrivals([{ path: 'r.json', data: new Blob([JSON.stringify(recipe)]) }]);
    expect(state.fields.value).toEqual({ activation_threshold_method: 'NOCLIPPING' });
    await addArrivals([{ path: 'other.json', data: new Blob(['{"a":1}']) }]);
    expect(state.settingsProblem.value?.message).toMatch(/not a recipe/);
    expect(state.settingsProblem.value?.place).toBe('other.json');
    expect(state.fields.value).toEqual({ activation_threshold_method: 'NOCLIPPING' });
  });
});

describe('the job', () => {
  it('measures float first, then calibrates, quantizes, measures int8 and compares', async () => {
    await addArrivals([model, ...set]);
    behaviour.calls.length = 0;
    await quantize();
    expect(behaviour.calls).toEqual(['evaluate', 'calibrate', 'choose', 'correct', 'write', 'evaluate', 'compare']);
    const result = state.result.value;
    expect(result?.float.count).toBe(50);
    expect(result?.int8.agreement?.count).toBe(50);
    expect(result?.comparison.samples).toBe(50);
    expect(state.run.value).toBeNull();
    expect(state.resultIsOld.value).toBe(false);
  });

  it('measures only what other settings change', async () => {
    await addArrivals([model, ...set]);
    await quantize();
    const row = formRows().find((r) => r.field.name === 'activation_threshold_method');
    if (!row) throw new Error('no such field');
    setField(row.field, 'NOCLIPPING');
    expect(state.resultIsOld.value).toBe(true);
    behaviour.calls.length = 0;
    await quantize();
    expect(behaviour.calls).toEqual(['choose', 'correct', 'write', 'evaluate', 'compare']);
    backToDefaults();
    expect(state.fields.value).toEqual({});
  });

  it('takes other labels of the same name for other labels', async () => {
    const labels = (text: string): Arrival => ({ path: 'labels.csv', data: new Blob([text]) });
    await addArrivals([model, ...set]);
    await addArrivals([labels('0')]);
    await quantize();
    expect(state.resultIsOld.value).toBe(false);
    await addArrivals([labels('1')]);
    expect(state.resultIsOld.value).toBe(true);
  });

  it('makes the result anew by itself when a setting changes, from kept statistics', async () => {
    await addArrivals([model, ...set]);
    await quantize();
    const before = state.result.value;
    behaviour.calls.length = 0;
    behaviour.pace = 1;
    const pending: unknown[] = [];
    const stop = state.result.subscribe((result) => pending.push(result?.pending));
    setKeepFloat('conv1', true);
    await settle();
    stop();
    expect(behaviour.calls).toEqual(['choose', 'correct', 'write', 'evaluate', 'compare']);
    expect(pending).toEqual([null, 'figures', 'layers', null]);
    expect(state.result.value?.quantized).not.toBe(before?.quantized);
    expect(state.result.value?.quantized.recipe.overrides).toEqual([
      { name: 'conv1', config: { enable_weights_quantization: false, enable_activation_quantization: false } },
    ]);
    expect(state.resultIsOld.value).toBe(false);
    setKeepFloat('conv1', null);
    expect(state.overrides.value).toEqual([]);
    await settle();
    expect(state.result.value?.quantized.recipe.overrides).toEqual([]);
  });

  it('gives up what runs when a setting changes once more', async () => {
    await addArrivals([model, ...set]);
    await quantize();
    behaviour.pace = 3;
    const row = formRows().find((r) => r.field.name === 'activation_threshold_method');
    if (!row) throw new Error('no such field');
    setField(row.field, 'NOCLIPPING');
    while (state.run.value === null) await new Promise((r) => setTimeout(r, 5));
    setKeepFloat('conv1', false);
    await settle();
    expect(state.result.value?.quantized.recipe.quantization_config).toMatchObject({
      activation_threshold_method: 'NOCLIPPING',
    });
    expect(state.result.value?.quantized.recipe.overrides).toHaveLength(1);
    expect(state.runProblem.value).toBeNull();
  });

  it('calibrates again only where the engine says that other tensors are watched', async () => {
    await addArrivals([model, ...set]);
    await quantize();
    behaviour.calls.length = 0;
    behaviour.statisticsFit = false;
    setKeepFloat('conv1', true);
    await settle();
    expect(behaviour.calls.slice(0, 2)).toEqual(['calibrate', 'choose']);
    behaviour.calls.length = 0;
    setKeepFloat('conv1', null);
    await settle();
    // the result of these settings was kept
    expect(behaviour.calls).toEqual([]);
  });
});

describe('settings', () => {
  it('have a row for every field, with its names elsewhere', () => {
    const rows = formRows();
    expect(rows.length).toBe(state.engine.value?.describeQuantizationConfig().length);
    expect(rows.filter((row) => row.group === 'main').length).toBe(4);
    const field = rows.find((row) => row.field.name === 'weights_n_bits')?.field;
    if (!field) throw new Error('no such field');
    expect(namesOf({ ...field, ort: 'weight_type' })).toBe('weights_n_bits · the same in MCT · ORT weight_type');
    expect(namesOf({ ...field, mct: 'bits' })).toBe('weights_n_bits · MCT bits');
  });

  it("take the requirement document's defaults whole, and Tersor's again", async () => {
    await addArrivals([model, ...set]);
    await quantize();
    setKeepFloat('conv1', true);
    behaviour.calls.length = 0;
    toDocumentDefaults();
    expect(state.fields.value).toEqual({ activation_quantization_method: 'POWER_OF_TWO' });
    expect(isDocument()).toBe(true);
    await settle();
    expect(behaviour.calls).toEqual(['choose', 'correct', 'write', 'evaluate', 'compare']);
    expect(state.result.value?.quantized.recipe.quantization_config).toMatchObject(state.fields.value);
    expect(state.result.value?.quantized.recipe.overrides).toEqual([]);
    const row = formRows().find((r) => r.field.name === 'activation_threshold_method');
    if (!row) throw new Error('no such field');
    setField(row.field, 'NOCLIPPING');
    expect(isDocument()).toBe(false);
    backToDefaults();
    expect(state.fields.value).toEqual({});
    await settle();
  });

  it('take a platform file, and say what is wrong with one', async () => {
    await addArrivals([model]);
    const file = (name: string) => ({
      path: 'mine.json',
      data: new Blob([JSON.stringify({ schema_version: 1, name })]),
    });
    await addArrivals([file('mine')]);
    expect(state.platformName.value).toBe('file:mine.json');
    expect(state.platform.value).toMatchObject({ name: 'mine' });
    expect(platformChoices().map((choice) => choice.title)).toEqual(['ONNX Runtime CPU', 'mine']);
    await addArrivals([file('broken')]);
    expect(state.settingsProblem.value?.message.split('\n')).toHaveLength(3);
    expect(state.platform.value).toMatchObject({ name: 'mine' });
    setPlatform('ort-cpu');
    expect(state.platform.value).toBe('ort-cpu');
  });
});

describe('a job that runs', () => {
  it('is given up without a word when another model or other samples come, and nothing of it appears', async () => {
    for (const wait of [5, 40, 90, 140, 180]) {
      for (const others of [[{ ...model, path: 'other.onnx' }], [...pictures('cow', 60), ...pictures('hen', 40)]]) {
        behaviour.pace = 1;
        await addArrivals([model, ...set]);
        const job = quantize();
        await new Promise((resolve) => setTimeout(resolve, wait));
        await addArrivals(others);
        expect(state.run.value).toBeNull();
        await job;
        expect(state.result.value).toBeNull();
        expect(state.runProblem.value).toBeNull();
        expect(state.runNote.value).toBe('');
        behaviour.pace = 0;
        await quantize();
        expect(state.result.value?.modelName).toBe(state.model.value?.name);
        expect(state.resultIsOld.value).toBe(false);
      }
    }
  });

  it('is cancelled at every stage within 200 ms, keeps what was measured and goes on from there', async () => {
    await addArrivals([model, ...set]);
    behaviour.pace = 2;
    for (const stage of ['float', 'calibrate', 'choose', 'int8', 'compare'] as const) {
      const running = quantize();
      while (state.run.value?.stages.find((s) => s.id === stage)?.state !== 'running')
        await new Promise((r) => setTimeout(r, 1));
      const asked = performance.now();
      cancel();
      await running;
      expect(performance.now() - asked).toBeLessThan(200);
      expect(state.run.value).toBeNull();
      expect(state.runProblem.value).toBeNull();
      expect(state.runNote.value).toMatch(/^Cancelled\./);
      expect(state.canQuantize.value).toBe(true);
    }
    behaviour.pace = 0;
    behaviour.calls.length = 0;
    await quantize();
    expect(behaviour.calls).toEqual(['choose', 'correct', 'write', 'evaluate', 'compare']);
  });

  it('shows an error with its four fields and keeps the earlier result', async () => {
    await addArrivals([model, ...set]);
    await quantize();
    const before = state.result.value;
    behaviour.quantizeError = {
      code: 'mismatch',
      message: 'The recipe is of another model.',
      place: 'model.sha256',
      hint: 'Open that model.',
    };
    await quantize();
    expect(state.runProblem.value).toEqual(behaviour.quantizeError);
    expect(state.result.value).toBe(before);
  });

  it('never lets progress fall and ends at one', async () => {
    await addArrivals([model, ...set]);
    behaviour.pace = 1;
    const shares: number[] = [];
    const stop = state.run.subscribe((run) => run && shares.push(run.share));
    await quantize();
    stop();
    expect(shares.length).toBeGreaterThan(20);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBeGreaterThan(0.9);
  });
});

describe('a result', () => {
  const done = () => {
    if (!state.result.value) throw new Error('no result');
    return state.result.value;
  };

  it('tells what the settings before came to, on the same samples', async () => {
    await addArrivals([model, ...set]);
    await quantize();
    expect(done().before).toBeNull();
    const first = done();
    expect(first).toMatchObject({ modelName: 'net.onnx', dataName: 'set', platformFile: null, pending: null });
    await quantize();
    expect(done().before).toBeNull();
    state.fields.value = { weights_n_bits: 4 };
    await quantize();
    expect(done().before).toEqual({ key: first.key, value: 0.92, sqnr: 30.2, bytes: 301_104 });
    await addArrivals([...pictures('cow', 60), ...pictures('hen', 40)]);
    state.fields.value = {};
    await quantize();
    expect(done().before).toBeNull();
  });

  it('is told in a sentence, with accuracy where labels are known', async () => {
    await addArrivals([model, ...set]);
    await quantize();
    expect(state.announcement.value).toBe('Done. Float 92.00\u202f%, int8 92.00\u202f% on 50 samples.');
    expect(done().stages.map(({ title }) => title)).toEqual([
      'Read model',
      'Float accuracy',
      'Calibrate',
      'Choose ranges',
      'Round and correct',
      'Write file',
      'Int8 accuracy',
      'Error by layer',
    ]);
    await addArrivals(Array.from({ length: 10 }, (_, k) => ({ path: `${k}.png`, data: new Blob([String(k)]) })));
    state.fields.value = { weights_bias_correction: false, gradient_ptq_config: {} };
    await quantize();
    expect(state.announcement.value).toBe('Done. Output SQNR 30.2\u202fdB.');
    expect(done().stages.map(({ title }) => title)).toContain('Int8 answers');
    expect(done().stages.map(({ title }) => title)).toContain('Train');
    expect(done().stages.map(({ title }) => title)).not.toContain('Round and correct');
  });

  it('names the platform’s file, and says how long it took', async () => {
    await addArrivals([model, ...set]);
    const files = ['a', 'b'].map((name) => ({
      path: `${name}.json`,
      data: new Blob([JSON.stringify({ schema_version: 1, name })]),
    }));
    await addArrivals(files);
    await quantize();
    expect(done().platformFile).toBe('b.json');
    expect(done().seconds).toBeGreaterThan(0);
    expect(done().seconds).toBeLessThan(60);
  });

  it('keeps the panel of a layer that it left in float, and closes that of one that was never there', async () => {
    await addArrivals([model, ...set]);
    state.openLayer.value = 'conv1_out';
    await quantize();
    expect([state.openLayer.value, state.goneLayer.value]).toEqual(['conv1_out', null]);
    state.openLayer.value = 'nowhere';
    state.fields.value = { weights_n_bits: 4 };
    await quantize();
    expect([state.openLayer.value, state.goneLayer.value]).toEqual([null, null]);
    state.openLayer.value = 'layer3.1.add_out';
    behaviour.layers = 3;
    state.fields.value = {};
    await quantize();
    expect([state.openLayer.value, state.goneLayer.value?.name]).toEqual(['layer3.1.add_out', 'layer3.1.add']);
    state.fields.value = { weights_n_bits: 4 };
    await quantize();
    expect(state.goneLayer.value?.name).toBe('layer3.1.add');
    behaviour.layers = 30;
    state.openLayer.value = null;
    state.goneLayer.value = null;
  });
});

describe('float accuracy that cannot be', () => {
  const wrong = async () => {
    await addArrivals([model, ...set]);
    const handle = state.model.value?.handle;
    if (!handle) throw new Error('no model');
    const evaluate = handle.evaluate.bind(handle);
    vi.spyOn(handle, 'evaluate').mockImplementation(async (...of) => ({
      ...(await evaluate(...of)),
      value: 0.1,
      interval: { lower: 0.05, upper: 0.2, level: 0.95 },
    }));
  };

  it('ends the job with a card, which stays while model and samples do, unless the reader goes on', async () => {
    await wrong();
    await quantize();
    expect(state.result.value).toBeNull();
    expect(currentStop()?.advice.id).toBe('unmapped-classes');
    expect(state.announcement.value).toMatch(/^Stopped\. Float accuracy is 10\.00/);
    expect(state.runProblem.value).toBeNull();
    state.chosenCalibration.value = 20;
    expect(currentStop()).toBeNull();
    state.chosenCalibration.value = null;
    expect(currentStop()).not.toBeNull();
    state.run.value = {} as state.Run;
    expect(currentStop()).toBeNull();
    state.run.value = null;
    goOnAnyway();
    await settle();
    expect(state.result.value).not.toBeNull();
    expect(currentStop()).toBeNull();
  });
});
