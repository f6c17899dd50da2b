// SPDX-License-Identifier: Apache-2.0

import { say } from '../job/say';

/** Without the clipboard's permission, as on a plain-http address, a selected field does it. */
function copyThroughField(text: string): boolean {
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const copied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return copied;
}

export async function copy(text: string, done: string): Promise<void> {
  let copied = false;
  try {
    await navigator.clipboard.writeText(text);
    copied = true;
  } catch {
    copied = copyThroughField(text);
  }
  say(copied ? done : 'The browser does not allow copying here; select the text instead.');
}

/** Hands bytes to the browser as a file. */
export function download(content: BlobPart, name: string, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  // the download has its own hold on the blob once it has begun
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
