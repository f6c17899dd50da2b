// SPDX-License-Identifier: Apache-2.0
//
// Every type that crosses the edge of the package `tersor`. Types only: nothing here exists at run time, so the page, the
// workers and the tests may all import it freely.
//
// Two spellings meet here. Functions and options of the package are camelCase. Everything that also exists as JSON (model
// information, configuration, recipe, report) is the core's JSON unchanged, in snake_case, so that the page, the report
// and the native program print the same keys.

import type {
  GradientPTQConfig,
  MixedPrecisionQuantizationConfig,
  QuantizationConfig,
  ResourceUtilization,
} from './quantization_config.js';
import type {
  FrameworkInfo,
  LayerFilterParams,
  OpsetToLayers,
  QuantizationMethod,
  QuantizeConfig,
  QuantizeConfigData,
  TargetPlatformCapabilities,
} from './requirements.js';
import type { BaseTrainableQuantizer, TrainableQuantizerOptions } from './trainable.js';

export type {
  GradientPTQConfig,
  MixedPrecisionQuantizationConfig,
  QuantizationConfig,
  ResourceUtilization,
} from './quantization_config.js';
export type * from './requirements.js';

// ---------------------------------------------------------------------------------------------------------------- errors

/** The one error object, in C++, in JSON, in `class TersorError extends Error` and in the page's card. */
export interface TersorErrorFields {
  /**
   * One of the core's words (invalid_argument, invalid_model, unsupported_model, invalid_samples, invalid_labels,
   * invalid_config, invalid_platform, mismatch, io, out_of_memory, cancelled, internal) or `worker_died`.
   */
  readonly code: string;
  /** The sentence; names the value and what was expected. */
  readonly message: string;
  /** A path such as `graph.node[12] "conv1".kernel` or `samples[3] "cat/0004.png"`; empty when there is no place. */
  readonly place: string;
  /** What to do next; may be empty. */
  readonly hint: string;
}

/** A remark that stops nothing: same fields as an error. */
export type Diagnostic = TersorErrorFields;

// -------------------------------------------------------------------------------------------------------------- progress

/** Stages in the order in which a whole job meets them. */
export type Stage =
  | 'open' // read, validate and prepare the model
  | 'samples' // read the samples' headers
  | 'evaluate' // run labelled samples
  | 'calibrate' // run samples and collect statistics
  | 'choose' // choose the ranges
  | 'correct' // weights and biases
  | 'train' // weights, biases and ranges
  | 'write' // write the file
  | 'compare'; // error by layer

/** Where a training stands. */
export interface TrainingProgress {
  /** Gradient steps taken, and of the whole schedule. */
  readonly step: number;
  readonly steps: number;
  /** Mean of the samples of the last step. */
  readonly loss: number;
  /** SQNR of the outputs on the samples held aside, untuned and the best so far, in dB. */
  readonly before_db: number;
  readonly best_db: number;
  /** With labels: right answers on these samples, and how many they are. */
  readonly before_right: number | null;
  readonly best_right: number | null;
  readonly held: number;
  readonly steps_per_epoch: number;
  /** How much more the mean step computes than the first ones do, which train less: 1 or more. */
  readonly work_of_mean_step: number;
  /** Memory that training takes at most in each worker, the samples aside; null where it is not known before the run. */
  readonly bytes_per_worker: number | null;
}

export interface Progress {
  readonly stage: Stage;
  /** 0 <= done <= total. */
  readonly done: number;
  readonly total: number;
  /** What `done` counts and anything worth saying, such as "samples" or a tensor's name; may be empty. */
  readonly note: string;
  /** Of the stage `train`. */
  readonly training?: TrainingProgress | undefined;
}

