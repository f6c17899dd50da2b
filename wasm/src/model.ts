// SPDX-License-Identifier: Apache-2.0

import { configAsGiven } from './classes.js';
import { sentence, TersorError } from './error.js';
import { given } from './given.js';
import { abortable, runJob } from './job.js';
import { checkMappings, checkOptions, withOurNames } from './options.js';
import { overridesAsData } from './layer_configs.js';
import { outliving, type PoolWorker } from './pool.js';
import type { Preference } from './protocol.js';
import { evaluate, runEach, type Context, type ModelFile } from './model_file.js';
import { OpenResult } from './result.js';
import { areFiles, DataSets, feedOf, isList, keep, tensorSample, type Feed, type Kept } from './samples.js';
import { runSweep } from './sweep.js';
import { timerFor } from './timing.js';
import { variantsOf } from './variants.js';
import type {
  CalibrateOptions,
  CallOptions,
  Coverage,
  CoverageOptions,
  EvaluateOptions,
  EvaluationResult,
  GradientPTQConfig,
  GraphView,
  Labels,
  MeasuredTimes,
  Model,
  ModelInfo,
  NodeInfo,
  Progress,
  QuantizedResult,
  Recipe,
  QuantizeOptions,
  Report,
  RunOptions,
  SampleOptions,
  SamplePreview,
  SampleRun,
  Samples,
  SamplesInfo,
  Selection,
  Statistics,
  ExpectedResources,
  TensorSample,
  Timer,
  TuneOptions,
  Variant,
  VariantsOptions,
  WeightChannels,
} from './types.js';

type TensorSamples = Iterable<TensorSample> | AsyncIterable<TensorSample>;

function checkIndex(index: unknown): void {
  if (Number.isInteger(index) && (index as number) >= 0) return;
  const message = `index is ${String(index)}; a whole number of 0 or more is expected.`;
  throw new TersorError({ code: 'invalid_argument', message, place: 'index' });
}

/** What a caller gave, as the core reads it. */
function asJson(value: unknown, place: string): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw new TersorError(
      { code: 'invalid_argument', message: `This cannot be written as JSON: ${sentence(error)}.`, place },
      { cause: error },
    );
  }
}

/** Gradient steps that the time of one is taken of; of a schedule of so many epochs, which few samples have such steps in too. */
const timedSteps = 3;
const timedEpochs = 100;
/** The most that `n_epochs` may be. */
const mostEpochs = 100_000;
/** What labels count in the loss where they are given to tune() and the settings do not say. */
const labelWeight = 0.5;

type Checkpoints = Pick<TuneOptions, 'resume' | 'onCheckpoint'>;

export class OpenModel implements Model {
  readonly info: ModelInfo;
  readonly #context: Context;
  readonly #file: ModelFile;
  readonly #sets: DataSets;
  /** The samples that statistics were made of, for settings that need them again, and the settings that have measured on them. */
  readonly #sources = new WeakMap<Statistics, { readonly kept: Kept; readonly settings: string }>();
  #open = true;

  constructor(context: Context, file: ModelFile, info: ModelInfo) {
    this.#context = context;
    this.#file = file;
    this.info = info;
    this.#sets = new DataSets(context.pool, file);
  }

