// SPDX-License-Identifier: Apache-2.0
// Made from the core's list of members by tests/report/types_test.cpp: do not edit.

import type { QuantizationMethod, ThresholdSelectionMethod } from '../requirements.js';
import type { Diagnostic } from './errors.js';
import type { Agreement, EvaluationResult } from './evaluation.js';

export type Support = 'integer' | 'fused' | 'moves' | 'float' | 'folded';

export type Usability = 'usable' | 'usable with care' | 'not worth it' | 'not usable';

export type OutputKind = 'classes' | 'logits' | 'embedding' | 'map' | 'mask' | 'scores' | 'boxes' | 'detections' | 'values' | 'landmarks';

export interface FileFacts {
  /** File name; may be empty. */
  readonly name: string;
  /** Of its bytes, 64 hexadecimal digits. */
  readonly sha256: string;
  /** Its size. */
  readonly size_bytes: number;
}

export interface PlatformFacts {
  /** Target platform. */
  readonly name: string;
  /** Version of its file. */
  readonly version: number;
}

export interface ChangedSetting {
  /** Field of QuantizationConfig. */
  readonly field: string;
  /** What it was set to, as in JSON. */
  readonly value: string;
  /** What it is unless set, as in JSON. */
  readonly default: string;
}

export interface CoverageRow {
  /** Operator type. */
  readonly op: string;
  /** Its domain; empty for ONNX's own. */
  readonly domain: string;
  /** Nodes of that type with that fate. */
  readonly nodes: number;
  /** integer, fused, moves, float or folded. */
  readonly support: Support;
  /** Why it stays float. */
  readonly reason: string;
  /** Share of the multiply-adds; null where unknown. */
  readonly mac_share: number | null;
}

export interface FloatNode {
  /** Node, or its output where it has no name. */
  readonly name: string;
  /** Operator type. */
  readonly op: string;
  /** A sentence. */
  readonly reason: string;
}

export interface Coverage {
  /** By operator type and fate. */
  readonly rows: readonly CoverageRow[];
  /** Conv, ConvTranspose, Gemm and MatMul. */
  readonly core_nodes: number;
  /** Those of them that run as integers. */
  readonly integer_core_nodes: number;
  /** What runs in float, each with the reason. */
  readonly stays_float: readonly FloatNode[];
  /** Of a forecast, the kernels with integer arithmetic or weights that samples may show to need float, since a logarithm, root or reciprocal reads them; 0 once the file is made. */
  readonly may_stay_float: number;
  /** Expected size of the quantized file. */
  readonly estimated_size_bytes: number;
  /** The same where samples show that all weights before a logarithm, root or reciprocal need float, and those held aside that tables, weights of recurrent layers and other constants do. */
  readonly estimated_largest_bytes: number;
  /** Memory that calibration takes in each thread or worker, one sample at a time; null where shapes are not known before the samples. */
  readonly calibration_bytes: number | null;
}

export interface RangeRow {
  /** Its name in the prepared graph. */
  readonly tensor: string;
  /** The quantizer's method. */
  readonly method: QuantizationMethod;
  /** Its bits. */
  readonly n_bits: number;
  /** Lowest and highest value that it represents. */
  readonly range: readonly [number, number];
  /** Lowest and highest value that calibration saw. */
  readonly seen: readonly [number, number];
  /** The step between two codes; several are those of channels. */
  readonly scale: readonly number[];
  /** Code of the value 0. */
  readonly zero_point: number;
  /** SQNR in dB that the range by itself leaves of what calibration saw; null when exact, or where there is no histogram. */
  readonly expected_sqnr_db: number | null;
  /** How many times as far from 0 the farthest channel reaches as the middle one, channels that are all 0 left out; null where channels were not watched. */
  readonly channel_unevenness: number | null;
}

export interface PaddingRow {
  /** Name of the node, or of its output. */
  readonly name: string;
  /** Operator type. */
  readonly op: string;
  /** Channels that the platform computes at a time here. */
  readonly simd_size: number;
  /** Output channels of the layer. */
  readonly channels: number;
  /** The next multiple of simd_size. */
  readonly padded_channels: number;
  /** Part that weights and work grow by: padded channels beyond the layer's own, by those. */
  readonly overhead: number;
}