/** Every call that can take longer than a frame. */
export interface CallOptions {
  /**
   * Aborting rejects the call with the signal's reason (an `AbortError`) at once; the workers stop at the next sample and
   * take the next call without being started anew.
   */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

// --------------------------------------------------------------------------------------------------------------- samples

export type TypedArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** A tensor with its shape. A bare typed array is accepted where the input's shape leaves no choice. */
export interface Tensor {
  readonly data: TypedArray;
  readonly shape: readonly number[];
}

/** A tensor as ONNX Runtime's are; its `Tensor` fits. `float16` in a Uint16Array is read as such. */
export interface RuntimeTensor {
  readonly data: unknown;
  readonly dims: readonly number[];
  readonly type?: string;
}

/** One sample as tensors: input name to values. */
export type TensorSample = Readonly<Record<string, TypedArray | Tensor | RuntimeTensor>>;

/** Pixels as RGBA, four bytes each; ImageData fits. */
export interface ImageSample {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/**
 * One file of a data set. `path` is relative to the data set, with `/`; its folder is the class. The core decodes it inside
 * the workers, by its content: PNG, JPEG, .npy, .npz, .pb, .csv, .wav. A browser's File works as it is (`webkitRelativePath` without
 * its first folder, else `name`, is the path).
 */
export interface SampleFile {
  readonly path: string;
  readonly data: Blob | Uint8Array | ArrayBuffer;
}

/** A file, one without a name, pixels; in Node also the path of a file. */
export type FileLike = SampleFile | Blob | ImageSample | string;

/**
 * Files are sorted bytewise by path (UTF-8) before anything is counted; what has no name keeps its place among its like. Tensor
 * samples keep the order in which they come. A text is the path of a folder or file, in Node.
 */
export type Samples =
  | string
  | FileLike
  | Iterable<FileLike>
  | AsyncIterable<FileLike>
  | Iterable<TensorSample>
  | AsyncIterable<TensorSample>;

/**
 * Which samples of one data set take part. `calibration` takes `count` of the `total` samples, spread evenly over the data
 * set's order (so over its class folders): the samples floor(k * total / count), k = 0 ... count - 1. `evaluation` takes the
 * others, or all where that leaves none. Without a selection all samples take part.
 */
export interface Selection {
  readonly part: 'calibration' | 'evaluation' | 'all';
  /** Samples set aside for calibration; more than there are means all. Not read for `all`. */
  readonly count?: number | undefined;
}

/**
 * Labels of a data set: `folders`, its own (class folders, file names, a column or array of labels: SamplesInfo.labels_from; a
 * `labels.txt` among the files names classes in order), one number per sample in order, a label file (.npy, CSV `sample,label`, or
 * one per line), or none.
 */
export type Labels = 'folders' | ArrayLike<number> | SampleFile | File | null;

export type PreprocessingPreset = 'imagenet' | 'unit' | 'signed' | 'raw';

/** How a picture becomes a tensor: x = (pixel * scale - mean) / std; and what a recording must be. */
export interface Preprocessing {
  readonly resize: {
    /** `multiple`: sides that the input leaves open become the nearest multiples of `size`. */
    readonly mode: 'none' | 'stretch' | 'short_side' | 'fit' | 'multiple';
    /** [height, width]; absent for `none`. */
    readonly size?: readonly [number, number] | undefined;
    readonly filter?: 'bilinear' | undefined;
  };
  readonly crop: 'none' | 'center';
  readonly channels: 'RGB' | 'BGR' | 'GRAY';
  readonly layout: 'NCHW' | 'NHWC';
  readonly scale: number;
  /** One number per channel. */
  readonly mean: readonly number[];
  readonly std: readonly number[];
  /** Added to a class number before it is compared with the output; 1 where output 0 is "background". */
  readonly label_offset: number;
  /** Sample rate in Hz that a recording must have; absent: any. */
  readonly rate?: number | undefined;
  /** Values that a recording is brought to, cropped at the end or padded with zeros; absent: what an input of one sequence takes, else as it is. */
  readonly length?: number | undefined;
  /** Whether a recording is cut into pieces of that length, one sample each; absent: where the model keeps a state. */
  readonly windows?: boolean | undefined;
  /** Numbers that fill inputs of the model which samples do not hold, by the input's name. */
  readonly inputs?: Readonly<Record<string, number>> | undefined;
}

export interface SampleClass {
  readonly name: string;
  /** Output index, label_offset included. */
  readonly label: number;
  readonly count: number;
}

/** Extremes and mean of one channel, or of a whole tensor. */
export interface ValueSummary {
  readonly min: number;
  readonly mean: number;
  readonly max: number;
}

export interface TensorPreview {
  readonly input: string;
  readonly shape: readonly number[];
  /** Row-major values as the model receives them, batch 1. */
  readonly values: Float32Array;
  readonly whole: ValueSummary;
  /** Per channel where the input is a picture, else empty. */
  readonly channels: readonly ValueSummary[];
}

export interface SamplePreview {
  /** Position in the data set's order. */
  readonly index: number;
  readonly name: string;
  readonly path: string;
  /** The decoded file, where it is a picture: RGBA, row-major, 8 bits, before any preprocessing. */
  readonly picture: { readonly width: number; readonly height: number; readonly rgba: Uint8ClampedArray } | null;
  readonly tensors: readonly TensorPreview[];
}

export interface SampleErrorRow {
  readonly path: string;
  readonly error: TersorErrorFields;
}

/** Presets tried on a few dozen samples whose classes are known. */
export interface PreprocessingTrial {
  /** The one that is taken. */
  readonly best: string;
  readonly samples: number;
  /** None is right more often than guessing. */
  readonly is_chance: boolean;
  readonly tried: readonly { readonly name: string; readonly right: number }[];
}

export interface SampleInput {
  readonly name: string;
  readonly from: 'samples' | 'state' | 'number' | 'asked';
}

export interface SamplesInfo {
  /** Readable samples. */
  readonly count: number;
  /** By number: bytewise by name, or in the order of labels.txt; empty where the samples come without labels. */
  readonly classes: readonly SampleClass[];
  /**
   * Where the labels stand: `folders`; `names` of files, `cat` in `cat_10.png`; `files`, a column of a table or an array beside the
   * samples.
   */
  readonly labels_from: 'none' | 'folders' | 'names' | 'files';
  /** The output that is right for each sample, label_offset included; null where the samples come without labels. */
  readonly labels: readonly number[] | null;
  /** How each input of the model is filled: from the files, as a state that starts at zero, with a number of the preprocessing, which may be missing. */
  readonly inputs: readonly SampleInput[];
  /** Samples by format, such as {"png": 240}. */
  readonly formats: Readonly<Record<string, number>>;
  readonly size_bytes: number;
  /** Files that cannot be samples of this model, in order; each names the likely fix in its hint. */
  readonly errors: readonly SampleErrorRow[];
  /** How many rows of the model's fixed batch each sample fills; 1 where the batch is free or 1, and for samples of whole batches. */
  readonly batch: number;
  /** Files that are no samples and are left out (README, labels.txt, hidden files), each with what it is. */
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
  /** The preprocessing used; null where it has no say: no picture, no recording of given rate or length. When none was given, a guess from the model's input. */
  readonly preprocessing: Preprocessing | null;
  readonly preprocessing_is_guess: boolean;
  /** What trying the presets on samples with labels gave, the best first; null where one was given or nothing tells. */
  readonly preprocessing_trial: PreprocessingTrial | null;
  /** The first readable sample; null when there is none. */
  readonly first: SamplePreview | null;
}

// ----------------------------------------------------------------------------------------------------------------- model

export interface TensorInfo {
  readonly name: string;
  /** Element type: float32, uint8, int64, ...; "?" where the file does not say. */
  readonly type: string;
  /** A number, or the name of a free dimension ("N", "?"); null when the rank is unknown. */
  readonly shape: readonly (number | string)[] | null;
}

export interface OperatorInfo {
  readonly op: string;
  /** Empty for the standard domain. */
  readonly domain: string;
  readonly nodes: number;
  /** False: the engine has no kernel for at least one of these nodes. */
  readonly runs: boolean;
}

/** The JSON of `tersor inspect --json`. */
export interface ModelInfo {
  readonly name: string;
  readonly producer: string;
  readonly ir_version: number;
  /** Of the standard domain. */
  readonly opset: number;
  /** Other domains, by name. */
  readonly domains: Readonly<Record<string, number>>;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** Number of nodes. */
  readonly nodes: number;
  readonly parameters: number;
  /** Multiply-adds of one sample; null where a shape is unknown. */
  readonly macs: number | null;
  readonly size_bytes: number;
  /** Peak of the activations for batch 1 in bytes; null where a shape is unknown. */
  readonly peak_bytes: number | null;
  readonly sha256: string;
  /** Most frequent first. */
  readonly operators: readonly OperatorInfo[];
  readonly warnings: readonly Diagnostic[];
}

/** What becomes of a node on a platform. */
export type Support =
  | 'integer' // an integer kernel
  | 'fused' // part of the layer before
  | 'moves' // moves bytes, keeps int8
  | 'float' // stays float
  | 'folded' // computed beforehand
  | 'unsupported'; // the engine cannot run it

export interface CoverageRow {
  readonly op: string;
  readonly domain: string;
  readonly nodes: number;
  readonly support: Support;
  /** One sentence for `float` and `unsupported`, else empty. */
  readonly reason: string;
  /** Share of the model's multiply-adds, 0 to 1; null where unknown or none of its business. */
  readonly mac_share: number | null;
}

/** A node of the prepared model, as overrides name it. */
export interface NodeInfo {
  /** That of its first output where it has none. */
  readonly name: string;
  /** ONNX operator type. */
  readonly type: string;
}

/** One node of the prepared model's graph. */
export interface GraphNode {
  /** As overrides name it. */
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  /** A few words such as "64×64 3×3"; may be empty. */
  readonly detail: string;
  /** Values that it reads, without constants. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Of its first output for one sample; null where unknown. */
  readonly shape: readonly number[] | null;
  readonly support: Support;
  /** Why it stays float. */
  readonly reason: string;
  /** Index of the node that it is computed with; null where it is its own. */
  readonly joined: number | null;
  /** Null without a weight, or where that stays float. */
  readonly weights_n_bits: number | null;
  readonly activation_n_bits: number | null;
  /** What the runtime is expected to take for it in the float model; null where the platform has no prices. */
  readonly float_ms: number | null;
}

export interface GraphEnd {
  readonly name: string;
  readonly shape: readonly number[] | null;
}

/** The prepared model as it is drawn, with what the platform makes of it; known before any sample is seen. */
export interface GraphView {
  readonly inputs: readonly GraphEnd[];
  readonly outputs: readonly GraphEnd[];
  readonly nodes: readonly GraphNode[];
  /** Nodes of the file that were computed beforehand. */
  readonly folded: number;
  /** Whose prices the times are of, and on what they were measured; empty where there are none. */
  readonly runtime: string;
  readonly machine: string;
}

/** A node of the runtime's own graph. */
export interface RuntimeNode {
  /** Such as QLinearConv. */
  readonly op: string;
  /** What it makes, under the names of the float model's values. */
  readonly outputs: readonly string[];
  /** What it is expected to take, changes of layout of its outputs included; null without prices. */
  readonly milliseconds: number | null;
}

export interface WeightChannels {
  /** Null where the weight stays float. */
  readonly n_bits: number | null;
  /** Each channel has a scale of its own. */
  readonly per_channel: boolean;
  /** By output channel; empty where the operator has no constant weight. `sqnr_db`: null when exact or in float. */
  readonly channels: readonly { readonly largest: number; readonly sqnr_db: number | null }[];
}

/** Which tensor's range, and the grid that it is chosen for. */
export interface RangeQuestion {
  readonly tensor: string;
  readonly method: QuantizationMethod;
  readonly n_bits: number;
  /** Of a symmetric method: it reaches below 0. */
  readonly is_signed: boolean;
}

/** What becomes of the values that calibration saw, in a range. */
export interface RangeFigures {
  /** Lowest and highest value that the codes represent. */
  readonly low: number;
  readonly high: number;
  readonly scale: number;
  readonly zero_point: number;
  readonly values: number;
  /** Those outside by more than half a step. */
  readonly lost: number;
  /** Null when exact. */
  readonly sqnr_db: number | null;
}

export interface RangeChoice {
  /** A choice of activation_threshold_method. */
  readonly method: string;
  readonly figures: RangeFigures;
}

/** One activation's range, to be looked at. */
export interface RangeStudy {
  /** What each method would choose. */
  readonly choices: readonly RangeChoice[];
  /** Of a range given by hand; it is widened to hold 0, and symmetric methods make it symmetric. */
  at(low: number, high: number, options?: CallOptions): Promise<RangeFigures>;
  close(): void;
}

export interface FloatNode {
  readonly name: string;
  readonly op: string;
  readonly reason: string;
}

/** Known before any sample is seen. */
export interface Coverage {
  readonly rows: readonly CoverageRow[];
  /** Conv, Gemm, MatMul and their like: all of them, and those that run as integers. */
  readonly core_nodes: number;
  readonly integer_core_nodes: number;
  readonly stays_float: readonly FloatNode[];
  /**
   * Of a forecast, the kernels among the integer ones that samples may show to need float, since a logarithm, root or reciprocal
   * reads them; 0 once the file is made.
   */
  readonly may_stay_float: number;
  readonly estimated_size_bytes: number;
  /** Memory that calibration takes in each worker, one sample at a time; null where shapes are not known before the samples. */
  readonly calibration_bytes: number | null;
}

// --------------------------------------------------------------------------------------------- platform and configuration

export interface PlatformInfo {
  readonly name: string;
  readonly version: number;
  /** For people, such as "ONNX Runtime CPU". */
  readonly title: string;
  readonly description: string;
}

/** `name`, `name@vK`, a platform written out (readPlatform), or what a platform file holds. */
export type Platform = string | TargetPlatformCapabilities | Readonly<Record<string, unknown>>;

/** What fields that are not given hold: the document's own defaults in place of ours. */
export type Preset = 'requirements';

export type FieldValue =
  | string
  | number
  | boolean
  | OpsetToLayers
  | ResourceUtilization
  | MixedPrecisionQuantizationConfig
  | GradientPTQConfig
  | null;

/** One member of a field that is an object. */
export interface MemberDescription {
  readonly name: string;
  readonly type: 'bool' | 'int' | 'number' | 'enum' | 'integers';
  readonly nullable: boolean;
  readonly default: string | number | boolean | readonly number[] | null;
  readonly choices: readonly string[] | null;
  /** One sentence. */
  readonly meaning: string;
}

/** One field of QuantizationConfig; the settings form is built from these. */
export interface FieldDescription {
  readonly name: string;
  readonly type: 'bool' | 'int' | 'number' | 'enum' | 'object';
  /** Null leaves the choice to the platform, or stands for "off" (z_threshold). */
  readonly nullable: boolean;
  readonly default: FieldValue;
  /** Values accepted now, for `enum`, and for `int` where only a few are; else null. */
  readonly choices: readonly (string | number)[] | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** One sentence. */
  readonly meaning: string;
  /** False: only the default is accepted in this version. */
  readonly acts: boolean;
  /** Of an object whose members are known; else null. */
  readonly members: readonly MemberDescription[] | null;
  /** Its name in Model Compression Toolkit 2; empty where it has none. */
  readonly mct: string;
  /** Its name in ONNX Runtime's quantize_static; empty where it has none. */
  readonly ort: string;
}

/** A setting for some layers: matched by name, by filter or by type, in this order of strength. */
export interface Override {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  readonly filter?: LayerFilterParams | undefined;
  readonly config?: QuantizationConfig | undefined;
  /** How the layer is quantized: an object with the six methods, or data, {class_name, config}. In a recipe always data. */
  readonly quantize_config?: QuantizeConfig | QuantizeConfigData | undefined;
  /** Where some override annotates, nodes that none annotates stay float. */
  readonly annotate?: boolean | undefined;
}

// ---------------------------------------------------------------------------------------------------------------- results

export type Metric = 'top1' | 'top5' | 'auc' | 'reconstruction-auc' | 'answers';

export interface Interval {
  readonly lower: number;
  readonly upper: number;
  /** 0.95. */
  readonly level: number;
}

export interface EvaluationResult {
  readonly metric: Metric;
  /** Samples evaluated. */
  readonly count: number;
  /** Right answers; null for a metric that does not count them. */
  readonly correct: number | null;
  /** 0 to 1; null without labels. */
  readonly value: number | null;
  /** Wilson score interval; null for a metric that has none. */
  readonly interval: Interval | null;
  /** What guessing reaches, 0 to 1; null without labels. */
  readonly chance: number | null;
  /** 1 or -1 where that, added to every label, would make significantly more answers right; else null. */
  readonly label_shift: number | null;
  /** Index of the largest output by sample; null where the output is not a list of classes. */
  readonly answers: Int32Array | null;
  /** Same answer as `reference` had; null without one. */
  readonly agreement: Agreement | null;
}

export interface Agreement {
  readonly same: number;
  readonly count: number;
}

/** A histogram of `counts.length` equal bins from `lower`; the counts are exact. */
export interface Histogram {
  readonly lower: number;
  readonly bin_width: number;
  readonly counts: readonly number[];
}

/** One quantized tensor of the float graph, in graph order. Decibels are null where the tensor is exact. */
export interface LayerRow {
  /** Node name, or its output's name where it has none. */
  readonly name: string;
  readonly op: string;
  /** A few words such as "64×64 3×3"; may be empty. */
  readonly detail: string;
  readonly output: string;
  /** SQNR in dB of this layer quantized alone; null when exact. */
  readonly isolated_sqnr_db: number | null;
  /** SQNR in dB here with everything before it quantized too; null when exact. */
  readonly accumulated_sqnr_db: number | null;
  /** Share of the model's output error, 0 to 1; shares add up to 1. */
  readonly error_share: number;
  /** Kept range of the output [low, high]; null where the output stays float. */
  readonly range: readonly [number, number] | null;
  readonly scale: number | null;
  readonly zero_point: number | null;
  /** uint8, int8, ...; "float" where it stays float. */
  readonly type: string;
  /** Values that calibration saw, and those outside the range. */
  readonly values: number;
  readonly lost: number;
  /** At most 256 bins; null where nothing was collected. */
  readonly histogram: Histogram | null;
  /** Largest absolute weight by output channel; null where the layer has no weights. */
  readonly weight_max: readonly number[] | null;
}

/** Part of an output whose values are of another size than the rest's. */
export interface OutputPart {
  /** Axis of the output along which the parts lie. */
  readonly axis: number;
  /** Indices on it, such as "0 to 3". */
  readonly indices: string;
  /** Largest absolute value of the float model here. */
  readonly largest: number;
  /** Null when exact. */
  readonly sqnr_db: number | null;
}

export interface OutputComparison {
  readonly name: string;
  /** Null when exact. */
  readonly sqnr_db: number | null;
  /** Null, as the next two, where a value is not finite. */
  readonly mse: number | null;
  /** -1 to 1. */
  readonly cosine_similarity: number | null;
  readonly max_error: number | null;
  /** Such as the boxes and the scores of a detector, the larger values first; mostly empty. */
  readonly parts: readonly OutputPart[];
  /** What it is: a Softmax or an ArgMax at its end makes it classes, a division by its length an embedding. */
  readonly kind: 'classes' | 'embedding' | 'values';
  /** Of the median sample, so that no single one makes it; null when exact. */
  readonly median_sqnr_db: number | null;
  /** Of the sample where it is lowest, and its number; null when all are exact. */
  readonly worst_sqnr_db: number | null;
  readonly worst_sample: number | null;
  /** Of the median sample, -1 to 1. */
  readonly median_cosine: number | null;
  /** Root mean square error of the median sample, in parts of the spread of the output's values. */
  readonly error_to_spread: number | null;
}

/** A sample of which an output lies far outside of all others'. */
export interface UnusualSample {
  /** Its number in the data set. */
  readonly sample: number;
  readonly output: string;
  /** The float model's value that is farthest from 0. */
  readonly reaches: number;
  /** How far from 0 the others reach. */
  readonly others: number;
}

/** A layer whose sums saturate on x64 CPUs without VNNI. */
export interface SaturationRow {
  readonly name: string;
  readonly op: string;
  /** One for each value of its output, over all samples. */
  readonly sums: number;
  readonly saturated: number;
}

/** A float operator whose order of sums is the runtime's own. */
export interface FloatSumRow {
  readonly name: string;
  readonly op: string;
  /** Values of its output over all samples. */
  readonly values: number;
  /** Those within float error of the middle between two codes. */
  readonly undecided: number;
  /** Steps of the output's grid; 1/256 of its largest value where it stays float. */
  readonly largest_difference_steps: number;
}

export interface Comparison {
  readonly samples: number;
  /** Of those, spread evenly: layers, saturation, float sums and the parts of outputs are of these alone. */
  readonly layer_samples: number;
  /** All outputs together; null when exact. */
  readonly output_sqnr_db: number | null;
  /** The same of each output's median sample. */
  readonly median_sqnr_db: number | null;
  readonly outputs: readonly OutputComparison[];
  readonly unusual_samples: readonly UnusualSample[];
  /** Same answers as float; null where the first output is none of classes. */
  readonly agreement: Agreement | null;
  /** In graph order. */
  readonly layers: readonly LayerRow[];
  /** In graph order; empty for the runtimes wasm and arm64. */
  readonly saturation: readonly SaturationRow[];
  /** In graph order. */
  readonly float_sums: readonly FloatSumRow[];
}

/** The JSON of `--report`; the schema lies in docs/. Never part of byte equality. */
export interface Correction {
  /** The field of QuantizationConfig that switches it. */
  readonly name: string;
  /** Regions, layers or operators that it changed. */
  readonly places: number;
  /** A sentence. */
  readonly gained: string;
}

export interface Verdict {
  readonly usability: 'usable' | 'usable with care' | 'not usable';
  /** The figures that decided, with count and interval. */
  readonly reason: string;
  /** What is likely to be wrong, and what to do. */
  readonly causes: readonly string[];
  /** Where the file would give something else (on CPUs without VNNI), and what to do. */
  readonly cautions: readonly string[];
  /** Layers that make most of the error, worst first. */
  readonly worst_layers: readonly string[];
}

/** The range that was chosen for an activation. */
export interface RangeRow {
  /** Its name in the prepared graph. */
  readonly tensor: string;
  readonly method: QuantizationMethod;
  readonly n_bits: number;
  /** Lowest and highest value that it represents, and that calibration saw. */
  readonly range: readonly [number, number];
  readonly seen: readonly [number, number];
  /** The step between two codes; several are those of channels. */
  readonly scale: readonly number[];
  readonly zero_point: number;
  /** SQNR in dB that the range by itself leaves of what calibration saw; null when exact, or where there is no histogram. */
  readonly expected_sqnr_db: number | null;
  /** How many times as far from 0 the farthest channel reaches as the middle one; null where channels were not watched. */
  readonly channel_unevenness: number | null;
}

/** What a layer's output channels cost more on a platform that computes `simd_size` of them at a time. */
export interface PaddingRow {
  readonly name: string;
  readonly op: string;
  readonly simd_size: number;
  readonly channels: number;
  /** The next multiple of `simd_size`. */
  readonly padded_channels: number;
  /** Part that weights and work grow by; 0.5 is half as much again. */
  readonly overhead: number;
}

/** A field of the configuration that says something else than its default; the values are JSON texts. */
export interface ChangedSetting {
  readonly field: string;
  readonly value: string;
  readonly default: string;
}

/** What the platform's runtime is expected to take for one sample, by its prices (docs/report.md). */
export interface TimeForecast {
  readonly float_ms: number;
  readonly quantized_ms: number;
  /** The former divided by the latter. */
  readonly times_as_fast: number;
  readonly runtime: string;
  readonly machine: string;
  /** The same for a person. */
  readonly sentence: string;
}

/** A change of the settings that was tried on samples held aside. */
export interface TriedChange {
  /** `FIELD=VALUE`, or `float NAME`: the constant of that name stays in float. */
  readonly change: string;
  /** SQNR of the outputs without it and with it, all held samples together. */
  readonly before_db: number;
  readonly after_db: number;
  /** The least that it gains of that, whichever one sample is left out. */
  readonly least_gain_db: number;
  readonly median_gain_db: number;
  /** It gained enough, and the file has it. */
  readonly taken: boolean;
}

/** One of the configurations that an operator may have. */
export interface SearchedCandidate {
  /** Its place among the candidates that platform and settings leave the operator. */
  readonly index: number;
  /** 0 without weights, 32 in float. */
  readonly weights_n_bits: number;
  /** 0 where the operator quantizes no output of its own, 32 in float. */
  readonly activation_n_bits: number;
  /** How far the model's tensors move when this operator alone is quantized so. */
  readonly sensitivity: number;
}

export interface SearchedOperator {
  readonly node: string;
  readonly op: string;
  /** Nodes that have the same weight, and so the same bits. */
  readonly shared_with: readonly string[];
  readonly candidates: readonly SearchedCandidate[];
  /** Index into `candidates`. */
  readonly chosen: number;
}

/** Bytes, and bit operations of one run. */
export interface TakenResources {
  readonly weights_memory: number;
  readonly activation_memory: number;
  readonly total_memory: number;
  readonly bops: number;
}

/** What each operator's bits were chosen from (`target_resource_utilization`); without operators where nothing was. */
export interface BitConfiguration {
  readonly measured_for: string;
  /** Samples that the sensitivities were measured on. */
  readonly images: number;
  readonly operators: readonly SearchedOperator[];
  /** With this choice, with the last candidate of each operator and with the first. */
  readonly taken: TakenResources;
  readonly least: TakenResources;
  readonly most: TakenResources;
  readonly sensitivity: number;
  /** No other choice within the budgets has a sum of sensitivities lower by more than this. */
  readonly gap: number;
}

/** What trying on samples held aside came to (`holdout`). */
export interface Trial {
  /** SHA-256 of the settings that this was tried for. */
  readonly settings: string;
  /** `FIELD=VALUE` that the file has in place of the settings. */
  readonly changes: readonly string[];
  /** Constants that stay in float, as 8 bits of them cost too much. */
  readonly in_float: readonly string[];
  /** Samples held aside, and those that the models which were tried were made of. */
  readonly held: number;
  readonly others: number;
  readonly tried: readonly TriedChange[];
  /** Of a model with these choices made of the others alone, on the held samples: pooled, and the median of a sample. */
  readonly sqnr_db: number;
  readonly median_sqnr_db: number;
  readonly bits: BitConfiguration;
}

/** How training went (`gradient_ptq_config`). */
export interface Training {
  readonly plan: string;
  /** Gradient steps taken, and of the whole schedule. */
  readonly steps: number;
  readonly steps_planned: number;
  /** That gradients were taken of, and that were held aside. */
  readonly samples: number;
  readonly held: number;
  /** SQNR of the outputs on those held aside, in dB. */
  readonly before_db: number;
  readonly after_db: number;
  /** Mean of the first and of the last epoch. */
  readonly first_loss: number;
  readonly last_loss: number;
  /** SHA-256 of the labels that training took; empty: none. */
  readonly labels: string;
  /** With labels, of the samples held aside. */
  readonly before_cross_entropy: number | null;
  readonly after_cross_entropy: number | null;
  readonly before_right: number | null;
  readonly after_right: number | null;
  /** The tuned model is better on those held aside, and the file has it. */
  readonly taken: boolean;
  /** Sentences: what was not trained, and why. */
  readonly frozen: readonly string[];
  readonly activations: readonly { readonly name: string; readonly scale: number; readonly zero_point: number }[];
}

export interface Report {
  readonly format_version: number;
  readonly tool_version: string;
  readonly model: { readonly name: string; readonly sha256: string; readonly size_bytes: number };
  readonly output: { readonly sha256: string; readonly size_bytes: number };
  readonly platform: { readonly name: string; readonly version: number };
  /** The runtime whose arithmetic the preview uses: x64, wasm, arm64, avx2. */
  readonly runtime: string;
  /** In the order of the fields. */
  readonly settings: readonly ChangedSetting[];
  readonly coverage: Coverage;
  /** Every quantized activation, in graph order. */
  readonly ranges: readonly RangeRow[];
  /** Layers with quantized weights, in graph order; empty where the platform has no `simd_size`. */
  readonly padding: readonly PaddingRow[];
  /** Set by `compare()`. */
  readonly comparison: Comparison | null;
  /** Set by `evaluate()`; `float` when a reference was given. */
  readonly evaluation: { readonly float: EvaluationResult | null; readonly quantized: EvaluationResult | null };
  /** Steps of the recipe that changed something. */
  readonly corrections: readonly Correction[];
  /** Null where the platform has no prices, or shapes are not known before the samples. */
  readonly time: TimeForecast | null;
  /** What was tried on samples held aside; null where nothing was. */
  readonly trial: Trial | null;
  /** Null where nothing was trained. */
  readonly training: Training | null;
  /** Whether the model can be used; null before `compare()` or `evaluate()`. */
  readonly verdict: Verdict | null;
  /** Samples used for each part; `held_aside`: calibration has seen none of those evaluated. */
  readonly samples: { readonly calibration: number; readonly evaluation: number; readonly held_aside: boolean };
  readonly diagnostics: readonly Diagnostic[];
}

/** The recipe file: digests and the complete effective configuration. Same model + recipe + samples = same bytes. */
export interface Recipe {
  readonly format: 'tersor-recipe';
  readonly format_version: number;
  readonly tool_version: string;
  readonly model_digest: string;
  readonly platform: { readonly name: string; readonly version: number; readonly digest: string };
  readonly quantization_config: QuantizationConfig;
  readonly overrides: readonly Override[];
  readonly framework_info?: FrameworkInfo | undefined;
  readonly preprocessing: Preprocessing | null;
  readonly data_set: {
    /** Samples calibrated with. */
    readonly samples: number;
    /** Samples in the data set they come from; where more, those calibrated with are spread evenly, see Selection. */
    readonly of: number;
    /** SHA-256 over the digests of the samples calibrated with, in order. */
    readonly digest: string;
  };
  readonly seeds: Readonly<Record<string, number>>;
}

// ---------------------------------------------------------------------------------------------------------------- classes

export interface TersorOptions {
  /** Number of workers; `auto` (default) is the number of cores, at most 8. */
  readonly workers?: number | 'auto' | undefined;
  /** The core's bytes or module; without it the file beside the package is fetched, once, before `create` resolves. */
  readonly wasmBinary?: ArrayBuffer | Uint8Array | WebAssembly.Module | undefined;
  /**
   * Begins with tersor-light.wasm, which is less to load by what trains; tersor.wasm takes its place when settings first need it.
   * Default false. `wasmBinary` is of the file that is begun with.
   */
  readonly light?: boolean | undefined;
  /** Where the package's files lie: 'tersor.wasm', 'tersor-light.wasm' and 'worker.mjs' to address. */
  readonly locateFile?: ((name: string) => string | URL) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A text is an address; in Node a path, too. */
export type ModelSource = Uint8Array | ArrayBuffer | Blob | File | URL | string;

export interface OpenOptions extends CallOptions {
  /** Files that the model names for its weights: name to content. */
  readonly externalData?: ReadonlyMap<string, Uint8Array | Blob> | undefined;
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

export interface CalibrateOptions extends SampleOptions {
  /**
   * Aborting it ends a training (`gradient_ptq_config`) early: the call goes on with the best that was found, and its recipe
   * says after how many steps. Does nothing elsewhere.
   */
  readonly stop?: AbortSignal | undefined;
  readonly platform?: Platform | undefined;
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
}

export interface EvaluateOptions extends SampleOptions {
  /** Default: top1 with labels, answers without. */
  readonly metric?: Metric | undefined;
  /** `reconstruction-auc`: rows that make one sample. */
  readonly group?: number | undefined;
  readonly selection?: Selection | undefined;
  /** The float model's result on the same samples: fills `agreement`. */
  readonly reference?: EvaluationResult | undefined;
  /** Whose arithmetic a quantized model runs with; default x64. */
  readonly runtime?: string | undefined;
}

export interface CompareOptions extends SampleOptions {
  readonly selection?: Selection | undefined;
  /** Use at most so many of the selected samples, spread evenly; 0, the default, means all. */
  readonly limit?: number | undefined;
  readonly runtime?: string | undefined;
  /** The first output is scores of classes, though no Softmax stands at its end. */
  readonly classes?: boolean | undefined;
}

export interface RunOptions extends SampleOptions {
  readonly selection?: Selection | undefined;
  /** Use at most so many of the selected samples, spread evenly; 0, the default, means all. */
  readonly limit?: number | undefined;
  /** Whose arithmetic a quantized model runs with; default x64. */
  readonly runtime?: string | undefined;
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
}

export interface ReadSettingsOptions {
  /** Of the file, for errors. */
  readonly name?: string | undefined;
  /** What a description of pictures leaves open follows from this model's input. */
  readonly model?: Model | undefined;
  readonly signal?: AbortSignal | undefined;
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
  readSettings(file: Blob | string, options?: ReadSettingsOptions): Promise<SettingsFile>;
  /** The complete configuration: the fields given, defaults for the rest. Throws for an unknown field or a value of the wrong type. */
  quantizationConfig(fields?: QuantizationConfig, preset?: Preset): QuantizationConfig;
  /** The fields of QuantizationConfig in the document's order. */
  describeQuantizationConfig(): readonly FieldDescription[];
  preprocessingPreset(name: PreprocessingPreset): Preprocessing;
  /** A trainable quantizer for the config's target and method; it computes at once, in the caller's thread. */
  trainableQuantizer(options: TrainableQuantizerOptions): BaseTrainableQuantizer;
  close(): void;
}

export interface Model {
  readonly info: ModelInfo;
  coverage(options?: CoverageOptions): Promise<Coverage>;
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
   * How many epochs of training (`gradient_ptq_config`) take about so many minutes here, by the time of a few steps: what
   * `n_epochs` may be set to. Takes what quantize() takes.
   */
  trainingEpochs(minutes: number, options: QuantizeOptions): Promise<number>;
  evaluate(samples: Samples, labels: Labels, options?: EvaluateOptions): Promise<EvaluationResult>;
  /** Inputs and outputs, sample by sample, in one worker that is one sample ahead. */
  run(samples: Samples, options?: RunOptions): AsyncGenerator<SampleRun, void, undefined>;
  close(): void;
}

export interface Statistics {
  /** The content of a `.tstats` file. */
  readonly bytes: Uint8Array;
  readonly sampleCount: number;
}

export interface QuantizedResult {
  /** The ONNX file. */
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
