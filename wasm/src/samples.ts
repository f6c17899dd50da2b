// SPDX-License-Identifier: Apache-2.0
//
// What a caller may give as samples, brought into the form in which workers take it: a data set that they open, or
// tensors one by one.

import { sentence, TersorError } from './error.js';
import { given, isFile, type GivenSamples, type SampleFile } from './given.js';
import { floatsOfHalves } from './halves.js';
import { pack, type NamedData, type Packed } from './packed.js';
import type { Pool, PoolWorker, Resource } from './pool.js';
import type { SentSample, SentTensor } from './protocol.js';
import type {
  Diagnostic,
  Labels,
  Preprocessing,
  PreprocessingPreset,
  RuntimeTensor,
  Samples,
  Selection,
  Tensor,
  TensorSample,
  TypedArray,
} from './types.js';

/** A number that no other key of this page ends with. */
let lastKey = 0;
export function newKey(kind: string): string {
  return `${kind}:${++lastKey}`;
}

export interface DataSetFacts {
  readonly count: number;
  /** They have class folders, or the like. */
  readonly classes: boolean;
  /** What a verdict on its figures has to say. */
  readonly remarks: readonly Diagnostic[];
}

/** A data set whose files have been looked at once, however many calls read it. */
class DataSet implements Resource<DataSetFacts> {
  readonly key = newKey('data');
  readonly #model: ModelResource;
  readonly #packed: Packed;
  readonly #preprocessing: string;
  #checked: Promise<unknown> | null = null;

  constructor(model: ModelResource, packed: Packed, preprocessing: string) {
    this.#model = model;
    this.#packed = packed;
    this.#preprocessing = preprocessing;
  }

