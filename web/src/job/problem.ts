// SPDX-License-Identifier: Apache-2.0
//
// What a region shows when something cannot go on: the four fields of the engine's error, whatever was thrown.

import type { TersorErrorFields } from 'tersor';

export type Problem = TersorErrorFields;

export function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}

function text(source: object, key: string): string {
  const value = (source as Record<string, unknown>)[key];
  return typeof value === 'string' ? value : '';
}

export function problemOf(thrown: unknown): Problem {
  if (thrown !== null && typeof thrown === 'object') {
    const message = text(thrown, 'message');
    if (message !== '') {
      return {
        code: text(thrown, 'code') || 'internal',
        message,
        place: text(thrown, 'place'),
        hint: text(thrown, 'hint'),
      };
    }
  }
  return { code: 'internal', message: String(thrown), place: '', hint: 'Copy the details and report this.' };
}

/** A problem's details for a bug report, as text. */
export function details(problem: Problem, facts: Readonly<Record<string, string>>): string {
  return JSON.stringify({ ...problem, ...facts }, null, 2);
}
