// SPDX-License-Identifier: Apache-2.0
//
// Broken models, samples, archives and recipes: a card that says what, where and what next, and nothing that was open is lost.

import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { asInput, enormousPng, npy, png } from './files.mjs';
import { button, expectQuiet, openPage, region, root, untilDone, useSite } from './site.mjs';

const site = useSite();
let model;
let samples;
beforeAll(async () => {
  model = await readFile(`${root}web/public/demo/model.onnx`);
  samples = await readFile(`${root}web/public/demo/samples.zip`);
});

const text = (string) => Buffer.from(string);
const tflite = Buffer.concat([Buffer.from([0x1c, 0, 0, 0]), text('TFL3'), Buffer.alloc(400)]);

const brokenModels = [
  ['a TFLite file', 'net.tflite', () => tflite, /TensorFlow Lite/],
  ['a TFLite file under another name', 'net.onnx', () => tflite, /TensorFlow Lite/],
  ['a web page', 'net.onnx', () => text('<!DOCTYPE html><html><body>404</body></html>'), /HTML|web page/i],
  [
    'a Git LFS pointer',
    'net.onnx',
    () => text('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n'),
    /LFS/,
  ],
  ['a zip archive under the name of a model', 'net.onnx', () => samples, /zip/i],
  ['a model cut short', 'net.onnx', () => model.subarray(0, Math.floor(model.length / 2)), /./],
  ['an empty file', 'net.onnx', () => Buffer.alloc(0), /empty|0 bytes/i],
];

const wrong = (values, shape) => npy(values, shape);

const brokenSamples = [
  ['a picture cut short', 'cut.png', () => png(new Uint8Array(48 * 48 * 3), 48, 48).subarray(0, 60), /cut\.png/],
  ['a picture of enormous size', 'huge.png', () => enormousPng(60000, 60000), /60000|60 000|pixels/],
  ['a file that is no picture', 'page.png', () => text('<html></html>'), /page\.png/],
  ['an array of another shape', 'other.npy', () => wrong(new Float32Array(7 * 5), [7, 5]), /7.{1,3}5/],
  [
    'values that are not finite',
    'nan.npy',
    () => npy(new Float32Array(3 * 48 * 48).fill(NaN), [1, 3, 48, 48]),
    /nan\.npy|NaN|finite/,
  ],
];

async function give(page, ...files) {
  await page.getByLabel('Model and samples').setInputFiles(files.map(([name, bytes]) => asInput(name, bytes)));
}

async function withDemoOpen() {
  const visit = await openPage(site);
  await give(visit.page, ['letters.onnx', model], ['letters.zip', samples]);
  await visit.page.getByRole('button', { name: 'Quantize', exact: true, disabled: false }).waitFor();
  return visit;
}

/** One page for tests that each give it a broken file, which leaves open what was open. */
function useOneVisit() {
  const visit = {};
  beforeAll(async () => Object.assign(visit, await withDemoOpen()));
  afterAll(() => visit.context?.close());
  return visit;
}

/** The card's text, once it is there, complete: a sentence, what to do, details to copy. `before`: the card that it takes the place of. */
async function card(page, name, before = '') {
  const alert = region(page, name).getByRole('alert');
  await alert.waitFor();
  await expect.poll(() => alert.locator('.problem-message').innerText()).toMatch(/\S.*\S/);
  if (before) await expect.poll(() => alert.innerText()).not.toBe(before);
  expect(await alert.locator('.note-text > p').count()).toBeGreaterThan(1);
  await alert.getByRole('button', { name: 'Copy details' }).click();
  const details = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  expect(Object.keys(details).slice(0, 4)).toEqual(['code', 'message', 'place', 'hint']);
  expect(details.code).not.toBe('internal');
  return alert.innerText();
}

