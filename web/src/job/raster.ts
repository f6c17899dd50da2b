// SPDX-License-Identifier: Apache-2.0
//
// A tensor as a picture.

import type { TensorPreview } from 'tersor';

export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8ClampedArray;
}

/** The value that is drawn black, and the one that is drawn white, of a channel. */
export type Scale = (channel: number) => readonly [number, number];

/** A picture's tensor, drawn on a scale; null where the tensor is no picture. */
export function rasterOf(
  tensor: Pick<TensorPreview, 'shape'> & { readonly values: ArrayLike<number> },
  layout: 'NCHW' | 'NHWC',
  bgr: boolean,
  scaleOf: Scale,
): Raster | null {
  const dims = tensor.shape.length === 4 ? tensor.shape.slice(1) : tensor.shape;
  if (dims.length !== 3) return null;
  const [a = 0, b = 0, c = 0] = dims;
  const [channels, height, width] = layout === 'NCHW' ? [a, b, c] : [c, a, b];
  if (channels !== 1 && channels !== 3) return null;
  if (channels * height * width !== tensor.values.length) return null;
  const plane = width * height;
  const rgba = new Uint8ClampedArray(4 * plane).fill(255);
  for (const channel of [0, 1, 2]) {
    const source = channels === 1 ? 0 : bgr ? 2 - channel : channel;
    const [black, white] = scaleOf(source);
    const stretch = white > black ? 255 / (white - black) : 0;
    for (let pixel = 0; pixel < plane; ++pixel) {
      const index = layout === 'NCHW' ? source * plane + pixel : pixel * channels + source;
      rgba[4 * pixel + channel] = ((tensor.values[index] ?? 0) - black) * stretch;
    }
  }
  return { width, height, rgba };
}
