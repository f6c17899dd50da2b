// SPDX-License-Identifier: Apache-2.0
//
// Samples, labels and preprocessing: what is given, and what is known of them.

import type { HostBlob, HostFile } from './host.js';
import type { TersorErrorFields } from './errors.js';

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
  readonly data: HostBlob | Uint8Array | ArrayBuffer;
}

/** A file, one without a name, pixels; in Node also the path of a file. */
export type FileLike = SampleFile | HostBlob | ImageSample | string;

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
export type Labels = 'folders' | ArrayLike<number> | SampleFile | HostFile | null;

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
  /** `reordered`: right with the classes in another order, where one was looked for and found. */
  readonly tried: readonly {
    readonly name: string;
    readonly right: number;
    readonly reordered?: number | undefined;
  }[];
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
