// SPDX-License-Identifier: Apache-2.0
//
// Options of the calls by name: one that does not exist is a slip, and would do nothing in silence.

import { TersorError } from './error.js';
import type { TrainableQuantizerOptions } from './types/trainable.js';
import type * as types from './types.js';

/** The type makes sure that none is missing. */
type Names<T> = Readonly<Record<keyof T, true>>;

const ofEveryCall: Names<types.CallOptions> = { signal: true, onProgress: true };
const ofSamples: Names<types.SampleOptions> = { ...ofEveryCall, preprocessing: true };
const ofCoverage: Names<types.CoverageOptions> = {
  ...ofEveryCall,
  platform: true,
  config: true,
  overrides: true,
  preset: true,
  frameworkInfo: true,
  quantization_config: true,
  framework_info: true,
};
const ofCalibrate: Names<types.CalibrateOptions> = {
  ...ofCoverage,
  ...ofSamples,
  selection: true,
  labels: true,
  stop: true,
};

const ofTune: Names<Omit<types.QuantizeOptions, 'measure'>> = {
  ...ofCalibrate,
  statistics: true,
  samples: true,
  recipe: true,
  allowMismatch: true,
  format: true,
};

const known = {
  create: {
    workers: true,
    wasmBinary: true,
    light: true,
    locateFile: true,
    signal: true,
  } satisfies Names<types.TersorOptions>,
  open: { ...ofEveryCall, externalData: true } satisfies Names<types.OpenOptions>,
  readSettings: { name: true, model: true, signal: true } satisfies Names<types.ReadSettingsOptions>,
  coverage: ofCoverage,
  graph: ofCoverage,
  weightChannels: ofCoverage,
  runtimeNodes: ofEveryCall,
  studyRange: ofEveryCall,
  nodes: ofCoverage,
  inspectSamples: ofSamples,
  previewSample: ofSamples,
  calibrate: ofCalibrate,
  quantize: { ...ofTune, measure: true } satisfies Names<types.QuantizeOptions>,
  tune: { ...ofTune, minutes: true, onCheckpoint: true, resume: true } satisfies Names<types.TuneOptions>,
  evaluate: {
    ...ofSamples,
    metric: true,
    group: true,
    selection: true,
    reference: true,
    runtime: true,
  } satisfies Names<types.EvaluateOptions>,
  compare: {
    ...ofSamples,
    selection: true,
    limit: true,
    runtime: true,
    classes: true,
    onComparison: true,
    report: true,
  } satisfies Names<types.CompareOptions>,
  run: { ...ofSamples, numbers: true, selection: true, limit: true, runtime: true } satisfies Names<types.RunOptions>,
  variants: {
    ...ofSamples,
    samples: true,
    only: true,
    calibrationSamples: true,
    limit: true,
  } satisfies Names<types.VariantsOptions>,
  trainableQuantizer: {
    identifier: true,
    config: true,
    freeze_quant_params: true,
  } satisfies Names<TrainableQuantizerOptions>,
  selection: { part: true, count: true } satisfies Names<types.Selection>,
};

/** Letters to add, leave out or change, capitals or not. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, k) => k);
  for (const [i, letter] of [...a.toLowerCase()].entries()) {
    const next = [i + 1];
    for (const [k, other] of [...b.toLowerCase()].entries()) {
      next.push(Math.min((row[k] ?? 0) + (letter === other ? 0 : 1), (row[k + 1] ?? 0) + 1, (next[k] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

function nearest(name: string, candidates: readonly string[]): string | undefined {
  const near = candidates
    .map((candidate) => ({ candidate, distance: edits(name.slice(0, 60), candidate) }))
    .filter(({ distance }) => distance <= Math.max(2, Math.ceil(name.length / 2)))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** Options that mean the same wherever they are, and what is expected of them. */
