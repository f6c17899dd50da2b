// SPDX-License-Identifier: Apache-2.0
//
// The classes of the package, and the options of their methods.

import type { HostAbortSignal, HostBlob, HostFile, HostURL } from './host.js';
import type { QuantizationConfig } from '../quantization_config.js';
import type { FrameworkInfo, TargetPlatformCapabilities } from '../requirements.js';
import type { Diagnostic } from './errors.js';
import type { EvaluationResult, Metric } from './evaluation.js';
import type { ModelInfo, NodeInfo, RangeQuestion, RangeStudy } from './model.js';
import type { CallOptions } from './progress.js';
import type {
  Comparison,
  Coverage,
  GraphView,
  Report,
  RuntimeNode,
  TimeForecast,
  Verdict,
  WeightChannels,
} from './report.js';
import type {
  Labels,
  Preprocessing,
  PreprocessingPreset,
  SamplePreview,
  Samples,
  SamplesInfo,
  Selection,
  TypedArray,
} from './samples.js';
import type {
  ExpectedResources,
  FieldDescription,
  Override,
  Platform,
  PlatformInfo,
  Preset,
  Recipe,
} from './settings.js';
import type { BaseTrainableQuantizer, TrainableQuantizerOptions } from './trainable.js';

/** WebAssembly.Module, where TypeScript has been told of WebAssembly: Node's own types are without it. */
type WasmModule = typeof globalThis extends { WebAssembly: { Module: { prototype: infer M } } } ? M : never;

export interface TersorOptions {
  /**
   * Number of workers; `auto` (default) is the number of cores, at most 8. 0: the caller's own thread does the work, for
   * service workers, extensions and routes of servers; `auto` is that where there are no workers.
   */
  readonly workers?: number | 'auto' | undefined;
  /** The core's bytes or module; without it the file beside the package is fetched, once, before `create` resolves. */
  readonly wasmBinary?: ArrayBuffer | Uint8Array | WasmModule | undefined;
  /**
   * Begins with tersor-light.wasm, which is less to load by what trains and by .tflite files; tersor.wasm takes its place when they are first needed.
   * Default false. In a bundle, what `tersor/light` exports, which brings that file along; true where the package lies as it is.
   * `wasmBinary` is of the file that is begun with.
   */
  readonly light?: boolean | HostURL | undefined;
  /** Where the package's files lie: 'tersor.wasm', 'tersor-light.wasm' and 'worker.js' to address. */
  readonly locateFile?: ((name: string) => string | HostURL) | undefined;
  readonly signal?: HostAbortSignal | undefined;
}

/** A text is an address; in Node a path, too. */
export type ModelSource = Uint8Array | ArrayBuffer | HostBlob | HostFile | HostURL | string;

export interface OpenOptions extends CallOptions {
  /** Files that the model names for its weights: name to content. */
  readonly externalData?: ReadonlyMap<string, Uint8Array | HostBlob> | undefined;
}

export interface CoverageOptions extends CallOptions {
  /** Default `ort-cpu`. */
  readonly platform?: Platform | undefined;
  /** Fields that the user set. */
  readonly config?: QuantizationConfig | undefined;
  readonly overrides?: readonly Override[] | undefined;
  /** What the fields that `config` does not give hold. */
  readonly preset?: Preset | undefined;
  /** Replaces what is known of ONNX operators, field by field. */
  readonly frameworkInfo?: FrameworkInfo | undefined;
  /** The requirement documents' name of `config`. */
  readonly quantization_config?: QuantizationConfig | undefined;
  /** The requirement documents' name of `frameworkInfo`. */
  readonly framework_info?: FrameworkInfo | undefined;
}

export interface SampleOptions extends CallOptions {
  /** A description or a preset's name; without one the samples' own guess (SamplesInfo.preprocessing). */
  readonly preprocessing?: Preprocessing | PreprocessingPreset | undefined;
}

export interface CalibrateOptions extends SampleOptions, CoverageOptions {
  /**
   * Aborting it ends a training (`gradient_ptq_config`) early: the call goes on with the best that was found, and its recipe
   * says after how many steps. Does nothing elsewhere.
   */
  readonly stop?: HostAbortSignal | undefined;
  readonly selection?: Selection | undefined;
  /** Of all samples; a training whose `label_weight` is above 0 learns from them, nothing else looks at them. */
  readonly labels?: Labels | undefined;
}

