// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { demoFacts } from '../engine/demo';
import { keepAll } from '../engine/site';
import { runtime } from '../job/runtime';
import { storedOffline } from '../job/state';
import { size } from '../numbers';
import { Switch } from './fields';
import { Close } from './Icons';
import { LazyDocuments } from './LazyDocuments';
import { LazyHelp } from './LazyHelp';
import { chooseSingleKeys, singleKeys } from './single_keys';
import { TableHead } from './TableHead';

type DialogName = 'keys' | 'how' | 'documents' | 'privacy';

const shown = signal<DialogName | null>(null);

export function openDialog(name: DialogName): void {
  shown.value = name;
}

const keys: readonly (readonly [string, string])[] = [
  ['Enter on the drop zone, Ctrl+O', 'choose files'],
  ['Ctrl+V', 'open files from the clipboard'],
  ['Ctrl+Enter', 'quantize'],
  ['Ctrl+Z, Ctrl+Shift+Z', 'undo and redo a setting'],
  ['Esc', 'cancel a running job; else close a panel or a region'],
  ['/', 'find a layer or node'],
  ['l, g', 'layers as a list, as a graph'],
  ['v', 'the answer, why, everything'],
  ['Arrows in the graph', 'along the edges; Enter opens the layer, + and − zoom, 0 fits, Shift pans'],
  ['← → on a cut', 'one step; Shift ten, Home cuts nothing'],
  ['↑ ↓ Home End', 'move in the list of layers; an open panel follows'],
  ['Enter', 'open a layer'],
  ['1 2 3, 0', 'show float, A, B; all'],
  ['?', 'this table'],
];

function Keys() {
  return (
    <>
      <table class="figures">
        <TableHead of={['Key', 'Does']} />
        <tbody>
          {keys.map(([key, does]) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        <p>Keys of a single letter</p>
        <Switch
          label="Keys of a single letter"
          value={singleKeys.value === 'on'}
          onChoose={(on) => chooseSingleKeys(on ? 'on' : 'off')}
        />
      </div>
    </>
  );
}

const trainingBytes = Number(document.querySelector<HTMLMetaElement>('meta[name="tersor-training"]')?.content ?? 0);
const laterBytes = demoFacts.bytes + (runtime?.bytes ?? 0) + trainingBytes;
const kept = signal<'' | 'runs' | 'kept' | 'failed'>('');

const keptWords = {
  '': '',
  runs: 'Being fetched.',
  kept: 'All of it is here now, and works without a network.',
  failed: 'Not all of it could be fetched. Try again with a network, and with room for it on this device.',
} as const;

async function keep(): Promise<void> {
  kept.value = 'runs';
  kept.value = (await keepAll()) ? 'kept' : 'failed';
}

/** What is fetched on first use, all at once. */
function Keep() {
  if (!storedOffline.value) return null;
  return (
    <div class="actions">
      <button type="button" class="button" disabled={kept.value === 'runs'} onClick={() => void keep()}>
        Keep all of it for offline use
      </button>
      <p class="soft" aria-live="polite">
        {keptWords[kept.value] || `${size(laterBytes)}, once`}
      </p>
    </div>
  );
}

function Privacy() {
  return (
    <>
      <p>
        Nothing. Models and samples are read by this page on your machine, and its security policy forbids requests to
        any other address.
      </p>
      <p>
        What you may never press is fetched when you do: the photographs of the demo, the runtime of Verify, the engine
        that trains. They come from where this page lies, once, and nothing of yours goes there.
      </p>
      <Keep />
      <p>
        There is no account, no cookie, no measurement of visitors. The choices of a theme, of keys and of how much is
        shown are kept in this browser.
      </p>
    </>
  );
}

const titles: Readonly<Record<DialogName, string>> = {
  keys: 'Keyboard',
  how: 'How it works',
  documents: 'The documents',
  privacy: 'What leaves this tab',
};

export function Dialogs() {
  const element = useRef<HTMLDialogElement>(null);
  const name = shown.value;
  useLayoutEffect(() => {
    const dialog = element.current;
    if (name !== null && dialog && !dialog.open) dialog.showModal();
  });
  if (name === null) return null;
  const close = () => {
    element.current?.close();
    shown.value = null;
  };
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={() => {
        // told late: a key may have opened it again
        if (!element.current?.open) shown.value = null;
      }}
    >
      <div class="dialog-head">
        <h2 id="dialog-title">{titles[name]}</h2>
        <button type="button" class="ghost" aria-label="Close" onClick={close}>
          <Close />
        </button>
      </div>
      {name === 'keys' ? (
        <Keys />
      ) : name === 'how' ? (
        <LazyHelp />
      ) : name === 'documents' ? (
        <LazyDocuments />
      ) : (
        <Privacy />
      )}
    </dialog>
  );
}
