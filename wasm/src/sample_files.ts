// SPDX-License-Identifier: Apache-2.0
// Made by build.mjs from the core's list of formats: do not edit.

/** Endings of files that can be read as samples, in lower case. */
export const sampleExtensions: readonly string[] = [
  '.npy',
  '.npz',
  '.png',
  '.jpg',
  '.jpeg',
  '.bmp',
  '.ppm',
  '.pgm',
  '.pbm',
  '.pnm',
  '.csv',
  '.wav',
];
/** Files and folders that systems leave lying about, never meant as samples; so are those that begin with a dot. */
export const hiddenNames: readonly string[] = ['__MACOSX', 'Thumbs.db', 'desktop.ini'];
