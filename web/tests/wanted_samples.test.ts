// SPDX-License-Identifier: Apache-2.0

import type { TensorInfo } from 'tersor';
import { expect, it } from 'vitest';

import { wantedSamples } from '../src/job/wanted_samples';

const said = (shape: TensorInfo['shape'], type = 'float32') => wantedSamples({ name: 'x', type, shape }).drop;

it('asks for pictures where the input may be one', () => {
  for (const shape of [
    [1, 3, 224, 224],
    ['N', 320, 240, 3],
    [1, 1, 28, 28],
    ['N', 3, 'height', 'width'],
  ])
    expect(said(shape)).toMatch(/folder of pictures/);
  expect(said([1, 32, 32, 3], 'uint8')).toMatch(/folder of pictures/);
  expect(wantedSamples(undefined).next).toMatch(/pictures/);
});

it('asks for arrays of the model’s own shape elsewhere', () => {
  expect(said(['batch', 16000])).toMatch(/recordings.*the model takes batch×16000 float32\.$/);
  expect(said([1, 49, 10, 1])).toMatch(/arrays/);
  expect(said(['batch', 2048], 'int32')).toMatch(/texts .*tokenizer\.json.*whole numbers \(batch×2048 int32\)/);
});

it('takes no shape for a picture that none has', () => {
  for (const shape of [
    [1, 3, 15, 224],
    [1, 3, 224, 15],
    [1, 2, 224, 224],
    [1, 32, 32, 4],
    [1, 15, 32, 3],
    [1, 3, 224],
    [1, 3, 1, 224, 224],
    ['N', 'time', 40],
  ])
    expect(said(shape)).toMatch(/^Drop arrays \(\.npy, \.npz\), rows of a \.csv or \.wav/);
  expect(said([1, 3, 16, 16])).toMatch(/pictures/);
  expect(said([1, 16, 16, 1])).toMatch(/pictures/);
  expect(said(['N', 'c', 'h', 'w'])).toMatch(/pictures/);
  expect(said(null)).toMatch(/pictures/);
});

it('takes pixels as whole numbers of 8 bits, and longer ones for tokens', () => {
  expect(said([1, 3, 224, 224], 'int8')).toMatch(/pictures/);
  expect(said([1, 3, 224, 224], 'int64')).toMatch(/whole numbers/);
  expect(said(null, 'int32')).toMatch(/whole numbers \(any shape int32\)/);
  expect(said([1, 128], 'uint8')).toMatch(/whole numbers \(1×128 uint8\)/);
});

it('says what comes next in the same words', () => {
  expect(wantedSamples({ name: 'x', type: 'int64', shape: [1, 128] }).next).toMatch(
    /^Next: samples\. 100 or more texts with the model’s tokenizer\.json, or arrays/,
  );
  expect(wantedSamples({ name: 'x', type: 'float32', shape: [1, 128] }).next).toMatch(
    /^Next: samples\. 100 or more like/,
  );
});
