// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the package `tersor`, for tests of the page's own logic: same interface, invented figures, and times that a
// test can set. Nothing of it is part of the site.

import type * as t from '../../../wasm/src/types';

export { hiddenNames, sampleExtensions } from '../../../wasm/src/sample_files';
export type * from '../../../wasm/src/types';

/** What tests change. */
export const behaviour = {
  /** Milliseconds per sample or step. */
  pace: (globalThis as { tersorPace?: number }).tersorPace ?? 0,
  layers: (globalThis as { tersorLayers?: number }).tersorLayers ?? 30,
  openError: null as t.TersorErrorFields | null,
  sampleErrors: [] as t.SampleErrorRow[],
  quantizeError: null as t.TersorErrorFields | null,
  labelled: true,
  /** False: statistics serve the settings that they were made with, and no others. */
  statisticsFit: true,
  calls: [] as string[],
  /** Of the output of a file that was made with a recipe; null: of all 30.2 dB. */
  decibels: null as ((recipe: t.Recipe) => number) | null,
  /** What the float model answers for a sample of the data set; null: all is told without answers. */
  answers: null as ((index: number, preprocessing: t.Preprocessing | undefined) => number) | null,
  /** How sure the float model is of these, and on how many samples an order of the classes shows. */
  sureness: null as number | null,
  fewestForOrder: 0,
  /** What a file of labels says of a sample. */
  labelsOfFile: (_index: number): number => -1,
  /** Set while the site of the double is built for looking at. */
  rasters: true,
};

