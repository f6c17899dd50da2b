// SPDX-License-Identifier: Apache-2.0

import { strToU8, zipSync } from 'fflate';
import { beforeAll, expect, it, vi } from 'vitest';

import { tensor } from './helpers';

type Module = typeof import('../src/job/aside');

/** The page's side of the worker, and the worker's own script, each with the other's messages. */
class Pair extends EventTarget {
  static worker: ((event: { data: unknown }) => void) | null = null;
  static readonly pages: Pair[] = [];
  constructor() {
    super();
    Pair.pages.push(this);
  }
  postMessage(data: unknown): void {
    setTimeout(() => Pair.worker?.({ data }), 0);
  }
}
const posted: unknown[] = [];
let aside: Module;

beforeAll(async () => {
  vi.stubGlobal('Worker', Pair);
  vi.stubGlobal('addEventListener', (_name: string, act: typeof Pair.worker) => (Pair.worker = act));
  vi.stubGlobal('postMessage', (data: unknown) => {
    posted.push(data);
    for (const page of Pair.pages) page.dispatchEvent(Object.assign(new Event('message'), { data }));
  });
  aside = await import('../src/job/aside');
  const started = aside.startAside();
  await import('../src/job/aside.worker');
  await started;
});

const archive = (path: string, files: Record<string, string>) => ({
  path,
  data: new Blob([zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])))]),
});

it('says that it runs', () => {
  expect(posted[0]).toEqual({ started: true });
});

it('opens archives of none, few and many files, folders left out', async () => {
  const few = await aside.unzip(archive('a.zip', { 'd/': '', 'd/a.png': 'A', 'b.png': 'B' }));
  expect(few.map(({ path }) => path)).toEqual(['d/a.png', 'b.png']);
  expect(await few[0]?.data.text()).toBe('A');
  expect(await aside.unzip(archive('none.zip', { 'd/': '' }))).toEqual([]);
  for (const n of [100, 101, 250]) {
    const names = Array.from({ length: n }, (_, k) => `${k}.png`);
    posted.length = 0;
    const many = await aside.unzip(archive('many.zip', Object.fromEntries(names.map((name) => [name, name]))));
    expect(many.map(({ path }) => path).sort()).toEqual([...names].sort());
    expect(posted).toHaveLength(Math.ceil(n / 100));
  }
});

it('says what is wrong with an archive', async () => {
  const broken = { path: 'b.zip', data: new Blob(['no archive']) };
  await expect(aside.unzip(broken)).rejects.toMatchObject({
    code: 'invalid_samples',
    message: expect.stringMatching(/^b\.zip could not be opened as a zip archive: .*[^.]\.$/) as string,
    place: 'b.zip',
  });
});

it('makes drawings and bars of runs', async () => {
  const runs = () => ({
    isBgr: false,
    float: [
      {
        index: 0,
        inputs: [tensor('x', [1, 3, 16, 16])],
        outputs: [tensor('mask', [1, 1, 16, 16], (k) => Number(k < 64))],
      },
    ],
    others: [],
  });
  expect((await aside.drawn(runs(), false))?.rows[0]?.figures[0]?.said).toBe('covers 25.0\u202f%');
  expect((await aside.bars(runs()))?.outputs).toEqual([{ name: 'mask', low: 0, high: 1 }]);
});
