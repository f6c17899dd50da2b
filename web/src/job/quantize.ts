// SPDX-License-Identifier: Apache-2.0
//
// The whole job: float accuracy, calibration, quantization, int8 accuracy, error by layer. What was measured stays, so that
// a job that was cancelled or repeated with other settings goes on from there.

import { batch } from '@preact/signals';
import type { CallOptions, EvaluationResult, Progress, QuantizedResult, Statistics } from 'tersor';

import { decibels, percent } from '../numbers';
import { fileNamed } from './load';
import { isAbort, problemOf, type Problem } from './problem';
import { enter, finish, report, skip, startRun, tick } from './stages';
import * as state from './state';

/** Samples that the comparison by layer looks at; it keeps two runs of the model in memory at once. */
const compareLimit = 64;

let controller: AbortController | null = null;
let settled: Promise<void> = Promise.resolve();

function follow(change: (run: state.Run) => state.Run): void {
  const current = state.run.value;
  if (current) state.run.value = change(current);
}

function options(evaluation: 'float' | 'int8', signal: AbortSignal): CallOptions {
  return { signal, onProgress: (progress: Progress) => follow((run) => report(run, progress, evaluation)) };
}

/** A number for each object that ever took part in a key. */
const identities = new WeakMap<object, number>();
let lastIdentity = 0;
function identity(thing: object | null): number {
  if (thing === null) return 0;
  const known = identities.get(thing);
  if (known !== undefined) return known;
  identities.set(thing, ++lastIdentity);
  return lastIdentity;
}

interface Inputs {
  readonly model: state.OpenModel;
  readonly set: state.SampleSet;
  readonly preprocessing: { readonly preprocessing?: NonNullable<typeof state.preprocessing.value> };
  readonly evaluation: { readonly part: 'evaluation'; readonly count: number };
  readonly calibration: { readonly part: 'calibration'; readonly count: number };
  readonly settings: { readonly platform: string; readonly config: typeof state.fields.value };
  readonly key: string;
  /** What float accuracy and statistics depend on. */
  readonly dataKey: string;
}

function gather(): Inputs | null {
  const model = state.model.value;
  const set = state.samples.value;
  if (!model || !set) return null;
  const chosen = state.preprocessing.value;
  const count = state.calibrationCount.value;
  return {
    model,
    set,
    preprocessing: chosen ? { preprocessing: chosen } : {},
    evaluation: { part: 'evaluation', count },
    calibration: { part: 'calibration', count },
    settings: { platform: state.platformName.value, config: state.fields.value },
    key: state.settingsKey.value,
    dataKey: JSON.stringify([identity(model.handle), identity(set), chosen, count]),
  };
}

async function floatEvaluation(inputs: Inputs, signal: AbortSignal): Promise<EvaluationResult> {
  const kept = state.measured.value;
  if (kept.float && kept.floatKey === inputs.dataKey) {
    follow((run) => skip(run, 'float'));
    return kept.float;
  }
  follow((run) => enter(run, 'float'));
  const float = await inputs.model.handle.evaluate(inputs.set.files, state.labels.value, {
    ...options('float', signal),
    ...inputs.preprocessing,
    selection: inputs.evaluation,
  });
  state.measured.value = { ...state.measured.value, floatKey: inputs.dataKey, float };
  return float;
}

async function statistics(inputs: Inputs, signal: AbortSignal): Promise<Statistics> {
  const key = JSON.stringify([inputs.dataKey, inputs.settings]);
  const kept = state.measured.value;
  if (kept.statistics && kept.statisticsKey === key) {
    follow((run) => skip(run, 'calibrate'));
    return kept.statistics;
  }
  follow((run) => enter(run, 'calibrate'));
  const fresh = await inputs.model.handle.calibrate(inputs.set.files, {
    ...options('float', signal),
    ...inputs.preprocessing,
    ...inputs.settings,
    ...overrides(),
    selection: inputs.calibration,
  });
  state.measured.value = { ...state.measured.value, statisticsKey: key, statistics: fresh };
  return fresh;
}

function overrides() {
  const all = state.recipe.value?.recipe.overrides ?? [];
  return all.length > 0 ? { overrides: all } : {};
}

/** The settings, as an opened recipe with what was changed since, so that it is compared with model and samples. */
function settingsOf(inputs: Inputs) {
  const opened = state.recipe.value;
  const config = state.engine.value?.quantizationConfig(inputs.settings.config);
  if (!opened || !config) return { ...inputs.settings, ...overrides() };
  const preprocessing = inputs.preprocessing.preprocessing ?? null;
  return {
    recipe: { ...opened.recipe, quantization_config: config, preprocessing },
    allowMismatch: opened.allowMismatch,
  };
}

