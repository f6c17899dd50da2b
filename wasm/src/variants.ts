// SPDX-License-Identifier: Apache-2.0
//
// The files that a model may be shipped as, one after the other. What each is made of, which samples calibrate and judge, and
// what its row says the core knows; here samples go through the workers.

import { TersorError } from './error.js';
import { abortable, runJob } from './job.js';
import { compare, ModelFile, type Context } from './model_file.js';
import { outliving, type PoolWorker } from './pool.js';
import type { Largest, VariantKind } from './protocol.js';
import { isList, newKey, type DataSets, type Feed, type ModelResource } from './samples.js';
import type { CallOptions, SampleOptions, Variant, VariantsOptions } from './types.js';

/** What the open model has for it. */
interface Maker {
  readonly context: Context;
  readonly file: ModelFile;
  readonly sets: DataSets;
  /** Bytes of statistics. */
  readonly calibrate: (feed: Feed, call: SampleOptions, settings: Record<string, unknown>) => Promise<Uint8Array>;
}

/** What the engine runs in the place of a file of float16. */
class Computed implements ModelResource {
  readonly key = newKey('model');
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  load(worker: PoolWorker): Promise<unknown> {
    return worker.call('openComputed', [this.key, this.#bytes]);
  }
}

function settingsOf({ platform }: VariantKind): Record<string, unknown> {
  const nothing = { preset: null, overrides: null, framework_info: null, recipe: null, allow_mismatch: false };
  return { platform, config: {}, ...nothing };
}

/** One pass through the kinds, with what several of them begin with. */
class VariantsRun {
  readonly #maker: Maker;
  readonly #call: CallOptions;
  /** All samples, by number. */
  readonly #all: Feed | null;
  /** The best so far. */
  #leader: Omit<Variant, 'model'> | null = null;
  #largest: string | null = null;
  #begun: { readonly platform: string; readonly statistics: Uint8Array } | null = null;

  constructor(maker: Maker, call: CallOptions, all: Feed | null) {
    this.#maker = maker;
    this.#call = call;
    this.#all = all;
  }

  /** The samples of these numbers. */
  #pick(all: Feed, numbers: readonly number[]): Feed {
    const samples = isList(all.items) ? all.items : [];
    return { ...all, total: numbers.length, items: numbers.flatMap((k) => samples[k] ?? []) };
  }

  async #statistics({ platform }: VariantKind, feed: Feed, settings: Record<string, unknown>): Promise<Uint8Array> {
    if (platform === null) return new Uint8Array();
    if (this.#begun?.platform !== platform) {
      this.#begun = { platform, statistics: await this.#maker.calibrate(feed, this.#call, settings) };
    }
    return this.#begun.statistics;
  }

  async #largestOf(feed: Feed): Promise<string> {
    const { context, file } = this.#maker;
    const { data } = feed;
    const settings = JSON.stringify({ model: file.key, data: data?.key ?? null });
    const needs = [file, ...(data ? [data] : [])];
    const job = { kind: 'ranges', stage: 'calibrate', settings, needs, feed } as const;
    return JSON.stringify(await runJob<Largest>(context.pool, job, this.#call));
  }

  async make(worker: PoolWorker, kind: VariantKind, plan: Plan): Promise<Variant> {
    const { context, file } = this.#maker;
    const all = this.#all;
    const settings = settingsOf(kind);
    let statistics: Uint8Array = new Uint8Array();
    if (all) {
      const feed = this.#pick(all, plan.calibrated);
      statistics = await this.#statistics(kind, feed, settings);
      if (kind.is_half) this.#largest ??= await this.#largestOf(feed);
    }
    await worker.need(file);
    const key = newKey('variant');
    const text = JSON.stringify(settings);
    const largest = (kind.is_half && this.#largest) || '';
    const made = await worker.call('makeVariant', [key, file.key, kind.dtype, text, statistics, largest]);
    const { model } = made;
    if (!all || !kind.is_judged) return { ...(JSON.parse(made.row) as Omit<Variant, 'model'>), model };
    const quantized = made.computed
      ? new Computed(made.computed)
      : await ModelFile.of([{ path: kind.file, data: model }]);
    try {
      const compared = { float: file, quantized, settings: text, layers: false };
      const call = { ...this.#call, classes: all.classes };
      const comparison = await compare(context, compared, this.#pick(all, plan.judged), call);
      const guess = JSON.stringify(all.remarks?.[0] ?? null);
      const leader = JSON.stringify(this.#leader);
      const row = await worker.call('judgeVariant', [key, JSON.stringify(comparison), plan.held_aside, guess, leader]);
      if (row.leads) this.#leader = row;
      return { ...row, model };
    } finally {
      context.pool.forget(quantized.key);
    }
  }
}

type Plan = Awaited<ReturnType<typeof planned>>;

function planned({ context }: Maker, all: Feed | null, { calibrationSamples = 0, limit = 0 }: VariantsOptions) {
  return context.pool.idle().call('planVariants', [all?.of ?? 0, calibrationSamples, limit]);
}

function refused({ dtype, file }: VariantKind, error: unknown): Variant {
  if (!(error instanceof TersorError) || error.code !== 'unsupported_model') throw error;
  const nothing = { platform: null, size_bytes: null, comparison: null, verdict: null, time: null, model: null };
  return { dtype, file, ...nothing, held_aside: false, leads: false, notes: [], refused: error.toJSON() };
}

function checkCount(value: unknown, name: string): void {
  if (value === undefined || (Number.isInteger(value) && (value as number) >= 0)) return;
  throw new TersorError({
    code: 'invalid_argument',
    message: `${name} is ${String(value)}; a whole number of 0 or more is expected.`,
    place: `options.${name}`,
  });
}

export async function* variantsOf(maker: Maker, options: VariantsOptions): AsyncGenerator<Variant, void, undefined> {
  const { samples, only, preprocessing, signal, onProgress } = options;
  const { pool } = maker.context;
  for (const name of ['calibrationSamples', 'limit'] as const) checkCount(options[name], name);
  await abortable(pool.complete(), signal);
  const whole = { preprocessing, selection: { part: 'all' } as const };
  const all = samples === undefined ? null : await abortable(maker.sets.feed(samples, whole), signal);
  if (all?.of === 0) {
    throw new TersorError({ code: 'invalid_samples', message: 'There are no samples.', place: 'samples' });
  }
  const plan = await abortable(planned(maker, all, options), signal);
  const names = plan.kinds.map(({ dtype }) => dtype);
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new TersorError({
      code: 'invalid_argument',
      message: `There is no variant "${unknown}".`,
      place: 'options.only',
      hint: `There are ${names.join(', ')}.`,
    });
  }
  const run = new VariantsRun(maker, { signal, onProgress }, all);
  for (const kind of plan.kinds) {
    if (only && !only.includes(kind.dtype)) continue;
    const worker = pool.idle();
    const made = outliving(worker, () => run.make(worker, kind, plan));
    yield await abortable(made, signal).catch((error: unknown) => refused(kind, error));
  }
}
