// SPDX-License-Identifier: Apache-2.0

import type { Preprocessing, PreprocessingPreset, PreprocessingTrial } from 'tersor';

import { setPreprocessing } from '../job/load';
import { engine, labels, model } from '../job/state';
import { NumberField, Select } from './fields';

const presetTexts: Readonly<Record<PreprocessingPreset, string>> = {
  imagenet: 'ImageNet mean and deviation',
  unit: '0 … 1',
  signed: '−1 … 1',
  raw: '0 … 255',
};
const presets = Object.keys(presetTexts) as PreprocessingPreset[];

const shortPresetTexts: Readonly<Record<PreprocessingPreset, string>> = {
  imagenet: 'ImageNet',
  unit: '0 … 1',
  signed: '−1 … 1',
  raw: '0 … 255',
};

type Values = Pick<Preprocessing, 'scale' | 'mean' | 'std'>;

function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(a), Math.abs(b));
}

/** Number k of a list that may hold one value for all channels. */
function channel(list: readonly number[], k: number): number {
  return list[k] ?? list[0] ?? 0;
}

/** What becomes of the darkest and the brightest pixel in each channel. */
function sameValues(a: Values, b: Values): boolean {
  return [0, 1, 2].every((k) =>
    [0, 255].every((pixel) =>
      near(
        (pixel * a.scale - channel(a.mean, k)) / channel(a.std, k),
        (pixel * b.scale - channel(b.mean, k)) / channel(b.std, k),
      ),
    ),
  );
}

export function presetOf(value: Preprocessing): PreprocessingPreset | 'own' {
  return (
    presets.find((name) => {
      const preset = engine.value?.preprocessingPreset(name);
      return preset !== undefined && sameValues(value, preset);
    }) ?? 'own'
  );
}

export function presetWord(value: Preprocessing): string {
  const name = presetOf(value);
  return name === 'own' ? 'own values' : shortPresetTexts[name];
}

/** Height and width that the model's first input wants, where it says. */
function wantedSize(layout: Preprocessing['layout']): readonly [number, number] | null {
  const dims = model.value?.handle.info.inputs[0]?.shape;
  if (!dims || dims.length !== 4) return null;
  const [height, width] = layout === 'NCHW' ? [dims[2], dims[3]] : [dims[1], dims[2]];
  return typeof height === 'number' && typeof width === 'number' ? [height, width] : null;
}

/** Where neither the model nor the description has a size, for a person to change. */
const usualSize = [640, 640] as const;
const usualMultiple = [32, 32] as const;

const resizeTexts = {
  none: 'none',
  stretch: 'stretch',
  short_side: 'short side, then crop',
  fit: 'fit, fill the rest',
  multiple: 'to multiples',
} as const;

function numbersFor(list: readonly number[], channels: number): number[] {
  return Array.from({ length: channels }, (_, k) => channel(list, k));
}

/** "Tried on 32 samples with labels: imagenet: 28 right; signed: 27; unit: 16; raw: 3." */
function Trial({ trial }: { readonly trial: PreprocessingTrial }) {
  const counts = trial.tried.map(({ name, right }, k) => `${name}: ${right}${k === 0 ? ' right' : ''}`).join('; ');
  return (
    <p class={trial.is_chance ? 'sign-caution' : 'soft'} data-testid="preprocessing-trial">
      Tried on {trial.samples} samples with labels: {counts}.
      {trial.is_chance &&
        ' None is right more often than guessing: check that the class folders are the outputs of this model, or enter the numbers it was trained with.'}
    </p>
  );
}