const expected: Readonly<Record<string, readonly [string, (value: unknown) => boolean]>> = {
  signal: ['an AbortSignal', (value) => typeof (value as AbortSignal | null)?.throwIfAborted === 'function'],
  onProgress: ['a function', (value) => typeof value === 'function'],
  onComparison: ['a function', (value) => typeof value === 'function'],
  selection: ['an object', (value) => typeof value === 'object'],
  part: [
    "'calibration', 'evaluation' or 'all'",
    (value) => ['calibration', 'evaluation', 'all'].includes(value as string),
  ],
  count: ['a whole number of 0 or more', (value) => Number.isInteger(value) && (value as number) >= 0],
  group: ['a whole number of 1 or more', (value) => Number.isInteger(value) && (value as number) >= 1],
  metric: ['a word', (value) => typeof value === 'string'],
  report: ['true or false', (value) => typeof value === 'boolean'],
  runtime: ['a word', (value) => typeof value === 'string'],
  format: ["'onnx', 'qoperator' or 'tflite'", (value) => ['onnx', 'qoperator', 'tflite'].includes(value as string)],
  externalData: ['a Map of names and bytes', (value) => value instanceof Map],
  overrides: ['a list', (value) => Array.isArray(value)],
  only: ['a list', (value) => Array.isArray(value)],
  locateFile: ['a function', (value) => typeof value === 'function'],
  onCheckpoint: ['a function', (value) => typeof value === 'function'],
  resume: ['a Uint8Array', (value) => value instanceof Uint8Array],
  measure: ['true, false or a function', (value) => ['boolean', 'function'].includes(typeof value)],
  minutes: ['a number above 0', (value) => typeof value === 'number' && value > 0 && Number.isFinite(value)],
};

/** The options with the documents' names of two of them replaced by ours. */
export function withOurNames<T extends types.CoverageOptions>(options: T): T {
  const { quantization_config, framework_info, ...others } = options;
  for (const [ours, documents, value] of [
    ['config', 'quantization_config', quantization_config],
    ['frameworkInfo', 'framework_info', framework_info],
  ] as const) {
    if (options[ours] !== undefined && value !== undefined) {
      throw new TersorError({
        code: 'invalid_argument',
        message: `${ours} and ${documents} are two names of the same option, and both are given.`,
        place: `options.${documents}`,
      });
    }
  }
  const config = options.config ?? quantization_config;
  const frameworkInfo = options.frameworkInfo ?? framework_info;
  return {
    ...others,
    ...(config === undefined ? {} : { config }),
    ...(frameworkInfo === undefined ? {} : { frameworkInfo }),
  } as T;
}

/** A mapping names quantizers; a function would be left out of what goes to the core. */
export function checkMappings(info: types.FrameworkInfo | undefined): void {
  for (const mapping of ['activation_quantizer_mapping', 'weights_quantizer_mapping'] as const)
    for (const [method, value] of Object.entries(info?.[mapping] ?? {}))
      if (typeof value === 'function') {
        throw new TersorError({
          code: 'invalid_argument',
          message: `${mapping}.${method} is a function, and a file holds no function: its values have to be those of a known quantizer.`,
          place: `frameworkInfo.${mapping}`,
          hint: 'Name the method whose quantizer acts: POWER_OF_TWO, SYMMETRIC, UNIFORM, LUT_POT_QUANTIZER or LUT_SYM_QUANTIZER.',
        });
      }
}

function shown(value: unknown): string {
  return typeof value === 'string'
    ? `"${value.slice(0, 60)}"`
    : typeof value === 'object'
      ? 'an object'
      : String(value);
}

/** Throws where the options hold one that the call does not have; a name whose value is undefined was not given. */
export function checkOptions(call: keyof typeof known, options: unknown): asserts options is object {
  const owner = call === 'selection' ? 'options.selection' : 'options';
  if (options === null || typeof options !== 'object') {
    throw new TersorError({
      code: 'invalid_argument',
      message: `The options of ${call}() are an object; ${shown(options)} is none.`,
      place: owner,
    });
  }
  const names = Object.keys(known[call]);
  const entries = options as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(options).filter((name) => entries[name] !== undefined && !names.includes(name));
  const [first] = unknown;
  if (first !== undefined) {
    const near = nearest(first, names);
    throw new TersorError({
      code: 'invalid_argument',
      message: `There is no option "${first.slice(0, 60)}" of ${call === 'selection' ? call : `${call}()`}.`,
      place: owner,
      hint: `${near === undefined ? '' : `Did you mean "${near}"? `}The options are: ${names.join(', ')}.`,
    });
  }
  for (const [name, [wanted, fits]] of Object.entries(expected)) {
    const value = entries[name];
    if (!names.includes(name) || value === undefined || value === null || fits(value)) continue;
    throw new TersorError({
      code: 'invalid_argument',
      message: `${name} is ${shown(value)}; ${wanted} is expected.`,
      place: `${owner}.${name}`,
    });
  }
  const { selection } = entries;
  if (selection !== null && typeof selection === 'object') checkOptions('selection', selection);
}