async function quantized(inputs: Inputs, from: Statistics, signal: AbortSignal): Promise<QuantizedResult> {
  follow((run) => enter(run, 'choose'));
  return inputs.model.handle.quantize({
    ...options('int8', signal),
    ...inputs.preprocessing,
    ...settingsOf(inputs),
    statistics: from,
    samples: inputs.set.files,
    selection: inputs.calibration,
  });
}

async function work(inputs: Inputs, signal: AbortSignal): Promise<void> {
  const float = await floatEvaluation(inputs, signal);
  const made = await quantized(inputs, await statistics(inputs, signal), signal);
  try {
    follow((run) => enter(run, 'int8'));
    const int8 = await made.evaluate(inputs.set.files, state.labels.value, {
      ...options('int8', signal),
      ...inputs.preprocessing,
      selection: inputs.evaluation,
      reference: float,
    });
    follow((run) => enter(run, 'compare'));
    const comparison = await made.compare(inputs.set.files, {
      ...options('int8', signal),
      ...inputs.preprocessing,
      selection: inputs.evaluation,
      limit: compareLimit,
    });
    signal.throwIfAborted();
    const run = finish(tick(state.run.value ?? startedWith(inputs), performance.now()));
    const before = state.result.value;
    batch(() => {
      state.result.value = {
        key: inputs.key,
        modelName: inputs.model.name,
        dataName: inputs.set.name,
        quantized: made,
        float,
        int8,
        comparison,
        seconds: (run.now - run.startedAt) / 1000,
        stages: run.stages,
      };
      state.openLayer.value = null;
      state.announcement.value = sentence(float, int8, comparison.output_sqnr_db);
    });
    before?.quantized.close();
  } catch (error) {
    made.close();
    throw error;
  }
}

function sentence(float: EvaluationResult, int8: EvaluationResult, sqnr: number | null): string {
  const error = `Output SQNR ${decibels(sqnr)}.`;
  if (float.value === null || int8.value === null) return `Done. ${error}`;
  return `Done. Float ${percent(float.value)}, int8 ${percent(int8.value)} on ${int8.count} samples. ${error}`;
}

function startedWith(inputs: Inputs): state.Run {
  return startRun({
    evaluate: state.evaluationCount.value,
    calibrate: state.calibrationCount.value,
    compare: Math.min(compareLimit, state.evaluationCount.value),
    labelled: state.labels.value !== null,
    corrects: state.engine.value?.quantizationConfig(inputs.settings.config)['weights_bias_correction'] === true,
    openSeconds: inputs.model.seconds,
    nodes: inputs.model.handle.info.nodes,
  });
}

/** Runs the job; does nothing while something is missing or another job runs. */
export async function quantize(): Promise<void> {
  const inputs = gather();
  if (!state.canQuantize.value || !inputs) return;
  const mine = new AbortController();
  controller = mine;
  batch(() => {
    state.run.value = startedWith(inputs);
    state.runProblem.value = null;
    state.runNote.value = '';
    state.openRegions.value = new Set();
    state.openLayer.value = null;
    state.announcement.value = 'Quantizing.';
  });
  const timer = setInterval(() => follow((run) => tick(run, performance.now())), 200);
  settled = work(inputs, mine.signal);
  try {
    await settled;
  } catch (error) {
    if (controller === mine) {
      if (isAbort(error)) state.runNote.value = cancelled();
      else showProblem(problemOf(error));
    }
  } finally {
    clearInterval(timer);
    if (controller === mine) {
      controller = null;
      state.run.value = null;
    }
  }
}

function showProblem(problem: Problem): void {
  const path = fileNamed(problem);
  batch(() => {
    state.runProblem.value = problem;
    state.unreadable.value = path === null ? [] : [path];
  });
}

function cancelled(): string {
  const kept = state.measured.value;
  const what = [kept.float ? 'float accuracy' : '', kept.statistics ? 'statistics' : ''].filter(Boolean).join(' and ');
  return what === '' ? 'Cancelled.' : `Cancelled. Kept: ${what}; Quantize goes on from there.`;
}

/** Ends the running job; the page is usable at once, the workers stop at their next sample. */
export function cancel(): void {
  controller?.abort();
  if (state.run.value) state.announcement.value = 'Cancelled.';
}
