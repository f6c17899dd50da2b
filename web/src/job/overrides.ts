// SPDX-License-Identifier: Apache-2.0
//
// Settings of single operators, and what is known of operators beforehand. What is entered is shown to the engine before it
// counts: where that refuses it, nothing has changed.

import { signal } from '@preact/signals';
import type { FieldDescription, FieldValue, FrameworkInfo, NodeInfo, Override, QuantizationConfig } from 'tersor';

import { step, stepAndSay } from './history';
import { isAbort, problemOf, type Problem } from './problem';
import { changed } from './coverage';
import { choiceText, formRows, setField, setKeepFloat, titleOf, type FormRow } from './settings';
import * as state from './state';

/** Fields that may differ from operator to operator. */
const ofOperators = [
  'weights_n_bits',
  'weights_quantization_method',
  'weights_per_channel_threshold',
  'weights_block_size',
  'enable_weights_quantization',
  'activation_n_bits',
  'activation_quantization_method',
  'enable_activation_quantization',
  'weights_threshold_method',
  'activation_threshold_method',
];

export function operatorRows(): FormRow[] {
  const rows = formRows().map((row) => ({ ...row, field: { ...row.field, nullable: false } }));
  return ofOperators.flatMap((name) => rows.find(({ field }) => field.name === name) ?? []);
}

const inFloat: QuantizationConfig = { enable_weights_quantization: false, enable_activation_quantization: false };

/** What the form holds before it is entered. */
export interface Draft {
  readonly by: 'name' | 'type' | 'json';
  readonly name: string;
  readonly type: string;
  readonly json: string;
  /** A field's name, or one of the two that are none. */
  readonly what: string;
  /** Of the field. */
  readonly value: FieldValue;
}

export const emptyDraft: Draft = { by: 'name', name: '', type: '', json: '', what: 'float', value: null };

/** The operators that overrides can choose in the open model, once they were asked for. */
export const nodes = signal<readonly NodeInfo[]>([]);

/** Asks for them; without an answer names are typed unaided. */
export async function findNodes(): Promise<void> {
  const open = state.model.value;
  nodes.value = [];
  try {
    const found = (await open?.handle.nodes({ platform: state.platform.value, config: state.config.value })) ?? [];
    if (state.model.value === open) nodes.value = found;
  } catch {
    // the same settings are refused, with the reason, where the model is shown
  }
}

/** The types of those operators, the most frequent first. */
export function types(): { readonly type: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const { type } of nodes.value) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => ({ type, count })).sort((a, b) => b.count - a.count);
}

/** A value to begin with. */
export function firstValue({ field }: FormRow): FieldValue {
  if (field.type === 'bool') return false;
  return field.choices?.[0] ?? (field.type === 'int' ? 8 : field.default);
}

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw {
      code: 'invalid_config',
      message: `This is not JSON: ${problemOf(error).message}.`,
      place,
      hint: 'Names and texts stand in double quotes; no comma follows the last member.',
    } satisfies Problem;
  }
}

function overridesOf(draft: Draft): readonly Override[] {
  if (draft.by === 'json') {
    const given = parsed(draft.json, 'overrides');
    return (Array.isArray(given) ? given : [given]) as readonly Override[];
  }
  const chosen = draft.by === 'name' ? { name: draft.name.trim() } : { type: draft.type };
  if (draft.what === 'annotate') return [{ ...chosen, annotate: true }];
  return [{ ...chosen, config: draft.what === 'float' ? inFloat : { [draft.what]: draft.value } }];
}

/** What the engine says to settings where it refuses them; those not given are as they are. */
export async function refusal(tried: {
  readonly config?: QuantizationConfig;
  readonly overrides?: readonly Override[];
  readonly frameworkInfo?: FrameworkInfo | undefined;
}): Promise<Problem | null> {
  const now = state.settings.value;
  try {
    state.engine.value?.quantizationConfig(tried.config);
    await state.model.value?.handle.coverage({ ...now, ...tried });
    return null;
  } catch (error) {
    return isAbort(error) ? null : problemOf(error);
  }
}

/** Adds what the form holds; what the engine says where it refuses it. */
export async function addOverride(draft: Draft): Promise<Problem | null> {
  try {
    const added = overridesOf(draft);
    const problem = await refusal({ overrides: [...state.overrides.value, ...added] });
    if (problem) return problem;
    step(`Added ${added.map(textOf).join('; ')}`, () => {
      state.listedOverrides.value = [...state.listedOverrides.value, ...added];
      state.announcement.value = `Added: ${added.map(textOf).join('; ')}.`;
    });
    changed();
    return null;
  } catch (error) {
    return problemOf(error);
  }
}

/** Takes a field of type `object` as JSON; empty: null. What the engine says where it refuses it. */
export async function setObjectField(field: FieldDescription, text: string): Promise<Problem | null> {
  try {
    const value = text.trim() === '' ? null : (parsed(text, `config.${field.name}`) as FieldValue);
    const problem = await refusal({ config: { ...state.config.value, [field.name]: value } });
    if (problem) return problem;
    setField(field, value);
    return null;
  } catch (error) {
    return problemOf(error);
  }
}

/** Takes FrameworkInfo as JSON; empty: the defaults. What the engine says where it refuses it. */
export async function setFrameworkInfo(text: string): Promise<Problem | null> {
  try {
    const info = text.trim() === '' ? undefined : (parsed(text, 'framework_info') as FrameworkInfo);
    const problem = await refusal({ frameworkInfo: info });
    if (problem) return problem;
    step('What is known of operators', () => (state.frameworkInfo.value = info));
    changed();
    return null;
  } catch (error) {
    return problemOf(error);
  }
}

function chosenText({ name, type, filter }: Override): string {
  const words = [name, type && `every ${type}`, filter && `every ${JSON.stringify(filter)}`];
  return words.filter(Boolean).join(', ');
}

function effectText({ config = {}, quantize_config, annotate }: Override): string {
  const text = (value: unknown) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : choiceText(String(value)));
  const isFloat = Object.entries(inFloat).every(([name, value]) => config[name as keyof typeof config] === value);
  const fields = Object.entries(config).map(([name, value]) => `${titleOf(name)}: ${text(value)}`);
  const of = quantize_config && 'class_name' in quantize_config ? quantize_config.class_name : '';
  return [isFloat ? 'in float' : fields.join(', '), of, annotate ? 'annotated' : ''].filter(Boolean).join(', ');
}

function textOf(override: Override): string {
  return `${chosenText(override)}: ${effectText(override)}`;
}

interface ListedOverride {
  readonly chosen: string;
  readonly effect: string;
  readonly remove: () => void;
}

/** Everything that is in force for single operators, the operators kept in float among it. */
export function listOverrides(): ListedOverride[] {
  const listed = state.listedOverrides.value;
  return state.overrides.value.map((override, k) => ({
    chosen: chosenText(override),
    effect: effectText(override),
    remove() {
      state.announcement.value = `Removed: ${textOf(override)}.`;
      if (k >= listed.length) {
        setKeepFloat(override.name ?? '', null);
        return;
      }
      stepAndSay(`Removed ${textOf(override)}`, () => {
        state.listedOverrides.value = state.listedOverrides.value.filter((one) => one !== override);
      });
      changed();
    },
  }));
}

/** Those that a problem is about, by their places in it. */
export function overridesIn({ place, message }: Problem): ListedOverride[] {
  const places = `${place}\n${message}`.matchAll(/^overrides\[(\d+)\]/gm);
  const numbers = new Set([...places].map(([, number]) => Number(number)));
  return listOverrides().filter((_, k) => numbers.has(k));
}
