// SPDX-License-Identifier: Apache-2.0

/** The sample that tests/bench/engine.cpp makes. */
export function sample(length) {
  let state = 1;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) / 16777216 - 0.5;
  });
}

/** Integers of the same generator, from 0 to 255. */
export function integers(Type, length) {
  const values = sample(length);
  const whole = (k) => Math.floor((values[k] + 0.5) * 256);
  return Type.from({ length }, (_, k) => (Type === BigInt64Array ? BigInt(whole(k)) : whole(k)));
}
