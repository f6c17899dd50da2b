// SPDX-License-Identifier: Apache-2.0
//
// The core in WebAssembly, as bindings.cpp binds it. Every bound function answers with a value or with the four fields
// of an error; here errors become exceptions.

import { TersorError } from './error.js';
import makeLight from './tersor-light.js';
import makeWhole from './tersor.js';
import type { ReadBytes } from './packed.js';
import type { CoreCalls, SentSample } from './protocol.js';
import type { TersorErrorFields } from './types.js';

export type Answer<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: TersorErrorFields };

interface FileTable {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly read: ReadBytes;
}

export type ReportProgress = (stage: string, done: number, total: number, note: string) => void;

/** Functions that no call of the protocol is passed on to as it is. Texts are JSON. Bytes that come out are copies of their own. */
interface OwnFunctions {
  version(): Answer<string>;
  platforms(): Answer<string>;
  targetPlatformCapabilities(name: string, version: number): Answer<string>;
  readPlatform(text: string): Answer<string>;
  /** `preset`: empty for our defaults. */
  quantizationConfig(fields: string, preset: string): Answer<string>;
  describeQuantizationConfig(): Answer<string>;
  describeSampleFiles(): Answer<string>;
  defaultCalibrationCount(total: number): Answer<number>;
  preprocessingPreset(name: string): Answer<string>;
  verdict(report: string): Answer<string>;
  /** `model`: empty for none. */
  readSettings(text: string, name: string, model: string): Answer<string>;
  sha256(bytes: Uint8Array): Answer<Uint8Array>;

  openModel(key: string, table: FileTable): Answer<string>;
  layers(model: string, settings: string, which: number): Answer<LayersAnswer>;
  openData(key: string, model: string, table: FileTable, preprocessing: string): Answer<string>;
  preview(data: string, index: number): Answer<PreviewAnswer>;
  previewTensors(model: string, sample: SentSample): Answer<PreviewAnswer>;
  labelsOfFolders(data: string): Answer<string>;
  labelsOfFile(data: string, table: FileTable, group: number): Answer<string>;
  /** What the digest of the sample is taken of, on the core's own memory: not to be kept. Null: the job wants none. */
  loadSample(job: string, sample: SentSample): Answer<Uint8Array<ArrayBuffer> | null>;
  /** Runs the one that was loaded. */
  addSample(job: string): Answer<null>;
  /** In place of addSample(), where the job runs its model on single samples. */
  runLoaded(job: string): Answer<RunAnswer>;
  /** Of the one that was added last, where the job wants digests. */
  noteDigest(job: string, digest: Uint8Array): Answer<null>;
  mergeJob(
    job: string,
    parts: readonly Uint8Array[],
    extra: Uint8Array | null,
  ): Answer<Uint8Array<ArrayBuffer> | string>;
  quantize(
    model: string,
    settings: string,
    statistics: Uint8Array,
    progress: ReportProgress,
  ): Answer<{
    readonly model: Uint8Array;
    readonly computed: Uint8Array | null;
    readonly recipe: string;
    readonly report: string;
  }>;

  /** Trainable quantizers by number; `variables` are the values of theirs, in order. */
  makeTrainable(text: string): Answer<{ readonly id: number; readonly config: string }>;
  dropTrainable(id: number): Answer<null>;
  /** `info` is JSON of the variables without their values. */
  initializeTrainable(
    id: number,
    values: Float32Array,
    shape: readonly number[],
    name: string,
  ): Answer<{ readonly info: string; readonly values: readonly Float32Array[] }>;
  callTrainable(
    id: number,
    variables: readonly Float32Array[],
    inputs: Float32Array,
    training: boolean,
  ): Answer<Float32Array>;
  gradientOfTrainable(
    id: number,
    variables: readonly Float32Array[],
    inputs: Float32Array,
    byOutput: Float32Array,
  ): Answer<{ readonly by_input: Float32Array; readonly gradients: readonly Float32Array[] }>;
  convertTrainable(id: number, variables: readonly Float32Array[]): Answer<string>;
  /** JSON: numbers of those that are trained. */
  variablesOfTrainable(id: number, group: string): Answer<string>;
}

/** Every function that bindings.cpp binds. */
export type Core = OwnFunctions & {
  [M in keyof CoreCalls]: (...args: Parameters<CoreCalls[M]>) => Answer<ReturnType<CoreCalls[M]> | string>;
};

/** `info` is JSON of LayerFacts without the weights' data; `values` are these, one after the other. */
export interface LayersAnswer {
  readonly info: string;
  readonly values: readonly Float32Array[];
}

/** `info` is a SamplePreview without its arrays; `values` are those of its tensors. */
export interface PreviewAnswer {
  readonly info: string;
  readonly rgba: Uint8Array | null;
  readonly values: readonly Float32Array[];
}

/** `info` is JSON {inputs, outputs} of NamedTensor without the data; `values` are their bytes, one after the other. */
export interface RunAnswer {
  readonly info: string;
  readonly values: readonly Uint8Array<ArrayBuffer>[];
}

/** The value, or the error thrown. */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new TersorError(answer.error);
}

export function jsonOf<T>(answer: Answer<string>): T {
  return JSON.parse(valueOf(answer)) as T;
}

/** `light`: the module is tersor-light.wasm, which has no trainable quantizers. */
export async function instantiate(module: WebAssembly.Module, light: boolean): Promise<Core> {
  // Each file is read by the loader that was written with it. Service workers import nothing once they run, and Vite up to 7 builds no
  // worker that imports a file later on.
  const makeModule = light ? makeLight : makeWhole;
  return new Promise((resolve, reject) => {
    makeModule({
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(module, imports).then((instance) => done(instance, module), reject);
        return {};
      },
      print: () => undefined,
      printErr: () => undefined,
    }).then((made) => resolve(made as unknown as Core), reject);
  });
}
