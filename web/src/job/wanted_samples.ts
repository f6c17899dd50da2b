// SPDX-License-Identifier: Apache-2.0
//
// What samples a model wants, by its first input, in words: pictures, arrays of values or recordings, or whole numbers such as tokens.

import type { TensorInfo } from 'tersor';

import { shape } from '../numbers';

interface WantedSamples {
  /** What may be dropped, as a sentence. */
  readonly drop: string;
  /** What "Quantize" waits for. */
  readonly next: string;
}

const usual = '100 or more';

/** One or three channels, and a height and a width that a picture may have. */
function isPicture({ shape: dims, type }: TensorInfo): boolean {
  if (/int32|int64/.test(type)) return false;
  if (!dims) return true;
  const [, a, b, c] = dims;
  const isChannels = (dim: number | string | undefined) => dim === 1 || dim === 3 || typeof dim === 'string';
  const isLong = (dim: number | string | undefined) => typeof dim === 'string' || (dim ?? 0) >= 16;
  return dims.length === 4 && isLong(b) && ((isChannels(a) && isLong(c)) || (isChannels(c) && isLong(a)));
}

export function wantedSamples(input: TensorInfo | undefined): WantedSamples {
  if (!input || isPicture(input))
    return {
      drop: 'Drop a folder of pictures with one subfolder per class, or .npy, .npz, .csv, .wav, .pb or .zip.',
      next: `Next: samples. ${usual} pictures like the ones the model will meet; labels are optional.`,
    };
  const takes = `${shape(input.shape)} ${input.type}`;
  if (/^u?int/.test(input.type))
    return {
      drop:
        'Drop texts (.txt, .jsonl) with the model’s tokenizer.json, or arrays (.npy, .npz) or rows of a .csv, alone or ' +
        `as .zip: the model takes whole numbers (${takes}), such as tokens or bytes.`,
      next: `Next: samples. ${usual} texts with the model’s tokenizer.json, or arrays of whole numbers; labels are optional.`,
    };
  return {
    drop: `Drop arrays (.npy, .npz), rows of a .csv or .wav recordings, alone or in folders or a .zip: the model takes ${takes}.`,
    next: `Next: samples. ${usual} like the ones the model will meet; labels are optional.`,
  };
}