export interface Correction {
  /** The field of QuantizationConfig that switches it. */
  readonly name: string;
  /** Regions, layers or operators that it changed; 0 where it was switched off. */
  readonly places: number;
  /** What it gained, or may cost to leave out, in a sentence. */
  readonly gained: string;
}

export interface TimeElsewhere {
  /** As the float model there. */
  readonly times_as_fast: number;
  /** The runtime whose operators were timed. */
  readonly runtime: string;
  /** The machine that they were timed on. */
  readonly machine: string;
}

export interface TimedFile {
  /** The word of `prefer` that it was made for. */
  readonly prefer: string;
  /** What a run took. */
  readonly milliseconds: number;
  /** SQNR on the held samples, in dB; null where none were held aside. */
  readonly sqnr_db: number | null;
  /** The file is this one. */
  readonly taken: boolean;
}

export interface TimeForecast {
  /** Milliseconds that the float model is expected to take. */
  readonly float_ms: number;
  /** Milliseconds that the quantized model is expected to take. */
  readonly quantized_ms: number;
  /** The former divided by the latter. */
  readonly times_as_fast: number;
  /** The runtime whose operators were timed. */
  readonly runtime: string;
  /** The machine that they were timed on. */
  readonly machine: string;
  /** The same by each other list of prices of the platform. */
  readonly elsewhere: readonly TimeElsewhere[];
  /** Both files were timed in the runtime where this was made: it is no forecast. */
  readonly measured: boolean;
  /** The files that were timed, of which one was taken; empty where none were. */
  readonly timed: readonly TimedFile[];
  /** The same for a person. */
  readonly sentence: string;
}

export interface Board {
  /** The file itself, which is read in place. */
  readonly flash_bytes: number;
  /** Activations and scratch of TensorFlow Lite Micro; null where an operator's are not known. */
  readonly activation_bytes: number | null;
  /** An arena that the model loads in, on a machine of 64 bits. */
  readonly arena_bytes: number | null;
}

export interface TriedChange {
  /** FIELD=VALUE of the configuration, or "float NAME": the constant of that name stays in float. */
  readonly change: string;
  /** SQNR of the outputs without it, of the held samples that it was tried on together: the first may rule it out. */
  readonly before_db: number;
  /** The same with it. */
  readonly after_db: number;
  /** The least that it gains of that, whichever one sample is left out. */
  readonly least_gain_db: number;
  /** What it gains in a sample: the median. */
  readonly median_gain_db: number;
  /** It gained enough, and the file has it. */
  readonly taken: boolean;
}

export interface Contestant {
  /** The word of `prefer` whose division of the graph it begins with. */
  readonly prefer: string;
  /** Bytes of such a file, which is made of the others; that of all samples may differ by a few. */
  readonly size_bytes: number;
  /** Milliseconds that it is expected to take; null where the platform has no prices or shapes are open. */
  readonly quantized_ms: number | null;
  /** SQNR on the held samples, of what is judged there, in dB; null where size or time alone rule it out. */
  readonly sqnr_db: number | null;
  /** The file is this one. */
  readonly taken: boolean;
}

export interface SearchedCandidate {
  /** Its place among the candidates that platform and settings leave. */
  readonly index: number;
  /** Bits of the weights; 0 without weights, 32 in float. */
  readonly weights_n_bits: number;
  /** Bits of the output; 0 where this operator quantizes none, 32 in float. */
  readonly activation_n_bits: number;
  /** How far the model's tensors move when this operator alone is quantized so. */
  readonly sensitivity: number;
}

export interface SearchedOperator {
  /** Name of the node. */
  readonly node: string;
  /** Its operator type. */
  readonly op: string;
  /** Nodes that have the same weight, and so the same bits. */
  readonly shared_with: readonly string[];
  /** What was compared. */
  readonly candidates: readonly SearchedCandidate[];
  /** Which of these was chosen, counted from 0. */
  readonly chosen: number;
}

export interface TakenResources {
  /** Bytes of the quantized weights. */
  readonly weights_memory: number;
  /** Bytes of the activations that exist at the same time, at most. */
  readonly activation_memory: number;
  /** Bytes of both together. */
  readonly total_memory: number;
  /** Bit operations of one run. */
  readonly bops: number;
}

