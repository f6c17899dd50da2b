// SPDX-License-Identifier: Apache-2.0
//
// Row 25 of the 25 behaviours: ten broken models, ten wrong sets of samples and ten recipes that somebody edited. errors.txt holds what
// the page says to each, to be read aloud; with UPDATE_GOLDEN=1 it is written anew. The page stays usable after each.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { zipSync } from 'fflate';
import { expect, it } from 'vitest';

import { modelProto } from '../../zoo/protobuf.mjs';
import { enormousPng, npy, png, wav } from '../files.mjs';
import { colours } from '../networks.mjs';
import {
  button,
  expectQuiet,
  give,
  isReady,
  openPage,
  region,
  untilCanQuantize,
  untilMeasured,
  useSite,
  viewports,
} from '../site.mjs';

const golden = path.join(import.meta.dirname, 'errors.txt');

const site = useSite();

const text = (string) => Buffer.from(string);
const tensor = (...dims) => ({
  dims,
  data: Float32Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, k) => (k % 7) / 7 - 0.5),
});
const oneNode = (node, constants, x, y, more) =>
  modelProto(
    13,
    {
      nodes: [{ inputs: ['x', 'w'], outputs: ['y'], ...node }],
      constants,
      inputs: { x: [1, x] },
      outputs: { y: [1, y] },
    },
    more,
  );
const tflite = Buffer.concat([Buffer.from([0x1c, 0, 0, 0]), text('TFL3'), Buffer.alloc(400)]);
const good = colours();

const models = [
  ['a TFLite file', 'net.tflite', tflite],
  ['a web page in place of a download', 'net.onnx', text('<!DOCTYPE html><html><body>404</body></html>')],
  ['a Git LFS pointer', 'net.onnx', text('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n')],
  ['a zip archive under the name of a model', 'net.onnx', zipSync({ 'a.txt': text('a') })],
  ['a model cut short', 'net.onnx', good.subarray(0, Math.floor(good.length / 2))],
  ['an empty file', 'net.onnx', Buffer.alloc(0)],
  ['a PyTorch checkpoint', 'net.pth', Buffer.from('\x80\x02}q\x00(X\x06\x00\x00\x00weightq\x01', 'latin1')],
  [
    'weights in a file that did not come along',
    'net.onnx',
    oneNode({ op: 'MatMul' }, { w: { dims: [4, 2], location: 'model.onnx.data' } }, [1, 4], [1, 2]),
  ],
  ['an input that nothing gives', 'net.onnx', oneNode({ op: 'MatMul', inputs: ['x', 'nobody'] }, {}, [1, 4], [1, 2])],
  ['an operator that waits for itself', 'net.onnx', oneNode({ op: 'Add', inputs: ['x', 'y'] }, {}, [1, 4], [1, 4])],
];

const picture = (n) =>
  png(
    new Uint8Array(192).map((_v, k) => (k * (n + 3)) % 251),
    8,
    8,
  );
const samples = [
  ['a picture cut short', [['cut.png', picture(1).subarray(0, 60)]]],
  ['a picture of enormous size', [['huge.png', enormousPng(60000, 60000)]]],
  ['a file that is no picture', [['page.png', text('<html></html>')]]],
  ['an array of another shape', [['other.npy', npy(new Float32Array(35), [7, 5])]]],
  ['channels at the wrong end', [['last.npy', npy(new Float32Array(192), [8, 8, 3])]]],
  ['values that are not finite', [['nan.npy', npy(new Float32Array(192).fill(NaN), [1, 3, 8, 8])]]],
  ['an archive cut short', [['cut.zip', Buffer.from(zipSync({ 'a.png': picture(1) })).subarray(0, 60)]]],
  ['a table with a hole', [['rows.csv', `${Array.from({ length: 191 }, () => 1)},\n`]]],
  ['pictures of another format', [['one.heic', text('\0\0\0\x18ftypheic\0\0\0\0')]]],
  ['a recording for a model of pictures', [['voice.wav', wav(100)]]],
];

