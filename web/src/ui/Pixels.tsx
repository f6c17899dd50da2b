// SPDX-License-Identifier: Apache-2.0
//
// Draws a decoded picture, or a tensor as one. Drawing only: every pixel shown was decoded and computed by the engine.

import { useEffect, useRef } from 'preact/hooks';

import type { Raster } from '../job/raster';

export function Pixels(props: { readonly raster: Raster; readonly label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { raster } = props;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    const image = context.createImageData(raster.width, raster.height);
    image.data.set(raster.rgba);
    context.putImageData(image, 0, 0);
  }, [raster]);
  return (
    <canvas
      ref={canvas}
      class="pixels"
      width={raster.width}
      height={raster.height}
      role="img"
      aria-label={props.label}
    />
  );
}
