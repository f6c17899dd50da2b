// SPDX-License-Identifier: Apache-2.0
//
// What the page's side and the workers say to each other. A request is answered by any number of progress messages and
// then one result or one error.

import type { Packed } from './packed.js';
import type {
  Coverage,
  EvaluationResult,
  Comparison,
  Diagnostic,
  FieldDescription,
  GraphView,
  ModelInfo,
  NodeInfo,
  PlatformInfo,
  Progress,
  QuantizationConfig,
  RangeChoice,
  RangeFigures,
  Recipe,
  Report,
  RuntimeNode,
  SamplePreview,
  SampleRun,
  SamplesInfo,
  Selection,
  SettingsFile,
  ExpectedResources,
  TersorErrorFields,
  TimeForecast,
  TrainingProgress,
  TypedArray,
  Variant,
  VariantName,
  Verdict,
  WeightChannels,
} from './types.js';

/** A tensor on its way to a worker; without a shape the model's input decides. */
export interface SentTensor {
  readonly name: string;
  readonly data: TypedArray;
  readonly shape: readonly number[] | null;
}

/** One sample of a job: a number of the opened data set, or tensors. */
export interface SentSample {
  readonly index: number;
  readonly label: number | null;
  readonly tensors: readonly SentTensor[] | null;
}

/** The memory of the samples' tensors, to be handed over with them. */
export function memoryOf(samples: readonly SentSample[]): Transferable[] {
  return samples.flatMap((sample) => (sample.tensors ?? []).map((tensor) => tensor.data.buffer as ArrayBuffer));
}

export type JobKind = 'calibrate' | 'evaluate' | 'compare' | 'run' | 'ranges';

export type EvaluationAnswer = Omit<EvaluationResult, 'answers'> & { readonly answers: readonly number[] | null };

/** A pass over the samples that goes step by step, all workers together. */
export interface SweepPlan {
  readonly stage: 'try' | 'correct' | 'train';
  /** Null: nobody knows before. */
  readonly steps: number | null;
  /** Numbers of the samples that take part. */
  readonly samples: readonly number[];
  /** Samples whose places in the list are equal modulo this go to one worker; null: any worker may have any. */
  readonly lanes: number | null;
}

/** Where a training stands, but for what a clock says. */
export type TrainingState = Omit<TrainingProgress, 'samples_per_second' | 'seconds_left'>;

/** A layer of the prepared model. */
export interface LayerFacts {
  readonly name: string;
  readonly type: string;
  readonly activation: string;
  readonly outputs: number;
  readonly weights: readonly {
    readonly name: string;
    readonly shape: readonly number[];
    readonly data: Float32Array;
  }[];
}

/** What there is to choose from; the same for as long as the engine runs. */
export interface Lists {
  readonly platforms: readonly PlatformInfo[];
  readonly fields: readonly FieldDescription[];
}

export type Preference = NonNullable<QuantizationConfig['prefer']>;

/** Of files that were timed. */
export interface FastestFile {
  /** Its index. */
  readonly taken: number;
  readonly time: TimeForecast;
}

export interface Quantized {
  readonly model: Uint8Array;
  /** The ONNX file of the same integers, where the model is none: what runs and is compared. */
  readonly computed: Uint8Array | null;
  readonly recipe: Recipe;
  readonly report: Report;
}

/** The greatest magnitude of each float tensor of a model in samples; null where one was not finite. */
export type Largest = Readonly<Record<string, number | null>>;

/** What a variant is made of. */
export interface VariantKind {
  readonly dtype: VariantName;
  readonly file: string;
  readonly platform: string | null;
  /** It wants the largest values, where there are samples. */
  readonly is_half: boolean;
  readonly is_judged: boolean;
}

export interface VariantsPlan {
  readonly kinds: readonly VariantKind[];
  /** Numbers of samples. */
  readonly calibrated: readonly number[];
  readonly judged: readonly number[];
  /** None of those that judge calibrates. */
  readonly held_aside: boolean;
}

/**
 * Calls that go to the core as they are: bindings.cpp has a function of the same name and arguments, which answers with the
 * value or with its JSON. One more takes a line here and that function. Models, data sets and jobs are named by keys that
 * the page's side chooses, so that they are called the same in every worker. `settings` and the like are the core's JSON.
 */