describe('models', () => {
  const visit = useOneVisit();
  let told = '';
  for (const [what, name, bytes, says] of brokenModels) {
    it(`says what is wrong with ${what} and keeps the open model`, async () => {
      await give(visit.page, [name, bytes()]);
      told = await card(visit.page, 'Model', told);
      expect(told).toMatch(says);
      await region(visit.page, 'Model').getByText('letters.onnx', { exact: true }).first().waitFor();
      expect(await button(visit.page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
      await expectQuiet(visit);
    });
  }

  it('shows the card on a first visit too, and opens a good model afterwards', async () => {
    const visit = await openPage(site);
    await give(visit.page, ['net.tflite', tflite]);
    expect(await card(visit.page, 'Model')).toMatch(/TensorFlow Lite/);
    await give(visit.page, ['letters.onnx', model]);
    await region(visit.page, 'Model').getByText('letters.onnx', { exact: true }).first().waitFor();
    expect(await visit.page.getByRole('alert').count()).toBe(0);
    await expectQuiet(visit);
    await visit.context.close();
  });
});

describe('samples', () => {
  const visit = useOneVisit();
  let told = '';
  for (const [what, name, bytes, says] of brokenSamples) {
    it(`says what is wrong with ${what} and keeps the open samples`, async () => {
      await give(visit.page, [name, bytes()]);
      told = await card(visit.page, 'Samples', told);
      expect(told).toMatch(says);
      await region(visit.page, 'Samples').getByText('letters', { exact: true }).first().waitFor();
      expect(await button(visit.page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
      await expectQuiet(visit);
    });
  }

  it('offers to leave out the one file that cannot be read, and goes on with the others', async () => {
    const visit = await openPage(site);
    const pictures = Array.from({ length: 20 }, (_, k) => [
      `${k}.png`,
      png(
        new Uint8Array(48 * 48 * 3).map((_v, at) => (at * (k + 5)) % 251),
        48,
        48,
      ),
    ]);
    await give(visit.page, ['letters.onnx', model], ...pictures, ['broken.png', text('no picture')]);
    expect(await card(visit.page, 'Samples')).toMatch(/broken\.png/);
    expect(await button(visit.page, 'Quantize').getAttribute('aria-disabled')).toBe('true');
    await button(visit.page, 'Leave out 1 file').click();
    await expect.poll(() => button(visit.page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
    await expectQuiet(visit);
    await visit.context.close();
  });

  it('says that labels do not fit when they are dropped, and goes on without them', async () => {
    const visit = await openPage(site);
    const { page } = visit;
    const picture = png(new Uint8Array(48 * 48 * 3), 48, 48);
    await give(page, ['letters.onnx', model], ['a.png', picture], ['b.png', picture]);
    for (const labels of ['sample,label\na.png,1\n', 'sample,label\na.png,16\nb.png,16\n']) {
      await give(page, ['labels.csv', text(labels)]);
      expect(await card(page, 'Samples')).toMatch(/no label|classes 0 to 15/);
      await button(page, 'Go on without labels').click();
      expect(await page.getByRole('alert').count()).toBe(0);
      await region(page, 'Samples').getByText('no labels', { exact: true }).waitFor();
    }
    await expectQuiet(visit);
    await visit.context.close();
  });

  it('keeps the form after a wrong preprocessing, and goes back to the one that fitted', async () => {
    const visit = await openPage(site);
    const { page } = visit;
    const samples = region(page, 'Samples');
    const picture = png(new Uint8Array(64 * 48 * 3), 64, 48);
    await give(page, ['letters.onnx', model], ['a.png', picture], ['b.png', picture]);
    for (const choose of [
      () => samples.getByLabel('Channels').selectOption({ label: 'RGB, last' }),
      () => samples.getByLabel('Channels').selectOption({ label: 'gray, first' }),
      () => samples.getByLabel('Height').fill('100000'),
    ]) {
      await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
      await choose();
      await page.keyboard.press('Tab');
      await samples.getByRole('alert').waitFor();
      expect(await page.getByRole('button', { name: /^Leave out/ }).count()).toBe(0);
      expect(await button(page, 'Quantize').getAttribute('aria-disabled')).toBe('true');
      await button(page, 'Back to the last preprocessing').click();
      await expect.poll(() => samples.getByRole('alert').count()).toBe(0);
      expect(await samples.getByLabel('Channels').inputValue()).toBe('RGB NCHW');
    }
    await expectQuiet(visit);
    await visit.context.close();
  });

  it('offers the same for a picture that turns out damaged when it is decoded, the first or a later one', async () => {
    const cut = png(
      new Uint8Array(48 * 48 * 3).map((_v, at) => (at * 7) % 251),
      48,
      48,
    ).subarray(0, 200);
    const pictures = Array.from({ length: 12 }, (_, k) => [
      `b${k}.png`,
      png(
        new Uint8Array(48 * 48 * 3).map((_v, at) => (at * (k + 5)) % 251),
        48,
        48,
      ),
    ]);
    for (const name of ['a-first.png', 'c-last.png']) {
      const visit = await openPage(site);
      const { page } = visit;
      await give(page, ['letters.onnx', model], ...pictures, [name, cut]);
      const leaveOut = page.getByRole('button', { name: /^Leave out/ });
      const ready = async () => (await button(page, 'Quantize').getAttribute('aria-disabled')) === 'false';
      await expect.poll(async () => (await leaveOut.count()) > 0 || (await ready())).toBe(true);
      if (await ready()) await button(page, 'Quantize').click();
      await leaveOut.click();
      await expect.poll(ready).toBe(true);
      expect(await page.getByRole('alert').count()).toBe(0);
      await expectQuiet(visit);
      await visit.context.close();
    }
  });

  it('says that an archive is broken or empty of samples', async () => {
    const visit = await withDemoOpen();
    await give(visit.page, ['cut.zip', samples.subarray(0, 2000)]);
    expect(await card(visit.page, 'Samples')).toMatch(/cut\.zip/);
    expect(await button(visit.page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
    await expectQuiet(visit);
    await visit.context.close();
  });
});

/** A recipe as a person may write it: some members only. */
const recipeWith = (members) =>
  JSON.stringify({ format: 'tersor-recipe', format_version: 1, platform: { name: 'ort-cpu', version: 1 }, ...members });

const brokenSettings = [
  ['a platform that is null', recipeWith({ platform: null }), [/an object is expected/, /mine\.json\.platform/]],
  [
    'overrides that are no list',
    recipeWith({ overrides: { name: 'a' } }),
    [/a list is expected/, /mine\.json\.overrides/],
  ],
  [
    'a mean that is no list',
    recipeWith({ preprocessing: { mean: 0.5 } }),
    [/a list is expected/, /mine\.json\.preprocessing\.mean/],
  ],
  [
    'a scale that is a text',
    recipeWith({ preprocessing: { scale: '0.5' } }),
    [/a number is expected/, /mine\.json\.preprocessing\.scale/],
  ],
  [
    'faults everywhere',
    recipeWith({
      quantization_config: { weights_n_bits: 'many', activation_n_bit: 8 },
      overrides: [{ config: {} }, 7],
      preprocessing: { std: 1 },
      framework_info: { kernels: [] },
      data_set: [],
    }),
    [
      /weights_n_bits/,
      /activation_n_bit"/,
      /overrides\[0\]/,
      /overrides\[1\]/,
      /preprocessing\.std/,
      /kernels/,
      /data_set/,
    ],
  ],
  ['a platform with faults', '{"schema_version": 1, "name": 7, "version": 0}', [/"tp_model" is missing/]],
  ['nesting without end', '['.repeat(100_000), [/deep/]],
  [
    'eighty thousand unknown keys',
    recipeWith({ quantization_config: Object.fromEntries(Array.from({ length: 80_000 }, (_, k) => [`key${k}`, k])) }),
    [/more than 50 faults/],
  ],
];

describe('recipes', () => {
  const visit = useOneVisit();
  let before = '';
  for (const [what, content, says] of brokenSettings) {
    it(`tells ${what} in one card, and the page goes on`, async () => {
      const { page } = visit;
      await give(page, ['mine.json', text(content)]);
      const told = await card(page, 'Settings', before);
      before = told;
      for (const one of says) expect(told).toMatch(one);
      expect(told).toMatch(/mine\.json/);
      expect(await button(page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
      await expectQuiet(visit);
    });
  }

  it('quantizes with the settings that were there before them', async () => {
    await button(visit.page, 'Quantize').click();
    await untilDone(visit.page);
    await expectQuiet(visit);
  });

  it('takes a recipe that says some things only', async () => {
    const visit = await withDemoOpen();
    const { page } = visit;
    await give(page, ['short.json', text(recipeWith({ quantization_config: { effort: 0 } }))]);
    await region(page, 'Settings').getByText('Filled from short.json').waitFor();
    await give(page, ['scaled.json', text(recipeWith({ preprocessing: { scale: 0.00392156862745098 } }))]);
    await region(page, 'Settings').getByText('Filled from scaled.json').waitFor();
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
    await expectQuiet(visit);
    await visit.context.close();
  });

  it('refuses what is no recipe and keeps the settings', async () => {
    const visit = await withDemoOpen();
    await give(visit.page, ['r.json', text('{"answer": 42}')]);
    expect(await card(visit.page, 'Settings')).toMatch(/not a recipe[^]*r\.json/);
    await expectQuiet(visit);
    await visit.context.close();
  });

  it('says that a recipe is of another model, and goes on when told to', async () => {
    const visit = await withDemoOpen();
    const { page } = visit;
    await button(page, 'Quantize').click();
    await untilDone(page);
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download recipe').click()]);
    const recipe = JSON.parse(await readFile(await download.path(), 'utf8'));
    recipe.model_digest = '00'.repeat(32);
    recipe.overrides = [{ name: 'layer of another model', config: { enable_weights_quantization: false } }];
    await give(page, ['other.json', text(JSON.stringify(recipe))]);
    await region(page, 'Settings').getByText('Filled from other.json, a recipe of another model').waitFor();
    expect(await card(page, 'Model')).toMatch(/other\.json is a recipe of another model/);
    await button(page, 'Leave out 1 setting of single operators').click();
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
    await button(page, 'Quantize').click();
    await card(page, 'Results');
    await button(page, 'Go on anyway').click();
    await untilDone(page);
    await expectQuiet(visit);
    await visit.context.close();
  });

  it('quantizes with what a recipe says of operators', async () => {
    const visit = await withDemoOpen();
    const { page } = visit;
    await button(page, 'Quantize').click();
    await untilDone(page);
    const saved = async (name) => {
      const [download] = await Promise.all([page.waitForEvent('download'), button(page, name).click()]);
      return JSON.parse(await readFile(await download.path(), 'utf8'));
    };
    const recipe = await saved('Download recipe');
    recipe.framework_info = { activation_ops: [], no_quantization_ops: ['GlobalAveragePool'] };
    await give(page, ['pools.json', text(JSON.stringify(recipe))]);
    await region(page, 'Settings').getByText('Filled from pools.json').waitFor();
    await button(page, 'Quantize').click();
    await untilDone(page);
    const report = await saved('Download report');
    expect(JSON.stringify(report.coverage.stays_float)).toContain('GlobalAveragePool');
    expect((await saved('Download recipe')).framework_info).toEqual(recipe.framework_info);
    await expectQuiet(visit);
    await visit.context.close();
  });
});
