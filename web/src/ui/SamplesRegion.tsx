// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { SamplePreview, SamplesInfo } from 'tersor';

import { showSample } from '../job/inspect';
import {
  dismiss,
  leaveOutBadSamples,
  leaveOutLabels,
  setCalibration,
  setClassMapping,
  setPreprocessing,
  takeOwnLabels,
} from '../job/load';
import { rasterOf, type Scale } from '../job/raster';
import {
  areNumbers,
  asked,
  askedInputs,
  asksLength,
  calibrationCount,
  demoIsComing,
  classMapping,
  engine,
  evaluationCount,
  fittingPreprocessing,
  hasRecordings,
  labels,
  mappingFault,
  model,
  outputCount,
  outputInName,
  preprocessing,
  preprocessingTrial,
  preview,
  previewProblem,
  sampleCount,
  samples,
  samplesInfo,
  samplesProblem,
  unreadable,
  usualPreprocessing,
  type ClassMapping,
} from '../job/state';
import { wantedSamples } from '../job/wanted_samples';
import { column, count, counted, fixed, range, shape, size, value } from '../numbers';
import { BlockHead } from './BlockHead';
import { download } from './copy';
import { chooseFiles, chooseFolder } from './files';
import { NumberField, Select } from './fields';
import { useFold } from './fold';
import { LazyCloser } from './LazyCloser';
import { LinkButton } from './LinkButton';
import { Neighbours } from './Neighbours';
import { Note, ProblemCard } from './Note';
import { Pixels } from './Pixels';
import { isSound, Player } from './Player';
import { PreprocessingForm, presetWord } from './PreprocessingForm';
import { InputsForm, RecordingForm } from './RecordingForm';
import { Figure, Region, type Cell } from './Region';
import { TableHead } from './TableHead';

/** Samples of each class, by its label, set aside for calibration: the even spread over the data set's order. */
function calibrationByClass({ labels, count: total }: SamplesInfo): Map<number, number> | null {
  if (labels?.length !== total) return null;
  const taken = new Map<number, number>();
  const wanted = calibrationCount.value;
  for (let k = 0; k < wanted; ++k) {
    const label = labels[Math.floor((k * total) / wanted)] ?? 0;
    taken.set(label, (taken.get(label) ?? 0) + 1);
  }
  return taken;
}

/** Where the labels come from, as a sentence. */
function labelsSentence(info: SamplesInfo): string {
  const set = samples.value;
  if (set?.labelsFile) return `Labels from ${set.labelsFile.path}.`;
  if (set?.isUnlabelled || info.labels_from === 'none')
    return 'No labels: int8 answers are compared with float answers.';
  if (info.labels_from === 'folders') return 'Labels from folder names.';
  if (info.labels_from === 'names') return 'Labels from file names.';
  return `Labels from ${'csv' in info.formats ? 'a column of the table' : 'an array beside the samples'}.`;
}

/** Labels that nobody asked for can be left out, and taken again. */
function OwnLabels({ info }: { readonly info: SamplesInfo }) {
  const set = samples.value;
  if (!set || set.labelsFile || !['names', 'files'].includes(info.labels_from)) return null;
  return (
    <LinkButton onClick={set.isUnlabelled ? takeOwnLabels : leaveOutLabels}>
      {set.isUnlabelled ? 'Use them as labels' : 'Go on without labels'}
    </LinkButton>
  );
}

/** Classes shown before "Show all". */
const firstClasses = 20;

/** Every file that is no sample, with the reason. */
function Skipped({ info }: { readonly info: SamplesInfo }) {
  const [shown, more] = useFold(info.skipped, 3, 'skipped files');
  if (info.skipped.length === 0) return null;
  return (
    <div class="soft" data-testid="skipped">
      <p class="soft">{counted(info.skipped.length, 'file')} skipped:</p>
      <ul class="skipped">
        {shown.map(({ path, reason }) => (
          <li key={path}>
            {path} ({reason})
          </li>
        ))}
      </ul>
      {more}
    </div>
  );
}

/** What became of texts, and what the program is given in their place. */
function MadeOfTexts(props: { readonly count: number }) {
  const set = samples.value;
  const made = set?.tokens;
  if (!set || !made) return null;
  const were = made.cut === 1 ? 'was' : 'were';
  const cut = made.cut > 0 ? `; ${count(made.cut)} ${were} cut to ${count(made.most)} tokens` : '';
  return (
    <p class="soft">
      {counted(props.count, 'text')} became token ids with the model’s tokenizer{cut}.{' '}
      <LinkButton onClick={() => download(made.archive, set.source, 'application/zip')}>
        Save them for the program
      </LinkButton>
    </p>
  );
}

