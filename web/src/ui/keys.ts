// SPDX-License-Identifier: Apache-2.0

import { lookAt } from '../job/compare';
import { redo, undo } from '../job/history';
import { cancel } from '../job/quantize';
import { followers, isUnsaved, openLayer, openRegions, result, run, showAtLeast, view, views } from '../job/state';
import { openDialog } from './Dialogs';
import { singleKeys } from './single_keys';
import { chooseFiles } from './files';
import { startQuantize } from './MainButton';
import { closeLayer, layerSearchId } from './layer';
import { layerTab } from './LayerTabs';
import { modelGraphSearchId } from './ModelGraph';

function inField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
  );
}

/** Fields in which something was typed and not yet entered: there the browser's own undo is meant. */
const typed = new WeakSet<EventTarget>();

function findSearch(): HTMLElement | null {
  return document.getElementById(layerSearchId) ?? document.getElementById(modelGraphSearchId);
}

function escape(): void {
  if (run.value) cancel();
  else if (openLayer.value !== null) closeLayer();
  else if (openRegions.value.size > 0) openRegions.value = new Set();
}

/** Asks once before a file that was made and not saved is lost. */
export function guardResult(): void {
  addEventListener('beforeunload', (event) => {
    if (isUnsaved.value) event.preventDefault();
  });
}

/** Single letters work outside fields only, and can be switched off. */
export function listenForKeys(): void {
  addEventListener('input', ({ target }) => {
    if (
      target instanceof HTMLTextAreaElement ||
      (target instanceof HTMLInputElement && /^(text|search)$/.test(target.type))
    )
      typed.add(target);
  });
  addEventListener('change', ({ target }) => target && typed.delete(target));
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return;
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key.toLowerCase() === 'o') {
      event.preventDefault();
      chooseFiles();
    } else if (control && event.key === 'Enter') {
      event.preventDefault();
      startQuantize();
    } else if (control && !event.altKey && ['z', 'y'].includes(event.key.toLowerCase())) {
      if (event.target && typed.has(event.target)) return;
      event.preventDefault();
      if (event.shiftKey || event.key.toLowerCase() === 'y') redo();
      else undo();
    } else if (event.key === 'Escape') {
      escape();
    } else if (!control && !event.altKey && singleKeys.value === 'on' && !inField(event.target)) {
      if (event.key === '/') {
        const search = findSearch();
        if (search || result.value) event.preventDefault();
        if (search) search.focus();
        else if (result.value) {
          showAtLeast('everything');
          // what is shown by that is drawn in the next frame
          requestAnimationFrame(() => findSearch()?.focus());
        }
      } else if (event.key === 'g' || event.key === 'l') {
        showAtLeast('everything');
        layerTab.value = event.key === 'g' ? 'graph' : 'layers';
      } else if (event.key === 'v' && result.value) {
        view.value = views[(views.indexOf(view.value) + 1) % views.length] ?? 'answer';
      } else if (['0', '1', '2', '3'].includes(event.key) && result.value) {
        if (followers.value === 0) showAtLeast('everything');
        lookAt((['all', 'F', 'A', 'B'] as const)[Number(event.key)] ?? 'all');
      } else if (event.key === '?') {
        openDialog('keys');
      }
    }
  });
}
