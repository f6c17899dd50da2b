// SPDX-License-Identifier: Apache-2.0
//
// Settings that the layer panel makes for one operator: a range by hand, bits and methods. They are overrides as the form and
// recipes have them, one of each kind for an operator.

import type { FieldDescription, FieldValue, LayerRow, Override, QuantizationConfig } from 'tersor';

import { refusal } from './overrides';
import type { Problem } from './problem';
import { changed } from './coverage';
import { step } from './history';
import { titleOf, valueText } from './settings';
import * as state from './state';

export type Cut = readonly [number, number];

/** The cut that an override of ours sets, null where it is of another kind. */
function cutOf(override: Override): Cut | null {
  const given = override.quantize_config;
  if (!given || !('class_name' in given) || given.class_name !== 'LayerQuantizeConfig') return null;
  const { outputs } = (given.config ?? {}) as { outputs?: { config?: { init_min?: number; init_max?: number } }[] };
  const { init_min, init_max } = outputs?.[0]?.config ?? {};
  return typeof init_min === 'number' && typeof init_max === 'number' ? [init_min, init_max] : null;
}

/** The range that the reader set for the operator. */
export function handCut(name: string): Cut | null {
  const mine = state.listedOverrides.value.findLast((one) => one.name === name && cutOf(one) !== null);
  return mine ? cutOf(mine) : null;
}

/** The override that sets a range by hand. */
export function cutOverride(
  { name, weight_max }: Pick<LayerRow, 'name' | 'weight_max'>,
  bits: number,
  cut: Cut,
): Override {
  const fixed = {
    class_name: 'FixedQuantizer',
    config: { num_bits: bits, init_min: cut[0], init_max: cut[1], narrow_range: false },
  };
  return {
    name,
    quantize_config: { class_name: 'LayerQuantizeConfig', config: { weights: {}, activation: null, outputs: [fixed] } },
    // weights that it does not name would stay float; theirs is chosen as before
    ...(weight_max ? { config: { enable_weights_quantization: true } } : {}),
  } as Override;
}

/** Null: the range is chosen as the settings say. */
export function setCut(row: Pick<LayerRow, 'name' | 'weight_max'>, bits: number, cut: Cut | null): void {
  const { name } = row;
  const others = state.listedOverrides.value.filter((one) => one.name !== name || cutOf(one) === null);
  const mine = cut && cutOverride(row, bits, cut);
  const words = cut ? `Cut of ${name} by hand` : `Cut of ${name} chosen by the settings again`;
  step(
    words,
    () => {
      state.listedOverrides.value = mine ? [...others, mine] : others;
      state.announcement.value = `${words}.`;
    },
    `cut of ${name}`,
  );
  changed();
}

function isPlain(override: Override, name: string): boolean {
  return (
    override.name === name && !override.quantize_config && !override.annotate && !override.type && !override.filter
  );
}

/** What the reader set for the operator alone. */
export function operatorField(name: string, field: FieldDescription): FieldValue | undefined {
  const mine = state.listedOverrides.value.filter((one) => isPlain(one, name));
  return mine.findLast((one) => field.name in (one.config ?? {}))?.config?.[field.name as keyof QuantizationConfig] as
    FieldValue | undefined;
}

/** Undefined: as for all others. What the engine says where it refuses the value. */
export async function setOperatorField(
  name: string,
  field: FieldDescription,
  value: FieldValue | undefined,
): Promise<Problem | null> {
  const before = state.listedOverrides.value;
  const config: Record<string, unknown> = {};
  for (const one of before) if (isPlain(one, name)) Object.assign(config, one.config);
  if (value === undefined) delete config[field.name];
  else config[field.name] = value;
  const others = before.filter((one) => !isPlain(one, name));
  const next: Override[] =
    Object.keys(config).length > 0 ? [...others, { name, config: config as QuantizationConfig }] : others;
  const kept = state.overrides.value.slice(before.length);
  const problem = await refusal({ overrides: [...next, ...kept] });
  if (problem) return problem;
  const words = value === undefined ? 'as for all' : valueText(field, value);
  step(`${name}: ${titleOf(field.name)} ${words}`, () => (state.listedOverrides.value = next));
  changed();
  return null;
}

/** Noise beside a signal of 1. */
function noise(decibels: number | null): number {
  return decibels === null ? 0 : 10 ** (-decibels / 10);
}

/**
 * The SQNR that a layer is expected to have with another range: its noise less what the range in force makes, and what the
 * other one makes instead, noises being independent of each other.
 */
export function forecast(measured: number | null, before: number | null, after: number | null): number | null {
  const left = Math.max(noise(measured) - noise(before) + noise(after), noise(after));
  return left > 0 ? -10 * Math.log10(left) : null;
}
