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
  expect(said(['batch', 2048], 'int32')).toMatch(/whole numbers \(batch×2048 int32\).*not turned into them/);
});