export interface QuantizeOptions extends CalibrateOptions {
  /**
   * From this model and the same settings. Enough by themselves unless a setting needs the samples; those that streamed in
   * are kept for that, up to 1 GB, where the settings of calibrate() needed them too.
   */
  readonly statistics?: Statistics | undefined;
  /**
   * Without statistics these are calibrated with; beside them they serve the settings that need samples. Without either only
   * weights are quantized, each by its own values (platforms weight-only-int8, ...), and all else is an error.
   */
  readonly samples?: Samples | undefined;
  /** Settings come from the recipe; those given beside it win. */
  readonly recipe?: Recipe | undefined;
  /** Go on although the recipe is of another model or of other samples. Without it that is a `mismatch`. */
  readonly allowMismatch?: boolean | undefined;
  /**
   * Takes the fastest of the files that are as accurate, timed where the call is made for some seconds, with one thread; needs
   * samples. True: in onnxruntime-node or onnxruntime-web, whichever is installed; a page gives `timerOf(ort)`. The recipe
   * repeats the choice anywhere without measuring, and the report's `time` is what was measured.
   */
  readonly measure?: boolean | Timer | undefined;
  /**
   * Of `model` in the result: 'onnx', the default, whose operators stand between DequantizeLinear and QuantizeLinear;
   * 'qoperator', the same numbers in QLinearConv and the like, for old versions of ONNX Runtime; or 'tflite', an int8
   * file for TensorFlow Lite (platforms tflite and tflite-micro). The report's figures are then in the arithmetic of
   * TensorFlow Lite Micro.
   */
  readonly format?: 'onnx' | 'qoperator' | 'tflite' | undefined;
}

/** Milliseconds that a run of each file takes in a runtime, by its name and version. */
export interface MeasuredTimes {
  readonly runtime: string;
  readonly threads: number;
  readonly milliseconds: readonly number[];
}

/** Times ONNX files on this machine: the float model first, then those to choose from. `inputs` are a sample. */
export type Timer = (files: readonly Uint8Array[], inputs: readonly NamedTensor[]) => Promise<MeasuredTimes>;

export interface RuntimeSession {
  run(feeds: Record<string, unknown>): Promise<unknown>;
  release?(): Promise<void>;
  readonly inputMetadata?: readonly { readonly name: string; readonly type?: string }[];
}

/** The module of onnxruntime-node or onnxruntime-web, as far as it is used here. */
export interface OnnxRuntime {
  readonly Tensor: unknown;
  readonly InferenceSession: { create(file: Uint8Array, options: object): Promise<RuntimeSession> };
  readonly env: {
    readonly versions: {
      readonly node?: string | undefined;
      readonly web?: string | undefined;
      readonly common: string;
    };
    readonly wasm: { numThreads?: number | undefined };
  };
}

export interface TuneOptions extends Omit<QuantizeOptions, 'measure'> {
  /**
   * About how long training takes: as many epochs as fit, by the time of some steps. Without it the settings' `n_epochs` count, 20
   * by default; with `resume` it stands for the epochs that the checkpoint was written with.
   */
  readonly minutes?: number | undefined;
  /** Is given where training stands every 30 seconds and at its end, where `stop` ended it too; awaited. */
  readonly onCheckpoint?: ((checkpoint: Uint8Array) => void | Promise<void>) | undefined;
  /**
   * What onCheckpoint was given, or a file of `tersor tune --checkpoint`: goes on from there, to the same bytes as without
   * the break. Model, samples and settings have to be the same.
   */
  readonly resume?: Uint8Array | undefined;
}

export interface EvaluateOptions extends SampleOptions {
  /** Default: top1 with labels, answers without. */
  readonly metric?: Metric | undefined;
  /** `reconstruction-auc`: rows that make one sample. */
  readonly group?: number | undefined;
  readonly selection?: Selection | undefined;
  /** The float model's result on the same samples: fills `agreement`. */
  readonly reference?: EvaluationResult | undefined;
  /** Whose arithmetic a quantized model runs with; default x64, and of a .tflite file always tflite-micro. */
  readonly runtime?: string | undefined;
}

export interface CompareOptions extends SampleOptions {
  readonly selection?: Selection | undefined;
  /** Use at most so many of the selected samples, spread evenly; 0, the default, means all. */
  readonly limit?: number | undefined;
  readonly runtime?: string | undefined;
  /** The first output is scores of classes, though no Softmax stands at its end. */
  readonly classes?: boolean | undefined;
  /** Is given the figures before those of processors without VNNI (`without_vnni`), which follow, are known. */
  readonly onComparison?: ((comparison: Comparison) => void) | undefined;
  /** False: the result's `report` and its verdict stay as they are. */
  readonly report?: boolean | undefined;
}

