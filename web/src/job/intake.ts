// SPDX-License-Identifier: Apache-2.0
//
// Sorts what was dropped, chosen or pasted, whatever its order: models, recipes, archives, samples, labels, and files that
// a model may keep its weights in. Names decide; what a file really holds is the engine's business.

import { hiddenNames, sampleExtensions } from 'tersor';

/** A file with its path below whatever was dropped. */
export interface Arrival {
  readonly path: string;
  readonly data: Blob;
}

export interface Sorted {
  readonly models: readonly Arrival[];
  readonly recipes: readonly Arrival[];
  readonly archives: readonly Arrival[];
  readonly samples: readonly Arrival[];
  readonly labels: readonly Arrival[];
  /** Files of sentences, and tokenizers that make token ids of them. */
  readonly texts: readonly Arrival[];
  readonly tokenizers: readonly Arrival[];
  /** Files of no known kind: external data, or a model in another format. */
  readonly others: readonly Arrival[];
  /** Texts that say something to people. */
  readonly ignored: readonly Arrival[];
}

/** Pictures that the core does not read, and the browser may. */
export const browserPictures = new Set('gif webp avif heic heif jxl tif tiff'.split(' '));
/** Tables, recordings and others that neither reads; the core says what they are, and what to do. */
const unreadEndings = 'jpe tsv flac mp3 ogg'.split(' ');
const sampleEndings = new Set([...sampleExtensions.map((one) => one.slice(1)), ...browserPictures, ...unreadEndings]);

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function ending(path: string): string {
  const name = baseName(path);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

export function stem(path: string): string {
  const name = baseName(path);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}

function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.') || hiddenNames.includes(part));
}

function isLabels(path: string): boolean {
  const name = stem(path).toLowerCase();
  return ['npy', 'csv', 'txt'].includes(ending(path)) && /(^|[^a-z])(labels?|targets?|y)$/.test(name);
}

/** What lies beside a transformer: its tokenizer, settings that nothing here reads, and texts that are no samples. */
const tokenizerNames = ['tokenizer.json', 'tokenizer_config.json'];
const ownSettings = /tersor|recipe|platform/i;
const unusedTexts = /^(vocab|merges|read-?me|licen[cs]e|notice|requirements)\.txt$/i;

function isOfTransformer(path: string): boolean {
  const name = baseName(path);
  return ending(path) === 'json' ? !ownSettings.test(name) : unusedTexts.test(name);
}

function isSamplePb(path: string): boolean {
  return /^(input|output)_\d+\.pb$/.test(baseName(path));
}

export function sortArrivals(arrivals: readonly Arrival[]): Sorted {
  const isTransformer = arrivals.some(({ path }) => tokenizerNames.includes(baseName(path)));
  const sorted = {
    models: [],
    recipes: [],
    archives: [],
    samples: [],
    labels: [],
    texts: [],
    tokenizers: [],
    others: [],
    ignored: [],
  } as {
    -readonly [K in keyof Sorted]: Arrival[];
  };
  for (const arrival of arrivals) {
    const { path } = arrival;
    const kind = ending(path);
    if (isHidden(path)) continue;
    if (kind === 'onnx' || kind === 'tflite') sorted.models.push(arrival);
    else if (tokenizerNames.includes(baseName(path))) sorted.tokenizers.push(arrival);
    else if (isTransformer && isOfTransformer(path)) continue;
    else if (unusedTexts.test(baseName(path))) sorted.ignored.push(arrival);
    else if (kind === 'json') sorted.recipes.push(arrival);
    else if (kind === 'zip') sorted.archives.push(arrival);
    else if (isLabels(path)) sorted.labels.push(arrival);
    else if (sampleEndings.has(kind) || isSamplePb(path)) sorted.samples.push(arrival);
    else if (unusedTexts.test(baseName(path))) sorted.ignored.push(arrival);
    else if (kind === 'txt' || kind === 'jsonl') sorted.texts.push(arrival);
    else if (kind === 'md') sorted.ignored.push(arrival);
    else sorted.others.push(arrival);
  }
  return sorted;
}

/** Bytewise by UTF-8, the order of every data set: that of code points, so surrogates come after all other code units. */
export function comparePaths(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let index = 0; index < shared; ++index) {
    const x = a.charCodeAt(index);
    const y = b.charCodeAt(index);
    if (x === y) continue;
    const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff;
    return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1;
  }
  return a.length - b.length;
}

export interface NamedSet {
  readonly name: string;
  /** What the program is given: the folder, file or archive. */
  readonly source: string;
  readonly files: readonly Arrival[];
}

/** The folder that all paths share, unless it is itself a sample. */
function sharedTop(files: readonly Arrival[]): string | null {
  const first = files[0]?.path ?? '';
  const slash = first.indexOf('/');
  if (slash < 0) return null;
  const top = first.slice(0, slash);
  if (top.startsWith('test_data_set')) return null;
  return files.every((file) => file.path.startsWith(`${top}/`)) ? top : null;
}

/**
 * Samples as a data set: the folders that hold them all become its name and leave their paths, so that the folders that
 * remain are the classes. What was dropped as one folder is left in any case; a further folder, or the top folder inside an
 * archive (`container`), only when there are folders below it.
 */
export function asDataSet(samples: readonly Arrival[], container: string | null): NamedSet {
  let files = samples;
  let name = container;
  for (let level = 0; ; ++level) {
    const top = sharedTop(files);
    const deep = files.some((file) => file.path.split('/').length > 2);
    if (top === null || (!deep && (level > 0 || container !== null))) break;
    name = container ?? top;
    files = files.map((file) => ({ ...file, path: file.path.slice(top.length + 1) }));
  }
  const called = name ?? (files.length === 1 && files[0] ? files[0].path : 'samples');
  return { name: called, source: container === null ? called : `${container}.zip`, files };
}
