// SPDX-License-Identifier: Apache-2.0

import { announcement, atStart, engine, engineProblem, storedOffline, toast } from '../job/state';
import { Dialogs, openDialog } from './Dialogs';
import { Dock } from './Dock';
import { dragged } from './drag';
import { Header } from './Header';
import { builtSize, Landing } from './Landing';
import { ModelRegion } from './ModelRegion';
import { ProblemCard } from './Note';
import { ResultsRegion } from './ResultsRegion';
import { SamplesRegion } from './SamplesRegion';
import { SettingsRegion } from './SettingsRegion';

function Footer() {
  const version = engine.value?.version;
  const facts = [
    version ? `Tersor ${version}` : 'Tersor',
    builtSize,
    storedOffline.value ? 'stored for offline use' : '',
  ];
  return (
    <footer class="footer">
      <nav aria-label="About">
        <button type="button" class="link" onClick={() => openDialog('privacy')}>
          What leaves this tab: nothing
        </button>
        <button type="button" class="link" onClick={() => openDialog('how')}>
          How it works
        </button>
        <button type="button" class="link" onClick={() => openDialog('keys')}>
          Keyboard
        </button>
      </nav>
      <p class="soft">{facts.filter(Boolean).join(' · ')}</p>
    </footer>
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

export function App() {
  return (
    <>
      <Header />
      <main class="main">
        {atStart.value ? <Landing /> : <h1 class="visually-hidden">Tersor: quantize a neural network</h1>}
        {engineProblem.value && <ProblemCard problem={engineProblem.value} />}
        <ModelRegion />
        <SamplesRegion />
        <SettingsRegion />
        <ResultsRegion />
      </main>
      <Footer />
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