export interface BitConfiguration {
  /** SHA-256 of the settings that the sensitivities depend on. */
  readonly measured_for: string;
  /** Samples that the sensitivities were measured on. */
  readonly images: number;
  /** Operators that had a choice, in the order of the graph. */
  readonly operators: readonly SearchedOperator[];
  /** What the model takes with this choice. */
  readonly taken: TakenResources;
  /** With the last candidate of each operator, which has the fewest bits. */
  readonly least: TakenResources;
  /** With the first candidate of each, which has the most. */
  readonly most: TakenResources;
  /** Sum of the sensitivities of what was chosen. */
  readonly sensitivity: number;
  /** No other choice within the budgets has a sum lower by more than this. */
  readonly gap: number;
}

export interface Trial {
  /** SHA-256 of the settings that this was tried for. */
  readonly settings: string;
  /** FIELD=VALUE of the configuration that the file has in place of those. */
  readonly changes: readonly string[];
  /** Constants that stay in float, as 8 bits cost too much. */
  readonly in_float: readonly string[];
  /** Samples held aside while this was tried. */
  readonly held: number;
  /** Samples that the models which were tried were made of. */
  readonly others: number;
  /** Every change that was tried for the file that was taken, in order, each on top of those before it. */
  readonly tried: readonly TriedChange[];
  /** The files that `prefer` was decided between; empty where its words give but one. */
  readonly contestants: readonly Contestant[];
  /** SQNR on the held samples of a model with these choices made of the others alone, in dB; of the output where it is lowest, of all held samples together. */
  readonly sqnr_db: number;
  /** The same of a sample: the median. */
  readonly median_sqnr_db: number;
  /** Nine unseen samples of ten are expected to have an SQNR from here ... */
  readonly low_db: number | null;
  /** ... to here; null where fewer than 4 samples were held aside. */
  readonly high_db: number | null;
  /** What each operator's bits were chosen from, where the settings set a budget. */
  readonly bits: BitConfiguration;
}

export interface TunedActivation {
  /** The tensor. */
  readonly name: string;
  /** Its quantizer's scale. */
  readonly scale: number;
  /** The integer that stands for 0. */
  readonly zero_point: number;
}

export interface Training {
  /** SHA-256 of the plan and the settings that this was for. */
  readonly plan: string;
  /** Gradient steps taken. */
  readonly steps: number;
  /** Gradient steps of the whole schedule. */
  readonly steps_planned: number;
  /** Samples that gradients were taken of. */
  readonly samples: number;
  /** Samples held aside, which the figures below are of. */
  readonly held: number;
  /** SQNR of the outputs before, in dB. */
  readonly before_db: number;
  /** The same after training. */
  readonly after_db: number;
  /** Mean loss of the first epoch. */
  readonly first_loss: number;
  /** Mean loss of the last epoch. */
  readonly last_loss: number;
  /** SHA-256 of the labels that training took; empty: none. */
  readonly labels: string;
  /** Of the held samples' labels before; null without. */
  readonly before_cross_entropy: number | null;
  /** The same after training. */
  readonly after_cross_entropy: number | null;
  /** Right answers on the held samples before; null without labels. */
  readonly before_right: number | null;
  /** The same after training. */
  readonly after_right: number | null;
  /** The tuned model is better on the held samples, and the file has it. */
  readonly taken: boolean;
  /** What was not trained, and why. */
  readonly frozen: readonly string[];
  /** Quantizers of activations that training has changed. */
  readonly activations: readonly TunedActivation[];
}

export interface DecibelRange {
  /** Lower end in dB; one sample of twenty is below. */
  readonly lower: number;
  /** Upper end in dB; one sample of twenty is above. */
  readonly upper: number;
}

export interface Verdict {
  /** usable, usable with care, not worth it, or not usable. */
  readonly usability: Usability;
  /** The figures that decided, with count and interval. */
  readonly reason: string;
  /** What is likely to be wrong, and what to do; sentences. */
  readonly causes: readonly string[];
  /** Where the file would give something else, and what to do; sentences. */
  readonly cautions: readonly string[];
  /** Names of the layers that make most of the error, worst first. */
  readonly worst_layers: readonly string[];
  /** Between which the SQNR of nine unseen samples of ten is expected to lie, in the output where it is lowest; null where too few samples were compared. */
  readonly unseen_range: DecibelRange | null;
}