const recipeWith = (members) =>
  JSON.stringify({ format: 'tersor-recipe', format_version: 1, platform: { name: 'ort-cpu', version: 1 }, ...members });
const recipes = [
  ['a comma too many', '{"format": "tersor-recipe",}'],
  ['something else', '{"answer": 42}'],
  ['a platform that is not there', recipeWith({ platform: { name: 'ort-gpu', version: 1 } })],
  ['a field misspelled', recipeWith({ quantization_config: { weights_n_bit: 8 } })],
  ['a word in place of a number', recipeWith({ quantization_config: { weights_n_bits: 'eight' } })],
  ['bits that nobody has', recipeWith({ quantization_config: { weights_n_bits: 99 } })],
  ['overrides that are no list', recipeWith({ overrides: { name: 'mix' } })],
  ['a mean of two numbers', recipeWith({ preprocessing: { mean: [0.5, 0.5] } })],
  ['a version of the future', recipeWith({ format_version: 99 })],
  ['nesting without end', '['.repeat(100_000)],
];

/** What a reader is told, in every card and line that there is; empty where nothing is said. */
async function said(page) {
  const cards = await page
    .getByRole('alert')
    .evaluateAll((all) =>
      all.map((one) => [...one.querySelectorAll('p, li')].map((line) => line.innerText).join('\n')),
    );
  const toast = page.locator('.toast');
  const line = (await toast.count()) > 0 ? [await toast.innerText()] : [];
  return (cards.length > 0 ? cards : line).join('\n---\n').replaceAll('\u202f', ' ');
}

it.each(viewports)(
  'E.3 row 25: says what, where, why and what next, and stays usable, for thirty broken files ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    const good8 = Array.from({ length: 8 }, (_, k) => [`${k}.png`, picture(k)]);
    await give(page, ['colours.onnx', good], ...good8);
    await untilCanQuantize(page);
    let all = '';
    const note = async (kind, what, files, where) => {
      await give(page, ...files);
      const place = region(page, where);
      await expect
        .poll(async () => (await place.getByRole('alert').count()) + (await page.locator('.toast').count()), {
          timeout: 20_000,
          message: what,
        })
        .toBeGreaterThan(0);
      // a line may come before the card, and a card before the next
      let told = '';
      const settled = async () => {
        const before = told;
        told = await said(page);
        return told !== '' && told === before;
      };
      await expect.poll(settled, { interval: 150, message: what }).toBe(true);
      all += `# ${kind}: ${what} (${files[0][0]})\n${told}\n\n`;
      // E.4: sentences, an action, nothing of the machinery
      expect(told, what).toMatch(/[.!?]/);
      expect(told, what).not.toMatch(/undefined|NaN at|\[object|RangeError|TypeError|Aborted|std::|internal/);
      expect(told.split('\n').length, what).toBeGreaterThan(1);
      // what was open stays open and usable
      await expect.poll(() => isReady(page), { timeout: 20_000, message: `usable after ${what}` }).toBe(true);
      const dismiss = page.getByRole('button', { name: 'Dismiss' });
      while ((await dismiss.count()) > 0) await dismiss.first().click();
      const toast = page.locator('.toast');
      if ((await toast.count()) > 0) await expect.poll(() => toast.count(), { timeout: 15_000 }).toBe(0);
    };
    for (const [what, name, bytes] of models) await note('model', what, [[name, bytes]], 'Model');
    for (const [what, files] of samples) await note('samples', what, files, 'Samples');
    for (const [what, content] of recipes) await note('recipe', what, [['mine.json', content]], 'Settings');
    await button(page, 'Quantize').click();
    await untilMeasured(page);
    await expectQuiet(visit);
    await context.close();
    if (process.env.UPDATE_GOLDEN) writeFileSync(golden, all);
    expect(all).toBe(readFileSync(golden, 'utf8'));
  },
  300_000,
);
