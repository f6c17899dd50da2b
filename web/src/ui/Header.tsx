// SPDX-License-Identifier: Apache-2.0

import { computed, effect } from '@preact/signals';
import type { ComponentChildren } from 'preact';

import { shareable } from '../job/address';
import { letters, resultOf } from '../job/configurations';
import { redo, redoLabel, undo, undoLabel } from '../job/history';
import { halfWidth, percentFigure, outputDecibels, size, count, thin } from '../numbers';
import { atStart, demoIsComing, measured, parked, result, run, showsAnswer } from '../job/state';
import { copy } from './copy';
import { openDialog } from './Dialogs';
import { filesInputId, takeFiles } from './files';
import { Badge, Logo, OpenFiles, Redo, Theme, Undo } from './Icons';
import { storedChoice } from './stored';

const themes = ['auto', 'light', 'dark'];
const [theme, chooseTheme] = storedChoice('tersor-theme', 'auto');

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
});

function nextTheme(): void {
  chooseTheme(themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'auto');
}

/** Figures will come. */
const isBusy = computed(() => run.value !== null || demoIsComing.value);

/** The figures now, wherever the reader is. */
function Instrument() {
  const shown = result.value;
  const float = shown?.float ?? (run.value ? measured.value.float : null);
  // room is kept from the start of a run
  if ((!float && !isBusy.value) || showsAnswer.value) return null;
  if (!float)
    return (
      <div class="instrument soft" role="group" aria-label="Figures now">
        <span>
          <Badge letter="F" title="Float" /> –
        </span>
      </div>
    );
  const report = shown?.quantized.report;
  return (
    <div class="instrument" role="group" aria-label="Figures now">
      {float.value !== null && (
        <span>
          <Badge letter="F" title="Float" /> {percentFigure(float.value)}
          <span class="unit">{thin}%</span>
        </span>
      )}
      {letters.map((letter) => {
        const done = resultOf(letter);
        if (!done) return null;
        return (
          <span key={letter}>
            <Badge letter={letter} title={`Configuration ${letter}`} />{' '}
            {done.int8.value === null ? (
              outputDecibels(done.comparison)
            ) : (
              <>
                {percentFigure(done.int8.value)}
                <span class="unit">{thin}%</span>
              </>
            )}
          </span>
        );
      })}
      {shown && float.value !== null && parked.value === null && (
        <span class="wide">{outputDecibels(shown.comparison)}</span>
      )}
      {report && parked.value === null && <span class="wide">{size(report.output.size_bytes)}</span>}
      {float.interval && (
        <span class="wide soft">
          n = {count(float.count)}, {halfWidth(float.interval.lower, float.interval.upper)}
        </span>
      )}
    </div>
  );
}

/** Undo or Redo, with what it would do. */
function HistoryButton(props: {
  readonly word: 'Undo' | 'Redo';
  readonly label: string | null;
  readonly keys: string;
  readonly icon: ComponentChildren;
  readonly act: () => void;
}) {
  const { word, label } = props;
  const does = label === null ? `Nothing to ${word.toLowerCase()}` : `${word} “${label}”`;
  return (
    <button
      type="button"
      class="ghost history-button"
      aria-disabled={label === null}
      title={`${does} (${props.keys})`}
      onClick={props.act}
    >
      {props.icon}
      <span class="history-word">{word}</span>
    </button>
  );
}

function HistoryButtons() {
  return (
    <>
      <HistoryButton word="Undo" label={undoLabel.value} keys="Ctrl+Z" icon={<Undo />} act={undo} />
      <HistoryButton word="Redo" label={redoLabel.value} keys="Ctrl+Shift+Z" icon={<Redo />} act={redo} />
      {!showsAnswer.value && (
        <button
          type="button"
          class="ghost share-button"
          title="Copy an address that holds these settings, and no data"
          onClick={() => void copy(shareable(), 'Address copied: it holds the settings, and no data.')}
        >
          Share
        </button>
      )}
    </>
  );
}

export function Header() {
  const start = atStart.value;
  const withFigures = (result.value !== null && !showsAnswer.value) || isBusy.value;
  return (
    <header class={withFigures ? 'header with-figures' : showsAnswer.value ? 'header brief' : 'header'}>
      <div class="header-row">
        <span class="brand">
          <Logo />
          tersor
        </span>
        <Instrument />
        <span class="privacy">
          <span class="ring" aria-hidden="true" />
          <span>
            Nothing leaves<span class="privacy-tab"> this tab</span>
            <span class="privacy-more">: no upload, no account, works offline</span>
          </span>
        </span>
        <span class="spring" />
        {!start && (
          <label class="ghost open-files" title="Open a model or samples (Ctrl+O)">
            <OpenFiles />
            <span class="open-files-word">Model and samples</span>
            <input id={filesInputId} type="file" multiple onChange={takeFiles} />
          </label>
        )}
        {!start && <HistoryButtons />}
        <button type="button" class="ghost help-button" onClick={() => openDialog('how')}>
          Help
        </button>
        <button
          type="button"
          class="ghost"
          onClick={nextTheme}
          aria-label={`Theme: ${theme.value}`}
          title={`Theme: ${theme.value}`}
        >
          <Theme />
        </button>
      </div>
    </header>
  );
}
