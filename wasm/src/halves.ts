// SPDX-License-Identifier: Apache-2.0

/** Numbers of 16 bits, as ONNX Runtime has them in a Uint16Array where the language has no type for them, as float32. */
export function floatsOfHalves(halves: Uint16Array): Float32Array {
  return Float32Array.from(halves, (half) => {
    const sign = half & 0x8000 ? -1 : 1;
    const exponent = (half >> 10) & 31;
    const fraction = half & 1023;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
  });
}