export function PreprocessingForm(props: {
  readonly value: Preprocessing;
  readonly isGuess: boolean;
  readonly trial: PreprocessingTrial | null;
}) {
  const { value } = props;
  const change = (part: Partial<Preprocessing>) => void setPreprocessing({ ...value, ...part });
  const channels = value.channels === 'GRAY' ? 1 : 3;
  const names = value.channels === 'GRAY' ? ['gray'] : [...value.channels];
  const mean = numbersFor(value.mean, channels);
  const std = numbersFor(value.std, channels);
  const sizeFor = (mode: Preprocessing['resize']['mode']): readonly [number, number] => {
    const isKept = (mode === 'multiple') === (value.resize.mode === 'multiple');
    const other = mode === 'multiple' ? usualMultiple : (wantedSize(value.layout) ?? usualSize);
    return isKept ? (value.resize.size ?? other) : other;
  };
  const size = sizeFor(value.resize.mode);
  const choosePreset = (name: PreprocessingPreset | 'own') => {
    if (name === 'own') return;
    const preset = engine.value?.preprocessingPreset(name);
    if (preset) {
      change({ scale: preset.scale, mean: numbersFor(preset.mean, channels), std: numbersFor(preset.std, channels) });
    }
  };
  const chooseResize = (mode: Preprocessing['resize']['mode']) => {
    change({
      resize: mode === 'none' ? { mode } : { mode, size: sizeFor(mode), filter: 'bilinear' },
      crop: mode === 'short_side' ? 'center' : 'none',
    });
  };
  const replaced = (list: readonly number[], at: number, x: number | null) =>
    list.map((old, k) => (k === at && x !== null ? x : old));
  const preset = presetOf(value);
  return (
    <div class="block preprocessing-form">
      <div class="block-head">
        <h3>Preprocessing</h3>
      </div>
      <div class="form">
        <div class="form-wide">
          <Select
            label="Preset"
            value={preset}
            choices={[
              ...presets.map((name) => ({ value: name, text: presetTexts[name] })),
              ...(preset === 'own' ? [{ value: 'own' as const, text: 'own values' }] : []),
            ]}
            onChoose={choosePreset}
          />
          {props.isGuess && (
            <p class="soft">
              {labels.value === null
                ? 'A guess from the model’s input: compare the tensor with what the model was trained on, or bring labels.'
                : 'A guess; float accuracy will confirm or refute it.'}
            </p>
          )}
          {props.trial && <Trial trial={props.trial} />}
        </div>
        <Select
          label="Resize, crop"
          value={value.resize.mode}
          choices={(Object.keys(resizeTexts) as (keyof typeof resizeTexts)[]).map((mode) => ({
            value: mode,
            text: mode === 'none' ? resizeTexts[mode] : `${resizeTexts[mode]}, ${sizeFor(mode).join('×')}`,
          }))}
          onChoose={chooseResize}
        />
        <Select
          label="Channels"
          value={`${value.channels} ${value.layout}`}
          choices={(['RGB', 'BGR', 'GRAY'] as const).flatMap((order) =>
            (['NCHW', 'NHWC'] as const).map((layout) => ({
              value: `${order} ${layout}`,
              text: `${order === 'GRAY' ? 'gray' : order}, ${layout === 'NCHW' ? 'first' : 'last'}`,
            })),
          )}
          onChoose={(text) => {
            const [order = 'RGB', layout = 'NCHW'] = text.split(' ');
            const isTurned = order !== value.channels && order !== 'GRAY' && value.channels !== 'GRAY';
            change({
              channels: order as Preprocessing['channels'],
              layout: layout as Preprocessing['layout'],
              // the numbers go with their colours
              ...(isTurned ? { mean: value.mean.toReversed(), std: value.std.toReversed() } : {}),
            });
          }}
        />
        {value.resize.mode !== 'none' && (
          <div class="form-wide triple">
            <NumberField
              label="Height"
              value={size[0]}
              whole
              minimum={1}
              onEnter={(x) => x !== null && change({ resize: { ...value.resize, size: [x, size[1]] } })}
            />
            <NumberField
              label="Width"
              value={size[1]}
              whole
              minimum={1}
              onEnter={(x) => x !== null && change({ resize: { ...value.resize, size: [size[0], x] } })}
            />
          </div>
        )}
        <NumberField
          label="Divide by"
          value={Number((1 / value.scale).toPrecision(9))}
          minimum={1e-9}
          onEnter={(x) => x !== null && change({ scale: 1 / x })}
        />
        <NumberField
          label="Output of class 0"
          value={value.label_offset}
          whole
          minimum={0}
          onEnter={(x) => x !== null && change({ label_offset: x })}
        />
        <fieldset class="form-wide">
          <legend>Mean {names.join(', ')}</legend>
          <div class="triple">
            {mean.map((x, k) => (
              <NumberField
                key={k}
                label={`Mean ${names[k]}`}
                hideLabel
                value={x}
                onEnter={(entered) => change({ mean: replaced(mean, k, entered) })}
              />
            ))}
          </div>
        </fieldset>
        <fieldset class="form-wide">
          <legend>Deviation {names.join(', ')}</legend>
          <div class="triple">
            {std.map((x, k) => (
              <NumberField
                key={k}
                label={`Deviation ${names[k]}`}
                hideLabel
                value={x}
                minimum={1e-9}
                onEnter={(entered) => change({ std: replaced(std, k, entered) })}
              />
            ))}
          </div>
        </fieldset>
      </div>
    </div>
  );
}
