// SPDX-License-Identifier: Apache-2.0

import { computed } from '@preact/signals';

import { isOutdated } from '../job/parts';
import {
  announcement,
  atStart,
  demoIsComing,
  engine,
  engineProblem,
  openRegions,
  result,
  showsAnswer,
  storedOffline,
  toast,
  view,
} from '../job/state';
import { Dialogs, openDialog } from './Dialogs';
import { Dock } from './Dock';
import { dragged } from './drag';
import { Header } from './Header';
import { builtSize, Landing } from './Landing';
import { LinkButton } from './LinkButton';
import { ModelRegion } from './ModelRegion';
import { Note, ProblemCard } from './Note';
import { ResultsRegion } from './ResultsRegion';
import { SamplesRegion } from './SamplesRegion';
import { SettingsRegion } from './SettingsRegion';

/** Open settings stand beside a result, and not above it. */
const hasDock = computed(() => result.value !== null && openRegions.value.has('settings'));

/** On a phone they cover what is below; where everything is shown they stay in their place. */
const hasSheet = computed(() => hasDock.value && view.value !== 'everything');

/** The page that is one file has no files beside it. */
const isSite = document.querySelector('script[type="module"][src]') !== null;

function Footer() {
  const version = engine.value?.version;
  const facts = [
    version ? `Tersor ${version}` : 'Tersor',
    builtSize,
    storedOffline.value ? 'stored for offline use' : '',
  ];
  return (
    <footer class="footer">
      {!showsAnswer.value && <FooterLinks />}
      <p class="soft">{facts.filter(Boolean).join(' · ')}</p>
    </footer>
  );
}

function FooterLinks() {
  return (
    <nav aria-label="About">
      <LinkButton onClick={() => openDialog('privacy')}>What leaves this tab: nothing</LinkButton>
      <LinkButton onClick={() => openDialog('how')}>How it works</LinkButton>
      <LinkButton onClick={() => openDialog('documents')}>The documents</LinkButton>
      <LinkButton onClick={() => openDialog('keys')}>Keyboard</LinkButton>
      {isSite && (
        <a class="link" href="tersor.html" download>
          This page as one file
        </a>
      )}
    </nav>
  );
}

function DropVeil() {
  const items = dragged.value;
  if (items === null || atStart.value) return null;
  return (
    <div class="veil" aria-hidden="true">
      <p>Let go to add them. They are read in this tab and stay in it.</p>
    </div>
  );
}

function Toast() {
  const shown = toast.value;
  return (
    <div class="toast-place" role="status">
      {shown && (
        <p class="toast" key={shown.id}>
          <span>{shown.text}</span>
          {shown.action && (
            <button type="button" class="toast-action" onClick={shown.action.act}>
              {shown.action.word}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

/** The card of a tab whose files are gone. */
function Outdated() {
  const keeps = result.value !== null;
  return (
    <div role="alert">
      <Note kind="stop">
        <p class="problem-message">
          A newer version of this page has taken the place of the files that this tab needs.
        </p>
        <p>
          Reload to go on.
          {keeps && ' Model, recipe and report can still be downloaded; the recipe restores the settings afterwards.'}
        </p>
        <div class="actions">
          <button type="button" class="button filled" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </Note>
    </div>
  );
}

export function App() {
  return (
    <>
      <Header />
      <main class={`main${hasDock.value ? ' has-dock' : ''}${hasSheet.value ? ' has-sheet' : ''}`}>
        {atStart.value ? <Landing /> : <h1 class="visually-hidden">Tersor: quantize a neural network</h1>}
        {isOutdated.value && <Outdated />}
        {engineProblem.value && <ProblemCard problem={engineProblem.value} />}
        <ModelRegion />
        <SamplesRegion />
        <SettingsRegion />
        <ResultsRegion />
      </main>
      {!demoIsComing.value && <Footer />}
      <Dock />
      <DropVeil />
      <Toast />
      <div class="visually-hidden" aria-live="polite">
        {announcement.value}
      </div>
      <Dialogs />
    </>
  );
}
