// SPDX-License-Identifier: Apache-2.0
//
// A model and pictures of one's own: a zoo model with a folder of pictures against ONNX Runtime and the native program, cancelling in the
// middle, opening the downloads.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import ort from 'onnxruntime-node';

import { exactSums } from '../cpu.mjs';
import { asInput, png, writeFiles } from './files.mjs';
import {
  button,
  comparison,
  downloaded,
  expectQuiet,
  openPage,
  region,
  root,
  shared,
  untilDone,
  useSite,
  viewports,
} from './site.mjs';

const zoo = `${shared}/zoo`;
const native = `${root}build/native/bin/tersor`;
const pictureCount = 300;
const side = 32;
const mean = [0.485, 0.456, 0.406];
const std = [0.229, 0.224, 0.225];

const site = useSite();
let folder;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tersor-page-'));
});
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true });
});

/** CIFAR-10 pictures, in the data set's order: by class, then by number. */
async function cifar() {
  const pixels = await readFile(`${zoo}/data/dev/cifar10_x.u8`);
  const labels = await readFile(`${zoo}/data/dev/cifar10_y.u8`);
  const size = side * side * 3;
  const pictures = Array.from({ length: pictureCount }, (_, k) => ({
    path: `${labels[k]}/${String(k).padStart(4, '0')}.png`,
    label: labels[k],
    pixels: pixels.subarray(k * size, (k + 1) * size),
  }));
  return pictures.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function asTensor(pixels) {
  const values = new Float32Array(pixels.length);
  const plane = side * side;
  for (let p = 0; p < plane; ++p) {
    for (let c = 0; c < 3; ++c) values[c * plane + p] = (pixels[3 * p + c] * 0.00392156862745098 - mean[c]) / std[c];
  }
  return new ort.Tensor('float32', values, [1, 3, side, side]);
}

function largest(values) {
  return values.reduce((best, value, k) => (value > values[best] ? k : best), 0);
}

async function answers(model, pictures) {
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, ...exactSums });
  const found = [];
  for (const picture of pictures) {
    const outputs = await session.run({ [session.inputNames[0]]: asTensor(picture.pixels) });
    found.push(largest(outputs[session.outputNames[0]].data));
  }
  return found;
}

/** The samples that are left when `count` of them are set aside, spread evenly. */
function evaluated(pictures, count) {
  const aside = new Set(Array.from({ length: count }, (_, k) => Math.floor((k * pictures.length) / count)));
  return pictures.filter((_, k) => !aside.has(k));
}

describe('a zoo model with a folder of pictures', () => {
  it.skipIf(!existsSync(zoo))(
    'has the accuracies that ONNX Runtime has, and the bytes of the native program',
    async () => {
      const pictures = await cifar();
      await writeFiles(
        join(folder, 'cifar'),
        Object.fromEntries(pictures.map((p) => [p.path, png(p.pixels, side, side)])),
      );
      const visit = await openPage(site);
      const { page, context } = visit;
      await page.getByLabel('Model and samples').setInputFiles(`${zoo}/cifar10-resnet20/model.onnx`);
      await region(page, 'Model').getByText('parameters').first().waitFor();
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button(page, 'Choose samples').click()]);
      await chooser.setFiles(join(folder, 'cifar'));
      await region(page, 'Samples').getByText('10 classes').waitFor();
      await region(page, 'Samples').getByLabel('Preset').selectOption('imagenet');
      await region(page, 'Samples').getByText('ImageNet preset').waitFor();
      const split = await region(page, 'Samples').getByRole('slider').inputValue();
      await button(page, 'Quantize').click();
      await untilDone(page);

      const rest = evaluated(pictures, Number(split));
      const right = (found) => found.filter((answer, k) => answer === rest[k].label).length;
      const rows = await comparison(page);
      const [title, [float, int8]] = Object.entries(rows).find(([name]) => name.startsWith('Top-1'));
      expect(title).toContain(`n = ${rest.length}`);
      const floatAnswers = await answers(`${zoo}/cifar10-resnet20/model.onnx`, rest);
      expect(float).toBe(`${((100 * right(floatAnswers)) / rest.length).toFixed(2)} %`);

      const model = await downloaded(page, 'Download model');
      const recipe = await downloaded(page, 'Download recipe');
      const report = await downloaded(page, 'Download report');
      expect([model.name, recipe.name, report.name]).toEqual([
        'model.int8.onnx',
        'model.tersor.json',
        'model.report.json',
      ]);
      const intAnswers = await answers(model.bytes, rest);
      const seen = (100 * right(intAnswers)) / rest.length;
      console.info(`float ${float}, int8 ${int8}, ONNX Runtime on the download ${seen.toFixed(2)} %`);
      expect(int8).toBe(`${seen.toFixed(2)} %`);
      const same = intAnswers.filter((answer, k) => answer === floatAnswers[k]).length;
      expect(rows['Same answer as float'][2]).toBe(`${same} of ${rest.length}`);
      expect(JSON.parse(report.bytes).comparison.layers.length).toBeGreaterThan(10);
      expect(JSON.parse(recipe.bytes).data_set).toMatchObject({ samples: Number(split), of: pictureCount });

      if (existsSync(native)) {
        await writeFile(join(folder, recipe.name), recipe.bytes);
        const model0 = `${zoo}/cifar10-resnet20/model.onnx`;
        execFileSync(native, ['quantize', model0, '--data', 'cifar', '--recipe', recipe.name, '-o', 'native.onnx'], {
          cwd: folder,
        });
        expect((await readFile(join(folder, 'native.onnx'))).equals(model.bytes)).toBe(true);
      } else {
        console.info(`skipped: bytes of the native program (${native} is not built)`);
      }
      await expectQuiet(visit);
      await context.close();
    },
  );
});

