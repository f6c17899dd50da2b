// SPDX-License-Identifier: Apache-2.0
//
// Where labels come from, and float accuracy before anything else: rows 7 and 8 of the 25 behaviours.

import { zipSync } from 'fflate';
import { expect, it } from 'vitest';

import { npy, plainPicture } from '../files.mjs';
import { colours } from '../networks.mjs';
import {
  button,
  comparison,
  expectQuiet,
  give,
  openPage,
  region,
  untilCanQuantize,
  untilDone,
  useSite,
  viewports,
} from '../site.mjs';

const site = useSite();

const shades = [
  ['a red', [200, 30, 60]],
  ['b green', [40, 190, 20]],
  ['c blue', [10, 60, 210]],
];
const model = ['colours.onnx', colours()];
const each = 12;
const pictures = (place) =>
  shades.flatMap(([name, colour], k) =>
    Array.from({ length: each }, (_, n) => [place(name, n), plainPicture(colour, 8, 10 * k + n)]),
  );
const archive = (files) => ['mine.zip', zipSync(Object.fromEntries(files))];
/** The values of one sample, 0 to 1, channels first. */
const numbers = (k, n) => {
  const colour = shades[k][1];
  return Float32Array.from({ length: 192 }, (_, at) => (colour[Math.floor(at / 64)] + ((at + n) % 9)) / 255);
};
const all = Array.from({ length: shades.length * each }, (_, at) => [at % 3, Math.floor(at / 3)]);

async function top1(page) {
  const [title, cells] = Object.entries(await comparison(page))[0];
  expect(title).toMatch(/^Top-1 accuracy/);
  return cells;
}

it('E.3 row 7: takes labels from folders, file names, a column or an array, and says counts by class and the split', async () => {
  const stacked = Float32Array.from(all.flatMap(([k, n]) => [...numbers(k, n)]));
  const sets = [
    [[archive(pictures((name, n) => `${name}/${n}.png`))], 'Labels from folder names.', 'a red'],
    [pictures((name, n) => `${name}_${n}.png`), 'Labels from file names.', 'b green'],
    [
      [
        [
          'table.csv',
          `label,${Array.from({ length: 192 }, (_, k) => `p${k}`)}\n${all.map(([k, n]) => [k, ...numbers(k, n)].join(',')).join('\n')}`,
        ],
      ],
      'Labels from a column of the table.',
      '2',
    ],
    [
      [
        [
          'arrays.npz',
          zipSync({
            'x.npy': npy(stacked, [all.length, 3, 8, 8]),
            'y.npy': npy(Int32Array.from(all.map(([k]) => k)), [all.length]),
          }),
        ],
      ],
      'Labels from an array beside the samples.',
      '1',
    ],
    [
      [
        ...pictures((name, n) => `${name[0]}x${n}y.png`),
        [
          'labels.csv',
          `sample,label\n${pictures((name, n) => `${name[0]}x${n}y.png`)
            .map(([path], k) => `${path},${Math.floor(k / each)}`)
            .join('\n')}`,
        ],
      ],
      'Labels from labels.csv.',
      null,
    ],
  ];
  for (const viewport of viewports) {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    const samples = region(page, 'Samples');
    await give(page, model);
    for (const [files, source, name] of viewport.width === 1440 ? sets : sets.slice(1, 2)) {
      await give(page, ...files);
      await samples.getByText(source).waitFor();
      if (name !== null) {
        if (viewport.width === 1440) await samples.getByText('3 classes').waitFor();
        const row = samples.locator('.classes tbody tr', { has: page.getByRole('rowheader', { name, exact: true }) });
        expect(await row.locator('td').last().innerText()).toBe(String(each));
        expect(await row.innerText()).toMatch(/6 calibrate/);
      }
      expect((await samples.locator('.split-figures').first().innerText()).replace(/\s+/g, ' ')).toBe(
        '18 calibrate 18 evaluate',
      );
      await untilCanQuantize(page);
    }
    await button(page, 'Quantize').click();
    await untilDone(page);
    expect((await top1(page))[0]).toBe('100.00 %');
    await expectQuiet(visit);
    await context.close();
  }
}, 240_000);

it('labels that nobody asked for can be left out', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  const samples = region(page, 'Samples');
  await give(page, model, ...pictures((name, n) => `${name}_${n}.png`));
  await samples.getByText('Labels from file names.').waitFor();
  await button(page, 'Go on without labels').click();
  await samples.getByText('No labels: int8 answers are compared').waitFor();
  await button(page, 'Quantize').click();
  await expect.poll(() => page.locator('.region-results .job-done').count(), { timeout: 60_000 }).toBe(1);
  // the outputs are no classes without them
  const rows = await comparison(page);
  expect(Object.keys(rows)[0]).toMatch(/^Output SQNR/);
  expect(rows['Same answer as float'].at(-1)).toBe('no known classes');
  await button(page, 'Details samples').click();
  await button(page, 'Use them as labels').click();
  await expect.poll(async () => Object.keys(await comparison(page))[0], { timeout: 30_000 }).toMatch(/^Top-1/);
  await expectQuiet(visit);
  await context.close();
});

it('E.3 row 8: stops at a float accuracy that cannot be right, with the likely cause and a button', async () => {
  for (const viewport of viewports) {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    const samples = region(page, 'Samples');
    const stop = page.getByTestId('float-stop');
    await give(page, model, archive(pictures((name, n) => `${name}/${n}.png`)));
    await untilCanQuantize(page);
    await samples.getByLabel('Channels').selectOption('BGR NCHW');
    await expect.poll(() => samples.getByLabel('Channels').inputValue()).toBe('BGR NCHW');
    await untilCanQuantize(page);
    await button(page, 'Quantize').click();
    await stop.waitFor();
    expect(await stop.getAttribute('data-advice')).toBe('wrong-preprocessing');
    expect((await stop.innerText()).replaceAll('\u202f', ' ')).toMatch(/33\.33 %\s+float accuracy, n = 18/);
    // nothing was quantized, and the reader may go on, or take the fix
    expect(await page.locator('.comparison').count()).toBe(0);
    expect(await button(page, 'Download model').count()).toBe(0);
    await stop.getByRole('button').first().click();
    await untilDone(page);
    expect((await top1(page))[0]).toBe('100.00 %');
    expect(await stop.count()).toBe(0);

    // at chance whatever the preset: every picture is grey, and the folders hold the same ones
    const grey = shades.flatMap(([name]) =>
      Array.from({ length: each }, (_, n) => [`${name}/${n}.png`, plainPicture([90 + n, 90 + n, 90 + n], 8, n)]),
    );
    await give(page, archive(grey));
    await untilCanQuantize(page);
    await button(page, 'Quantize').click();
    await stop.waitFor();
    expect(await stop.getAttribute('data-advice')).toBe('at-chance');
    await button(page, 'Go on anyway').click();
    await untilDone(page);
    expect((await top1(page))[0]).toBe('33.33 %');
    await expectQuiet(visit);
    await context.close();
  }
}, 240_000);
