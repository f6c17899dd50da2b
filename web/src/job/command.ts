// SPDX-License-Identifier: Apache-2.0
//
// The command line that makes the same file, and the names of the files that are downloaded.

import { stem } from './intake';

export interface FileNames {
  readonly model: string;
  readonly recipe: string;
  readonly report: string;
}

export function fileNames(modelName: string): FileNames {
  const base = stem(modelName);
  return { model: `${base}.int8.onnx`, recipe: `${base}.tersor.json`, report: `${base}.report.json` };
}

/** A word as a POSIX shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A file's name that cannot be taken for an option. */
function file(name: string): string {
  return name.startsWith('-') ? `./${name}` : name;
}

export function commandLine(modelName: string, dataName: string): string {
  const names = fileNames(modelName);
  const words = ['--data', file(dataName), '--recipe', file(names.recipe), '-o', file(names.model)];
  return ['tersor', 'quantize', file(modelName), ...words].map(quoted).join(' ');
}
