// SPDX-License-Identifier: Apache-2.0
//
// Options of the calls by name: one that does not exist is a slip, and would do nothing in silence.

import { TersorError } from './error.js';
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
};
const ofCalibrate: Names<types.CalibrateOptions> = { ...ofCoverage, ...ofSamples, selection: true };

const known = {
  create: { workers: true, wasmBinary: true, locateFile: true, signal: true } satisfies Names<types.TersorOptions>,
  open: { ...ofEveryCall, externalData: true } satisfies Names<types.OpenOptions>,
  readSettings: { name: true, model: true, signal: true } satisfies Names<types.ReadSettingsOptions>,
  coverage: ofCoverage,
  nodes: ofCoverage,
  inspectSamples: ofSamples,
  previewSample: ofSamples,
  calibrate: ofCalibrate,
  quantize: {
    ...ofCalibrate,
    statistics: true,
    samples: true,
    recipe: true,
    allowMismatch: true,
  } satisfies Names<types.QuantizeOptions>,
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
  } satisfies Names<types.CompareOptions>,
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

/** Throws where the options hold one that the call does not have; a name whose value is undefined was not given. */
export function checkOptions(call: keyof typeof known, options: object): void {
  const names = Object.keys(known[call]);
  const entries = options as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(options).filter((name) => entries[name] !== undefined && !names.includes(name));
  const [first] = unknown;
  if (first !== undefined) {
    const near = nearest(first, names);
    throw new TersorError({
      code: 'invalid_argument',
      message: `There is no option "${first.slice(0, 60)}" of ${call === 'selection' ? call : `${call}()`}.`,
      place: call === 'selection' ? 'options.selection' : 'options',
      hint: `${near === undefined ? '' : `Did you mean "${near}"? `}The options are: ${names.join(', ')}.`,
    });
  }
  const { selection } = entries;
  if (selection !== null && typeof selection === 'object') checkOptions('selection', selection);
}
