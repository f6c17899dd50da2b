// SPDX-License-Identifier: Apache-2.0

import { abortable } from './job.js';
import { compare, evaluate, ModelFile, runEach, type Context, type Origin } from './model_file.js';
import { checkOptions } from './options.js';
import type { Quantized } from './protocol.js';
import { isList, type Feed } from './samples.js';
import { OpenRange } from './range_study.js';
import type {
  CompareOptions,
  Comparison,
  EvaluateOptions,
  EvaluationResult,
  CallOptions,
  Labels,
  QuantizedResult,
  RangeQuestion,
  RangeStudy,
  Recipe,
  Report,
  RunOptions,
  RuntimeNode,
  SampleRun,
  Samples,
  TimeForecast,
} from './types.js';

/** The report with what the samples' data set has to say, in place of what another had. */
function remarked(report: Report, { remarks = [] }: Feed): Report {
  const others = report.diagnostics.filter(({ code }) => code !== 'preprocessing_guessed');
  return { ...report, diagnostics: [...others, ...remarks] };
}

/** The arithmetic of .tflite files. */
const micro = 'tflite-micro';

/** That of figures where nobody names one, and that of the same processors without VNNI. */
const x64 = 'x64';
const avx2 = 'avx2';

/** Hardly any sum of a layer saturates below this share, as core/report/saturation_remark.cpp has it. */
const leastSaturated = 1e-3;

function saturates({ saturation }: Comparison): boolean {
  return saturation.some(({ saturated, sums }) => saturated > 0 && saturated >= leastSaturated * sums);
}

/** A report counts samples, it does not list them. */
function asReported(result: EvaluationResult): EvaluationResult {
  const { samples: _, ...counted } = result;
  return counted;
}

export class OpenResult implements QuantizedResult {
  readonly model: Uint8Array;
  readonly recipe: Recipe;
  readonly #context: Context;
  readonly #origin: Origin;
  readonly #file: ModelFile;
  readonly #isTflite: boolean;
  #report: Report;

  private constructor(context: Context, made: Quantized, origin: Origin, file: ModelFile) {
    this.model = made.model;
    this.recipe = made.recipe;
    this.#report = made.report;
    this.#isTflite = made.computed !== null;
    this.#context = context;
    this.#origin = origin;
    this.#file = file;
  }

  static async of(context: Context, made: Quantized, origin: Origin): Promise<OpenResult> {
    const file = await ModelFile.of([{ path: 'quantized.onnx', data: made.computed ?? made.model }]);
    return new OpenResult(context, made, origin, file);
  }

  /** Of a .tflite file its own, whatever is asked for. */
  #runtime(asked: string | undefined): string | undefined {
    const { runtime } = this.#report;
    return this.#isTflite && runtime === micro ? runtime : asked;
  }

  get report(): Report {
    return this.#report;
  }

  /** What was measured, in place of the forecast. */
  takeTime(time: TimeForecast): void {
    this.#report = { ...this.#report, time };
  }

  async evaluate(samples: Samples, labels: Labels, options: EvaluateOptions = {}): Promise<EvaluationResult> {
    checkOptions('evaluate', options);
    const { sets } = this.#origin;
    const feed = await abortable(sets.feed(samples, options), options.signal);
    const runtime = this.#runtime(options.runtime);
    const quantized = await evaluate(this.#context, this.#file, sets, feed, labels, { ...options, runtime });
    const before = this.#report;
    const report = {
      ...remarked(before, feed),
      runtime: runtime ?? before.runtime,
      evaluation: {
        float: options.reference ? asReported(options.reference) : before.evaluation.float,
        quantized: asReported(quantized),
      },
      samples: { ...before.samples, evaluation: quantized.count, held_aside: feed.heldAside ?? null },
    };
    await abortable(this.#update(report), options.signal);
    return quantized;
  }

  async compare(samples: Samples, options: CompareOptions = {}): Promise<Comparison> {
    checkOptions('compare', options);
    const { float, sets, settings, statistics } = this.#origin;
    const feed = await abortable(sets.feed(samples, options), options.signal);
    const compared = { float, quantized: this.#file, settings, statistics, layers: true };
    const asked = { ...options, runtime: this.#runtime(options.runtime) ?? x64 };
    let comparison = await compare(this.#context, compared, feed, asked);
    const take = async () => {
      if (options.report === false) return;
      const before = this.#report;
      const evaluation = Math.max(before.samples.evaluation, comparison.samples);
      const samplesUsed = { ...before.samples, evaluation, held_aside: feed.heldAside ?? null };
      const report = { ...remarked(before, feed), comparison, samples: samplesUsed };
      await abortable(this.#update(report), options.signal);
    };
    // what streamed in is gone
    if (asked.runtime === x64 && isList(feed.items) && saturates(comparison)) {
      if (options.onComparison) {
        await take();
        options.onComparison(comparison);
      }
      const outputs = { ...compared, statistics: undefined, layers: false };
      const { output_sqnr_db, agreement } = await compare(this.#context, outputs, feed, { ...asked, runtime: avx2 });
      comparison = { ...comparison, without_vnni: { output_sqnr_db, agreement } };
    }
    await take();
    return comparison;
  }

  async *run(samples: Samples, options: RunOptions = {}): AsyncGenerator<SampleRun, void, undefined> {
    checkOptions('run', options);
    const feed = await abortable(this.#origin.sets.feed(samples, options), options.signal);
    yield* runEach(this.#context, this.#file, feed, { ...options, runtime: this.#runtime(options.runtime) });
  }

  async runtimeNodes(options: CallOptions = {}): Promise<readonly RuntimeNode[]> {
    checkOptions('runtimeNodes', options);
    const worker = this.#context.pool.idle();
    const { settings } = this.#origin;
    const asked = worker.need(this.#file).then(() => worker.call('runtimeNodes', [this.#file.key, settings]));
    return abortable(asked, options.signal);
  }

  async studyRange(question: RangeQuestion, options: CallOptions = {}): Promise<RangeStudy> {
    checkOptions('studyRange', options);
    return OpenRange.of(this.#context, this.#origin, question, options);
  }

  /** The figures count at once, so that what another call measures meanwhile is added to them; their verdict follows. */
  async #update(report: Report): Promise<void> {
    this.#report = report;
    const verdict = await this.#context.pool.idle().call('verdict', [report]);
    if (this.#report === report) this.#report = { ...report, verdict };
  }

  close(): void {
    this.#context.pool.forget(this.#file.key);
  }
}
