// SPDX-License-Identifier: Apache-2.0

const arrays = {
  float32: Float32Array,
  float64: Float64Array,
  uint8: Uint8Array,
  int8: Int8Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
};

/** What a session is given, from a sample as tests/bench/files.py writes it: {input: {type, dims, base64}}. */
export function feedsOf(ort, session, sample) {
  const names = Object.keys(sample);
  return Object.fromEntries(
    session.inputNames.map((name, k) => {
      // A tool may rename inputs; their order stays.
      const { type, dims, base64 } = sample[name] ?? sample[names[k]];
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      return [name, new ort.Tensor(type, new arrays[type](bytes.buffer), dims)];
    }),
  );
}
