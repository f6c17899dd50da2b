// SPDX-License-Identifier: Apache-2.0
//
// Advice that the page gives on models made to need it, each with its figures and a button. (What float accuracy shows, wrong
// preprocessing among it, is in rows/labels.test.mjs.)

import { expect, it } from 'vitest';

import { modelProto } from '../zoo/protobuf.mjs';
import { npy, plainPicture } from './files.mjs';
import { colours } from './networks.mjs';
import { button, expectQuiet, give, openPage, plain, untilCanQuantize, untilMeasured, useSite } from './site.mjs';

const site = useSite();

const floats = (n, of) => Float32Array.from({ length: n }, (_, k) => of(k));
const tensor = (dims, of) => ({
  dims,
  data: floats(
    dims.reduce((product, one) => product * one, 1),
    of,
  ),
});
const model = (nodes, constants, x, y) =>
  modelProto(13, { nodes, constants, inputs: { x: [1, x] }, outputs: { y: [1, y] } });
/** Samples of x, each of so many values. */
const arrays = (count, dims, of) => {
  const each = dims.reduce((product, one) => product * one, 1);
  return ['x.npy', npy(floats(count * each, of), [count, ...dims.slice(1)])];
};
const wave = (k) => Math.sin(1 + 0.7 * k);
const conv = { op: 'Conv', inputs: ['x', 'w'], outputs: ['y'] };
const small = [1, 4, 8, 8];

const cases = [
  {
    what: 'one tensor’s outlier',
    id: 'outliers',
    says: /reach 30\d\.\d\d, \d+ standard deviations.*of the output error/,
    files: [
      // one value of each sample is 300 times as large as the others
      ['net.onnx', model([conv], { w: tensor([4, 4, 1, 1], (k) => Number(k % 5 === 0)) }, small, small)],
      arrays(64, small, (k) => (k % 256 === 17 ? 300 : wave(k))),
    ],
    set: { 'Where to cut activations': 'NOCLIPPING' },
  },
  {
    what: 'a concatenation of unlike ranges',
    id: 'unlike-ranges',
    off: 'Keep in float what 8 bits cannot hold', // or the job itself keeps the join in float
    says: /The small values of \S+ keep [−\d.]+.dB: those at .* of axis 1 reach to 0\.\d+, the others to \d+/,
    files: [
      [
        'net.onnx',
        model(
          [
            { op: 'Conv', inputs: ['x', 'w'], outputs: ['a'] },
            { op: 'Conv', inputs: ['x', 'v'], outputs: ['b'] },
            { op: 'Concat', inputs: ['a', 'b'], outputs: ['y'], attributes: { axis: 1 } },
          ],
          { w: tensor([4, 4, 1, 1], (k) => 100 * wave(k)), v: tensor([4, 4, 1, 1], (k) => 0.1 * wave(k)) },
          small,
          [1, 8, 8, 8],
        ),
      ],
      arrays(64, small, wave),
    ],
  },
  {
    what: 'depthwise weights that share a scale',
    id: 'weights-per-tensor',
    says: /times as large in one channel as in another, and share one scale/,
    files: [
      [
        'net.onnx',
        model(
          [{ ...conv, attributes: { group: 4 } }],
          { w: tensor([4, 1, 3, 3], (k) => [1, 0.001, 0.5, 0.2][Math.floor(k / 9)] * wave(k)) },
          small,
          [1, 4, 6, 6],
        ),
      ],
      arrays(64, small, wave),
    ],
    set: { 'One scale per channel': 'false' },
  },
  {
    what: 'too few samples',
    id: 'few-samples',
    says: /4 samples set the ranges; 32 to 128 are usual/,
    files: [['net.onnx', model([conv], { w: tensor([4, 4, 1, 1], wave) }, small, small)], arrays(8, small, wave)],
  },
  {
    what: 'labels off by one',
    id: 'labels-off-by-one',
    says: /The labels are off by one: with \+1 on every label/,
    isStop: true,
    // green and blue are outputs 1 and 2
    files: [
      ['net.onnx', colours()],
      ...Array.from({ length: 40 }, (_, k) => [
        `${String(k).padStart(2, '0')}.png`,
        plainPicture(k % 2 === 0 ? [40, 190, 20] : [10, 60, 210], 8, k),
      ]),
      ['labels.csv', Array.from({ length: 40 }, (_, k) => `${String(k).padStart(2, '0')},${k % 2}`).join('\n')],
    ],
  },
  {
    what: 'CPUs without VNNI',
    id: 'without-vnni',
    says: /On x64 processors without instructions for int8, [\d.]+\s% of the sums of .* are cut off/,
    platform: 'ort-cpu',
    set: { Prefer: 'ACCURACY' },
    files: [
      // all weights and all values are near the ends of their ranges
      [
        'net.onnx',
        model(
          [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }],
          { w: tensor([256, 128], (k) => 1 - 0.05 * ((k * 7) % 3)) },
          [1, 256],
          [1, 128],
        ),
      ],
      arrays(64, [1, 256], (k) => 1 - 0.02 * ((k * 13) % 7)),
    ],
  },
  {
    what: 'int8 that is not faster here',
    id: 'not-faster',
    says: /Int8 is expected to take [\d.]+\sms and float [\d.]+\sms in ONNX Runtime [\d.]+: 0\.\d+ times as fast/,
    platform: 'ort-cpu',
    set: { Prefer: 'ACCURACY' },
    files: [['net.onnx', model([conv], { w: tensor([4, 4, 1, 1], wave) }, small, small)], arrays(64, small, wave)],
  },
  {
    what: 'operators in float, and why',
    id: 'stays-float',
    says: /1 operator stays in float and multiplies no matrices/,
    platform: 'ort-cpu',
    files: [
      [
        'net.onnx',
        model(
          [
            { op: 'MatMul', inputs: ['x', 'w'], outputs: ['a'] },
            { op: 'Sin', inputs: ['a'], outputs: ['y'] },
          ],
          { w: tensor([256, 128], (k) => 0.1 * wave(k)) },
          [1, 256],
          [1, 128],
        ),
      ],
      arrays(64, [1, 256], wave),
    ],
  },
];

it.each(cases)('finds $what', async ({ id, says, files, set = {}, off = '', platform = 'any', isStop = false }) => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await give(page, ...files);
  await untilCanQuantize(page);
  await button(page, 'Change settings').click();
  await page.getByLabel('Where it will run').selectOption(platform);
  for (const [label, value] of Object.entries(set)) await page.getByLabel(label).selectOption(value);
  if (off) {
    await page.locator('.setting-group-head', { hasText: off.toLowerCase() }).click();
    await page.getByRole('group', { name: off }).getByRole('radio', { name: 'Off' }).check();
  }
  await untilCanQuantize(page);
  await button(page, 'Quantize').click();
  if (isStop) await page.getByTestId('float-stop').waitFor();
  else await untilMeasured(page);
  const found = page.locator(`[data-advice="${id}"]`);
  await found.waitFor();
  expect(plain(await found.innerText())).toMatch(says);
  // its button is there, and what it changes is taken back by one step
  const apply = found.locator('button.button').first();
  expect(await apply.isEnabled()).toBe(true);
  if (!['few-samples', 'stays-float'].includes(id)) {
    await apply.press('Enter'); // what comes to the page meanwhile moves it, and a pointer may miss it
    await expect.poll(() => page.locator('.toast').count()).toBe(1);
    await untilMeasured(page);
    await page.keyboard.press('Control+z');
    await expect.poll(() => page.locator('.toast').innerText()).toMatch(/^Undone: /);
  }
  await expectQuiet(visit);
  await context.close();
});