export class TersorError extends Error implements t.TersorErrorFields {
  readonly code: string;
  readonly place: string;
  readonly hint: string;
  constructor(fields: t.TersorErrorFields) {
    super(fields.message);
    this.name = 'TersorError';
    this.code = fields.code;
    this.place = fields.place;
    this.hint = fields.hint;
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function steps(stage: t.Stage, total: number, options: t.CallOptions | undefined): Promise<void> {
  behaviour.calls.push(stage);
  const chunk = Math.max(1, Math.floor(total / 20));
  for (let done = 0; done < total; done += chunk) {
    options?.signal?.throwIfAborted();
    options?.onProgress?.({ stage, done, total, note: '' });
    await pause(behaviour.pace * chunk);
  }
  options?.signal?.throwIfAborted();
  options?.onProgress?.({ stage, done: total, total, note: '' });
}

const names = [
  'layer3.1.conv2',
  'conv1',
  'layer2.0.conv1',
  'layer3.0.conv2',
  'linear',
  'layer3.1.add',
  'layer1.0.conv2',
  'layer3.2.conv2',
  'layer2.2.conv2',
  'layer1.2.conv1',
  'layer1.0.conv1',
  'layer1.0.add',
  'layer1.2.conv2',
  'layer2.0.conv2',
  'layer3.2.conv1',
  'layer1.1.conv2',
  'layer3.0.add',
  'layer1.1.add',
  'layer1.1.conv1',
  'layer3.1.conv1',
  'layer3.0.conv1',
  'layer2.1.add',
  'layer2.0.add',
  'layer2.1.conv1',
  'layer2.1.conv2',
  'layer2.2.conv1',
  'layer2.2.add',
  'layer1.2.add',
  'layer3.2.add',
  'gap',
];
const shares = [
  17.1, 15.1, 8.6, 4, 3.8, 3.8, 3.6, 3.4, 3, 3, 2.7, 2.7, 2.7, 2.6, 2.5, 2.4, 2.4, 1.9, 1.9, 1.5, 1.4, 1.4, 1.3, 1.3,
  1.2, 1.1, 1.1, 1, 0.9, 0.6,
];

function layer(name: string, k: number): t.LayerRow {
  const counts = Array.from({ length: 160 }, (_, bin) => {
    const x = (bin - 80) / 8;
    const n = Math.round(1.6e5 * Math.exp((-x * x) / 4.2));
    return n > 0 ? n : bin % 11 === 3 && Math.abs(x) < 9 ? 1 + (bin % 4) : 0;
  });
  return {
    name,
    op: name === 'linear' ? 'Gemm' : name.endsWith('add') ? 'Add' : name === 'gap' ? 'GlobalAveragePool' : 'Conv',
    detail: name.endsWith('add') || name === 'gap' ? '' : '64×64 3×3',
    output: `${name}_out`,
    isolated_sqnr_db: 37.9 + 0.4 * k,
    accumulated_sqnr_db: 28.2 + (k % 7),
    error_share: (shares[k] ?? 0) / 100,
    range: [-6.79, 6.09],
    scale: 0.05051,
    zero_point: 134,
    type: 'uint8',
    values: 2_048_000,
    lost: 63,
    histogram: { lower: -10.4, bin_width: 0.13, counts },
    weight_max: name.endsWith('add') ? null : Array.from({ length: 64 }, (_, c) => 0.3 + (0.3 * ((c * 37) % 11)) / 11),
  };
}

const coverage: t.Coverage = {
  rows: [
    { op: 'Conv', domain: '', nodes: 19, support: 'integer', reason: '', mac_share: 0.984 },
    { op: 'Gemm', domain: '', nodes: 1, support: 'integer', reason: '', mac_share: 0.0002 },
    { op: 'Add', domain: '', nodes: 9, support: 'integer', reason: '', mac_share: null },
    { op: 'Relu', domain: '', nodes: 19, support: 'fused', reason: '', mac_share: null },
    { op: 'Slice', domain: '', nodes: 6, support: 'moves', reason: '', mac_share: null },
    {
      op: 'Pad',
      domain: '',
      nodes: 2,
      support: 'float',
      reason: 'ONNX Runtime CPU has no integer Pad.',
      mac_share: null,
    },
    { op: 'Cast', domain: '', nodes: 12, support: 'folded', reason: '', mac_share: null },
  ],
  core_nodes: 30,
  integer_core_nodes: 30,
  may_stay_float: 0,
  stays_float: [
    { name: 'layer2.0.Pad', op: 'Pad', reason: '' },
    { name: 'layer3.0.Pad', op: 'Pad', reason: '' },
  ],
  estimated_size_bytes: 301_000,
  estimated_largest_bytes: 301_000,
  calibration_bytes: 4_200_000,
};

const info: t.ModelInfo = {
  name: 'torch-jit-export',
  producer: 'pytorch 1.13',
  ir_version: 7,
  opset: 13,
  domains: {},
  inputs: [{ name: 'input', type: 'float', shape: ['N', 3, 32, 32] }],
  outputs: [{ name: 'logits', type: 'float', shape: ['N', 10] }],
  nodes: 70,
  parameters: 269_078,
  macs: 40_600_000,
  size_bytes: 1_092_217,
  peak_bytes: 3_100_000,
  sha256: 'ab'.repeat(32),
  operators: [{ op: 'Conv', domain: '', nodes: 19, runs: true }],
  warnings: [],
};

const presets: Readonly<Record<t.PreprocessingPreset, Pick<t.Preprocessing, 'scale' | 'mean' | 'std'>>> = {
  imagenet: { scale: 1 / 255, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] },
  unit: { scale: 1 / 255, mean: [0, 0, 0], std: [1, 1, 1] },
  signed: { scale: 1 / 255, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] },
  raw: { scale: 1, mean: [0, 0, 0], std: [1, 1, 1] },
};

function preprocessing(name: t.PreprocessingPreset): t.Preprocessing {
  return { resize: { mode: 'none' }, crop: 'none', channels: 'RGB', layout: 'NCHW', label_offset: 0, ...presets[name] };
}

export function wilson(correct: number, n: number): t.Interval {
  const z = 1.96;
  const p = correct / n;
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  return { lower: middle - half, upper: middle + half, level: 0.95 };
}

/** Of ten classes, as the core says it of answers of which nobody knows how sure the model is. */
function doubtOf(correct: number, n: number): t.Doubt | null {
  const interval = wilson(correct, n);
  if (n >= 16 && interval.lower <= 0.1) return 'guessing';
  return interval.upper < 0.325 || (n >= 32 && correct < 0.325 * n) ? 'weak' : null;
}

