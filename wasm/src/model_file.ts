// SPDX-License-Identifier: Apache-2.0
//
// A model file as workers open it, the float one or a quantized one, and how it is evaluated.

import { TersorError } from './error.js';
import { abortable, runJob } from './job.js';
import { pack, type NamedData, type Packed } from './packed.js';
import type { Pool, PoolWorker, Resource } from './pool.js';
import type { EvaluationAnswer, SentSample } from './protocol.js';
import { isList, newKey, type DataSets, type Feed, type ModelResource } from './samples.js';
import type {
  CompareOptions,
  Comparison,
  EvaluateOptions,
  EvaluationResult,
  Labels,
  ModelInfo,
  RunOptions,
  SampleRun,
} from './types.js';

/** What every call on one open model shares. */
export interface Context {
  readonly pool: Pool;
}

/** A model file that any worker can open. */
export class ModelFile implements Resource<ModelInfo> {
  readonly key = newKey('model');
  readonly #packed: Packed;

  constructor(packed: Packed) {
    this.#packed = packed;
  }

  /** `files`: the model, then what lies beside it. */
  static async of(files: readonly NamedData[]): Promise<ModelFile> {
    return new ModelFile(await pack(files));
  }

  load(worker: PoolWorker): Promise<ModelInfo> {
    return worker.call('openModel', [this.key, this.#packed]);
  }
}

/** What a quantized model came from. */
export interface Origin {
  readonly float: ModelFile;
  readonly sets: DataSets;
  readonly statistics: Uint8Array;
  /** The core's JSON. */
  readonly settings: string;
}

async function* mapped<T>(items: AsyncIterable<T>, change: (item: T) => T): AsyncGenerator<T> {
  for await (const item of items) yield change(item);
}

/** The samples with their labels; one label belongs to `group` samples. */
function labelled(items: Feed['items'], labels: readonly number[], group: number): Feed['items'] {
  const withLabel = (sample: SentSample): SentSample => {
    const label = labels[Math.floor(sample.index / group)];
    if (label === undefined) {
      throw new TersorError({
        code: 'invalid_labels',
        message: `There are ${labels.length} labels, but sample ${sample.index} needs one.`,
        place: `samples[${sample.index}]`,
        hint: group === 1 ? 'Give one label per sample.' : `Give one label for each ${group} samples.`,
      });
    }
    return { ...sample, label };
  };
  return isList(items) ? items.map(withLabel) : mapped(items, withLabel);
}

/** Runs labelled samples through a model; the float one or a quantized one. */
export async function evaluate(
  context: Context,
  model: ModelFile,
  sets: DataSets,
  feed: Feed,
  labels: Labels,
  options: EvaluateOptions,
): Promise<EvaluationResult> {
  const group = options.group ?? 1;
  const metric = options.metric ?? (labels === null ? 'answers' : 'top1');
  const known = await abortable(sets.labels(feed, labels, group), options.signal);
  const answer = await runJob<EvaluationAnswer>(
    context.pool,
    {
      kind: 'evaluate',
      stage: 'evaluate',
      settings: JSON.stringify({
        model: model.key,
        data: feed.data?.key ?? null,
        metric,
        group,
        runtime: options.runtime ?? null,
        reference: options.reference?.answers ? Array.from(options.reference.answers) : null,
      }),
      needs: [model, ...(feed.data ? [feed.data] : [])],
      feed: known === null ? feed : { ...feed, items: labelled(feed.items, known, group) },
    },
    options,
  );
  return {
    ...answer,
    answers: answer.answers === null ? null : Int32Array.from(answer.answers),
    samples: isList(feed.items) ? feed.items.map(({ index }) => index) : undefined,
  };
}

/** What is compared: a file with the float model that it came from. */
export interface Compared {
  readonly float: ModelFile;
  readonly quantized: ModelResource;
  /** The core's JSON of the settings that it was made with. */
  readonly settings: string;
  /** For histograms of its layers. */
  readonly statistics?: Uint8Array | undefined;
  /** Whether its layers are looked at, beside the outputs. */
  readonly layers: boolean;
}

export function compare(
  { pool }: Context,
  { float, quantized, settings, statistics, layers }: Compared,
  feed: Feed,
  options: CompareOptions,
): Promise<Comparison> {
  const numbers = isList(feed.items) ? feed.items.map(({ index }) => index) : null;
  const job = {
    float: float.key,
    quantized: quantized.key,
    data: feed.data?.key ?? null,
    runtime: options.runtime ?? null,
    classes: options.classes ?? false,
    asked: settings,
    samples: layers ? numbers : [],
  };
  const needs = [float, quantized, ...(feed.data ? [feed.data] : [])];
  const text = JSON.stringify(job);
  return runJob(pool, { kind: 'compare', stage: 'compare', settings: text, needs, feed, extra: statistics }, options);
}

/** Runs samples one by one through a model, in one worker: it is at the next one while the caller looks at what came. */
export async function* runEach(
  { pool }: Context,
  model: ModelFile,
  feed: Feed,
  options: RunOptions,
): AsyncGenerator<SampleRun, void, undefined> {
  const { signal } = options;
  signal?.throwIfAborted();
  const worker = pool.idle();
  const key = newKey('run');
  const settings = { model: model.key, data: feed.data?.key ?? null, runtime: options.runtime ?? null };
  const begin = async () => {
    await worker.need(model);
    if (feed.data) await worker.need(feed.data);
    await worker.call('beginJob', [key, 'run', JSON.stringify(settings)]);
  };
  try {
    await abortable(begin(), signal);
    let before: Promise<SampleRun> | null = null;
    for await (const sample of feed.items) {
      const next = worker.call('runSample', [key, sample]);
      next.catch(() => undefined); // heard below, or that of the one before it
      if (before) yield await abortable(before, signal);
      before = next;
    }
    if (before) yield await abortable(before, signal);
  } finally {
    worker.forget(key);
  }
}
