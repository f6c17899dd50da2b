// SPDX-License-Identifier: Apache-2.0

import { instantiate, jsonOf, valueOf, type Core } from './core.js';
import { sentence, TersorError } from './error.js';
import { compileAt, coreCount, isNode, nodeModule, ownBytes, readUrl } from './host.js';
import { abortable } from './job.js';
import { OpenModel } from './model.js';
import { ModelFile, type Context } from './model_file.js';
import type { NamedData } from './packed.js';
import { checkOptions } from './options.js';
import { Pool } from './pool.js';
import type { Lists } from './protocol.js';
import { startHere, startWorker } from './start_worker.js';
import { CoreTrainableQuantizer } from './trainable.js';
import type { BaseTrainableQuantizer, TrainableQuantizerOptions } from './types/trainable.js';
import type * as types from './types.js';

const mostWorkers = 8;

function located(locateFile: types.TersorOptions['locateFile'], name: string): URL | null {
  const place = locateFile?.(name);
  if (place === undefined) return null;
  return place instanceof URL ? place : new URL(place, (globalThis as { location?: Location }).location?.href);
}

/**
 * The worker's file. Version 0.1 asked for worker.mjs: for one version more, who answers for that name in a way of its own is
 * heard.
 */
function locatedWorker(locateFile: types.TersorOptions['locateFile']): URL | null {
  const [place, former] = [located(locateFile, 'worker.js'), located(locateFile, 'worker.mjs')];
  const usual = (name: string) => located(locateFile, 'tersor.wasm')?.href.replace('tersor.wasm', name);
  const isOwn = place && place.href !== usual('worker.js');
  return isOwn || !former || former.href === usual('worker.mjs') ? place : former;
}

/** The engine that `create` begins with. */
async function compiled(options: types.TersorOptions): Promise<WebAssembly.Module> {
  const { wasmBinary, locateFile, light = false } = options;
  if (wasmBinary instanceof WebAssembly.Module) return wasmBinary;
  if (light === false) return compiledOf('tersor.wasm', wholeAt(locateFile), wasmBinary);
  const url = located(locateFile, 'tersor-light.wasm') ?? (light === true ? lightAt() : light);
  return compiledOf('tersor-light.wasm', url, wasmBinary);
}

/** Written so that bundlers find the files. */
function wholeAt(locateFile: types.TersorOptions['locateFile']): URL {
  return located(locateFile, 'tersor.wasm') ?? new URL('./tersor.wasm', import.meta.url);
}

/** Beside the whole one, where the package lies as it is. Written so that bundlers do not find the file: for them there is light.ts. */
const lightAt = () => new URL('tersor-light.wasm', wholeAt(undefined));

async function compiledOf(
  name: string,
  url: URL,
  wasmBinary: ArrayBuffer | Uint8Array | undefined,
): Promise<WebAssembly.Module> {
  try {
    return wasmBinary ? await WebAssembly.compile(wasmBinary as BufferSource) : await compileAt(url);
  } catch (error) {
    // Chromium, Firefox and Safari say it in words of their own.
    const forbidden = /content.security.policy|blocked by csp|unsafe-eval/i.test(sentence(error));
    const cannot = error instanceof WebAssembly.CompileError;
    throw new TersorError(
      {
        code: 'io',
        message: forbidden
          ? "The page's Content-Security-Policy forbids WebAssembly."
          : `The engine could not be loaded: ${sentence(error)}`,
        place: wasmBinary ? 'wasmBinary' : url.href,
        hint: forbidden
          ? "Add 'wasm-unsafe-eval' to script-src in that policy, in the page's header or its meta element."
          : cannot
            ? 'WebAssembly with SIMD and exceptions is needed: Chrome 95, Firefox 100, Safari 16.4, Node 20, or newer.'
            : name === 'tersor-light.wasm'
              ? "In a bundle, import light from 'tersor/light' and create the engine with { light }; else check that tersor-light.wasm is where locateFile says, and that there is a network."
              : `Check that ${name} is where locateFile says, and that there is a network.`,
      },
      { cause: error },
    );
  }
}

async function wantedWorkers(wanted: number | 'auto' | undefined): Promise<number> {
  if (wanted === undefined || wanted === 'auto') {
    const hasWorkers = isNode || typeof Worker !== 'undefined';
    return hasWorkers ? Math.min(mostWorkers, await coreCount()) : 0;
  }
  if (Number.isInteger(wanted) && wanted >= 0 && wanted <= 64) return wanted;
  throw new TersorError({
    code: 'invalid_argument',
    message: `workers is ${String(wanted)}; a whole number from 0 to 64 or 'auto' is expected.`,
    place: 'workers',
  });
}

/** What a text names: an address, or in Node a path. */
async function addressOf(text: string): Promise<URL> {
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return new URL(text); // one letter alone is a drive
  if (isNode) return (await nodeModule<{ pathToFileURL(path: string): URL }>('url')).pathToFileURL(text);
  return new URL(text, (globalThis as { location?: Location }).location?.href);
}