function evaluation(share: number, n: number, reference: t.EvaluationResult | undefined): t.EvaluationResult {
  const correct = Math.round(share * n);
  return {
    metric: behaviour.labelled ? 'top1' : 'answers',
    count: n,
    correct: behaviour.labelled ? correct : null,
    value: behaviour.labelled ? correct / n : null,
    interval: behaviour.labelled ? wilson(correct, n) : null,
    chance: behaviour.labelled ? 0.1 : null,
    sureness: null,
    doubt: behaviour.labelled ? doubtOf(correct, n) : null,
    label_shift: null,
    label_order: null,
    answers: new Int32Array(n),
    samples: Array.from({ length: n }, (_, k) => k),
    agreement: reference ? { same: Math.round(0.989 * n), count: n } : null,
  };
}

/** Where every label has one answer, and no other label has it. */
function orderOf(answers: readonly (readonly [number, number])[]): t.LabelOrder | null {
  const outputs = new Map(answers);
  if (answers.some(([label, answer]) => outputs.get(label) !== answer)) return null;
  if (new Set(outputs.values()).size < outputs.size) return null;
  const labels = [...outputs.keys()].sort((a, b) => a - b);
  const correct = answers.length;
  return {
    labels,
    outputs: labels.map((label) => outputs.get(label) ?? label),
    correct,
    held_correct: correct,
    interval: wilson(correct, correct),
  };
}

/** Of the float model where tests say its answers. */
function answered(
  samples: readonly t.SampleFile[],
  labels: t.Labels,
  options: t.EvaluateOptions,
  answer: (index: number, preprocessing: t.Preprocessing | undefined) => number,
): t.EvaluationResult {
  const total = samples.length;
  const wanted = Math.min(options.selection?.count ?? total, total);
  const calibration = Array.from({ length: wanted }, (_, k) => Math.floor((k * total) / wanted));
  const others = Array.from({ length: total }, (_, k) => k).filter((k) => !calibration.includes(k));
  const part = options.selection?.part ?? 'all';
  const chosen =
    part === 'calibration' ? calibration : others.length > 0 && part !== 'all' ? others : samples.map((_, k) => k);
  const folders = [...new Set(samples.map(({ path }) => path.slice(0, path.indexOf('/'))))].sort();
  const labelOf = (k: number) =>
    labels === 'folders'
      ? folders.indexOf(samples[k]?.path.replace(/\/.*/, '') ?? '')
      : labels !== null && 'path' in labels
        ? behaviour.labelsOfFile(k)
        : ((labels as readonly number[] | null)?.[k] ?? -1);
  const answers = Int32Array.from(chosen, (k) =>
    answer(k, typeof options.preprocessing === 'object' ? options.preprocessing : undefined),
  );
  const correct = chosen.filter((k, at) => labelOf(k) === answers[at]).length;
  const base = evaluation(correct / chosen.length, chosen.length, options.reference);
  const orders = chosen.map((k, at) => [labelOf(k), answers[at] ?? -1] as const);
  return {
    ...base,
    sureness: behaviour.sureness,
    label_order: correct < chosen.length && chosen.length >= behaviour.fewestForOrder ? orderOf(orders) : null,
    ...(labels === null ? { metric: 'answers', value: null, interval: null, doubt: null } : {}),
    answers,
    samples: chosen,
  };
}

function selected(samples: t.Samples, selection: t.Selection | undefined): number {
  const total = Array.isArray(samples) ? samples.length : 0;
  if (!selection || selection.part === 'all') return total;
  const wanted = Math.min(selection.count ?? total, total);
  return selection.part === 'calibration' ? wanted : total - wanted || total;
}