export interface OutputPart {
  /** Axis of the output along which the parts lie. */
  readonly axis: number;
  /** Indices on that axis, such as "0 to 3". */
  readonly indices: string;
  /** Largest absolute value of the float model here. */
  readonly largest: number;
  /** SQNR in dB of this part; null when exact. */
  readonly sqnr_db: number | null;
  /** What it is: boxes or scores of detections, else values. */
  readonly kind: OutputKind;
}

export interface OutputComparison {
  /** Name of the model output. */
  readonly name: string;
  /** SQNR in dB over all samples; null when exact. */
  readonly sqnr_db: number | null;
  /** Mean square error over all samples; null where a value is not finite, or the shape was never that of the float model. */
  readonly mse: number | null;
  /** Cosine similarity over all samples, -1 to 1; null where a value is not finite. */
  readonly cosine_similarity: number | null;
  /** Largest absolute difference of an element; null where a value is not finite. */
  readonly max_error: number | null;
  /** Boxes and scores of detections, or parts whose values are of unlike size, the larger first; empty where there are none. */
  readonly parts: readonly OutputPart[];
  /** What it is, as far as the graph tells or output_roles say: classes, embedding, map, scores, boxes, detections or values. */
  readonly kind: OutputKind;
  /** SQNR in dB of the median sample; null when exact. */
  readonly median_sqnr_db: number | null;
  /** SQNR in dB of the sample where it is lowest; null when all are exact. */
  readonly worst_sqnr_db: number | null;
  /** The number of that sample. */
  readonly worst_sample: number | null;
  /** Between which the SQNR of nine further samples of ten is expected to lie; null of fewer than 4 samples, and when exact. */
  readonly sample_range: DecibelRange | null;
  /** Cosine similarity of the median sample, -1 to 1; null where a value is not finite. */
  readonly median_cosine: number | null;
  /** Root mean square error of the median sample, in parts of the spread of the output's values; null where they are all alike or not finite. */
  readonly error_to_spread: number | null;
  /** What the output says and the float model's too: of classes the answers, of a map the places of another class than its commonest (of a mask those of 0.5), of scores those of 0.25 and more, of boxes and detections those that either model detects with a score of 0.25, at an IoU of 0.5, of an embedding the samples with the same nearest neighbour; null of other kinds. */
  readonly kept: Agreement | null;
}

export interface UnusualSample {
  /** Its number in the data set. */
  readonly sample: number;
  /** Name of the model output. */
  readonly output: string;
  /** The float model's value that is farthest from 0. */
  readonly reaches: number;
  /** How far from 0 the others reach, those named here aside. */
  readonly others: number;
}

export interface Histogram {
  /** Left edge of the first bin. */
  readonly lower: number;
  /** Width of every bin. */
  readonly bin_width: number;
  /** Values in each bin. */
  readonly counts: readonly number[];
}

export interface LayerRow {
  /** Name of the node, or of its output. */
  readonly name: string;
  /** Operator type. */
  readonly op: string;
  /** Channels and kernel in a few words. */
  readonly detail: string;
  /** Name of the tensor in the float model. */
  readonly output: string;
  /** SQNR in dB with this layer quantized alone; null when exact. */
  readonly isolated_sqnr_db: number | null;
  /** SQNR in dB here with everything before it quantized too; null when exact. */
  readonly accumulated_sqnr_db: number | null;
  /** Share of the error that all layers add when each is quantized alone; shares add up to 1. */
  readonly error_share: number;
  /** Lowest and highest value kept; null where the output stays float. */
  readonly range: readonly [number, number] | null;
  /** Step between two codes. */
  readonly scale: number | null;
  /** Code of the value 0. */
  readonly zero_point: number | null;
  /** Integer type, or float. */
  readonly type: string;
  /** Values that the comparison saw. */
  readonly values: number;
  /** Values outside the range. */
  readonly lost: number;
  /** What calibration saw; null where nothing was collected. */
  readonly histogram: Histogram | null;
  /** Largest absolute weight by output channel; null without weights. */
  readonly weight_max: readonly number[] | null;
}

