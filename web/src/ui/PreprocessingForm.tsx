// SPDX-License-Identifier: Apache-2.0

import type { Preprocessing, PreprocessingPreset, PreprocessingTrial } from 'tersor';

import { setPreprocessing } from '../job/load';
import { engine, labels, model } from '../job/state';
import { BlockHead } from './BlockHead';
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

function presetOf(value: Preprocessing): PreprocessingPreset | 'own' {
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

type Change = (part: Partial<Preprocessing>) => void;

function sizeFor(value: Preprocessing, mode: Preprocessing['resize']['mode']): readonly [number, number] {
  const isKept = (mode === 'multiple') === (value.resize.mode === 'multiple');
  const other = mode === 'multiple' ? usualMultiple : (wantedSize(value.layout) ?? usualSize);
  return isKept ? (value.resize.size ?? other) : other;
}

function PresetField(props: { readonly value: Preprocessing; readonly channels: number; readonly change: Change }) {
  const preset = presetOf(props.value);
  const choose = (name: PreprocessingPreset | 'own') => {
    const chosen = name === 'own' ? undefined : engine.value?.preprocessingPreset(name);
    if (!chosen) return;
    const { scale, mean, std } = chosen;
    props.change({ scale, mean: numbersFor(mean, props.channels), std: numbersFor(std, props.channels) });
  };
  return (
    <Select
      label="Preset"
      value={preset}
      choices={[
        ...presets.map((name) => ({ value: name, text: presetTexts[name] })),
        ...(preset === 'own' ? [{ value: 'own' as const, text: 'own values' }] : []),
      ]}
      onChoose={choose}
    />
  );
}

function ResizeField({ value, change }: { readonly value: Preprocessing; readonly change: Change }) {
  return (
    <Select
      label="Resize, crop"
      value={value.resize.mode}
      choices={(Object.keys(resizeTexts) as (keyof typeof resizeTexts)[]).map((mode) => ({
        value: mode,
        text: mode === 'none' ? resizeTexts[mode] : `${resizeTexts[mode]}, ${sizeFor(value, mode).join('×')}`,
      }))}
      onChoose={(mode) =>
        change({
          resize: mode === 'none' ? { mode } : { mode, size: sizeFor(value, mode), filter: 'bilinear' },
          crop: mode === 'short_side' ? 'center' : 'none',
        })
      }
    />
  );
}

function ChannelsField({ value, change }: { readonly value: Preprocessing; readonly change: Change }) {
  const choose = (text: string) => {
    const [order = 'RGB', layout = 'NCHW'] = text.split(' ');
    const isTurned = order !== value.channels && order !== 'GRAY' && value.channels !== 'GRAY';
    change({
      channels: order as Preprocessing['channels'],
      layout: layout as Preprocessing['layout'],
      // the numbers go with their colours
      ...(isTurned ? { mean: value.mean.toReversed(), std: value.std.toReversed() } : {}),
    });
  };
  return (
    <Select
      label="Channels"
      value={`${value.channels} ${value.layout}`}
      choices={(['RGB', 'BGR', 'GRAY'] as const).flatMap((order) =>
        (['NCHW', 'NHWC'] as const).map((layout) => ({
          value: `${order} ${layout}`,
          text: `${order === 'GRAY' ? 'gray' : order}, ${layout === 'NCHW' ? 'first' : 'last'}`,
        })),
      )}
      onChoose={choose}
    />
  );
}

function SizeFields({ value, change }: { readonly value: Preprocessing; readonly change: Change }) {
  const [height, width] = sizeFor(value, value.resize.mode);
  const enter = (side: 0 | 1) => (x: number | null) =>
    x !== null && change({ resize: { ...value.resize, size: side === 0 ? [x, width] : [height, x] } });
  return (
    <div class="form-wide triple">
      <NumberField label="Height" value={height} whole minimum={1} onEnter={enter(0)} />
      <NumberField label="Width" value={width} whole minimum={1} onEnter={enter(1)} />
    </div>
  );
}

/** A number for each channel. */
function ChannelFields(props: {
  readonly label: string;
  readonly names: readonly string[];
  readonly values: readonly number[];
  readonly minimum?: number;
  readonly change: (values: readonly number[]) => void;
}) {
  const values = numbersFor(props.values, props.names.length);
  return (
    <fieldset class="form-wide">
      <legend>
        {props.label} {props.names.join(', ')}
      </legend>
      <div class="triple">
        {values.map((x, k) => (
          <NumberField
            key={k}
            label={`${props.label} ${props.names[k]}`}
            hideLabel
            value={x}
            minimum={props.minimum ?? null}
            onEnter={(entered) => props.change(values.with(k, entered ?? x))}
          />
        ))}
      </div>
    </fieldset>
  );
}

export function PreprocessingForm(props: {
  readonly value: Preprocessing;
  readonly isGuess: boolean;
  readonly trial: PreprocessingTrial | null;
}) {
  const { value } = props;
  const change: Change = (part) => void setPreprocessing({ ...value, ...part });
  const names = value.channels === 'GRAY' ? ['gray'] : [...value.channels];
  return (
    <div class="block preprocessing-form">
      <BlockHead title="Preprocessing" />
      <div class="form">
        <div class="form-wide">
          <PresetField value={value} channels={names.length} change={change} />
          {props.isGuess && (
            <p class="soft">
              {labels.value === null
                ? 'A guess from the model’s input: compare the tensor with what the model was trained on, or bring labels.'
                : 'A guess; float accuracy will confirm or refute it.'}
            </p>
          )}
          {props.trial && <Trial trial={props.trial} />}
        </div>
        <ResizeField value={value} change={change} />
        <ChannelsField value={value} change={change} />
        {value.resize.mode !== 'none' && <SizeFields value={value} change={change} />}
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
        <ChannelFields label="Mean" names={names} values={value.mean} change={(mean) => change({ mean })} />
        <ChannelFields
          label="Deviation"
          names={names}
          values={value.std}
          minimum={1e-9}
          change={(std) => change({ std })}
        />
      </div>
    </div>
  );
}