export interface RunOptions extends SampleOptions {
  /** These samples, by their numbers in the data set's order, in place of a selection. */
  readonly numbers?: readonly number[] | undefined;
  readonly selection?: Selection | undefined;
  /** Use at most so many of the selected samples, spread evenly; 0, the default, means all. */
  readonly limit?: number | undefined;
  /** Whose arithmetic a quantized model runs with; default x64, and of a .tflite file always tflite-micro. */
  readonly runtime?: string | undefined;
}

/** A file that a model may be shipped as, by the word that transformers.js has for it. */
export type VariantName = 'fp32' | 'fp16' | 'q8' | 'int8' | 'uint8' | 'q4' | 'q4_int8' | 'q4f16';

export interface VariantsOptions extends SampleOptions {
  /** Some calibrate, the others judge. Without any, weights alone are in integers, and nothing is judged. */
  readonly samples?: Samples | undefined;
  /** Those to make; by default all. */
  readonly only?: readonly VariantName[] | undefined;
  /** Calibrate on at most so many, spread evenly; 0, the default, means 128, and at most half. */
  readonly calibrationSamples?: number | undefined;
  /** Judge on at most so many of the others, spread evenly; 0, the default, means all. */
  readonly limit?: number | undefined;
}

/** A row of the table of variants, with its file. */
export interface Variant {
  readonly dtype: VariantName;
  /** The name that transformers.js looks for. */
  readonly file: string;
  /** What it was quantized for; null of floats alone. */
  readonly platform: string | null;
  readonly size_bytes: number | null;
  /** Its outputs beside those of the float model, on the samples that judge; null without samples, and of the float model itself. */
  readonly comparison: Comparison | null;
  /** Calibration has seen none of those samples. */
  readonly held_aside: boolean;
  readonly verdict: Verdict | null;
  /** Expected time; null where it is not known. */
  readonly time: TimeForecast | null;
  /** Of the rows so far it is the one to take: the last that leads is the best of all; false without samples. */
  readonly leads: boolean;
  /** Sentences, such as which nodes keep float32. */
  readonly notes: readonly string[];
  /** Why there is no file. */
  readonly refused: Diagnostic | null;
  /** The file; null where it cannot be made. */
  readonly model: Uint8Array | null;
}

/** A tensor as a model takes or gives it, batch 1. */
export interface NamedTensor {
  readonly name: string;
  /** As in TensorInfo. */
  readonly type: string;
  readonly shape: readonly number[];
  /** float16 and bfloat16 in a Uint16Array, bool in a Uint8Array. */
  readonly data: TypedArray;
}

/** What a model made of one sample. */
export interface SampleRun {
  /** Position in the data set's order. */
  readonly index: number;
  /** In the graph's order. */
  readonly inputs: readonly NamedTensor[];
  readonly outputs: readonly NamedTensor[];
  /** The same as the file takes and gives it, where it has no float32 there: integers, pixels or float16. */
  readonly file?: { readonly inputs: readonly NamedTensor[]; readonly outputs: readonly NamedTensor[] } | undefined;
}

export interface ReadSettingsOptions {
  /** Of the file, for errors. */
  readonly name?: string | undefined;
  /** What a description of pictures leaves open follows from this model's input. */
  readonly model?: Model | undefined;
  readonly signal?: HostAbortSignal | undefined;
}

/** A recipe or a platform, checked and written out in full. */
export type SettingsFile =
  | { readonly kind: 'recipe'; readonly recipe: Recipe }
  | { readonly kind: 'platform'; readonly platform: TargetPlatformCapabilities };

