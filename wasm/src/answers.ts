// SPDX-License-Identifier: Apache-2.0
//
// One instance of the core, which does what the pool asks, one request after the other: in a worker (worker.ts), or in the
// caller's own thread (start_worker.ts).

import {
  instantiate,
  jsonOf,
  valueOf,
  type Answer,
  type Core,
  type LayersAnswer,
  type PreviewAnswer,
  type RunAnswer,
} from './core.js';
import { sentence, TersorError } from './error.js';
import { atHand, readerOf, type Packed } from './packed.js';
import {
  memoryOf,
  type CoreCalls,
  type LayerFacts,
  type Method,
  type Quantized,
  type Reply,
  type Request,
  type SentSample,
  type WorkerCalls,
} from './protocol.js';
import type {
  NamedTensor,
  NodeInfo,
  Progress,
  Recipe,
  Report,
  SamplePreview,
  SampleRun,
  Stage,
  TersorErrorFields,
  TypedArray,
} from './types.js';

export type Post = (reply: Reply, transfer: Transferable[]) => void;
type Handlers = {
  [M in keyof WorkerCalls]: (
    report: (progress: Progress) => void,
    ...args: Parameters<WorkerCalls[M]>
  ) => ReturnType<WorkerCalls[M]> | Promise<ReturnType<WorkerCalls[M]>>;
};

async function table(packed: Packed) {
  return { files: packed.files, read: readerOf(await atHand(packed)) };
}

function preview(answer: PreviewAnswer): SamplePreview {
  const info = JSON.parse(answer.info) as SamplePreview;
  return {
    ...info,
    picture:
      info.picture && answer.rgba
        ? { ...info.picture, rgba: new Uint8ClampedArray(answer.rgba.buffer as ArrayBuffer) }
        : null,
    tensors: info.tensors.map((tensor, k) => ({ ...tensor, values: answer.values[k] ?? new Float32Array(0) })),
  };
}

function layers(answer: LayersAnswer): LayerFacts[] {
  let next = 0;
  return (JSON.parse(answer.info) as LayerFacts[]).map((layer) => ({
    ...layer,
    weights: layer.weights.map((weight) => ({ ...weight, data: answer.values[next++] ?? new Float32Array(0) })),
  }));
}

/** Arrays of the element types that are read as numbers; others are bytes. */
const arrays: Readonly<Record<string, new (buffer: ArrayBuffer) => TypedArray>> = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int8: Int8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
};

function ran(answer: RunAnswer, index: number): SampleRun {
  const info = JSON.parse(answer.info) as Omit<SampleRun, 'index'>;
  let next = 0;
  const filled = (tensor: NamedTensor): NamedTensor => {
    const bytes = answer.values[next++] ?? new Uint8Array();
    return { ...tensor, data: new (arrays[tensor.type] ?? Uint8Array)(bytes.buffer) };
  };
  const both = (edges: Pick<SampleRun, 'inputs' | 'outputs'>) => ({
    inputs: edges.inputs.map(filled),
    outputs: edges.outputs.map(filled),
  });
  return { index, ...both(info), ...(info.file && { file: both(info.file) }) };
}

/** The browser's own is several times as fast; it is there where the page is a secure context. */
async function sha256(core: Core, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const { subtle } = globalThis.crypto as Partial<Crypto>;
  return subtle ? new Uint8Array(await subtle.digest('SHA-256', bytes)) : valueOf(core.sha256(bytes));
}

/** JSON has no typed arrays. */
function plain(_key: string, value: unknown): unknown {
  return value instanceof Int32Array ? Array.from(value) : value;
}