function Classes(props: { readonly info: SamplesInfo }) {
  const { info } = props;
  const [shown, more] = useFold(info.classes, firstClasses, 'classes');
  const taken = calibrationByClass(info);
  const most = Math.max(1, ...info.classes.map((c) => c.count));
  const formats = Object.entries(info.formats)
    .map(([format, n]) => `${counted(n, 'sample')} (${format.toUpperCase()})`)
    .join(', ');
  const source = labelsSentence(info);
  const rows = info.batch > 1 ? `The model takes ${info.batch} at once: each sample fills all of its rows.` : '';
  const decoded = samples.value?.decoded;
  return (
    <div class="block">
      <div class="block-head">
        <h3>Classes</h3>
        {taken && (
          <span class="soft legend">
            <span class="swatch swatch-ink" aria-hidden="true" /> calibrate <span class="swatch" aria-hidden="true" />{' '}
            evaluate
          </span>
        )}
      </div>
      {info.classes.length > 0 && (
        <table class="figures classes">
          <thead class="visually-hidden">
            <tr>
              <th scope="col">Class</th>
              <th scope="col">Calibrate and evaluate</th>
              <th scope="col">Samples</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((c) => {
              const calibrate = taken?.get(c.label) ?? 0;
              return (
                <tr key={c.name}>
                  <th scope="row">{c.name}</th>
                  <td class="class-bar">
                    <svg width="100%" height="8" aria-hidden="true">
                      <rect class="bar-soft" width={`${(100 * c.count) / most}%`} height="8" />
                      <rect class="bar-ink" width={`${(100 * calibrate) / most}%`} height="8" />
                    </svg>
                    {taken && <span class="visually-hidden">{count(calibrate)} calibrate</span>}
                  </td>
                  <td class="right">{count(c.count)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {more}
      <Outputs info={info} />
      <p class="soft">
        {formats}
        {info.size_bytes > 0 && `, ${size(info.size_bytes)}`}
        {formats !== '' && '.'} {source}{' '}
        {info.skipped.length === 0 && info.errors.length === 0 && 'No file was skipped.'} {rows}{' '}
        <OwnLabels info={info} />
      </p>
      <Skipped info={info} />
      <MadeOfTexts count={info.count} />
      {decoded && (
        <p class="soft">
          {counted(decoded.count, 'picture')} ({decoded.endings}) {decoded.count === 1 ? 'was' : 'were'} decoded by this
          browser. Another browser may decode other pixels, and the program skips such files: the same bytes come only
          from browsers that decode alike. As PNG files the pictures are the same everywhere.
        </p>
      )}
    </div>
  );
}

const mappingWords: Readonly<Record<ClassMapping['by'], string>> = {
  order: 'their order: the first is output 0',
  number: 'the numbers in their names',
  hand: 'what is entered here',
};

/** Output of each class, to be entered. */
function OutputFields(props: { readonly info: SamplesInfo; readonly outputs: number }) {
  const mapping = classMapping.value;
  const [shown, more] = useFold(props.info.classes, firstClasses, 'outputs');
  return (
    <>
      {shown.map(({ name, label }) => (
        <NumberField
          key={name}
          label={`Output of ${name}`}
          value={mapping.outputs[name] ?? label}
          whole
          minimum={0}
          maximum={props.outputs - 1}
          onEnter={(x) => x !== null && setClassMapping({ by: 'hand', outputs: { ...mapping.outputs, [name]: x } })}
        />
      ))}
      {more}
    </>
  );
}

/** Class folders against the outputs of the model. */
function Outputs(props: { readonly info: SamplesInfo }) {
  const outputs = outputCount.value;
  const { classes } = props.info;
  const mapping = classMapping.value;
  const numbers = classes.map(({ name }) => outputInName(name));
  const known = numbers.every((n) => n !== null && outputs !== null && n < outputs);
  if (outputs === null || classes.length === 0 || samples.value?.labelsFile || samples.value?.isUnlabelled) return null;
  if (areNumbers.value) return mappingFault.value ? <p class="sign-caution">{mappingFault.value}</p> : null;
  const by = (Object.keys(mappingWords) as ClassMapping['by'][]).filter((one) => one !== 'number' || known);
  const wrong = mappingFault.value;
  return (
    <div class="form outputs" data-testid="class-mapping">
      <p class={wrong ? 'sign-caution' : 'soft'}>
        {counted(classes.length, 'class folder')}, {counted(outputs, 'output')} of the model. {wrong}
        {wrong === '' &&
          mapping.by === 'order' &&
          (classes.length === outputs
            ? 'They are taken in the order of their names.'
            : 'Nothing says which of them the folders are: they are taken in order.')}
      </p>
      <Select
        label="A folder’s output is given by"
        value={mapping.by}
        choices={by.map((value) => ({ value, text: mappingWords[value] }))}
        onChoose={(value) => setClassMapping({ ...mapping, by: value })}
      />
      {mapping.by === 'hand' && <OutputFields info={props.info} outputs={outputs} />}
      <p class="soft">A file labels.txt among the folders names them in the order of the outputs.</p>
    </div>
  );
}

function channelNames(n: number): string[] {
  const order = preprocessing.value?.channels;
  if (n === 3 && order !== undefined && order !== 'GRAY') return [...order];
  if (n === 1) return [order === 'GRAY' ? 'gray' : 'all values'];
  return Array.from({ length: n }, (_, k) => `channel ${k}`);
}

/** A remark when the values look like a wrong preset. */
function Judgement(props: { readonly shown: SamplePreview }) {
  const whole = props.shown.tensors[0]?.whole;
  if (!whole || !preprocessing.value) return null;
  const spread = whole.max - whole.min;
  if (spread === 0) return <Note kind="caution">All values of this sample are {value(whole.min)}.</Note>;
  if (spread > 20) {
    return (
      <Note kind="note">
        Values reach {value(whole.max)}. Most models are trained on 0 … 1, −1 … 1 or ImageNet’s mean and deviation;
        float accuracy will tell.
      </Note>
    );
  }
  return null;
}

/** Drawn from the darkest value to the brightest, whatever they are. */
const stretched = signal(false);

/**
 * Black and white as the labels or the model's own guess have them, so that a preset chosen otherwise is seen to be too dark,
 * too bright or of wrong colours.
 */
function fixedScale(channel: number): readonly [number, number] {
  const reference = usualPreprocessing.value ?? preprocessing.value;
  if (!reference) return [0, 1];
  const of = (pixel: number) =>
    (pixel * reference.scale - (reference.mean[channel] ?? reference.mean[0] ?? 0)) /
    (reference.std[channel] ?? reference.std[0] ?? 1);
  return [of(0), of(255)];
}

/** Least, mean and largest value of each channel, or of all where there are many. */
function TensorFigures(props: { readonly tensor: SamplePreview['tensors'][number]; readonly hideCaption: boolean }) {
  const { input, shape: dims, channels, whole } = props.tensor;
  const isFew = channels.length > 0 && channels.length <= 4;
  const names = isFew ? channelNames(channels.length) : ['all values'];
  return (
    <table class="figures">
      <caption class={props.hideCaption ? 'visually-hidden' : ''}>
        {input}, {shape(dims)}
      </caption>
      <TableHead of={['Channel', ['min', 'right'], ['mean', 'right'], ['max', 'right']]} />
      <tbody>
        {(isFew ? channels : [whole]).map((row, k) => (
          <tr key={names[k]}>
            <th scope="row">{names[k]}</th>
            {column([row.min, row.mean, row.max]).map((text, at) => (
              <td key={at} class="right">
                {text}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Preview(props: { readonly shown: SamplePreview }) {
  const { shown } = props;
  const tensor = shown.tensors[0];
  const chosen = preprocessing.value;
  const scale: Scale = (k) => {
    if (!tensor || !chosen || stretched.value) return [tensor?.whole.min ?? 0, tensor?.whole.max ?? 1];
    return fixedScale(k);
  };
  const raster = tensor && chosen ? rasterOf(tensor, chosen.layout, chosen.channels === 'BGR', scale) : null;
  const picture = shown.picture;
  const text = samples.value?.tokens?.lines.get(shown.path);
  return (
    <div class="block">
      <div class="block-head">
        <h3>Preview</h3>
        <span class="soft sample-name" title={shown.path}>
          {shown.path}
        </span>
        <span class="pair">
          <Neighbours what="sample" at={shown.index} last={sampleCount.value - 1} go={showSample} />
        </span>
      </div>
      {previewProblem.value && <ProblemCard problem={previewProblem.value} />}
      {text !== undefined && <p>{text}</p>}
      {picture && (
        <div class="pictures">
          <figure>
            <Pixels raster={picture} label={`The file ${shown.path}`} />
            <figcaption>
              File: {picture.width}×{picture.height}
            </figcaption>
          </figure>
          {raster && tensor && (
            <figure>
              <Pixels raster={raster} label={`The tensor that the model receives for ${shown.path}`} />
              <figcaption>
                Tensor: {shape(tensor.shape)}, {range(tensor.whole.min, tensor.whole.max)}
              </figcaption>
            </figure>
          )}
        </div>
      )}
      {raster && (
        <label class="check">
          <input
            type="checkbox"
            checked={stretched.value}
            onChange={(event) => (stretched.value = event.currentTarget.checked)}
          />{' '}
          Stretch the tensor to its own extremes
        </label>
      )}
      {isSound(shown.path) && <Player path={shown.path} />}
      <LazyCloser number={shown.index} />
      {shown.tensors.map((one) => (
        <TensorFigures key={one.input} tensor={one} hideCaption={shown.tensors.length === 1 && picture !== null} />
      ))}
      <Judgement shown={shown} />
    </div>
  );
}

/** Half a 95 % interval at 90 % accuracy, in points. */
function expectedHalfWidth(n: number): number {
  return n > 0 ? 196 * Math.sqrt((0.9 * 0.1) / n) : 0;
}

function Split() {
  const id = useId();
  const total = sampleCount.value;
  const calibrate = calibrationCount.value;
  const evaluate = evaluationCount.value;
  const labelled = labels.value !== null;
  return (
    <div class="block">
      <BlockHead
        title="Split"
        note={calibrate < total ? 'drawn evenly from the whole set, no sample in both' : 'all samples in both'}
      />
      <div class="split-figures">
        <label for={id}>
          <b>{count(calibrate)} calibrate</b>
        </label>
        <b>{count(evaluate)} evaluate</b>
      </div>
      <div class="split">
        <svg width="100%" height="12" aria-hidden="true">
          <rect class="bar-soft" width="100%" height="12" />
          <rect class="bar-ink" width={`${(100 * calibrate) / Math.max(1, total)}%`} height="12" />
        </svg>
        <input
          id={id}
          type="range"
          min="0"
          max={total}
          value={calibrate}
          aria-valuetext={`${calibrate} calibrate, ${evaluate} evaluate`}
          onInput={(event) => {
            setCalibration(Math.max(1, Number(event.currentTarget.value)));
          }}
        />
      </div>
      <div class="split-figures soft">
        <span>set the ranges, labels unused</span>
        <span>
          {labelled
            ? `measure accuracy: about ±${fixed(expectedHalfWidth(evaluate), 1)} points at 90 %`
            : 'measure the error'}
        </span>
      </div>
    </div>
  );
}

function hasPictures(info: SamplesInfo): boolean {
  return ['png', 'jpeg', 'bmp', 'netpbm'].some((format) => format in info.formats);
}

function lineCells(name: string, info: SamplesInfo | null): Cell[] {
  if (!info)
    return [
      { key: 'name', kind: 'name', content: name },
      samplesProblem.value
        ? { key: 'bad', kind: 'stop', content: '✕ does not fit' }
        : { key: 'wait', content: model.value ? 'Reading …' : 'waits for the model' },
    ];
  const bad = info.errors.length;
  const cells: Cell[] = [{ key: 'name', kind: 'name', content: name }];
  if (info.count > 0) {
    cells.push(
      { key: 'calibrate', content: <Figure value={count(calibrationCount.value)} what="calibrate" /> },
      { key: 'evaluate', content: <Figure value={count(evaluationCount.value)} what="evaluate" /> },
    );
  }
  if (bad > 0 && asked.value.length > 0) {
    cells.push({ key: 'asked', content: <Figure value={asked.value.join(', ')} what="is asked for" /> });
    return cells;
  }
  if (bad > 0) {
    cells.push({ key: 'bad', kind: 'stop', content: `✕ ${counted(bad, 'file does', 'files do')} not fit` });
    return cells;
  }
  const labelled = samples.value?.labelsFile ? 'labels from a file' : 'no labels';
  const hasClasses = info.classes.length > 0 && !samples.value?.isUnlabelled;
  cells.push({
    key: 'classes',
    content: hasClasses ? (
      <Figure value={count(info.classes.length)} what={info.classes.length === 1 ? 'class' : 'classes'} />
    ) : (
      <span class="soft">{labelled}</span>
    ),
  });
  if (info.preprocessing && hasPictures(info))
    cells.push({ key: 'preset', content: <Figure value={presetWord(info.preprocessing)} what="preset" /> });
  return cells;
}

function focusOn(field: string): void {
  document.querySelector<HTMLElement>(field)?.focus();
}

/** What only the reader can know: a question, and no fault of the files. */
function Question() {
  const isLength = asksLength.value;
  const names = askedInputs.value;
  const value = preprocessing.value ?? engine.value?.preprocessingPreset('raw');
  return (
    <Note kind="caution">
      {isLength ? (
        <p>
          <b>The recordings are cut into pieces, and the model does not say how long one is.</b> Enter how many values
          it takes at once, under “Recordings” below, or take each recording whole.
        </p>
      ) : (
        <p>
          <b>
            The model also takes {names.map((name) => `“${name}”`).join(', ')},{' '}
            {names.length === 1 ? 'a number' : 'numbers'} that the samples do not hold.
          </b>{' '}
          Enter it once, under “Other inputs” below; it is the same in every sample. Where it is the sample rate of the
          recordings, enter that, in Hz.
        </p>
      )}
      <div class="actions">
        <button
          type="button"
          class="button filled"
          onClick={() => focusOn(isLength ? '.recording-length input' : '.inputs-form .asked input')}
        >
          Enter {isLength ? 'the length' : names[0]}
        </button>
        {isLength && value && (
          <button type="button" class="button" onClick={() => void setPreprocessing({ ...value, windows: false })}>
            Take each recording whole
          </button>
        )}
      </div>
    </Note>
  );
}

function Cards() {
  const problem = samplesProblem.value;
  const info = samplesInfo.value;
  if (!problem) return null;
  if (asked.value.length > 0) return <Question />;
  const back = fittingPreprocessing.value;
  const bad = info?.errors.length ?? unreadable.value.length;
  const some = bad > 0 && (info ? info.count > 0 : (samples.value?.files.length ?? 0) > 1);
  const repair: readonly [string, () => unknown] | false =
    problem.code === 'invalid_labels'
      ? ['Go on without labels', leaveOutLabels]
      : back
        ? ['Back to the last preprocessing', () => setPreprocessing(back)]
        : some && [`Leave out ${counted(bad, 'file')}`, leaveOutBadSamples];
  return (
    <ProblemCard problem={problem} onDismiss={repair ? undefined : () => dismiss('samples')}>
      {repair && (
        <button type="button" class="button filled" onClick={() => void repair[1]()}>
          {repair[0]}
        </button>
      )}
      <button type="button" class={repair ? 'button' : 'button filled'} onClick={chooseFolder}>
        Choose other samples
      </button>
    </ProblemCard>
  );
}

export function SamplesRegion() {
  const set = samples.value;
  const info = samplesInfo.value;
  const problem = samplesProblem.value;
  const always = problem ? <Cards /> : undefined;
  if (!set) {
    const isAsked = model.value !== null && !demoIsComing.value;
    return (
      <Region
        id="samples"
        number={2}
        title="Samples"
        sentence={
          isAsked
            ? wantedSamples(model.value?.handle.info.inputs[0]).drop
            : 'Your own pictures or arrays. Class folders become labels.'
        }
        action={
          isAsked ? (
            <span class="pair line-buttons">
              <LinkButton onClick={chooseFiles}>Files</LinkButton>
              <button type="button" class="button" onClick={chooseFolder}>
                Choose samples
              </button>
            </span>
          ) : undefined
        }
        always={always}
      />
    );
  }
  const chosen = preprocessing.value;
  const shown = preview.value;
  return (
    <Region
      id="samples"
      number={2}
      title="Samples"
      cells={lineCells(set.name, info)}
      canOpen={
        info
          ? info.count > 0 || chosen !== null || hasRecordings.value || askedInputs.value.length > 0
          : problem !== null && chosen !== null
      }
      always={always}
    >
      <div class="columns samples-columns">
        {info && <Classes info={info} />}
        {shown && <Preview shown={shown} />}
        {hasRecordings.value && <RecordingForm />}
        {info && <InputsForm inputs={info.inputs} />}
        {chosen && (!info || hasPictures(info) || (info.count === 0 && !hasRecordings.value)) && (
          <PreprocessingForm
            value={chosen}
            isGuess={info?.preprocessing_is_guess ?? false}
            trial={preprocessingTrial.value}
          />
        )}
      </div>
      {sampleCount.value > 0 && <Split />}
    </Region>
  );
}