export interface SaturationRow {
  /** Name of the node, or of its output. */
  readonly name: string;
  /** Operator type. */
  readonly op: string;
  /** Sums of products over all samples: one for each value of its output. */
  readonly sums: number;
  /** Those in which a pair of products saturates at 16 bits; for the runtime x64, would without VNNI. */
  readonly saturated: number;
}

export interface FloatSumRow {
  /** Name of the node, or of its output. */
  readonly name: string;
  /** Operator type. */
  readonly op: string;
  /** Values of its output over all samples. */
  readonly values: number;
  /** Those within float error of the middle between two codes: the runtime may give the other one. */
  readonly undecided: number;
  /** Largest difference from the runtime to expect, in steps of the grid that the output is quantized to, or in 1/256 of its largest value where it stays float. */
  readonly largest_difference_steps: number;
}

export interface WithoutVnni {
  /** SQNR in dB of the output where it is lowest; null when all are exact. */
  readonly output_sqnr_db: number | null;
  /** Same answers as float; null where the first output is none of classes. */
  readonly agreement: Agreement | null;
}

export interface Comparison {
  /** Samples compared. */
  readonly samples: number;
  /** Those of them that are no copy of one before. */
  readonly distinct: number;
  /** Those whose layers were looked at, spread evenly: the layers, their saturation and float sums and the parts of outputs are of these alone. */
  readonly layer_samples: number;
  /** SQNR in dB of the output where it is lowest; null when all are exact. */
  readonly output_sqnr_db: number | null;
  /** The same of the median sample: no single sample makes it. */
  readonly median_sqnr_db: number | null;
  /** Each output by itself. */
  readonly outputs: readonly OutputComparison[];
  /** Samples of which an output lies far outside of all others'. */
  readonly unusual_samples: readonly UnusualSample[];
  /** Same answers as float; null where the first output is none of classes. */
  readonly agreement: Agreement | null;
  /** Every quantized tensor, in graph order. */
  readonly layers: readonly LayerRow[];
  /** Every layer that can saturate without VNNI, in graph order; empty for the runtimes wasm and arm64. */
  readonly saturation: readonly SaturationRow[];
  /** Every float operator whose order of sums is the runtime's own, in graph order. */
  readonly float_sums: readonly FloatSumRow[];
  /** The same samples in the arithmetic of avx2, where sums saturate; null where hardly any does, and where it was not computed. */
  readonly without_vnni: WithoutVnni | null;
}

export interface Evaluations {
  /** The float model; null when it was not evaluated. */
  readonly float: EvaluationResult | null;
  /** The quantized model; null when it was not evaluated. */
  readonly quantized: EvaluationResult | null;
}

export interface OwnEvaluation {
  /** Name of the function. */
  readonly metric: string;
  /** Samples that it was called with. */
  readonly count: number;
  /** What it says of the float model; more is better. */
  readonly float: number;
  /** What it says of the quantized model. */
  readonly quantized: number;
  /** Standard error of the difference of both, by the jackknife of 16 parts. */
  readonly standard_error: number;
}

export interface SampleCounts {
  /** Samples calibrated with. */
  readonly calibration: number;
  /** Samples evaluated or compared with. */
  readonly evaluation: number;
  /** Calibration has seen none of those; null where nobody knows. */
  readonly held_aside: boolean | null;
}

