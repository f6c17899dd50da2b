// SPDX-License-Identifier: Apache-2.0

import type { SampleRun } from 'tersor';

/** Power of the error of a run in parts of float's own, of the output where it is largest; 0 where nothing differs. */
export function errorOf(float: SampleRun, other: SampleRun | undefined): number {
  const shares = float.outputs.map(({ name, data }) => {
    const theirs = other?.outputs.find((one) => one.name === name)?.data;
    let [error, power] = [0, 0];
    for (let k = 0; theirs && k < data.length; ++k) {
      const value = Number(data[k]);
      const difference = Number(theirs[k]) - value;
      if (!Number.isFinite(difference)) continue;
      error += difference * difference;
      power += value * value;
    }
    return error === 0 ? 0 : error / power;
  });
  return Math.max(0, ...shares);
}
