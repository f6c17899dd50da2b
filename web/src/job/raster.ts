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
  const rgba = new Uint8ClampedArray(4 * width * height);
  const plane = width * height;
  const scales = [0, 1, 2].map((channel) => {
    const [black, white] = scaleOf(channels === 1 ? 0 : channel);
    return { black, stretch: white > black ? 255 / (white - black) : 0 };
  });
  for (let pixel = 0; pixel < plane; ++pixel) {
    for (let channel = 0; channel < 3; ++channel) {
      const source = channels === 1 ? 0 : bgr ? 2 - channel : channel;
      const index = layout === 'NCHW' ? source * plane + pixel : pixel * channels + source;
      const { black, stretch } = scales[source] ?? { black: 0, stretch: 0 };
      rgba[4 * pixel + channel] = ((tensor.values[index] ?? 0) - black) * stretch;
    }
    rgba[4 * pixel + 3] = 255;
  }
  return { width, height, rgba };
}