  async load(worker: PoolWorker): Promise<DataSetFacts> {
    await worker.need(this.#model);
    return worker.call('openData', [this.key, this.#model.key, this.#packed, this.#preprocessing]);
  }

  /** Rejects where a file cannot be a sample, or where there is none. */
  check(worker: PoolWorker): Promise<unknown> {
    const checked = (this.#checked ??= worker.call('checkData', [this.key]));
    checked.catch(() => (this.#checked = null));
    return checked;
  }
}

/** A model as the workers open it. */
export interface ModelResource extends Resource<unknown> {
  readonly key: string;
}

/** Samples of which each has its number. */
export interface Feed {
  /** What each worker opens first; null for tensors. */
  readonly data: Resource<DataSetFacts> | null;
  /** Samples that take part, and samples in all; null while tensors stream and nobody knows. */
  readonly total: number | null;
  readonly of: number | null;
  /** They have classes of their own. */
  readonly classes?: boolean | undefined;
  /** They are what was left aside for evaluation; not there where nobody knows. */
  readonly heldAside?: boolean | undefined;
  /** What a verdict on their figures has to say. */
  readonly remarks?: readonly Diagnostic[];
  readonly items: readonly SentSample[] | AsyncIterable<SentSample>;
  /** Where it is there, the items are lent to workers and come back here. */
  readonly comeBack?: ((samples: readonly SentSample[]) => void) | undefined;
}

/** Whether they are all there, and do not stream in. */
export function isList(items: Feed['items']): items is readonly SentSample[] {
  return Array.isArray(items);
}

/** A feed whose samples can be had again by their numbers. */
export interface Kept {
  readonly feed: Feed;
  /** Samples gone through so far. */
  readonly count: () => number;
  /** Whether those that were gone through are still there. */
  readonly atHand: () => boolean;
  /** Null when they are not at hand. */
  readonly pick: (numbers: readonly number[]) => readonly SentSample[] | null;
  /** Goes through samples that stream in, where no job does. */
  readonly collect: () => Promise<void>;
}

/** Samples that stream in are kept up to so many bytes; of more than that, none. */
const mostKeptBytes = 1 << 30;

/** The sample with other arrays for its own. */
function withArrays(sample: SentSample, arrayFor: (data: TypedArray) => TypedArray): SentSample {
  return {
    ...sample,
    tensors: sample.tensors?.map((tensor) => ({ ...tensor, data: arrayFor(tensor.data) })) ?? null,
  };
}

/** In memory of its own: a caller may fill the same arrays again for the next sample of a stream. */
function copyOf(data: TypedArray): TypedArray {
  // Node's Buffer has a slice() that copies nothing
  return (Uint8Array.prototype.slice as (this: TypedArray) => TypedArray).call(data);
}

/** Arrays that came back from workers, filled again: new memory costs more than the copy into it. */
class SpareArrays {
  readonly #spare: TypedArray[] = [];

  copyOf(data: TypedArray): TypedArray {
    const fits = this.#spare.findIndex((one) => one.constructor === data.constructor && one.length === data.length);
    // what does not fit goes, so that there are never more than were lent at once
    const [array] = this.#spare.splice(Math.max(fits, 0), 1);
    if (fits < 0 || !array) return copyOf(data);
    (array as Uint8Array).set(data as Uint8Array);
    return array;
  }

  takeBack(samples: readonly SentSample[]): void {
    for (const sample of samples) for (const tensor of sample.tensors ?? []) this.#spare.push(tensor.data);
  }
}

/** `forLater`: samples that stream in are kept for pick(); without it their memory serves the samples after them. */
export function keep(feed: Feed, forLater: boolean): Kept {
  const count = () => feed.total ?? 0;
  if (feed.data) {
    const pick = (numbers: readonly number[]) => numbers.map((index) => ({ index, label: null, tensors: null }));
    return { feed, count, atHand: () => true, pick, collect: () => Promise.resolve() };
  }
  const { items } = feed;
  const held = new Map<number, SentSample>();
  let bytes = 0;
  let seen = 0;
  const hold = (samples: readonly SentSample[]) => {
    if (bytes <= mostKeptBytes) for (const sample of samples) held.set(sample.index, sample);
  };
  const pick = (numbers: readonly number[]) => {
    const found = numbers.flatMap((index) => held.get(index) ?? []);
    return found.length === numbers.length ? found : null;
  };
  if (isList(items)) {
    hold(items);
    return { feed, count, atHand: () => true, pick, collect: () => Promise.resolve() };
  }
  const spare = new SpareArrays();
  async function* copied(): AsyncGenerator<SentSample> {
    for await (const sample of items) {
      ++seen;
      if (forLater) bytes += (sample.tensors ?? []).reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
      if (bytes > mostKeptBytes) held.clear();
      yield withArrays(sample, (data) => spare.copyOf(data));
    }
  }
  const stream = copied();
  return {
    feed: { ...feed, items: stream, comeBack: forLater ? hold : (samples) => spare.takeBack(samples) },
    count: () => seen,
    atHand: () => forLater && bytes <= mostKeptBytes,
    pick,
    async collect() {
      for await (const sample of stream) hold([sample]);
    },
  };
}

/** The kept samples once more. */
export function feedOf({ feed, count, pick }: Kept): Feed {
  if (isList(feed.items)) return feed;
  const items = pick(Array.from({ length: count() }, (_, k) => k)) ?? [];
  return { ...feed, total: items.length, of: feed.of ?? items.length, items, comeBack: undefined };
}

function named(file: SampleFile | File): NamedData {
  if (!(file instanceof Blob)) return file;
  const whole = file.webkitRelativePath;
  return { path: whole ? whole.slice(whole.indexOf('/') + 1) : file.name, data: file };
}

export function areFiles(samples: GivenSamples): samples is readonly (SampleFile | File)[] {
  return Array.isArray(samples) && (samples.length === 0 || isFile(samples[0]));
}

function wrong(message: string, place: string, hint = ''): TersorError {
  return new TersorError({ code: 'invalid_samples', message, place, hint });
}

/** A shape as a caller gives it: `shape`, or `dims` of ONNX Runtime's tensors. */
function checkedShape(shape: unknown, place: string): readonly number[] {
  if (Array.isArray(shape) && shape.every((size) => Number.isInteger(size) && size >= 0)) return shape as number[];
  throw wrong('The shape is no list of whole numbers.', `${place}.shape`, 'Give one such as [1, 3, 224, 224].');
}

function sentTensor(name: string, value: TensorSample[string], place: string): SentTensor {
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return { name, data: value as TypedArray, shape: null };
  const { data, shape, dims, type } = (value ?? {}) as Partial<Tensor & RuntimeTensor>;
  if (!ArrayBuffer.isView(data) || (data as unknown) instanceof DataView) {
    throw wrong(`The input "${name}" is no typed array.`, place, 'Give one, or { data, shape }.');
  }
  const halves = type === 'float16' && data instanceof Uint16Array;
  return { name, data: halves ? floatsOfHalves(data) : data, shape: checkedShape(shape ?? dims, place) };
}

function sentTensors(sample: TensorSample, index: number): readonly SentTensor[] {
  const place = `samples[${index}]`;
  if (sample === null || typeof sample !== 'object' || ArrayBuffer.isView(sample)) {
    throw wrong('A sample is an object of input names and typed arrays.', place);
  }
  return Object.entries(sample).map(([name, value]) => {
    try {
      return sentTensor(name, value, `${place}.${name}`);
    } catch (error) {
      // a tensor of ONNX Runtime that lies on another device throws when it is asked
      throw error instanceof TersorError ? error : wrong(sentence(error), `${place}.${name}`);
    }
  });
}

async function* numbered(samples: Iterable<TensorSample> | AsyncIterable<TensorSample>): AsyncGenerator<SentSample> {
  let index = 0;
  for await (const sample of samples) {
    yield { index, label: null, tensors: sentTensors(sample, index) };
    ++index;
  }
}

/** A list of labels as a label file holds it, so that the core checks both alike. */
function asFile(labels: ArrayLike<number>): NamedData {
  return { path: 'list', data: new TextEncoder().encode(Array.from(labels).join('\n')) };
}

/** Labels as one of the forms that there are: a word, a file or a list. */
async function checkedLabels(labels: unknown): Promise<'folders' | SampleFile | File | ArrayLike<number>> {
  if (labels === 'folders') return labels;
  if (labels instanceof Blob || (labels !== null && typeof labels === 'object' && 'path' in labels)) {
    const files = await given([labels as SampleFile]);
    if (areFiles(files) && files[0]) return files[0];
  }
  const isList = Array.isArray(labels) || (ArrayBuffer.isView(labels) && !(labels instanceof DataView));
  if (isList) return labels as unknown as ArrayLike<number>;
  throw new TersorError({
    code: 'invalid_labels',
    message: `Labels are 'folders', one number per sample, a file, or null; ${typeof labels === 'string' ? `"${labels}"` : 'this'} is none of these.`,
    place: 'labels',
  });
}

function listed(
  feed: Feed,
  labels: 'folders' | SampleFile | File | ArrayLike<number>,
  group: number,
): readonly number[] {
  const refuse = (message: string, hint: string): TersorError =>
    new TersorError({ code: 'invalid_labels', message, place: 'labels', hint });
  if (labels === 'folders' || isFile(labels)) {
    throw refuse(
      'Samples given as tensors have neither folders nor names that a label file could mean.',
      'Give one number per sample.',
    );
  }
  const wanted = feed.of === null ? null : feed.of / group;
  if (wanted !== null && labels.length !== wanted) {
    throw refuse(`There are ${labels.length} labels for ${wanted} samples.`, 'Give one label per sample.');
  }
  const numbers = Array.from(labels, Number);
  const wrongOne = numbers.findIndex((label) => !Number.isInteger(label));
  if (wrongOne >= 0) {
    const message = `"${String(labels[wrongOne])}" is no label; the number of a class is expected.`;
    throw new TersorError({ code: 'invalid_labels', message, place: `labels[${wrongOne}]` });
  }
  return numbers;
}

interface OpenSet {
  /** The files as they were, to see when the caller's list changed. */
  readonly files: readonly (SampleFile | File)[];
  readonly packed: Promise<Packed>;
  readonly byPreprocessing: Map<string, DataSet>;
}

/** The data sets that were used with one model; each is opened once per worker, however many calls read it. */
export class DataSets {
  readonly #pool: Pool;
  readonly #model: ModelResource;
  readonly #sets = new WeakMap<object, OpenSet>();
  readonly #keys: string[] = [];

  constructor(pool: Pool, model: ModelResource) {
    this.#pool = pool;
    this.#model = model;
  }

  /** The data set of these files with this preprocessing. */
  async resource(
    files: readonly (SampleFile | File)[],
    preprocessing: Preprocessing | PreprocessingPreset | undefined,
  ): Promise<DataSet> {
    let set = this.#sets.get(files);
    if (!set || set.files.length !== files.length || set.files.some((file, k) => file !== files[k])) {
      set = { files: [...files], packed: pack(files.map(named)), byPreprocessing: new Map() };
      this.#sets.set(files, set);
    }
    const text =
      preprocessing === undefined
        ? ''
        : typeof preprocessing === 'string'
          ? preprocessing
          : JSON.stringify(preprocessing);
    const known = set.byPreprocessing.get(text);
    if (known) return known;
    const made = new DataSet(this.#model, await set.packed, text);
    set.byPreprocessing.set(text, made);
    this.#keys.push(made.key);
    if (set.byPreprocessing.size > 3) this.#drop(set);
    return made;
  }

  #drop(set: OpenSet): void {
    for (const [text, resource] of set.byPreprocessing) {
      set.byPreprocessing.delete(text);
      this.#pool.forget(resource.key);
      return;
    }
  }

  /** The chosen ones of `total` samples, by the core's rule. */
  #chosen(total: number, selection: Selection | undefined): Promise<readonly number[]> {
    return this.#pool.idle().call('select', [total, selection?.part ?? 'all', selection?.count ?? total]);
  }

  /** The samples that take part in a call. */
  async feed(
    source: Samples,
    options: {
      readonly preprocessing?: Preprocessing | PreprocessingPreset | undefined;
      /** In place of a selection. */
      readonly numbers?: readonly number[] | undefined;
      readonly selection?: Selection | undefined;
      /** Use at most so many, spread evenly; 0: all. */
      readonly limit?: number | undefined;
    },
  ): Promise<Feed> {
    const samples = await given(source);
    const choose = async (of: number) => {
      const { limit = 0, numbers, selection } = options;
      if (!Number.isInteger(limit) || limit < 0) {
        throw new TersorError({
          code: 'invalid_argument',
          message: `limit is ${limit}; a whole number of 0 or more is expected.`,
          place: 'options.limit',
          hint: '0 means all samples.',
        });
      }
      const none = numbers?.find((number) => !Number.isInteger(number) || number < 0 || number >= of);
      if (none !== undefined) {
        throw new TersorError({
          code: 'invalid_argument',
          message: `There is no sample ${none}: the ${of} samples have the numbers 0 to ${of - 1}.`,
          place: 'options.numbers',
          hint: 'Numbers count in the order of the data set.',
        });
      }
      let chosen = numbers ?? (await this.#chosen(of, selection));
      const heldAside = selection?.part === 'evaluation' ? chosen.length < of : undefined;
      if (limit > 0 && limit < chosen.length) {
        const spread = await this.#chosen(chosen.length, { part: 'calibration', count: limit });
        chosen = spread.map((k) => chosen[k] ?? 0);
      }
      return { chosen, facts: { total: chosen.length, of, heldAside } };
    };
    if (areFiles(samples)) {
      const data = await this.resource(samples, options.preprocessing);
      const worker = this.#pool.idle();
      const { count, remarks, classes } = await worker.need(data);
      await data.check(worker);
      const { chosen, facts } = await choose(count);
      return {
        data,
        ...facts,
        remarks,
        classes,
        items: chosen.map((index) => ({ index, label: null, tensors: null })),
      };
    }
    const whole = !options.numbers && options.selection === undefined && (options.limit ?? 0) === 0;
    if (whole && !Array.isArray(samples)) return { data: null, total: null, of: null, items: numbered(samples) };
    const all: SentSample[] = [];
    for await (const one of numbered(samples)) all.push(Array.isArray(samples) ? one : withArrays(one, copyOf));
    const { chosen, facts } = await choose(all.length);
    return { data: null, ...facts, items: chosen.flatMap((index) => all[index] ?? []) };
  }

  /** The label of every sample of the data set, by its number (of its group); null without labels. */
  async labels(feed: Feed, from: Labels, group: number): Promise<readonly number[] | null> {
    if (from === null) return null;
    const labels = await checkedLabels(from);
    if (!feed.data) return listed(feed, labels, group);
    const sent = labels === 'folders' ? labels : await pack([isFile(labels) ? named(labels) : asFile(labels)]);
    const worker = this.#pool.idle();
    await worker.need(feed.data);
    return worker.call('labels', [feed.data.key, sent, group]);
  }

  close(): void {
    for (const key of this.#keys) this.#pool.forget(key);
  }
}

/** One tensor sample out of an iterable, for a look at it. */
export async function tensorSample(
  samples: Iterable<TensorSample> | AsyncIterable<TensorSample>,
  index: number,
): Promise<SentSample | null> {
  for await (const one of numbered(samples)) if (one.index === index) return one;
  return null;
}