/** The handlers of one core; `core` is there when the first of them, start, has answered. */
function handlersOf(core: () => Core, begin: (core: Core) => void): Handlers {
  return {
    async start(_report, module, light) {
      begin(await instantiate(module, light));
      return null;
    },
    lists: () => ({ platforms: jsonOf(core().platforms()), fields: jsonOf(core().describeQuantizationConfig()) }),
    openModel: async (_report, key, files) => jsonOf(core().openModel(key, await table(files))),
    layers: (_report, model, settings, which) => layers(valueOf(core().layers(model, settings, which))),
    nodes(_report, model, settings) {
      const { info } = valueOf(core().layers(model, settings, 0));
      return (JSON.parse(info) as NodeInfo[]).map(({ name, type }) => ({ name, type }));
    },
    openData: async (_report, key, model, files, preprocessing) =>
      jsonOf(core().openData(key, model, await table(files), preprocessing)),
    preview: (_report, data, index) => preview(valueOf(core().preview(data, index))),
    previewTensors: (_report, model, sample) => preview(valueOf(core().previewTensors(model, sample))),
    async labels(_report, data, labels, group) {
      if (labels === 'folders') return jsonOf(core().labelsOfFolders(data));
      return jsonOf(core().labelsOfFile(data, await table(labels), group));
    },
    async addSamples(_report, job, samples, lent) {
      for (const sample of samples) {
        const digested = valueOf(core().loadSample(job, sample));
        // taken while the sample runs
        const digest = digested && sha256(core(), digested);
        valueOf(core().addSample(job));
        if (digest) valueOf(core().noteDigest(job, await digest));
      }
      return lent ? samples : null;
    },
    runSample(_report, job, sample) {
      valueOf(core().loadSample(job, sample));
      return ran(valueOf(core().runLoaded(job)), sample.index);
    },
    async mergeJob(_report, job, parts, extra) {
      const merged = valueOf(core().mergeJob(job, parts, extra));
      if (typeof merged === 'string') return JSON.parse(merged) as ReturnType<WorkerCalls['mergeJob']>;
      const checksum = await sha256(core(), merged);
      const file = new Uint8Array(merged.length + checksum.length);
      file.set(merged);
      file.set(checksum, merged.length);
      return file;
    },
    quantize(report, model, settings, statistics): Quantized {
      const made = valueOf(
        core().quantize(model, settings, statistics, (stage, done, total, note) =>
          report({ stage: stage as Stage, done, total, note }),
        ),
      );
      return {
        model: made.model,
        computed: made.computed,
        recipe: JSON.parse(made.recipe) as Recipe,
        report: JSON.parse(made.report) as Report,
      };
    },
    async readSettings(_report, file, name, model) {
      return jsonOf(core().readSettings(typeof file === 'string' ? file : await file.text(), name, model));
    },
    verdict: (_report, report) => jsonOf(core().verdict(JSON.stringify(report, plain))),
  };
}

type Handler = (report: (progress: Progress) => void, ...args: readonly unknown[]) => unknown;

/** Texts of the core are JSON. */
function passedOn(core: Core, method: keyof CoreCalls, args: readonly unknown[]): unknown {
  const bound = core[method] as (...args: readonly unknown[]) => Answer<unknown>;
  const value = valueOf(bound(...args));
  return typeof value === 'string' ? JSON.parse(value) : value;
}

function fieldsOf(thrown: unknown): TersorErrorFields | null {
  return thrown instanceof TersorError ? thrown.toJSON() : null;
}

/** A value that does not fit what the core takes is refused on its way in: the instance is as it was. */
function refused(thrown: unknown, method: Method): TersorErrorFields | null {
  if (!(thrown instanceof TypeError) && (thrown as { name?: unknown } | null)?.name !== 'BindingError') return null;
  return { code: 'invalid_argument', message: `This cannot be taken: ${sentence(thrown)}.`, place: method, hint: '' };
}

function tensorsOf({ inputs, outputs, file }: SampleRun): readonly NamedTensor[] {
  return [...inputs, ...outputs, ...(file ? [...file.inputs, ...file.outputs] : [])];
}

/** What goes over with an answer: bytes out of the core are copies of their own, samples were lent. */
function handedOver(method: Method, result: unknown): Transferable[] {
  if (result instanceof Uint8Array) return [result.buffer as ArrayBuffer];
  if (method === 'runSample') {
    return tensorsOf(result as SampleRun).map(({ data }) => data.buffer as ArrayBuffer);
  }
  return method === 'addSamples' && result ? memoryOf(result as readonly SentSample[]) : [];
}

/** What answers the requests of one instance, which are to come one after the other. */
export function answering(): (request: Request, post: Post) => Promise<void> {
  let started: Core | null = null;
  const core = () => {
    if (!started) throw new TersorError({ code: 'internal', message: 'The worker was asked before it was started.' });
    return started;
  };
  const handlers: Partial<Record<Method, Handler>> = handlersOf(core, (made) => (started = made)) as Partial<
    Record<Method, Handler>
  >;
  return async ({ id, method, args }, post) => {
    try {
      const handler = handlers[method];
      const result = handler
        ? await handler((progress) => post({ id, progress }, []), ...args)
        : passedOn(core(), method as keyof CoreCalls, args);
      post({ id, result }, handedOver(method, result));
    } catch (thrown) {
      const fields = fieldsOf(thrown) ?? refused(thrown, method);
      // anything else is a trap of WebAssembly or a bug: the instance cannot be trusted any more
      const error = fields ?? {
        code: 'worker_died',
        message: `A worker stopped: ${sentence(thrown)}`,
        place: '',
        hint: 'Try again with fewer workers: each needs memory for the model and its largest tensors.',
      };
      post({ id, error, fatal: fields === null }, []);
    }
  };
}