export interface Tersor {
  readonly version: string;
  /** Workers running. */
  readonly workers: number;
  open(source: ModelSource, options?: OpenOptions): Promise<Model>;
  platforms(): readonly PlatformInfo[];
  /** Throws for a name or version that is not there; without a version, the newest. */
  getTargetPlatformCapabilities(name: string, version?: number): TargetPlatformCapabilities;
  /** A platform file's text, written out in full. Throws an error that lists every fault, each with its path. */
  readPlatform(text: string): TargetPlatformCapabilities;
  /**
   * A recipe or a platform file, read by a worker, whatever its size. Rejects with an error that lists every fault, each with
   * its path.
   */
  readSettings(file: HostBlob | string, options?: ReadSettingsOptions): Promise<SettingsFile>;
  /** The complete configuration: the fields given, defaults for the rest. Throws for an unknown field or a value of the wrong type. */
  quantizationConfig(fields?: QuantizationConfig, preset?: Preset): QuantizationConfig;
  /** The fields of QuantizationConfig in the document's order. */
  describeQuantizationConfig(): readonly FieldDescription[];
  preprocessingPreset(name: PreprocessingPreset): Preprocessing;
  /** How many of `total` samples calibrate where nobody says: 128, but at most half of them, as the others evaluate. */
  defaultCalibrationCount(total: number): number;
  /** A trainable quantizer for the config's target and method; it computes at once, in the caller's thread. */
  trainableQuantizer(options: TrainableQuantizerOptions): BaseTrainableQuantizer;
  close(): void;
}

export interface Model {
  readonly info: ModelInfo;
  coverage(options?: CoverageOptions): Promise<Coverage>;
  /**
   * What the model takes with these settings, known before any sample, as `target_resource_utilization` counts it: bytes, and bit
   * operations of one run; null where sizes that the model leaves open decide.
   */
  resourceUtilization(options?: CoverageOptions): Promise<ExpectedResources>;
  /** The graph, with what the platform makes of each node. */
  graph(options?: CoverageOptions): Promise<GraphView>;
  /** Output channels of the operator that overrides call `name`, and how well their weights survive. */
  weightChannels(name: string, options?: CoverageOptions): Promise<WeightChannels>;
  /** What overrides can choose: the nodes of the prepared model, in its order. `overrides` are not read. */
  nodes(options?: CoverageOptions): Promise<readonly NodeInfo[]>;
  /** Reads every file's header and the first sample whole. A file that cannot be a sample is a row in `errors`, not a rejection. */
  inspectSamples(samples: Samples, options?: SampleOptions): Promise<SamplesInfo>;
  /** Sample number `index` of the data set's order, as the model receives it. */
  previewSample(samples: Samples, index: number, options?: SampleOptions): Promise<SamplePreview>;
  calibrate(samples: Samples, options?: CalibrateOptions): Promise<Statistics>;
  quantize(options: QuantizeOptions): Promise<QuantizedResult>;
  /**
   * As quantize(), and trains rounding, biases and ranges on the samples (`gradient_ptq_config`, whose fields are those of
   * `config` where it has them); with `labels` towards these too, `label_weight` 0.5 where the settings have none.
   */
  tune(options: TuneOptions): Promise<QuantizedResult>;
  /**
   * How many epochs of training (`gradient_ptq_config`) take about so many minutes here, by the time of a few steps: what
   * `n_epochs` may be set to. Takes what quantize() takes.
   */
  trainingEpochs(minutes: number, options: QuantizeOptions): Promise<number>;
  evaluate(samples: Samples, labels: Labels, options?: EvaluateOptions): Promise<EvaluationResult>;
  /** Inputs and outputs, sample by sample, in one worker that is one sample ahead. */
  run(samples: Samples, options?: RunOptions): AsyncGenerator<SampleRun, void, undefined>;
  /** Every file that the model may be shipped as, float16 to 4 bits, each as soon as it is there (docs/variants.md). */
  variants(options?: VariantsOptions): AsyncGenerator<Variant, void, undefined>;
  close(): void;
}

export interface Statistics {
  /** The content of a `.tstats` file. */
  readonly bytes: Uint8Array;
  readonly sampleCount: number;
}

export interface QuantizedResult {
  /** The file: ONNX, or .tflite where `format` asked for it. */
  readonly model: Uint8Array;
  readonly recipe: Recipe;
  /** A new object after each `evaluate` and `compare`. */
  readonly report: Report;
  evaluate(samples: Samples, labels: Labels, options?: EvaluateOptions): Promise<EvaluationResult>;
  /** Inputs and outputs, sample by sample, in one worker that is one sample ahead. */
  run(samples: Samples, options?: RunOptions): AsyncGenerator<SampleRun, void, undefined>;
  /** What the runtime runs of the file, in its order, constants aside. */
  runtimeNodes(options?: CallOptions): Promise<readonly RuntimeNode[]>;
  /** What each selection method would make of one activation's range. */
  studyRange(question: RangeQuestion, options?: CallOptions): Promise<RangeStudy>;
  /** Error by layer on these samples; also in `report.comparison` afterwards. */
  compare(samples: Samples, options?: CompareOptions): Promise<Comparison>;
  close(): void;
}
