// SPDX-License-Identifier: Apache-2.0

const sorted = (values) => [...values].sort((a, b) => a - b);
export const median = (values) => sorted(values)[values.length >> 1];

/**
 * One comparison. `ratio` above 1: ours is faster (or smaller). Both were measured in turns, so the spread is that of the
 * rounds' ratios: the distance of their quartiles in parts of their median.
 */
export function row(name, ours, theirs, bar) {
  const ratios = sorted(ours.map((mine, k) => theirs[k] / mine));
  const quartile = (part) => ratios[Math.floor((ratios.length - 1) * part)];
  return {
    name,
    ratio: median(theirs) / median(ours),
    bar,
    ours: median(ours),
    theirs: median(theirs),
    spread: (quartile(0.75) - quartile(0.25)) / quartile(0.5),
  };
}

export function geometricMean(name, rows, bar) {
  const mean = (of) => Math.exp(rows.reduce((sum, one) => sum + Math.log(of(one)), 0) / rows.length);
  return {
    name: `${name}, geometric mean`,
    ratio: mean((one) => one.ratio),
    bar,
    ours: mean((one) => one.ours),
    theirs: mean((one) => one.theirs),
    spread: Math.max(...rows.map((one) => one.spread)),
  };
}