async function content(given: types.ModelSource, signal: AbortSignal | undefined): Promise<NamedData> {
  const source = typeof given === 'string' ? await addressOf(given) : given;
  if (source instanceof URL) {
    const path = source.pathname.slice(source.pathname.lastIndexOf('/') + 1);
    try {
      return { path, data: await abortable(readUrl(source), signal) };
    } catch (error) {
      signal?.throwIfAborted();
      throw new TersorError(
        { code: 'io', message: `The model could not be read: ${sentence(error)}`, place: String(given) },
        { cause: error },
      );
    }
  }
  if (source instanceof Blob) return { path: source instanceof File ? source.name : 'model.onnx', data: source };
  const bytes = ownBytes(source);
  if (bytes) return { path: 'model.onnx', data: bytes };
  throw new TersorError({
    code: 'invalid_argument',
    message: 'open() takes bytes, a Blob, a File, a URL or, in Node, a path.',
    place: 'source',
  });
}

/** What the core answers at once. Its glue throws in words of its own where an argument has another type. */
function answered<T>(call: string, ask: () => T): T {
  try {
    return ask();
  } catch (error) {
    if (error instanceof TersorError) throw error;
    throw new TersorError(
      { code: 'invalid_argument', message: `This cannot be taken: ${sentence(error)}.`, place: call },
      { cause: error },
    );
  }
}

/** The engine: N workers, each with the core in WebAssembly; the caller's own core answers what needs an answer at once. */
export class Tersor implements types.Tersor {
  readonly version: string;
  readonly workers: number;
  readonly #context: Context;
  readonly #core: Core;
  readonly #lists: Lists;

  private constructor(context: Context, core: Core, lists: Lists, workers: number) {
    this.workers = workers;
    this.#context = context;
    this.#core = core;
    this.#lists = lists;
    this.version = valueOf(core.version());
  }

  /** Loads the core, once, and starts the workers; afterwards nothing is fetched but what open() is given as a URL. */
  static async create(options: types.TersorOptions = {}): Promise<Tersor> {
    checkOptions('create', options);
    const { signal } = options;
    signal?.throwIfAborted();
    const count = await wantedWorkers(options.workers);
    const module = await abortable(compiled(options), signal);
    const { locateFile } = options;
    const light = options.light !== undefined && options.light !== false;
    const whole = light ? () => compiledOf('tersor.wasm', wholeAt(locateFile), undefined) : null;
    const url = locatedWorker(locateFile);
    const start = count === 0 ? async () => startHere() : () => startWorker(url);
    const pool = new Pool(module, Math.max(1, count), start, whole);
    try {
      await abortable(Promise.all(pool.workers.map((worker) => worker.start())), signal);
      const lists = pool.idle().call('lists', []);
      const [core, known] = await abortable(Promise.all([instantiate(module, light), lists]), signal);
      return new Tersor({ pool }, core, known, count);
    } catch (error) {
      pool.close();
      throw error;
    }
  }

  async open(source: types.ModelSource, options: types.OpenOptions = {}): Promise<types.Model> {
    checkOptions('open', options);
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    onProgress?.({ stage: 'open', done: 0, total: 1, note: '' });
    const files = [await content(source, signal)];
    for (const [path, data] of options.externalData ?? []) files.push({ path, data });
    const file = await abortable(ModelFile.of(files), signal);
    const info = await abortable(this.#context.pool.opened(file), signal);
    onProgress?.({ stage: 'open', done: 1, total: 1, note: '' });
    return new OpenModel(this.#context, file, info);
  }

  platforms(): readonly types.PlatformInfo[] {
    return this.#lists.platforms;
  }

  getTargetPlatformCapabilities(name: string, version?: number): types.TargetPlatformCapabilities {
    return answered('getTargetPlatformCapabilities', () =>
      jsonOf(this.#core.targetPlatformCapabilities(name, version ?? 0)),
    );
  }

  readPlatform(text: string): types.TargetPlatformCapabilities {
    return answered('readPlatform', () => jsonOf(this.#core.readPlatform(text)));
  }

  async readSettings(
    file: types.HostBlob | string,
    options: types.ReadSettingsOptions = {},
  ): Promise<types.SettingsFile> {
    checkOptions('readSettings', options);
    const { signal, name = 'settings', model } = options;
    signal?.throwIfAborted();
    const worker = this.#context.pool.idle();
    const key = model instanceof OpenModel ? await model.bringTo(worker) : '';
    return abortable(worker.call('readSettings', [file, name, key]), signal);
  }

  quantizationConfig(fields: types.QuantizationConfig = {}, preset?: types.Preset): types.QuantizationConfig {
    return answered('quantizationConfig', () =>
      jsonOf(this.#core.quantizationConfig(JSON.stringify(fields), preset ?? '')),
    );
  }

  describeQuantizationConfig(): readonly types.FieldDescription[] {
    return this.#lists.fields;
  }

  defaultCalibrationCount(total: number): number {
    return answered('defaultCalibrationCount', () => valueOf(this.#core.defaultCalibrationCount(total)));
  }

  preprocessingPreset(name: types.PreprocessingPreset): types.Preprocessing {
    return answered('preprocessingPreset', () => jsonOf(this.#core.preprocessingPreset(name)));
  }

  trainableQuantizer(options: TrainableQuantizerOptions): BaseTrainableQuantizer {
    checkOptions('trainableQuantizer', options);
    if (!('makeTrainable' in this.#core)) {
      throw new TersorError({
        code: 'invalid_argument',
        message: 'This engine was created with light: true, which is without trainable quantizers.',
        place: 'trainableQuantizer',
        hint: 'Create one without it.',
      });
    }
    return answered('trainableQuantizer', () => new CoreTrainableQuantizer(this.#core, options));
  }

  close(): void {
    this.#context.pool.close();
  }
}
