// SPDX-License-Identifier: Apache-2.0
//
// Accuracy, and what quantization changes, layer by layer.

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
  /** Numbers of the evaluated samples in their data set, in the order of `answers`; absent where samples streamed in, and in reports. */
  readonly samples?: readonly number[] | undefined;
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

/** In dB; one sample of twenty is expected below, and one above. */
export interface DecibelRange {
  readonly lower: number;
  readonly upper: number;
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
  /** What it is: a Softmax or an ArgMax at its end makes it classes (a map, where there are many places), a Sigmoid scores, a division by its length an embedding. */
  readonly kind: 'classes' | 'embedding' | 'map' | 'scores' | 'values';
  /** Of the median sample, so that no single one makes it; null when exact. */
  readonly median_sqnr_db: number | null;
  /** Of the sample where it is lowest, and its number; null when all are exact. */
  readonly worst_sqnr_db: number | null;
  readonly worst_sample: number | null;
  /** Where nine further samples of ten are expected to lie; null of fewer than 4, and when exact. */
  readonly sample_range: DecibelRange | null;
  /** Of the median sample, -1 to 1. */
  readonly median_cosine: number | null;
  /** Root mean square error of the median sample, in parts of the spread of the output's values. */
  readonly error_to_spread: number | null;
  /** Of a map the places, of scores those of 0.25 and more (of a mask 0.5), that both models say something of. */
  readonly kept: Agreement | null;
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
  /** Of the output where it is lowest; null when exact. */
  readonly output_sqnr_db: number | null;
  /** The same of the median sample. */
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
