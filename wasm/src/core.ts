// SPDX-License-Identifier: Apache-2.0
//
// The core in WebAssembly, as bindings.cpp binds it. Every bound function answers with a value or with the four fields
// of an error; here errors become exceptions.

import { TersorError } from './error.js';
import type { ReadBytes } from './packed.js';
import type { JobKind, SentSample } from './protocol.js';
import type { TersorErrorFields } from './types.js';
import makeModule from './tersor.mjs';

export type Answer<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: TersorErrorFields };

interface FileTable {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly read: ReadBytes;
}

export type ReportProgress = (stage: string, done: number, total: number, note: string) => void;

/** Texts are JSON. Bytes that come out are copies of their own. */
export interface Core {
  version(): Answer<string>;
  platforms(): Answer<string>;
  targetPlatformCapabilities(name: string, version: number): Answer<string>;
  readPlatform(text: string): Answer<string>;
  /** `preset`: empty for our defaults. */
  quantizationConfig(fields: string, preset: string): Answer<string>;
  describeQuantizationConfig(): Answer<string>;
  preprocessingPreset(name: string): Answer<string>;
  verdict(report: string): Answer<string>;
  /** `model`: empty for none. */
  readSettings(text: string, name: string, model: string): Answer<string>;
  sha256(bytes: Uint8Array): Answer<Uint8Array>;
  select(total: number, part: string, count: number): Answer<string>;
  measuresOnSamples(settings: string): Answer<boolean>;

  openModel(key: string, table: FileTable): Answer<string>;
  close(key: string): Answer<null>;
  coverage(model: string, settings: string): Answer<string>;
  graph(model: string, settings: string): Answer<string>;
  runtimeNodes(model: string, settings: string): Answer<string>;
  weightChannels(model: string, settings: string, name: string): Answer<string>;
  openRange(key: string, model: string, settings: string, statistics: Uint8Array, question: string): Answer<string>;
  rangeFigures(key: string, low: number, high: number): Answer<string>;
  layers(model: string, settings: string, which: number): Answer<LayersAnswer>;
  openData(key: string, model: string, table: FileTable, preprocessing: string): Answer<string>;
  checkData(data: string): Answer<null>;
  inspectData(data: string): Answer<string>;
  preview(data: string, index: number): Answer<PreviewAnswer>;
  previewTensors(model: string, sample: SentSample): Answer<PreviewAnswer>;
  labelsOfFolders(data: string): Answer<string>;
  labelsOfFile(data: string, table: FileTable, group: number): Answer<string>;
  beginJob(key: string, kind: JobKind, settings: string): Answer<null>;
  /** What the digest of the sample is taken of, on the core's own memory: not to be kept. Null: the job wants none. */
  loadSample(job: string, sample: SentSample): Answer<Uint8Array<ArrayBuffer> | null>;
  /** Runs the one that was loaded. */
  addSample(job: string): Answer<null>;
  /** Of the one that was added last, where the job wants digests. */
  noteDigest(job: string, digest: Uint8Array): Answer<null>;
  finishJob(job: string): Answer<Uint8Array>;
  mergeJob(
    job: string,
    parts: readonly Uint8Array[],
    extra: Uint8Array | null,
  ): Answer<Uint8Array<ArrayBuffer> | string>;
  beginSweep(key: string, settings: string, statistics: Uint8Array): Answer<string>;
  sweepStep(job: string, step: number, before: Uint8Array): Answer<Uint8Array>;
  mergeSweepStep(job: string, step: number, parts: readonly Uint8Array[]): Answer<Uint8Array>;
  finishSweep(job: string, outcomes: readonly Uint8Array[]): Answer<Uint8Array>;
  stopSweep(job: string): Answer<null>;
  sweepProgress(job: string): Answer<string>;
  quantize(
    model: string,
    settings: string,
    statistics: Uint8Array,
    progress: ReportProgress,
  ): Answer<{ readonly model: Uint8Array; readonly recipe: string; readonly report: string }>;

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

/** `info` is JSON of LayerFacts without the weights' data; `values` are these, one behind the other. */
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

/** The value, or the error thrown. */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new TersorError(answer.error);
}

export function jsonOf<T>(answer: Answer<string>): T {
  return JSON.parse(valueOf(answer)) as T;
}

export function instantiate(module: WebAssembly.Module): Promise<Core> {
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
