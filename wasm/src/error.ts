// SPDX-License-Identifier: Apache-2.0

import type { TersorErrorFields } from './types.js';

/** What every call of the package rejects with, an abort apart: the four fields of the core's error. */
export class TersorError extends Error implements TersorErrorFields {
  override readonly name = 'TersorError';
  readonly code: string;
  readonly place: string;
  readonly hint: string;

  constructor(
    fields: Pick<TersorErrorFields, 'code' | 'message'> & Partial<TersorErrorFields>,
    options?: { cause?: unknown },
  ) {
    super(fields.message, options);
    this.code = fields.code;
    this.place = fields.place ?? '';
    this.hint = fields.hint ?? '';
  }

  /** For JSON.stringify: the four fields. */
  toJSON(): TersorErrorFields {
    return { code: this.code, message: this.message, place: this.place, hint: this.hint };
  }
}

/** The sentence of anything that was thrown. */
export function sentence(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