export interface Report {
  /** Version of this format. */
  readonly format_version: number;
  /** Version of Tersor that wrote it. */
  readonly tool_version: string;
  /** The float model. */
  readonly model: FileFacts;
  /** The quantized model. */
  readonly output: FileFacts;
  /** What it was made for. */
  readonly platform: PlatformFacts;
  /** Whose arithmetic the figures are in: x64, wasm, arm64, avx2 or tflite-micro. */
  readonly runtime: string;
  /** Fields of the configuration that say something else than their default. */
  readonly settings: readonly ChangedSetting[];
  /** What runs as integers and what stays float, and why. */
  readonly coverage: Coverage;
  /** The range of every quantized activation, in graph order. */
  readonly ranges: readonly RangeRow[];
  /** What padding to simd_size costs each layer, in graph order; empty where the platform has none. */
  readonly padding: readonly PaddingRow[];
  /** Steps of the recipe that changed something, and what they gained. */
  readonly corrections: readonly Correction[];
  /** Expected time in the runtime; null where the platform has no prices or shapes are open. */
  readonly time: TimeForecast | null;
  /** What a .tflite file takes on a microcontroller; null of other files. */
  readonly board: Board | null;
  /** What was tried on samples held aside, and what it gave; null where nothing was. */
  readonly trial: Trial | null;
  /** How training went; null where nothing was trained. */
  readonly training: Training | null;
  /** Whether the model can be used; null before anything was measured. */
  readonly verdict: Verdict | null;
  /** Error by layer; null when it was not measured. */
  readonly comparison: Comparison | null;
  /** Accuracy, where it was measured. */
  readonly evaluation: Evaluations;
  /** What a function of the caller's own says of both models; null where none was given. */
  readonly metric: OwnEvaluation | null;
  /** How many samples were used for what. */
  readonly samples: SampleCounts;
  /** Remarks. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface GraphEnd {
  /** Of the value. */
  readonly name: string;
  /** For one sample; null where unknown. */
  readonly shape: readonly number[] | null;
}

export interface GraphNode {
  /** As overrides name it. */
  readonly name: string;
  /** Operator type. */
  readonly op: string;
  /** Its domain; empty for ONNX's own. */
  readonly domain: string;
  /** Shape of its weight in a few words; may be empty. */
  readonly detail: string;
  /** Values that it reads, without constants. */
  readonly inputs: readonly string[];
  /** Values that it makes. */
  readonly outputs: readonly string[];
  /** Of its first output for one sample; null where unknown. */
  readonly shape: readonly number[] | null;
  /** integer, fused, moves or float. */
  readonly support: Support;
  /** Why it stays float. */
  readonly reason: string;
  /** Index of the node that it is computed with; null where it is its own. */
  readonly joined: number | null;
  /** Bits of its weight; null without one or in float. */
  readonly weights_n_bits: number | null;
  /** Bits of its output; null in float. */
  readonly activation_n_bits: number | null;
  /** Milliseconds that the runtime is expected to take for it in the float model; null without prices. */
  readonly float_ms: number | null;
}

export interface GraphView {
  /** Inputs of the model. */
  readonly inputs: readonly GraphEnd[];
  /** Outputs of the model. */
  readonly outputs: readonly GraphEnd[];
  /** In the order of the prepared graph. */
  readonly nodes: readonly GraphNode[];
  /** Nodes of the file that were computed beforehand. */
  readonly folded: number;
  /** Whose prices the times are of; empty without prices. */
  readonly runtime: string;
  /** On what they were measured. */
  readonly machine: string;
}

export interface RuntimeNode {
  /** Operator type, such as QLinearConv. */
  readonly op: string;
  /** What it makes, under the names of the float model's values. */
  readonly outputs: readonly string[];
  /** What it is expected to take, changes of layout of its outputs included; null without prices. */
  readonly milliseconds: number | null;
}

export interface WeightChannel {
  /** Largest absolute weight. */
  readonly largest: number;
  /** SQNR in dB of its weights; null when exact or in float. */
  readonly sqnr_db: number | null;
}

export interface WeightChannels {
  /** Bits of the weight; null in float. */
  readonly n_bits: number | null;
  /** Each channel has a scale of its own. */
  readonly per_channel: boolean;
  /** By output channel. */
  readonly channels: readonly WeightChannel[];
}

export interface RangeFigures {
  /** Lowest value that the codes represent. */
  readonly low: number;
  /** Highest value that they represent. */
  readonly high: number;
  /** Step between two codes. */
  readonly scale: number;
  /** Code of the value 0, codes counted as the method does. */
  readonly zero_point: number;
  /** Values that calibration saw. */
  readonly values: number;
  /** Those outside by more than half a step, by the centres of their bins. */
  readonly lost: number;
  /** SQNR in dB that the range leaves of them; null when exact. */
  readonly sqnr_db: number | null;
}

export interface RangeChoice {
  /** By what it is chosen. */
  readonly method: ThresholdSelectionMethod;
  /** The range and what becomes of the values. */
  readonly figures: RangeFigures;
}
