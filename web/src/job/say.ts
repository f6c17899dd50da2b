// SPDX-License-Identifier: Apache-2.0
//
// One line at the bottom of the page; screen readers are told it too.

import * as state from './state';

let lastToast = 0;
const shownMilliseconds = 8000;

/** Shows one line for eight seconds, longer while the focus is on its button; a newer one replaces it. */
export function say(text: string, action?: state.Toast['action']): void {
  const id = ++lastToast;
  state.toast.value = { text, id, action };
  const end = () => {
    if (state.toast.value?.id !== id) return;
    if (typeof document !== 'undefined' && document.activeElement?.closest('.toast'))
      setTimeout(end, shownMilliseconds);
    else state.toast.value = null;
  };
  setTimeout(end, shownMilliseconds);
}
