// SPDX-License-Identifier: Apache-2.0

import { advise, type Advice } from './advice';
import { step, undo, undoLabel } from './history';
import { inspect } from './inspect';
import { elsewhere, isFaster, isGain, onWorstPart, type Changed, type Effect } from './effects';
import { counted, decibels, value } from '../numbers';
import { setCalibration, setPreprocessing } from './load';
import { quantizeAgain } from './quantize';
import type { FoundOrder } from './reorder';
import { say } from './say';
import { changed } from './coverage';
import { formRows, setField, setKeepFloat, setPlatform } from './settings';
import * as state from './state';

/** What this run's own figures advise; nothing while they are incomplete or of other settings. */
export function currentAdvice(): Advice[] {
  const done = state.result.value;
  const engine = state.engine.value;
  if (!done || done.pending || state.resultIsOld.value || !engine) return [];
  const facts = state.samplesFacts.value;
  return advise({
    report: done.quantized.report,
    comparison: done.comparison,
    float: done.float,
    config: engine.quantizationConfig(state.config.value),
    ...facts,
    calibration: state.calibrationCount.value,
    usualCalibration: state.defaultCalibration.value,
    order: null,
    isGuess:
      state.samplesInfo.value?.preprocessing_is_guess === true &&
      facts.trial === null &&
      !state.preprocessingIsGiven.value,
  });
}

/** What an advice changes in the settings, where that has an effect on this file that can be computed. */
export function changedBy({ change }: Advice): Changed | null {
  switch (change.kind) {
    case 'field':
      return { fields: { [change.name]: change.value } };
    case 'float':
      return {
        overrides: [
          {
            name: change.name,
            config: { enable_weights_quantization: false, enable_activation_quantization: false },
          },
        ],
      };
    case 'bits':
      return { overrides: [{ name: change.name, config: { weights_n_bits: change.bits } }] };
    case 'platform':
      return { platform: change.name };
    default:
      return null;
  }
}

/** The sentence of a computed effect; null where it is none that helps. */
export function gainText({ id }: Advice, effect: Effect): string | null {
  const isElsewhere = id === 'without-vnni';
  const isOfPart = id === 'unlike-ranges';
  const seen = isElsewhere ? elsewhere(effect) : isOfPart ? onWorstPart(effect) : effect;
  const { before, after } = seen;
  if (id === 'not-faster')
    return isFaster(effect) ? `Computed: ${value(before.times)} → ${value(after.times)} times as fast as float.` : null;
  if (!isGain(seen)) return null;
  const answers =
    before.same !== null && after.same !== null ? `${before.same} → ${after.same} of ${before.count} answers, ` : '';
  return `Computed on ${counted(before.count, 'sample')}${isElsewhere ? ' without VNNI' : ''}: ${answers}${decibels(before.sqnr)} → ${decibels(after.sqnr)} at ${isOfPart ? 'the worst part of the output' : 'the output'}.`;
}

/** Preprocessing as the labels confirm it. */
async function takeBestPreset(): Promise<void> {
  step('Preprocessing that the labels confirm', () => {
    state.preprocessing.value = null;
    state.preprocessingIsGiven.value = false;
  });
  await inspect();
  quantizeAgain();
}

function showForm(field: string): void {
  state.openRegion('samples');
  requestAnimationFrame(() => {
    const form = document.querySelector<HTMLElement>(field);
    form?.focus({ preventScroll: true });
    form?.scrollIntoView({ block: 'center' });
  });
}

/** Leads to where is said what the class folders stand for. */
export function showMapping(): void {
  showForm('.outputs select');
}

/** The folders stand for the outputs that the answers say, with the preset that this was found with. */
async function takeOrder({ outputs, preset }: FoundOrder): Promise<void> {
  if (outputs.size === 0 && preset) {
    await setPreprocessing(preset.preprocessing);
    return;
  }
  const mapped = state.mappedOutputs.value;
  const classes = state.samplesInfo.value?.classes ?? [];
  const before = classes.map(({ name, label }) => [name, mapped?.get(name) ?? label] as const);
  const taken = new Set(outputs.values());
  const free = (outputCount: number) => Array.from({ length: outputCount }, (_, k) => k).filter((k) => !taken.has(k));
  const left = free(state.outputCount.value ?? 0);
  const next = before.map(([name, label]) => {
    const output = outputs.get(label) ?? (left.includes(label) ? label : left[0]) ?? label;
    if (left.includes(output)) left.splice(left.indexOf(output), 1);
    return [name, output] as const;
  });
  step('Folders in the order of the outputs', () => {
    state.classMapping.value = { by: 'hand', outputs: Object.fromEntries(next) };
    if (!preset) return;
    state.preprocessing.value = preset.preprocessing;
    state.preprocessingIsGiven.value = true;
  });
  if (preset) await inspect();
  quantizeAgain();
}

/** Makes the advice's change; one step that can be taken back. */
export async function applyAdvice({ change, word }: Advice, chooseSamples: () => void): Promise<void> {
  const before = undoLabel.value;
  switch (change.kind) {
    case 'field': {
      const row = formRows().find(({ field }) => field.name === change.name);
      if (row) setField(row.field, change.value);
      break;
    }
    case 'float':
      setKeepFloat(change.name, true);
      break;
    case 'bits':
      step(`${change.name}: ${change.bits} bits`, () => {
        const config = { weights_n_bits: change.bits };
        state.listedOverrides.value = [...state.listedOverrides.value, { name: change.name, config }];
      });
      changed();
      break;
    case 'platform':
      setPlatform(change.name);
      break;
    case 'calibration':
      setCalibration(change.count);
      quantizeAgain();
      break;
    case 'label-shift': {
      // arrays have labels to shift and no preprocessing otherwise
      const chosen = state.preprocessing.value ?? state.engine.value?.preprocessingPreset('raw');
      if (chosen) await setPreprocessing({ ...chosen, label_offset: chosen.label_offset + change.by });
      break;
    }
    case 'preprocessing':
      await takeBestPreset();
      break;
    case 'label-order':
      await takeOrder(change.order);
      break;
    case 'samples':
      chooseSamples();
      return;
    case 'show-preprocessing':
      showForm('.preprocessing-form select');
      return;
    case 'show-mapping':
      showMapping();
      return;
    case 'show-float':
      state.showAtLeast('everything');
      requestAnimationFrame(() => document.querySelector('.stays-float')?.scrollIntoView({ block: 'start' }));
      return;
  }
  if (undoLabel.value !== before) say(`${word}: done`, { word: 'Undo', act: undo });
}