  #check(call: Parameters<typeof checkOptions>[0], options: CallOptions): void {
    checkOptions(call, options);
    options.signal?.throwIfAborted();
    this.#checkOpen();
  }

  #checkOpen(): void {
    if (!this.#open) {
      throw new TersorError({ code: 'invalid_argument', message: 'The model was closed.', hint: 'Open it again.' });
    }
  }

  async #withModel<T>(call: CallOptions | undefined, ask: (worker: PoolWorker) => Promise<T>): Promise<T> {
    call?.signal?.throwIfAborted();
    this.#checkOpen();
    const worker = this.#context.pool.idle();
    const work = outliving(worker, () => worker.need(this.#file).then(() => ask(worker)));
    return abortable(work, call?.signal);
  }

  /** The model's key in a worker, once that holds it. */
  async bringTo(worker: PoolWorker): Promise<string> {
    this.#checkOpen();
    await worker.need(this.#file);
    return this.#file.key;
  }

  async coverage(options: CoverageOptions = {}): Promise<Coverage> {
    this.#check('coverage', options);
    const settings = JSON.stringify(await this.#settings(options));
    return this.#withModel(options, (worker) => worker.call('coverage', [this.#file.key, settings]));
  }

  async resourceUtilization(options: CoverageOptions = {}): Promise<ExpectedResources> {
    this.#check('coverage', options);
    const settings = JSON.stringify(await this.#settings(options));
    return this.#withModel(options, (worker) => worker.call('resourceUtilization', [this.#file.key, settings]));
  }

  async graph(options: CoverageOptions = {}): Promise<GraphView> {
    this.#check('graph', options);
    const settings = JSON.stringify(await this.#settings(options));
    return this.#withModel(options, (worker) => worker.call('graph', [this.#file.key, settings]));
  }

  async weightChannels(name: string, options: CoverageOptions = {}): Promise<WeightChannels> {
    this.#check('weightChannels', options);
    const settings = JSON.stringify(await this.#settings(options));
    return this.#withModel(options, (worker) => worker.call('weightChannels', [this.#file.key, settings, name]));
  }

  async nodes(options: CoverageOptions = {}): Promise<readonly NodeInfo[]> {
    this.#check('nodes', options);
    const settings = JSON.stringify(await this.#settings({ ...options, overrides: [{ name: '*' }] }));
    return this.#withModel(options, (worker) => worker.call('nodes', [this.#file.key, settings]));
  }

  async inspectSamples(source: Samples, options: SampleOptions = {}): Promise<SamplesInfo> {
    this.#check('inspectSamples', options);
    const samples = await given(source);
    if (!areFiles(samples)) return this.#inspectTensors(samples, options);
    return this.#withModel(options, async (worker) => {
      options.onProgress?.({ stage: 'samples', done: 0, total: 1, note: '' });
      const data = await this.#sets.resource(samples, options.preprocessing);
      await worker.need(data);
      const info = await worker.call('inspectData', [data.key]);
      const first = info.count > 0 ? await worker.call('preview', [data.key, 0]) : null;
      options.onProgress?.({ stage: 'samples', done: 1, total: 1, note: '' });
      return { ...info, first };
    });
  }

  async #inspectTensors(samples: TensorSamples, options: SampleOptions): Promise<SamplesInfo> {
    const feed = await abortable(this.#sets.feed(samples, { selection: { part: 'all' } }), options.signal);
    let first: SamplePreview | null = null;
    let bytes = 0;
    for await (const sample of feed.items) {
      for (const tensor of sample.tensors ?? []) bytes += tensor.data.byteLength;
      first ??= await this.#withModel(options, (worker) => worker.call('previewTensors', [this.#file.key, sample]));
    }
    return {
      count: feed.of ?? 0,
      classes: [],
      labels_from: 'none',
      labels: null,
      inputs: this.info.inputs.map(({ name }) => ({ name, from: 'samples' })),
      formats: { tensors: feed.of ?? 0 },
      size_bytes: bytes,
      errors: [],
      batch: 1,
      skipped: [],
      preprocessing: null,
      preprocessing_is_guess: false,
      preprocessing_trial: null,
      first,
    };
  }

  async previewSample(source: Samples, index: number, options: SampleOptions = {}): Promise<SamplePreview> {
    this.#check('previewSample', options);
    checkIndex(index);
    const samples = await given(source);
    if (areFiles(samples)) {
      const data = await this.#sets.resource(samples, options.preprocessing);
      return this.#withModel(options, async (worker) => {
        await worker.need(data);
        return worker.call('preview', [data.key, index]);
      });
    }
    const sample = await tensorSample(samples, index);
    if (!sample) {
      throw new TersorError({ code: 'invalid_argument', message: `There is no sample ${index}.`, place: 'samples' });
    }
    return this.#withModel(options, (worker) => worker.call('previewTensors', [this.#file.key, sample]));
  }

  async calibrate(samples: Samples, options: CalibrateOptions = {}): Promise<Statistics> {
    this.#check('calibrate', options);
    const settings = await this.#settings(options);
    return this.#calibrate(await abortable(this.#sets.feed(samples, options), options.signal), options, settings);
  }

  /** A recipe that may have been written by hand, checked and written out in full. */
  async #readRecipe(recipe: Recipe, call: CallOptions): Promise<Recipe> {
    const text = asJson(recipe, 'recipe');
    const read = await this.#withModel(call, (worker) => worker.call('readSettings', [text, 'recipe', this.#file.key]));
    if (read.kind === 'recipe') return read.recipe;
    throw new TersorError({
      code: 'invalid_config',
      message: 'This is a target platform where a recipe is expected.',
      place: 'recipe',
      hint: 'Give it as platform.',
    });
  }

  /** The core's settings; QuantizeConfigs that are objects have been asked. */
  async #settings(given: QuantizeOptions): Promise<Record<string, unknown>> {
    const options = withOurNames(given);
    checkMappings(options.frameworkInfo);
    const settings = {
      platform: options.platform ?? null,
      ...configAsGiven(options.config, options.preset, options.platform),
      overrides: options.overrides ?? null,
      framework_info: options.frameworkInfo ?? null,
      recipe: options.recipe ?? null,
      allow_mismatch: options.allowMismatch ?? false,
      format: options.format ?? null,
    };
    for (const [name, value] of Object.entries(options.overrides ? { ...settings, overrides: null } : settings)) {
      asJson(value, name);
    }
    if (!options.overrides) return settings;
    const overrides = await overridesAsData(options.overrides, (bare, which) => {
      const text = asJson({ ...settings, overrides: bare }, 'overrides');
      return this.#withModel(options, (worker) => worker.call('layers', [this.#file.key, text, which]));
    });
    asJson(overrides, 'overrides');
    return { ...settings, overrides };
  }

  async #calibrate(
    given: Feed,
    options: CalibrateOptions & Checkpoints,
    settings: Record<string, unknown>,
    trains = true,
  ): Promise<Statistics> {
    const measures = await this.#measuresOnSamples(options, settings);
    const kept = keep(given, measures);
    const { feed } = kept;
    const bytes = await runJob<Uint8Array>(
      this.#context.pool,
      {
        kind: 'calibrate',
        stage: 'calibrate',
        settings: JSON.stringify({
          ...settings,
          model: this.#file.key,
          data: feed.data?.key ?? null,
          of: feed.of ?? 0,
        }),
        needs: [this.#file, ...(feed.data ? [feed.data] : [])],
        feed,
      },
      options,
    );
    const measured = measures ? await this.#measure(bytes, kept, options, settings, trains) : bytes;
    const statistics = { bytes: measured, sampleCount: kept.count() };
    this.#sources.set(statistics, { kept, settings: JSON.stringify(settings) });
    return statistics;
  }

  /** Whether these settings may want something measured on the samples once more. */
  #measuresOnSamples(call: CallOptions, settings: Record<string, unknown>): Promise<boolean> {
    return abortable(this.#context.pool.idle().call('measuresOnSamples', [JSON.stringify(settings)]), call.signal);
  }

  /** The statistics with what these settings want measured on the samples. */
  async #measure(
    statistics: Uint8Array,
    kept: Kept,
    call: CalibrateOptions & Checkpoints,
    settings: Record<string, unknown>,
    trains = true,
  ): Promise<Uint8Array> {
    await abortable(this.#context.pool.completeFor(JSON.stringify(settings)), call.signal);
    const { data } = kept.feed;
    const needs = [this.#file, ...(data ? [data] : [])];
    const labels =
      trains && call.labels ? await abortable(this.#sets.labels(kept.feed, call.labels, 1), call.signal) : null;
    const text = JSON.stringify({ ...settings, model: this.#file.key, data: data?.key ?? null, labels, trains });
    return runSweep(this.#context.pool, { settings: text, needs, statistics, pick: kept.pick }, call);
  }

  /** Statistics given beside other settings, or beside samples. */
  async #refresh(
    statistics: Statistics,
    options: QuantizeOptions & Checkpoints,
    settings: Record<string, unknown>,
  ): Promise<Uint8Array> {
    const source = this.#sources.get(statistics);
    if (source?.settings === JSON.stringify(settings) && !options.labels) return statistics.bytes;
    if (!(await this.#measuresOnSamples(options, settings))) return statistics.bytes;
    let kept = source?.kept.atHand() ? source.kept : null;
    if (!kept && options.samples) {
      const { preprocessing } = options;
      kept = keep(await abortable(this.#sets.feed(options.samples, { preprocessing }), options.signal), true);
      await kept.collect();
    }
    return kept ? this.#measure(statistics.bytes, kept, options, settings) : statistics.bytes;
  }

  async trainingEpochs(minutes: number, options: QuantizeOptions): Promise<number> {
    this.#check('quantize', options);
    return (await this.#timed(minutes, options)).epochs;
  }

  /** How many epochs take about so long, by the time of some steps, and what was measured before these. */
  async #timed(minutes: number, options: QuantizeOptions): Promise<{ epochs: number; statistics: Statistics }> {
    const { config } = withOurNames(options);
    const given = config?.gradient_ptq_config ?? {};
    const settings = {
      ...(await this.#settings(options)),
      config: { ...config, gradient_ptq_config: { ...given, n_epochs: timedEpochs, most_steps: timedSteps + 1 } },
    };
    const { signal, onProgress, preprocessing, selection, labels } = options;
    const call = { signal, onProgress, preprocessing, selection, labels };
    const feed = () => abortable(this.#sets.feed(options.samples ?? [], call), signal);
    const statistics = options.statistics ?? (await this.#calibrate(await feed(), call, settings, false));
    let kept = this.#sources.get(statistics)?.kept;
    if (!kept?.atHand()) {
      kept = keep(await feed(), true);
      await kept.collect();
    }
    const bytes = options.statistics
      ? await this.#measure(statistics.bytes, kept, call, settings, false)
      : statistics.bytes;
    const at: number[] = [];
    let perEpoch = 1;
    let work = 1;
    const watch = ({ training }: Progress) => {
      if (!training) return;
      perEpoch = training.steps_per_epoch;
      work = training.work_of_mean_step;
      if (training.step > at.length) at.push(performance.now());
    };
    await this.#measure(bytes, kept, { ...call, onProgress: watch }, settings);
    const seconds = ((at.at(-1) ?? 0) - (at[0] ?? 0)) / 1000 / Math.max(1, at.length - 1);
    const steps = (minutes * 60) / Math.max(1e-3, seconds * 1.1 * work);
    return { epochs: Math.min(mostEpochs, Math.max(1, Math.floor(steps / perEpoch))), statistics };
  }

  async tune(options: TuneOptions): Promise<QuantizedResult> {
    this.#check('tune', options);
    const { minutes, ...given } = withOurNames(options);
    const { recipe, resume, labels = null } = given;
    const before = given.config?.gradient_ptq_config ?? recipe?.quantization_config.gradient_ptq_config ?? {};
    // Who gives labels to training wants them in it.
    const label_weight = before.label_weight ?? (labels === null ? 0 : labelWeight);
    const trained = (more: GradientPTQConfig): QuantizeOptions & Checkpoints => ({
      ...given,
      config: { ...given.config, gradient_ptq_config: { ...before, label_weight, ...more } },
    });
    if (minutes === undefined) return this.#quantize(trained({}));
    if (resume) {
      const { pool } = this.#context;
      await abortable(pool.completeFor(JSON.stringify(await this.#settings(trained({})))), given.signal);
      const n_epochs = await abortable(pool.idle().call('epochsOfCheckpoint', [resume]), given.signal);
      return this.#quantize(trained({ n_epochs, most_steps: null }));
    }
    const { resume: _, onCheckpoint: __, ...timed } = trained({});
    const { epochs, statistics } = await this.#timed(minutes, timed);
    return this.#quantize({ ...trained({ n_epochs: epochs, most_steps: null }), statistics });
  }

  async quantize(options: QuantizeOptions): Promise<QuantizedResult> {
    this.#check('quantize', options);
    const { measure, ...others } = options;
    if (measure && options.format === 'tflite') {
      throw new TersorError({
        code: 'invalid_argument',
        message: 'Files are timed in ONNX Runtime, which runs no .tflite files.',
        place: 'options.measure',
        hint: 'Measure an ONNX file, or leave measure out.',
      });
    }
    const timer = await timerFor(measure);
    return timer ? this.#fastest(others, timer) : this.#quantize(others);
  }

  /** Of the files for several words of `prefer` the one that the timer has as the fastest of those that are as accurate. */
  async #fastest(given: Omit<QuantizeOptions, 'measure'>, timer: Timer): Promise<QuantizedResult> {
    const options = withOurNames(given);
    const text = JSON.stringify(await this.#settings(options));
    const words = await this.#withModel(options, (worker) => worker.call('wordsToTime', [text]));
    const { result, statistics } = await this.#made(options);
    const files = [{ result, word: words[0] }];
    const kept = await this.#keptOf(statistics, options);
    const decibels = ({ trial }: Report) => (trial?.held ? Math.min(trial.sqnr_db, trial.median_sqnr_db) : null);
    for (const word of decibels(result.report) === null ? [] : words.slice(1)) {
      const made = await this.#ofWord(word, options, kept);
      if (made && !(await this.#isAmong(files, made, options))) files.push({ result: made, word });
      else made?.close();
    }
    const listed = JSON.stringify(files.map((one) => ({ word: one.word, decibels: decibels(one.result.report) })));
    const times = await this.#time(
      files.map((one) => one.result.model),
      kept,
      timer,
      options,
    );
    const { taken, time } = await this.#withModel(options, (worker) =>
      worker.call('fastestFile', [listed, JSON.stringify(times)]),
    );
    for (const [k, one] of files.entries()) if (k !== taken) one.result.close();
    const fastest = files[taken]?.result ?? result;
    fastest.takeTime(time);
    return fastest;
  }

  /** Null where the word has no file. Other tensors are watched for it, so that it calibrates by itself. */
  async #ofWord(prefer: Preference, options: QuantizeOptions, kept: Kept): Promise<OpenResult | null> {
    const given: QuantizeOptions = {
      ...options,
      statistics: undefined,
      config: { ...options.config, prefer },
      onProgress: (progress) => options.onProgress?.({ ...progress, stage: 'choose' }),
    };
    try {
      return (await this.#made(given, kept)).result;
    } catch (error) {
      if (error instanceof TersorError && error.code === 'unsupported_model') return null;
      throw error;
    }
  }

  async #isAmong(
    files: readonly { readonly result: OpenResult }[],
    made: OpenResult,
    call: CallOptions,
  ): Promise<boolean> {
    for (const { result } of files) {
      const are = this.#withModel(call, (worker) => worker.call('areSameFile', [result.model, made.model]));
      if (await are) return true;
    }
    return false;
  }

  /** The samples that the statistics are of, to go through again. */
  async #keptOf(statistics: Statistics | undefined, options: QuantizeOptions): Promise<Kept> {
    let kept = statistics && this.#sources.get(statistics)?.kept;
    if (!kept?.atHand() && options.samples) {
      kept = keep(await abortable(this.#sets.feed(options.samples, options), options.signal), true);
      await kept.collect();
    }
    if (kept?.atHand()) return kept;
    throw new TersorError({
      code: 'invalid_samples',
      message: 'There are no samples to time files with.',
      place: 'samples',
      hint: 'measure runs the models: give samples, beside statistics too.',
    });
  }

  /** What the float model and these files take, on the first sample. */
  async #time(files: readonly Uint8Array[], kept: Kept, timer: Timer, call: CallOptions): Promise<MeasuredTimes> {
    const tell = (done: number) => call.onProgress?.({ stage: 'choose', done, total: 1, note: 'files timed' });
    tell(0);
    const { data, items } = kept.feed;
    const first = kept.pick([isList(items) ? (items[0]?.index ?? 0) : 0]) ?? [];
    const float = await this.#withModel(call, (worker) => worker.call('floatFile', [this.#file.key]));
    const feed = { data, total: 1, of: 1, items: first };
    for await (const { inputs } of runEach(this.#context, this.#file, feed, { signal: call.signal })) {
      const times = await abortable(timer([float, ...files], inputs), call.signal);
      tell(1);
      return times;
    }
    throw new TersorError({ code: 'invalid_samples', message: 'There is no sample.', place: 'samples' });
  }

  async #quantize(options: QuantizeOptions & Checkpoints): Promise<OpenResult> {
    return (await this.#made(options)).result;
  }

  /** `again`: samples to calibrate with in place of those of the options. */
  async #made(
    options: QuantizeOptions & Checkpoints,
    again?: Kept,
  ): Promise<{ readonly result: OpenResult; readonly statistics: Statistics | undefined }> {
    const { samples } = options;
    const recipe = options.recipe && (await this.#readRecipe(options.recipe, options));
    const spread = recipe && recipe.data_set.of > recipe.data_set.samples ? recipe.data_set.samples : undefined;
    const selection: Selection | undefined =
      options.selection ?? (spread === undefined ? undefined : { part: 'calibration', count: spread });
    const preprocessing = options.preprocessing ?? recipe?.preprocessing ?? undefined;
    const settings = await this.#settings(options);
    await abortable(this.#context.pool.completeFor(JSON.stringify(settings)), options.signal);
    let { statistics } = options;
    // without either the core quantizes weights alone, or says that it needs samples
    let bytes: Uint8Array = new Uint8Array();
    if (statistics) bytes = await this.#refresh(statistics, { ...options, preprocessing }, settings);
    else if (samples || again) {
      const call = { ...options, selection, preprocessing };
      const feed = again ? feedOf(again) : await abortable(this.#sets.feed(samples ?? [], call), call.signal);
      statistics = await this.#calibrate(feed, call, settings);
      ({ bytes } = statistics);
    }
    const text = JSON.stringify(settings);
    const made = await this.#withModel(options, (worker) =>
      worker.call('quantize', [this.#file.key, text, bytes], {
        onProgress(progress) {
          if (!options.signal?.aborted) options.onProgress?.(progress);
        },
      }),
    );
    const result = await OpenResult.of(this.#context, made, {
      float: this.#file,
      sets: this.#sets,
      statistics: bytes,
      settings: text,
    });
    return { result, statistics };
  }

  async evaluate(samples: Samples, labels: Labels, options: EvaluateOptions = {}): Promise<EvaluationResult> {
    this.#check('evaluate', options);
    const feed = await abortable(this.#sets.feed(samples, options), options.signal);
    return evaluate(this.#context, this.#file, this.#sets, feed, labels, options);
  }

  async *run(samples: Samples, options: RunOptions = {}): AsyncGenerator<SampleRun, void, undefined> {
    this.#check('run', options);
    const feed = await abortable(this.#sets.feed(samples, options), options.signal);
    yield* runEach(this.#context, this.#file, feed, options);
  }

  async *variants(options: VariantsOptions = {}): AsyncGenerator<Variant, void, undefined> {
    this.#check('variants', options);
    const calibrate = async (feed: Feed, call: SampleOptions, settings: Record<string, unknown>) =>
      (await this.#calibrate(feed, call, settings)).bytes;
    yield* variantsOf({ context: this.#context, file: this.#file, sets: this.#sets, calibrate }, options);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#sets.close();
    this.#context.pool.forget(this.#file.key);
  }
}
