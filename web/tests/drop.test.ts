// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';

import { carriesFiles, inputArrivals, transferArrivals } from '../src/job/drop';

const file = (name: string) => new File([name], name);

function fileEntry(path: string): FileSystemEntry {
  const entry = {
    isDirectory: false,
    fullPath: path,
    file: (take: (file: File) => void) => take(file(path.slice(path.lastIndexOf('/') + 1))),
  };
  return entry as unknown as FileSystemEntry;
}

/** A folder whose reader hands out two entries at a time. */
function folder(...children: FileSystemEntry[]): FileSystemEntry {
  const entry = {
    isDirectory: true,
    fullPath: '',
    createReader: () => {
      let at = 0;
      return { readEntries: (take: (some: FileSystemEntry[]) => void) => take(children.slice(at, (at += 2))) };
    },
  };
  return entry as unknown as FileSystemEntry;
}

const item = (entry: FileSystemEntry | null, own: File | null = null, kind = 'file') => ({
  kind,
  webkitGetAsEntry: () => entry,
  getAsFile: () => own,
});
const dropped = (...items: ReturnType<typeof item>[]) => transferArrivals({ items } as unknown as DataTransfer);

it('opens folders with all that is below them, whatever a reader hands out at a time', async () => {
  const arrivals = await dropped(
    item(
      folder(
        fileEntry('/set/a.png'),
        folder(fileEntry('/set/cat/b.png')),
        fileEntry('/set/c.png'),
        fileEntry('/set/d.png'),
        fileEntry('/set/e.png'),
      ),
    ),
    item(fileEntry('/net.onnx')),
  );
  expect(arrivals.map(({ path }) => path)).toEqual([
    'set/a.png',
    'set/cat/b.png',
    'set/c.png',
    'set/d.png',
    'set/e.png',
    'net.onnx',
  ]);
  expect(await arrivals[1]?.data.text()).toBe('b.png');
});

it('takes files that have no entry, and nothing else', async () => {
  const arrivals = await dropped(
    item(null, file('pasted.png')),
    item(null),
    item(fileEntry('/words'), file('words'), 'string'),
  );
  expect(arrivals.map(({ path }) => path)).toEqual(['pasted.png']);
});

it('knows a transfer of files', () => {
  const of = (...types: string[]) => ({ types }) as unknown as DataTransfer;
  expect(carriesFiles(of('text/plain', 'Files'))).toBe(true);
  expect(carriesFiles(of('text/plain'))).toBe(false);
  expect(carriesFiles(null)).toBe(false);
});

it('takes the paths of a folder that was chosen, and the names of files', () => {
  const chosen = Object.assign(file('b.png'), { webkitRelativePath: 'set/cat/b.png' });
  expect(inputArrivals([chosen, file('c.png')]).map(({ path }) => path)).toEqual(['set/cat/b.png', 'c.png']);
});
