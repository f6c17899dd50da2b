// SPDX-License-Identifier: Apache-2.0
//
// The stages of the job: float accuracy, calibration, quantization, int8 accuracy, error by layer. What was measured stays,
// so that a job that was cancelled or repeated with other settings goes on from there.

import { batch } from '@preact/signals';
import type { CallOptions, EvaluationResult, LayerRow, Progress, QuantizedResult, Statistics, Timer } from 'tersor';

import { outputDecibels, percent } from '../numbers';
import { floatFault } from './advice';
import { settingsOf, statisticsKey, type Inputs } from './inputs';
import { drop } from './kept_results';
import { problemOf } from './problem';
import { findOrder } from './reorder';
import { enter, finish, reopen, report, skip, startRun, tick } from './stages';
import * as state from './state';

/** Samples that the comparison by layer looks at; it keeps two runs of the model in memory at once. */
export const compareLimit = 64;

export function follow(change: (run: state.Run) => state.Run): void {
  const current = state.run.value;
  if (current) state.run.value = change(current);
}

let stopper: AbortController | null = null;

function options(evaluation: 'float' | 'int8', signal: AbortSignal): CallOptions {
  return {
    signal,
    onProgress(progress: Progress) {
      if (signal.aborted) return;
      const { training } = progress;
      if (training) state.trainingMemory.value = training.bytes_per_worker;
      if (training && training.step > 0) state.training.value = [...state.training.value, training];
      follow((run) => report(run, progress, evaluation));
    },
  };
}

async function floatEvaluation(inputs: Inputs, signal: AbortSignal): Promise<EvaluationResult> {
  const kept = state.measured.value;
  if (kept.dataKey !== inputs.dataKey) state.measured.value = { dataKey: inputs.dataKey, float: null, statistics: [] };
  else if (kept.float) {
    follow((run) => skip(run, 'float'));
    return kept.float;
  }
  follow((run) => enter(run, 'float'));
  const float = await inputs.model.handle.evaluate(inputs.set.files, inputs.labels, {
    ...options('float', signal),
    ...inputs.preprocessing,
    selection: inputs.evaluation,
  });
  signal.throwIfAborted();
  state.measured.value = { ...state.measured.value, float };
  return float;
}

/** The job ended because the float model itself is wrong on these samples. */
export class FloatStopped extends Error {}

/** Ends the job where float accuracy says that samples or labels do not reach the model as they should, unless the reader goes on. */
async function stopAtFault(inputs: Inputs, float: EvaluationResult, signal: AbortSignal): Promise<void> {
  const { dataKey } = inputs;
  if (state.acceptedFloat.value === dataKey) return;
  const order = await findOrder(inputs, float, signal);
  signal.throwIfAborted();
  const advice = floatFault({ float, order, ...state.samplesFacts.value });
  if (!advice) return;
  state.failedFloat.value = { model: inputs.model, files: inputs.set.files, float };
  state.floatStop.value = { dataKey, float, advice };
  throw new FloatStopped();
}

/** Statistics that are kept at most; each is a few megabytes for a model of millions of weights. */
const keptStatistics = 4;

async function calibrated(inputs: Inputs, signal: AbortSignal): Promise<Statistics> {
  follow((run) => enter(reopen(run, 'calibrate'), 'calibrate'));
  const key = statisticsKey(inputs);
  const fresh = await inputs.model.handle.calibrate(inputs.set.files, {
    ...options('float', signal),
    ...inputs.preprocessing,
    ...inputs.settings,
    selection: inputs.calibration,
  });
  signal.throwIfAborted();
  const kept = state.measured.value.statistics.filter((one) => one.key !== key);
  const statistics = [{ key, statistics: fresh }, ...kept].slice(0, keptStatistics);
  state.measured.value = { ...state.measured.value, statistics };
  return fresh;
}

/** Statistics of other settings serve unless these settings watch other tensors, which the engine says of the statistics. */
export function watchesOthers(thrown: unknown): boolean {
  return /^statistics(\.|$)/.test(problemOf(thrown).place);
}

/** From kept statistics where they serve, else after calibration. */
async function quantizedFromAny(inputs: Inputs, signal: AbortSignal, measure?: Timer): Promise<QuantizedResult> {
  const { statistics } = state.measured.value;
  const kept = statistics.find((one) => one.key === statisticsKey(inputs)) ?? statistics[0];
  if (kept) {
    follow((run) => skip(run, 'calibrate'));
    try {
      return await quantized(inputs, kept.statistics, signal, measure);
    } catch (error) {
      if (!watchesOthers(error)) throw error;
    }
  }
  return quantized(inputs, await calibrated(inputs, signal), signal, measure);
}

async function quantized(
  inputs: Inputs,
  from: Statistics,
  signal: AbortSignal,
  measure: Timer | undefined,
): Promise<QuantizedResult> {
  follow((run) => enter(run, 'choose'));
  stopper = new AbortController();
  state.training.value = [];
  state.trainingMemory.value = null;
  return inputs.model.handle.quantize({
    ...options('int8', signal),
    stop: stopper.signal,
    ...inputs.preprocessing,
    ...settingsOf(inputs),
    format: inputs.format === 'tflite' ? inputs.format : undefined,
    statistics: from,
    samples: inputs.set.files,
    // for a label_weight, and to be watched on the samples held aside
    labels: inputs.settings.config.gradient_ptq_config ? inputs.labels : undefined,
    selection: inputs.calibration,
    measure,
  });
}

