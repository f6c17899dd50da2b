// SPDX-License-Identifier: Apache-2.0
//
// Files and folders out of a drop, a paste or a file input, folders opened with all their subfolders.

import type { Arrival } from './intake';

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    // a reader hands out about a hundred entries at a time
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

async function open(entry: FileSystemEntry, into: Arrival[]): Promise<void> {
  if (entry.isDirectory) {
    for (const child of await entriesOf(entry as FileSystemDirectoryEntry)) await open(child, into);
    return;
  }
  const data = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
  into.push({ path: entry.fullPath.replace(/^\//, ''), data });
}

export function carriesFiles(transfer: DataTransfer | null): transfer is DataTransfer {
  return transfer !== null && [...transfer.types].includes('Files');
}

/** Must be called within the event: a transfer is empty afterwards. */
export function transferArrivals(transfer: DataTransfer): Promise<Arrival[]> {
  const entries = [...transfer.items]
    .filter((item) => item.kind === 'file')
    .map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  return (async () => {
    const arrivals: Arrival[] = [];
    for (const entry of entries) {
      if (entry instanceof File) arrivals.push({ path: entry.name, data: entry });
      else if (entry) await open(entry, arrivals);
    }
    return arrivals;
  })();
}

export function inputArrivals(files: Iterable<File>): Arrival[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, data: file }));
}