const fields: t.FieldDescription[] = [
  [
    'activation_threshold_method',
    'enum',
    'MSE',
    ['NOCLIPPING', 'MSE'],
    'Cutting rare large values leaves finer steps for all the others.',
  ],
  ['weights_threshold_method', 'enum', 'MSE', ['NOCLIPPING', 'MSE'], 'How the range of weights is chosen.'],
  [
    'activation_quantization_method',
    'enum',
    'UNIFORM',
    ['POWER_OF_TWO', 'SYMMETRIC', 'UNIFORM'],
    'Which grid activations lie on.',
  ],
  [
    'weights_per_channel_threshold',
    'bool',
    true,
    null,
    'Gives every output channel of a layer its own step size; almost always better.',
  ],
  ['weights_bias_correction', 'bool', true, null, 'Moves biases so that the mean of each channel stays where it was.'],
  ['activation_n_bits', 'int', 8, [8], 'Bits of activations.'],
  ['weights_n_bits', 'int', 8, [8], 'Bits of weights.'],
  ['z_threshold', 'number', null, null, 'Values further than so many deviations from the mean are left out.'],
  ['min_threshold', 'number', 3.1e-5, null, 'No threshold becomes smaller than this.'],
  ['custom_tpc_opset_to_layer', 'object', null, null, 'Which operators an operator set stands for.'],
].map(([name, type, value, choices, meaning]) => ({
  name: name as string,
  type: type as t.FieldDescription['type'],
  nullable: value === null,
  default: value as t.FieldValue,
  choices: choices as (string | number)[] | null,
  minimum: null,
  maximum: null,
  meaning: meaning as string,
  acts: true,
  members: null,
  mct: name as string,
  ort: '',
}));

class Quantized implements t.QuantizedResult {
  readonly model = new Uint8Array([8, 7]);
  readonly recipe: t.Recipe;
  report: t.Report;
  constructor(recipe: t.Recipe, calibration: number) {
    this.recipe = recipe;
    this.report = {
      format_version: 1,
      tool_version: '0.1.0',
      model: { name: 'resnet20.onnx', sha256: info.sha256, size_bytes: info.size_bytes },
      output: { name: '', sha256: '7f3c'.repeat(16), size_bytes: 301_104 },
      platform: { name: 'ort-cpu', version: 1 },
      runtime: 'x64',
      settings: [],
      coverage,
      ranges: [],
      padding: [],
      corrections: [
        {
          name: 'weights_bias_correction',
          places: 20,
          gained: 'The mean of each channel stays where it was.',
        },
      ],
      board: null,
      time: {
        float_ms: 1.05,
        quantized_ms: 0.62,
        times_as_fast: 1.7,
        elsewhere: [],
        measured: false,
        timed: [],
        runtime: 'ONNX Runtime 1.32.0',
        machine: 'one thread',
        sentence:
          'It is expected to run about 1.7 times as fast as the float model in ONNX Runtime 1.32.0 (one thread).',
      },
      trial: null,
      training: null,
      verdict: null,
      comparison: null,
      metric: null,
      evaluation: { float: null, quantized: null },
      samples: { calibration, evaluation: 0, held_aside: true },
      diagnostics: [],
    };
  }
  async evaluate(samples: t.Samples, _labels: t.Labels, options: t.EvaluateOptions = {}): Promise<t.EvaluationResult> {
    const n = selected(samples, options.selection);
    await steps('evaluate', n, options);
    return evaluation(0.916, n, options.reference);
  }
  async *run(): AsyncGenerator<t.SampleRun, void, undefined> {}
  async compare(samples: t.Samples, options: t.CompareOptions = {}): Promise<t.Comparison> {
    const n = Math.min(options.limit ?? Infinity, selected(samples, options.selection));
    await steps('compare', n, options);
    const comparison: t.Comparison = {
      samples: n,
      distinct: n,
      layer_samples: Math.min(n, 8),
      output_sqnr_db: behaviour.decibels?.(this.recipe) ?? 30.2,
      median_sqnr_db: 30.4,
      outputs: [
        {
          name: 'logits',
          sqnr_db: 30.2,
          mse: 1e-4,
          cosine_similarity: 0.999,
          max_error: 0.1,
          parts: [],
          kind: 'classes',
          median_sqnr_db: 30.4,
          worst_sqnr_db: 24.1,
          worst_sample: 3,
          sample_range: { lower: 25.2, upper: 35.1 },
          median_cosine: 0.999,
          error_to_spread: 0.03,
          kept: null,
        },
      ],
      unusual_samples: [],
      agreement: { same: n, count: n },
      without_vnni: null,
      saturation: [],
      float_sums: [],
      layers: Array.from({ length: behaviour.layers }, (_, k) =>
        layer(`${names[k % names.length]}${k < names.length ? '' : `.${k}`}`, k),
      ),
    };
    const verdict: t.Verdict = {
      usability: 'usable with care',
      reason: '98.9 % of the answers are those of the float model (190 of 192).',
      causes: ['Outliers set the range of "layer3.1.conv2"; a threshold that cuts them would leave finer steps.'],
      cautions: [],
      worst_layers: ['layer3.1.conv2', 'conv1', 'layer2.0.conv1'],
      unseen_range: { lower: 25.2, upper: 35.1 },
    };
    this.report = { ...this.report, comparison, verdict };
    return comparison;
  }
  async runtimeNodes(): Promise<readonly t.RuntimeNode[]> {
    return names.map((name) => ({ op: `QLinear${layer(name, 0).op}`, outputs: [`${name}_out`], milliseconds: 0.02 }));
  }
  async studyRange(): Promise<t.RangeStudy> {
    const at = (low: number, high: number): t.RangeFigures => ({
      low,
      high,
      scale: (high - low) / 255,
      zero_point: Math.round((-255 * low) / (high - low)),
      values: 2_048_000,
      lost: 63,
      sqnr_db: 40 - Math.abs(high - 6),
    });
    return {
      choices: [
        { method: 'NOCLIPPING', figures: at(-10.4, 8.4) },
        { method: 'MSE', figures: at(-6.79, 6.09) },
      ],
      at: async (low, high) => at(low, high),
      close: () => undefined,
    };
  }
  close(): void {
    behaviour.calls.push('close result');
  }
}

