// SPDX-License-Identifier: Apache-2.0
//
// How figures are written. Every function returns text with its unit, a narrow no-break space before the unit, a true minus
// sign, and an en dash for a value that is not there; no function ever writes NaN, Infinity or undefined.

import type { Comparison } from 'tersor';

/** U+202F, before units and between groups of digits. */
export const thin = '\u202f';
export const none = '–';

type Maybe = number | null | undefined;

function there(value: Maybe): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function signed(text: string): string {
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace('-', '−');
}

/** Groups of three from five digits on: 2000, 269 078. */
export function count(value: Maybe): string {
  if (!there(value)) return none;
  const digits = Math.abs(Math.round(value)).toString();
  const grouped = digits.length < 5 ? digits : digits.replace(/\B(?=(\d{3})+$)/g, thin);
  return (value < 0 ? '−' : '') + grouped;
}

/** `fixed(1.005, 2)`, with groups and a true minus. */
export function fixed(value: Maybe, digits: number): string {
  if (!there(value)) return none;
  const [whole = '0', fraction] = signed(value.toFixed(digits)).split('.');
  const grouped = whole.replace('−', '').length < 5 ? whole : whole.replace(/\B(?=(\d{3})+$)/g, thin);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A share of 1 as a percentage without its unit: 91.65. */
export function percentFigure(share: Maybe, digits = 2): string {
  return there(share) ? fixed(100 * share, digits) : none;
}

export function percent(share: Maybe, digits = 2): string {
  return there(share) ? percentFigure(share, digits) + thin + '%' : none;
}

/** A change between two shares in points: −0.05, +0.10, 0.00. */
export function points(change: Maybe): string {
  if (!there(change)) return none;
  const text = fixed(100 * change, 2);
  return change > 0 && text !== '0.00' ? `+${text}` : text;
}

/** Half the width of an interval in points: ±1.2. */
export function halfWidth(lower: Maybe, upper: Maybe): string {
  return there(lower) && there(upper) ? `±${fixed(50 * (upper - lower), 1)}` : none;
}

/** Decibels; null is a tensor without any error. */
export function decibels(value: Maybe): string {
  if (value === null) return 'exact';
  return there(value) ? fixed(value, 1) + thin + 'dB' : none;
}

/** Of all outputs together; an en dash where one could not be compared or is not finite. */
export function outputDecibels({ output_sqnr_db, outputs }: Pick<Comparison, 'output_sqnr_db' | 'outputs'>): string {
  const known = output_sqnr_db !== null || outputs.every(({ mse }) => mse !== null);
  return known ? decibels(output_sqnr_db) : none;
}

/** Bytes; MB is 10⁶ bytes. */
export function size(bytes: Maybe): string {
  if (!there(bytes)) return none;
  if (bytes < 1000) return count(bytes) + thin + 'B';
  if (bytes < 10_000) return fixed(bytes / 1000, 1) + thin + 'kB';
  return fixed(bytes / 1e6, bytes < 1e8 ? 2 : 0) + thin + 'MB';
}

/** Bytes as budgets have them, in kB whatever their number. */
export function kilobytes(bytes: number): string {
  return `${fixed(bytes / 1e3, 1)}${thin}kB`;
}

/** How many times smaller: 3.6×. */
export function times(ratio: Maybe): string {
  return there(ratio) ? `${fixed(ratio, 1)}×` : none;
}

/** A duration: 0.04 s, 8.5 s, 15.6 s, 2 min 5 s. */
export function duration(seconds: Maybe): string {
  if (!there(seconds) || seconds < 0) return none;
  if (seconds < 0.005) return `<${thin}0.01${thin}s`;
  if (seconds < 0.1) return fixed(seconds, 2) + thin + 's';
  if (seconds < 59.95) return fixed(seconds, 1) + thin + 's';
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)}${thin}min ${whole % 60}${thin}s`;
  return `${Math.floor(whole / 3600)}${thin}h ${Math.floor((whole % 3600) / 60)}${thin}min`;
}

/** A time of one run: 0.041 ms, 2.63 ms, 44.8 ms, 190 ms. */
export function milliseconds(time: Maybe): string {
  if (!there(time) || time < 0) return none;
  return fixed(time, time < 1 ? 3 : time < 10 ? 2 : time < 100 ? 1 : 0) + thin + 'ms';
}

/** A guess at a duration: whole seconds. */
export function about(seconds: Maybe): string {
  if (!there(seconds) || seconds < 0) return none;
  if (seconds < 59.5) return Math.max(1, Math.round(seconds)) + thin + 's';
  return Math.round(seconds / 60) + thin + 'min';
}

/** A value of a tensor: two decimals, three significant digits below 0.1 and above 10 000, powers of ten far beyond. */
export function value(x: Maybe): string {
  if (!there(x)) return none;
  const magnitude = Math.abs(x);
  if (x === 0) return '0.00';
  if (magnitude >= 1e6 || magnitude < 1e-4) return scientific(x);
  if (magnitude < 0.1) return signed(x.toPrecision(3));
  return magnitude >= 1e4 ? count(x) : fixed(x, 2);
}

/** 1.25e−9: the sizes that no axis of ours was made for. */
function scientific(x: number): string {
  const [mantissa = '', exponent = '0'] = x.toExponential(2).split('e');
  return `${signed(mantissa)}e${signed(String(Number(exponent)))}`;
}

/** Values that stand under each other: two decimals for all, unless that says nothing of any. */
export function column(values: readonly Maybe[]): string[] {
  const large = values.some((x) => there(x) && Math.abs(x) >= 0.1 && Math.abs(x) < 1e4);
  return values.map((x) => (large && there(x) && Math.abs(x) < 1e4 ? fixed(x, 2) : value(x)));
}

/** A quantization step: six decimals, five significant digits where that says too little. */
export function scale(x: Maybe): string {
  if (!there(x)) return none;
  const magnitude = Math.abs(x);
  if (magnitude !== 0 && magnitude < 1e-6) return scientific(x);
  return magnitude !== 0 && magnitude < 0.01 ? signed(x.toPrecision(5)) : fixed(x, 6);
}

export function range(low: Maybe, high: Maybe): string {
  return there(low) && there(high) ? `${value(low)} … ${value(high)}` : none;
}

/** Large counts in words: 40.6 M, 1.2 G. */
export function large(x: Maybe): string {
  if (!there(x)) return none;
  if (x < 1e5) return count(x);
  if (x < 1e9) return fixed(x / 1e6, x < 1e8 ? 1 : 0) + thin + 'M';
  return fixed(x / 1e9, 1) + thin + 'G';
}

/** A dimension that is called by a word, and not by a formula that exporters made for it. */
function isName(dim: number | string): boolean {
  return typeof dim === 'number' || (/^[\w.:-]{1,24}$/.test(dim) && !/^unk__\d+$|_dim_\d+$/.test(dim));
}

/** 1×3×32×32; a free dimension keeps its name, an unnamed one is N. */
export function shape(dims: readonly (number | string)[] | null | undefined): string {
  if (!dims) return 'any shape';
  if (dims.length === 0) return 'one number';
  return dims.map((d) => (isName(d) ? String(d) : 'N')).join('×');
}

/** B×3×H×W: the same where there is little room, words by their first letter. */
export function shortShape(dims: readonly (number | string)[] | null | undefined): string {
  return shape(dims?.map((d) => (typeof d === 'string' && d.length > 2 && isName(d) ? d.charAt(0).toUpperCase() : d)));
}

/** A name within a sentence: exporters join whole paths, whose middle is left out. */
export function shortName(name: string): string {
  return name.length <= 44 ? name : `${name.slice(0, 26)}…${name.slice(-16)}`;
}

/** "1 node", "2 nodes". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** "2.1× smaller"; a file that grew is not said to be smaller. `ratio`: before divided by after. */
export function sizeWords(ratio: number): string {
  if (ratio > 0.95 && ratio < 1.05) return 'about the same size';
  return ratio >= 1 ? `${times(ratio)} smaller` : `${times(1 / ratio)} larger`;
}

/**
 * A step of 1, 2 or 5 times a power of ten that cuts `span` into about `parts`. By hand, as are the scales of the charts:
 * they are a line each, and d3-scale stands on five packages more (arrays, formats, interpolation, time).
 */
export function niceStep(span: number, parts: number): number {
  const raw = span / parts;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10);
}