export interface CoreCalls {
  close(key: string): null;
  coverage(model: string, settings: string): Coverage;
  graph(model: string, settings: string): GraphView;
  resourceUtilization(model: string, settings: string): ExpectedResources;
  /** What the runtime runs of the model; of the settings the platform counts. */
  runtimeNodes(model: string, settings: string): readonly RuntimeNode[];
  weightChannels(model: string, settings: string, name: string): WeightChannels;
  /** Keeps what a tensor's range is chosen from under the key. `question`: JSON of RangeQuestion. */
  openRange(
    key: string,
    model: string,
    settings: string,
    statistics: Uint8Array,
    question: string,
  ): readonly RangeChoice[];
  rangeFigures(key: string, low: number, high: number): RangeFigures;
  /** Rejects where a file cannot be a sample, or where there is none. */
  checkData(data: string): null;
  inspectData(data: string): SamplesInfo;
  /** Numbers of the chosen ones of `total` samples. */
  select(total: number, part: Selection['part'], count: number): readonly number[];
  beginJob(key: string, kind: JobKind, settings: string): null;
  /** What this worker's part of the job came to, for mergeJob of another worker. */
  finishJob(job: string): Uint8Array;
  /** Whether these settings may ask for a sweep. */
  measuresOnSamples(settings: string): boolean;
  /** Whether these settings need what the light engine is without. */
  needsWhole(settings: string): boolean;
  /** The first pass that settings and statistics ask for; null: none. */
  beginSweep(key: string, settings: string, statistics: Uint8Array): SweepPlan | null;
  /** What this worker's samples add up to in the step after that one; empty: the pass is over. `before` is empty at first. */
  sweepStep(job: string, before: Uint8Array): Uint8Array;
  mergeSweepStep(job: string, parts: readonly Uint8Array[]): Uint8Array;
  /** The pass after one that is over; null: none. */
  nextSweep(job: string): SweepPlan | null;
  /** The statistics with what was measured. */
  finishSweep(job: string): Uint8Array;
  /** Between two steps, of all workers the same: the sweep ends early with what there is. */
  stopSweep(job: string): null;
  /** Between two steps; null: the sweep has no figures to watch. */
  sweepProgress(job: string): TrainingState | null;
  /** Between two steps: where a training stands. */
  sweepCheckpoint(job: string): Uint8Array;
  /** Before the first step, in all workers: goes on from there. */
  resumeSweep(job: string, checkpoint: Uint8Array): null;
  /** The words of `prefer` whose files are timed, that of the settings first. */
  wordsToTime(settings: string): readonly Preference[];
  /** The model in a file of its own. */
  floatFile(model: string): Uint8Array;
  /** But for the digest of their recipes. */
  areSameFile(a: Uint8Array, b: Uint8Array): boolean;
  /** JSON of a list of {word, decibels}, and of MeasuredTimes. */
  fastestFile(files: string, times: string): FastestFile;
  /** `n_epochs` of the training that the checkpoint is of. */
  epochsOfCheckpoint(checkpoint: Uint8Array): number;
  /** This and what follows the complete engine alone has. `total`: samples that there are; 0: none were given. */
  planVariants(total: number, calibrate: number, judge: number): VariantsPlan;
  /**
   * The file, what the engine runs in its place (null: the file), and JSON of its row. `statistics` is empty without a platform or
   * samples; `largest` is JSON, or empty.
   */
  makeVariant(
    key: string,
    model: string,
    dtype: VariantName,
    settings: string,
    statistics: Uint8Array,
    largest: string,
  ): { readonly model: Uint8Array; readonly computed: Uint8Array | null; readonly row: string };
  /** Keeps what the engine runs in the place of a file. */
  openComputed(key: string, bytes: Uint8Array): null;
  /** Of the variant that this worker made last; JSON of a Comparison and of a Diagnostic or null. */
  judgeVariant(
    key: string,
    comparison: string,
    heldAside: boolean,
    guess: string,
    leader: string,
  ): Omit<Variant, 'model'>;
}

/** Calls that the worker has a part in (answers.ts). */
export interface WorkerCalls {
  start(module: WebAssembly.Module, light: boolean): null;
  lists(): Lists;
  openModel(key: string, files: Packed): ModelInfo;
  /** Those that number `which` of the settings' overrides chooses. */
  layers(model: string, settings: string, which: number): readonly LayerFacts[];
  /** Those of the settings' first override. */
  nodes(model: string, settings: string): readonly NodeInfo[];
  openData(
    key: string,
    model: string,
    files: Packed,
    preprocessing: string,
  ): {
    readonly count: number;
    readonly classes: boolean;
    readonly remarks: readonly Diagnostic[];
  };
  preview(data: string, index: number): SamplePreview;
  previewTensors(model: string, sample: SentSample): SamplePreview;
  labels(data: string, labels: 'folders' | Packed, group: number): readonly number[];
  /** Gives back samples that were lent: their arrays went over to the worker and were not copied. */
  addSamples(job: string, samples: readonly SentSample[], lent: boolean): readonly SentSample[] | null;
  /** Of a job of kind run: what its model makes of the sample. */
  runSample(job: string, sample: SentSample): SampleRun;
  /** What the job came to: this worker's part with the others'. */
  mergeJob(
    job: string,
    parts: readonly Uint8Array[],
    extra: Uint8Array | null,
  ): Uint8Array | EvaluationAnswer | Comparison | Largest;
  quantize(model: string, settings: string, statistics: Uint8Array): Quantized;
  verdict(report: Report): Verdict;
  /** Of a file of that name; `model`: whose input says what is left open; empty: none. */
  readSettings(file: Blob | string, name: string, model: string): SettingsFile;
}

/** Every call across the edge. */
export interface Calls extends CoreCalls, WorkerCalls {}

export type Method = keyof Calls;

export interface Request {
  readonly id: number;
  readonly method: Method;
  readonly args: readonly unknown[];
}

export type Reply =
  | { readonly id: number; readonly progress: Progress }
  | { readonly id: number; readonly result: unknown }
  /** `fatal`: the worker cannot go on. */
  | { readonly id: number; readonly error: TersorErrorFields; readonly fatal: boolean };
