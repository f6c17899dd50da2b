// SPDX-License-Identifier: Apache-2.0
// A row of the table: { name, ratio, bar, ours, theirs, spread, unit, note }. It is met when ratio >= bar.

const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)];
export const median = (values) => quantile(values, 0.5);
const spreadOf = (values) => (quantile(values, 0.75) - quantile(values, 0.25)) / median(values);

/**
 * One comparison. `ratio` above 1: ours is faster (or smaller). Both were measured in turns: it is the median of the rounds'
 * ratios, which a machine that is slow for some of the rounds does not move, and the spread is the distance of their
 * quartiles in parts of it. `more`: unit (milliseconds unless given), note.
 */
export function row(name, ours, theirs, bar, more = {}) {
  const ratios = ours.map((mine, k) => theirs[k] / mine);
  return {
    name,
    ratio: median(ratios),
    bar,
    ours: median(ours),
    theirs: median(theirs),
    spread: spreadOf(ratios),
    unit: 'ms',
    ...more,
  };
}

/** The same by the least of all rounds, where what is measured is short and other work lengthens most rounds of one side. */
export function leastRow(name, ours, theirs, bar, more = {}) {
  const [mine, other] = [Math.min(...ours), Math.min(...theirs)];
  return { ...row(name, ours, theirs, bar, more), ratio: other / mine, ours: mine, theirs: other };
}

/** Something of ours alone that is to stay below `limit`: met at a ratio of 1. */
export function limitRow(name, ours, limit, more = {}) {
  return {
    name,
    ratio: limit / median(ours),
    bar: 1,
    ours: median(ours),
    theirs: limit,
    spread: spreadOf(ours),
    unit: 'ms',
    isLimit: true,
    ...more,
  };
}

/** Two SQNRs in decibels; the ratio is that of the errors (20 dB: ten times), above 1: ours is smaller. */
export function errorRow(name, ours, theirs, note) {
  return { name, ratio: 10 ** ((ours - theirs) / 20), bar: 1, ours, theirs, spread: 0, unit: 'dB', note };
}

/** How many of `all` there are of something of which there should be none; the ratio is the share of the others. */
export function countRow(name, count, all, note) {
  const rest = { spread: 0, unit: `of ${all}`, isLimit: true, note };
  return { name, ratio: (all - count) / all, bar: 1, ours: count, theirs: 0, ...rest };
}

export function geometricMean(name, rows, bar, more = {}) {
  const mean = (of) => Math.exp(rows.reduce((sum, one) => sum + Math.log(of(one)), 0) / rows.length);
  return {
    name: `${name}, geometric mean`,
    ratio: mean((one) => one.ratio),
    bar,
    ours: mean((one) => one.ours),
    theirs: mean((one) => one.theirs),
    spread: Math.max(...rows.map((one) => one.spread)),
    unit: 'ms',
    ...more,
  };
}

/** Of something that could not be measured at all. */
export function failure(name, note) {
  return { name, ratio: 0, bar: 1, ours: 0, theirs: 0, spread: 0, unit: 'ms', note };
}

export const isMet = ({ ratio, bar }) => ratio >= bar;

const figure = (value) =>
  value >= 100 || value === 0 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toPrecision(2);

/** The row's parts as texts. */
export function texts({ ratio, bar, ours, theirs, spread, unit, isLimit, note }) {
  return {
    ratio: `${ratio.toFixed(2)}x`,
    bar: isLimit ? `at most ${figure(theirs)} ${unit}` : bar > 0 ? `${Number(bar.toFixed(2))}x` : '',
    ours: `${figure(ours)} ${unit}`,
    theirs: isLimit ? '' : `${figure(theirs)} ${unit}`,
    spread: `${(spread * 100).toFixed(0)} %`,
    note: note ?? '',
  };
}