class OpenModel implements t.Model {
  readonly info = info;
  async *run(): AsyncGenerator<t.SampleRun, void, undefined> {}
  async *variants(options: t.VariantsOptions = {}): AsyncGenerator<t.Variant, void, undefined> {
    behaviour.calls.push(`variants of ${options.calibrationSamples ?? 0}, judged on ${options.limit ?? 0}`);
    const nothing = { platform: null, comparison: null, held_aside: false, leads: false, verdict: null, time: null };
    for (const dtype of ['fp32', 'q4'] as const) {
      await steps('calibrate', 3, options);
      const row = { ...nothing, dtype, file: `${dtype}.onnx`, notes: [] };
      if (dtype === 'fp32') yield { ...row, size_bytes: 3, refused: null, model: new Uint8Array(3) };
      else {
        const refused = { code: 'unsupported_model', message: 'No weights.', place: '', hint: '' };
        yield { ...row, size_bytes: null, refused, model: null };
      }
    }
  }
  async trainingEpochs(): Promise<number> {
    return 20;
  }
  async graph(): Promise<t.GraphView> {
    const nodes = names.map((name, k) => ({
      name,
      op: layer(name, k).op,
      domain: '',
      detail: layer(name, k).detail,
      inputs: [k === 0 ? 'input' : `${names[k - 1]}_out`],
      outputs: [`${name}_out`],
      shape: [1, 64, 8, 8],
      support: 'integer' as const,
      reason: '',
      joined: null,
      weights_n_bits: 8,
      activation_n_bits: 8,
      float_ms: 0.05,
    }));
    const ends = (name: string) => [{ name, shape: null }];
    return { inputs: ends('input'), outputs: ends('gap_out'), nodes, folded: 40, runtime: 'ONNX Runtime', machine: '' };
  }
  async weightChannels(): Promise<t.WeightChannels> {
    return { n_bits: 8, per_channel: true, channels: [] };
  }
  async nodes(): Promise<readonly t.NodeInfo[]> {
    return names.map((name, k) => ({ name, type: layer(name, k).op }));
  }
  resourceUtilization(): Promise<t.TakenResources> {
    return Promise.resolve({
      weights_memory: 269_000,
      activation_memory: 131_000,
      total_memory: 400_000,
      bops: 2_600_000_000,
    });
  }
  async coverage(options: t.CoverageOptions = {}): Promise<t.Coverage> {
    const known = await this.nodes();
    const lost = options.overrides?.find(({ name }) => name && !known.some((node) => node.name === name));
    if (lost) {
      throw new TersorError({
        code: 'invalid_config',
        message: `No node of the model is called "${lost.name}".`,
        place: 'overrides',
        hint: '',
      });
    }
    return coverage;
  }
  async inspectSamples(samples: t.Samples, options: t.SampleOptions = {}): Promise<t.SamplesInfo> {
    await steps('samples', 1, options);
    const files = (samples as readonly t.SampleFile[]).filter((file) => file.path !== 'labels.txt');
    const bad = new Set(behaviour.sampleErrors.map((row) => row.path));
    const good = files.filter((file) => !bad.has(file.path));
    const folders = [
      ...new Set(good.filter((f) => f.path.includes('/')).map((f) => f.path.slice(0, f.path.indexOf('/')))),
    ];
    behaviour.labelled = folders.length > 0;
    const chosen = typeof options.preprocessing === 'object' ? options.preprocessing : preprocessing('imagenet');
    return {
      count: good.length,
      classes: folders.map((name, label) => ({
        name,
        label,
        count: good.filter((f) => f.path.startsWith(`${name}/`)).length,
      })),
      labels_from: folders.length > 0 ? 'folders' : 'none',
      labels: folders.length > 0 ? good.map(({ path }) => folders.indexOf(path.slice(0, path.indexOf('/')))) : null,
      inputs: [{ name: 'input', from: 'samples' }],
      formats: { png: good.length },
      size_bytes: 2400 * good.length,
      errors: behaviour.sampleErrors.filter((row) => files.some((file) => file.path === row.path)),
      batch: 1,
      skipped: [],
      preprocessing: chosen,
      preprocessing_is_guess: options.preprocessing === undefined,
      preprocessing_trial: null,
      first: good[0] ? await this.previewSample(good, 0) : null,
    };
  }
  async previewSample(samples: t.Samples, index: number): Promise<t.SamplePreview> {
    const file = (samples as readonly t.SampleFile[])[index];
    const side = 32;
    const rgba = new Uint8ClampedArray(4 * side * side);
    const values = new Float32Array(3 * side * side);
    for (let k = 0; k < side * side; ++k) {
      [90 + (k % 90), 140 - (k % 60), 60].forEach((byte, c) => {
        rgba[4 * k + c] = byte;
        values[c * side * side + k] = (byte / 255 - 0.45) / 0.225;
      });
      rgba[4 * k + 3] = 255;
    }
    const channels = [
      { min: -2.12, mean: 0.07, max: 2.25 },
      { min: -2.04, mean: 0.03, max: 2.43 },
      { min: -1.8, mean: 0.11, max: 2.64 },
    ];
    return {
      index,
      name: file?.path ?? '',
      path: file?.path ?? '',
      picture: { width: side, height: side, rgba },
      tensors: [
        { input: 'input', shape: [1, 3, side, side], values, whole: { min: -2.12, mean: 0.07, max: 2.64 }, channels },
      ],
    };
  }
  async calibrate(samples: t.Samples, options: t.CalibrateOptions = {}): Promise<t.Statistics> {
    const n = selected(samples, options.selection);
    await steps('calibrate', n, options);
    return { bytes: new TextEncoder().encode(JSON.stringify(options.overrides ?? [])), sampleCount: n };
  }
  tune(options: t.TuneOptions): Promise<t.QuantizedResult> {
    return this.quantize(options);
  }
  async quantize(options: t.QuantizeOptions): Promise<t.QuantizedResult> {
    if (behaviour.quantizeError && !options.allowMismatch) throw new TersorError(behaviour.quantizeError);
    const madeFor = new TextDecoder().decode(options.statistics?.bytes);
    if (!behaviour.statisticsFit && madeFor !== JSON.stringify(options.overrides ?? [])) {
      throw new TersorError({ code: 'mismatch', message: 'Other tensors.', place: 'statistics.graph', hint: '' });
    }
    await steps('choose', 31, options);
    await steps('correct', 20, options);
    await steps('write', 1, options);
    const samples = options.statistics?.sampleCount ?? 0;
    const recipe: t.Recipe = {
      format: 'tersor-recipe',
      format_version: 1,
      tool_version: '0.1.0',
      model_digest: info.sha256,
      platform: { name: 'ort-cpu', version: 1, digest: 'cd'.repeat(32) },
      quantization_config: {
        ...Object.fromEntries(fields.map((field) => [field.name, field.default])),
        ...options.config,
      },
      overrides: options.overrides ?? [],
      preprocessing: null,
      data_set: {
        samples,
        of: Array.isArray(options.samples) ? options.samples.length : samples,
        digest: 'ef'.repeat(32),
      },
      seeds: {},
    };
    return new Quantized(recipe, samples);
  }
  async evaluate(samples: t.Samples, labels: t.Labels, options: t.EvaluateOptions = {}): Promise<t.EvaluationResult> {
    const n = selected(samples, options.selection);
    await steps('evaluate', n, options);
    if (behaviour.answers) return answered(samples as readonly t.SampleFile[], labels, options, behaviour.answers);
    return evaluation(0.9165, n, options.reference);
  }
  close(): void {
    behaviour.calls.push('close model');
  }
}