describe('cancelling', () => {
  it.each(viewports)(
    'E.3 row 10: ends a job within 200 ms at several stages and leaves it ready to go on ($width pixels)',
    async (viewport) => {
      const visit = await openPage(site, { viewport });
      const { page, context } = visit;
      await page
        .getByLabel('Model and samples')
        .setInputFiles([`${root}web/public/demo/model.onnx`, `${root}web/public/demo/samples.zip`]);
      await expect
        .poll(() => button(page, 'Quantize').getAttribute('aria-disabled'), { timeout: 20_000 })
        .toBe('false');
      const seen = [];
      for (let attempt = 0; attempt < 4; ++attempt) {
        await button(page, 'Quantize').click();
        const stage = await page.evaluate(
          (wait) =>
            new Promise((resolve) => {
              const name = () => document.querySelector('.stage-running .stage-title')?.firstChild?.textContent ?? '';
              setTimeout(() => {
                const running = name();
                const asked = performance.now();
                const button = [...document.querySelectorAll('.main-button')].find((b) => b.textContent === 'Cancel');
                if (!button) return resolve({ running, took: null });
                const look = () => {
                  const back = [...document.querySelectorAll('.main-button')].every((b) => b.textContent !== 'Cancel');
                  if (back) resolve({ running, took: performance.now() - asked });
                  else requestAnimationFrame(look);
                };
                button.click();
                look();
              }, wait);
            }),
          60 + 220 * attempt,
        );
        if (stage.took === null) break; // the job was quicker than the wait
        seen.push(`${stage.running} ${Math.round(stage.took)} ms`);
        await region(page, 'Results')
          .getByText(/^Cancelled\./)
          .waitFor();
        expect(await button(page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
      }
      console.info(`cancelled in: ${seen.join(', ')}`);
      expect(seen.length).toBeGreaterThan(0);
      await button(page, 'Quantize').click();
      await button(page, 'Cancel').dblclick();
      await region(page, 'Results')
        .getByText(/^Cancelled\./)
        .waitFor();
      await button(page, 'Quantize').click();
      await untilDone(page);
      await expectQuiet(visit);
      await context.close();
    },
  );
});

describe('samples without labels', () => {
  it('shows the SQNR first, as nobody says that logits are classes, and says nothing of accuracy', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    const pictures = Array.from({ length: 12 }, (_, k) => {
      const pixels = new Uint8Array(48 * 48 * 3).map((_v, at) => (at * (k + 3) * 31) % 256);
      return asInput(`picture ${k}.png`, png(pixels, 48, 48));
    });
    await page
      .getByLabel('Model and samples')
      .setInputFiles([...pictures, asInput('letters.onnx', await readFile(`${root}web/public/demo/model.onnx`))]);
    await region(page, 'Samples').getByText('no labels', { exact: true }).waitFor();
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
    await button(page, 'Quantize').click();
    await expect.poll(() => page.locator('.region-results .job-done').count(), { timeout: 60_000 }).toBe(1);
    const rows = await comparison(page);
    expect(Object.keys(rows).join()).not.toMatch(/accuracy/);
    expect(Object.keys(rows)[0]).toBe('Output SQNR');
    await expectQuiet(visit);
    await context.close();
  });
});
