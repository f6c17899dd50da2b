// SPDX-License-Identifier: Apache-2.0
//
// The command line that makes the same file, and the names of the files that are downloaded.

import { stem } from './intake';

interface FileNames {
  readonly model: string;
  readonly recipe: string;
  readonly report: string;
}

export function fileNames(modelName: string, format = 'onnx'): FileNames {
  const base = stem(modelName);
  return { model: `${base}.int8.${format}`, recipe: `${base}.tersor.json`, report: `${base}.report.json` };
}

/** A word as a POSIX shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A file's name that cannot be taken for an option. */
function file(name: string): string {
  return name.startsWith('-') ? `./${name}` : name;
}

/** What a job was made of, by the names of files. */
export interface Made {
  readonly modelName: string;
  readonly dataName: string;
  readonly platformFile: string | null;
  /** Of the file; ONNX where it is not said. */
  readonly format?: 'onnx' | 'tflite';
}

export function commandLine({ modelName, dataName, platformFile, format }: Made): string {
  const names = fileNames(modelName, format);
  const platform = platformFile === null ? [] : ['--platform', file(platformFile)];
  const words = ['--data', file(dataName), ...platform, '--recipe', file(names.recipe), '-o', file(names.model)];
  return ['tersor', 'quantize', file(modelName), ...words].map(quoted).join(' ');
}

/** A module for Node that makes the same file with the package `tersor`. */
export function javaScript({ modelName, dataName, platformFile, format }: Made): string {
  const names = fileNames(modelName, format);
  const text = (word: string) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const data = dataName.replace(/\.zip$/, '');
  const unpacked = data === dataName ? '' : ` // ${dataName}, unpacked`;
  const platform =
    platformFile === null ? '' : `\n  platform: tersor.readPlatform(await readFile(${text(platformFile)}, 'utf8')),`;
  return `import { readFile, writeFile } from 'node:fs/promises';
import { Tersor } from 'tersor';

const tersor = await Tersor.create();
const model = await tersor.open(${text(modelName)});
const result = await model.quantize({
  recipe: JSON.parse(await readFile(${text(names.recipe)}, 'utf8')),${platform}
  samples: ${text(data)},${unpacked}${format === 'tflite' ? "\n  format: 'tflite'," : ''}
});
await writeFile(${text(names.model)}, result.model);
tersor.close();
`;
}