export class Tersor implements t.Tersor {
  readonly version = '0.1.0';
  readonly workers = 2;
  static async create(_options: t.TersorOptions = {}): Promise<Tersor> {
    return new Tersor();
  }
  async open(_source: t.ModelSource, _options: t.OpenOptions = {}): Promise<t.Model> {
    behaviour.calls.push('open');
    if (behaviour.openError) throw new TersorError(behaviour.openError);
    return new OpenModel();
  }
  trainableQuantizer(): never {
    throw new TersorError({ code: 'internal', message: 'The double has no quantizers.', place: '', hint: '' });
  }
  platforms(): readonly t.PlatformInfo[] {
    return [{ name: 'ort-cpu', version: 1, title: 'ONNX Runtime CPU', description: '' }];
  }
  getTargetPlatformCapabilities(): t.TargetPlatformCapabilities {
    return {} as t.TargetPlatformCapabilities;
  }
  readPlatform(text: string): t.TargetPlatformCapabilities {
    const platform = JSON.parse(text) as t.TargetPlatformCapabilities;
    if (platform['name'] === 'broken') {
      throw new TersorError({
        code: 'invalid_platform',
        message: 'The platform has 2 faults:\nplatform.name: wrong\nplatform.version: wrong',
        place: 'platform',
        hint: '',
      });
    }
    return platform;
  }
  async readSettings(file: Blob | string, { name = '' }: t.ReadSettingsOptions = {}): Promise<t.SettingsFile> {
    const text = typeof file === 'string' ? file : await file.text();
    const value = JSON.parse(text) as object;
    if ('schema_version' in value) return { kind: 'platform', platform: this.readPlatform(text) };
    if (!('format' in value)) {
      throw new TersorError({ code: 'invalid_config', message: 'This is not a recipe.', place: name, hint: '' });
    }
    return { kind: 'recipe', recipe: value as t.Recipe };
  }
  quantizationConfig(set: t.QuantizationConfig = {}, preset?: t.Preset): t.QuantizationConfig {
    const document = preset ? { activation_quantization_method: 'POWER_OF_TWO' as const } : {};
    return { ...Object.fromEntries(fields.map((field) => [field.name, field.default])), ...document, ...set };
  }
  describeQuantizationConfig(): readonly t.FieldDescription[] {
    return fields;
  }
  preprocessingPreset(name: t.PreprocessingPreset): t.Preprocessing {
    return preprocessing(name);
  }
  defaultCalibrationCount(total: number): number {
    return Math.min(128, Math.ceil(total / 2));
  }
  close(): void {}
}