/** A training that runs ends with the best that it has found. */
export function stopTraining(): void {
  stopper?.abort();
}

/** Figures of the latest complete result on the same samples. */
function figuresOf(result: state.Result | null): state.Figures | null {
  if (!result) return null;
  if (result.pending) return result.before;
  return {
    key: result.key,
    value: result.int8.value,
    sqnr: result.comparison.output_sqnr_db,
    bytes: result.quantized.report.output.size_bytes,
  };
}

/** Puts a result in the place of the one before. */
function show(result: state.Result): void {
  const before = state.result.value;
  state.result.value = result;
  drop(before);
}

function ownPlatformFile(): string | null {
  return state.ownPlatforms.value.find((own) => own.label === state.platformName.value)?.file ?? null;
}

function passed(inputs: Inputs): state.Run {
  return tick(state.run.value ?? startedWith(inputs), performance.now());
}

/** Runs the job and shows its result; rejects where it ends before. `measure` chooses and times its file. */
export async function work(inputs: Inputs, signal: AbortSignal, measure?: Timer): Promise<void> {
  const float = await floatEvaluation(inputs, signal);
  await stopAtFault(inputs, float, signal);
  const made = await quantizedFromAny(inputs, signal, measure);
  const before = state.result.value;
  const common = {
    key: inputs.key,
    dataKey: inputs.dataKey,
    modelName: inputs.model.name,
    dataName: inputs.set.source,
    platformFile: ownPlatformFile(),
    format: inputs.format,
    quantized: made,
    float,
    untrainedKey: inputs.untrainedKey,
    before: before?.dataKey === inputs.dataKey && before.key !== inputs.key ? figuresOf(before) : null,
  };
  const partly = (result: Pick<state.Result, 'pending' | 'int8' | 'comparison'>) => {
    signal.throwIfAborted();
    const { stages, startedAt, now } = passed(inputs);
    show({ ...common, ...result, stages, seconds: (now - startedAt) / 1000 });
  };
  // The new file is there at once; what is measured of it follows, and stands as old until then.
  const again = before !== null && before.dataKey === inputs.dataKey;
  try {
    if (again) partly({ pending: 'figures', int8: before.int8, comparison: before.comparison });
    follow((run) => enter(run, 'int8'));
    const int8 = await made.evaluate(inputs.set.files, inputs.labels, {
      ...options('int8', signal),
      ...inputs.preprocessing,
      selection: inputs.evaluation,
      reference: float,
    });
    if (again) partly({ pending: 'layers', int8, comparison: before.comparison });
    follow((run) => enter(run, 'compare'));
    const comparison = await made.compare(inputs.set.files, {
      ...options('int8', signal),
      ...inputs.preprocessing,
      selection: inputs.evaluation,
      limit: compareLimit,
      onComparison: (comparison) => {
        if (again) partly({ pending: 'elsewhere', int8, comparison });
      },
    });
    signal.throwIfAborted();
    const run = finish(passed(inputs));
    batch(() => {
      const seconds = (run.now - run.startedAt) / 1000;
      show({ ...common, pending: null, int8, comparison, seconds, stages: run.stages });
      if (!made.report.training) state.untrained.value = { key: common.untrainedKey, int8, comparison };
      const ofOpen = ({ output }: LayerRow) => output === state.openLayer.value;
      const known = [before?.comparison.layers.find(ofOpen), state.goneLayer.value ?? undefined];
      const isThere = comparison.layers.some(ofOpen);
      const gone = isThere ? null : (known.find((row) => row && ofOpen(row)) ?? null);
      state.goneLayer.value = gone;
      if (!isThere && !gone) state.openLayer.value = null;
      state.announcement.value = sentence(float, int8, outputDecibels(comparison));
    });
  } catch (error) {
    if (state.result.value?.quantized !== made && state.parkedResult.value?.quantized !== made) made.close();
    throw error;
  }
}

function sentence(float: EvaluationResult, int8: EvaluationResult, sqnr: string): string {
  if (float.value === null || int8.value === null) return `Done. Output SQNR ${sqnr}.`;
  return `Done. Float ${percent(float.value)}, int8 ${percent(int8.value)} on ${int8.count} samples.`;
}

export function startedWith(inputs: Inputs): state.Run {
  return startRun({
    evaluate: state.evaluationCount.value,
    calibrate: state.calibrationCount.value,
    compare: Math.min(compareLimit, state.evaluationCount.value),
    labelled: state.labels.value !== null,
    corrects: state.engine.value?.quantizationConfig(inputs.settings.config)['weights_bias_correction'] === true,
    trains: (inputs.settings.config.gradient_ptq_config ?? null) !== null,
    openSeconds: inputs.model.seconds,
    nodes: inputs.model.handle.info.nodes,
  });
}
