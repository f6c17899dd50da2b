// SPDX-License-Identifier: Apache-2.0
//
// The samples as the open model takes them: every file's header, the guess of the preprocessing, the first sample as a tensor.

import { batch } from '@preact/signals';
import type { Preprocessing, SampleErrorRow, SampleFile, SamplesInfo } from 'tersor';

import { baseName } from './intake';
import { isAbort, problemOf, type Problem } from './problem';
import * as state from './state';

let inspection: AbortController | null = null;
/** What last fitted together. */
let fitted: {
  readonly model: state.OpenModel;
  readonly files: readonly SampleFile[];
  readonly preprocessing: Preprocessing | null;
} | null = null;

/** Files of which none can be a sample are said too. */
function nothingOf(count: number, skipped: SamplesInfo['skipped']): SampleErrorRow | undefined {
  const [first] = skipped;
  if (count > 0 || first === undefined) return undefined;
  const { path, reason } = first;
  const others = skipped.length - 1;
  const among = others === 0 ? '' : `, nor ${others === 1 ? 'can the other file' : `can the ${others} other files`}`;
  return {
    path,
    error: {
      code: 'invalid_samples',
      message: `${baseName(path)} (${reason}) cannot be read as a sample${among}.`,
      place: path,
      hint: 'Samples are .png, .jpg, .bmp and .ppm pictures, .wav recordings, .csv tables, .npy and .npz arrays. Convert other formats to these.',
    },
  };
}

/** The samples and model whose folders were looked at for numbers. */
let looked: { readonly files: readonly SampleFile[]; readonly model: state.OpenModel } | null = null;

/** Folders that are called by different numbers of outputs are these outputs, until the reader says otherwise. */
function takeNumbers(model: state.OpenModel, { files }: state.SampleSet, info: SamplesInfo): void {
  if (info.count === 0 || (looked?.files === files && looked.model === model)) return;
  looked = { files, model };
  const outputs = state.outputCount.value;
  if (info.labels_from !== 'folders' || outputs === null || state.classMapping.value.by !== 'order') return;
  const numbers = info.classes.map(({ name }) => (/^\d+$/.test(name) ? Number(name) : outputs));
  const areOutputs = new Set(numbers).size === numbers.length && numbers.every((n) => n < outputs);
  const isOrder = info.classes.every(({ label }, k) => label === numbers[k]);
  if (areOutputs && !isOrder) state.classMapping.value = { by: 'number', outputs: {} };
}

/** Reads the samples' headers against the open model; a newer call replaces an older one. */
export async function inspect(): Promise<void> {
  const open = state.model.value;
  const set = state.samples.value;
  if (!open || !set) return;
  inspection?.abort();
  const mine = new AbortController();
  inspection = mine;
  const chosen = state.preprocessingIsGuess.value ? null : state.preprocessing.value;
  const before = fitted?.model === open && fitted.files === set.files ? fitted.preprocessing : null;
  try {
    const info = await open.handle.inspectSamples(set.files, {
      signal: mine.signal,
      ...(chosen ? { preprocessing: chosen } : {}),
    });
    const first = info.errors[0] ?? nothingOf(info.count, info.skipped);
    if (!first) fitted = { model: open, files: set.files, preprocessing: info.preprocessing };
    batch(() => {
      state.fittingPreprocessing.value = first ? before : null;
      state.unreadable.value = [];
      state.samplesInfo.value = info;
      state.preview.value = info.first;
      state.previewProblem.value = null;
      // of arrays only what is added to their labels is kept
      state.preprocessing.value = info.preprocessing ?? (chosen?.label_offset ? chosen : null);
      takeNumbers(open, set, info);
      if (!chosen) {
        state.preprocessingTrial.value = info.preprocessing_trial;
        state.usualPreprocessing.value = info.preprocessing;
      }
      state.samplesProblem.value = first
        ? {
            ...first.error,
            place: placeWithFile(first.error, first.path),
            hint: othersToo(info.errors.length, first.error.hint),
          }
        : null;
    });
    if (!first && set.labelsFile) void checkLabels(open, set, mine.signal);
  } catch (error) {
    if (isAbort(error)) return;
    const problem = problemOf(error);
    const path = fileNamed(problem);
    batch(() => {
      state.fittingPreprocessing.value = before;
      if (!before) state.samplesInfo.value = null;
      state.preview.value = null;
      state.unreadable.value = path === null ? [] : [path];
      state.samplesProblem.value = path === null ? problem : { ...problem, place: placeWithFile(problem, path) };
      state.openRegion('samples');
    });
  }
}

/** The file of the data set whose sample a problem names, as in `samples[3] "cat/0004"`. */
export function fileNamed(problem: Problem): string | null {
  const name = /"([^"]*)"/.exec(problem.place)?.[1];
  if (name === undefined || problem.code !== 'invalid_samples') return null;
  const found = state.samples.value?.files.find(({ path }) => path === name || path.replace(/\.[^./]*$/, '') === name);
  return found?.path ?? null;
}

/** A sample's name has no ending; the card shows the file that was dropped. */
function placeWithFile(error: Problem, path: string): string {
  if (error.message.includes(path) || error.place.includes(path)) return error.place || path;
  return error.place === '' ? path : `${path}, ${error.place}`;
}

function othersToo(count: number, hint: string): string {
  const more = count - 1;
  return more <= 0 ? hint : `${hint} ${more} other ${more === 1 ? 'file has' : 'files have'} a problem too.`.trim();
}

/** Labels are read whole, and against the model's classes, where one sample is evaluated. */
async function checkLabels({ handle }: state.OpenModel, set: state.SampleSet, signal: AbortSignal): Promise<void> {
  const preprocessing = state.preprocessing.value ?? undefined;
  try {
    await handle.evaluate(set.files, set.labelsFile, {
      signal,
      preprocessing,
      selection: { part: 'calibration', count: 1 },
    });
  } catch (error) {
    const problem = problemOf(error);
    if (problem.code === 'invalid_labels') state.samplesProblem.value = problem;
  }
}

/** Shows sample `index` of the data set, as a tensor. */
export async function showSample(index: number): Promise<void> {
  const open = state.model.value;
  const set = state.samples.value;
  const chosen = state.preprocessing.value;
  if (!open || !set) return;
  try {
    state.preview.value = await open.handle.previewSample(set.files, index, chosen ? { preprocessing: chosen } : {});
    state.previewProblem.value = null;
  } catch (error) {
    if (!isAbort(error)) state.previewProblem.value = problemOf(error);
  }
}
