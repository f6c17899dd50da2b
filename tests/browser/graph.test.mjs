// SPDX-License-Identifier: Apache-2.0
//
// The graph, before and after quantization: searched, walked, dragged, and never in the page's way.

import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';

import { asInput } from './files.mjs';
import { residual } from './networks.mjs';
import {
  button,
  expectQuiet,
  longTask,
  openPage,
  region,
  runDemo,
  shared,
  tasksOf,
  untilReady,
  useSite,
} from './site.mjs';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const site = useSite();

async function findings(page) {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run('.region-results, .region-model', { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  });
}

async function openModel(page, name, bytes) {
  await page.getByLabel('Model and samples').setInputFiles([asInput(name, bytes)]);
  const graph = button(page, 'Show the graph');
  const details = region(page, 'Model').getByRole('button', { name: /Details/ });
  await expect
    .poll(async () => (await graph.count()) + (await details.count()), { timeout: 60_000 })
    .toBeGreaterThan(0);
  if ((await graph.count()) === 0) await details.click();
  await graph.click();
  await page.locator('.graph-canvas').waitFor({ timeout: 120_000 });
}

const surface = (page) => page.locator('.graph-surface');
const announced = (page) => page.locator('[aria-live="polite"]').last();

/** A few points of the canvas: another picture has others. */
const picture = (page) => page.locator('.graph-canvas').evaluate((canvas) => canvas.toDataURL());

it('shows the result as a graph that is searched, walked along its edges and opens layers', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  const asked = site.server.requests.length;
  await page.getByRole('tab', { name: 'Graph' }).click();
  await page.locator('.graph-canvas').waitFor();
  // the code comes from the site's own folder when it is first used, and from nowhere else
  for (const path of site.server.requests.slice(asked)) expect(path).toMatch(/^\/assets\/[\w.-]+\.js$/);

  await surface(page).focus();
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => announced(page).textContent()).toMatch(/Conv.*of the error.*edge in/);
  const first = await announced(page).textContent();
  await page.keyboard.press('ArrowDown');
  await expect.poll(() => announced(page).textContent()).not.toBe(first);
  await page.keyboard.press('ArrowUp');
  await expect.poll(() => announced(page).textContent()).toBe(first);
  await page.keyboard.press('Enter');
  const title = page.locator('#panel-title');
  await title.waitFor();
  // its panel is loaded on first use
  await expect.poll(async () => first.includes(await title.textContent())).toBe(true);
  await page.keyboard.press('Escape');
  await expect.poll(() => title.count()).toBe(0);
  await expect.poll(() => page.evaluate(() => document.activeElement.className)).toBe('graph-surface');

  await page.keyboard.press('/');
  await expect.poll(() => page.evaluate(() => document.activeElement.getAttribute('aria-label'))).toBe('Find a node');
  await page.keyboard.type('block3');
  await expect.poll(() => page.locator('.graph-found').innerText()).toMatch(/^\d+ nodes found/);
  await page.keyboard.press('Enter');
  await expect.poll(() => page.locator('.node-card h4').innerText()).toContain('block3');

  for (const by of ['Bits', 'Runtime', 'Time', 'Error']) {
    const before = await picture(page);
    await page.locator('.graph-block .switch').getByText(by, { exact: true }).click();
    await expect.poll(() => picture(page)).not.toBe(before);
  }
  // fused operators are one node until every node is wanted
  await expect.poll(() => page.locator('.graph-foot p').innerText()).toMatch(/\d+ drawn with the one before it/);
  await button(page, 'Show every node').click();
  await button(page, 'Join what runs as one').waitFor();

  expect(await findings(page)).toEqual([]);
  // row 24: the same as a table
  await button(page, 'Show as table').click();
  const rows = page.locator('.graph-table tbody tr');
  await expect.poll(() => rows.count()).toBeGreaterThan(3);
  await rows.first().getByRole('button').click();
  await title.waitFor();
  expect(await findings(page)).toEqual([]);
  await expectQuiet(visit);
  await context.close();
});

it('draws a graph that is dragged, zoomed with wheel and buttons, and clicked, on a desk and on a phone in the dark', async () => {
  for (const options of [
    {},
    { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true, colorScheme: 'dark' },
  ]) {
    const visit = await openPage(site, options);
    const { page, context } = visit;
    await openModel(page, 'residual.onnx', residual(8));
    await surface(page).scrollIntoViewIfNeeded();
    const changes = async (what) => {
      const before = await picture(page);
      await what();
      await expect.poll(() => picture(page)).not.toBe(before);
    };
    await changes(() => button(page, 'Larger').click());
    await changes(() => button(page, 'Fit').click());
    const box = await surface(page).boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await changes(async () => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 40, y - 60, { steps: 4 });
      await page.mouse.up();
    });
    if (!options.hasTouch) {
      // the wheel is the page's until the graph has the focus
      await page.mouse.wheel(0, 10);
      await surface(page).focus();
      await changes(() => page.mouse.wheel(0, -240));
    } else {
      const two = (far) => [
        { x: x - far, y },
        { x: x + far, y },
      ];
      const session = await context.newCDPSession(page);
      const touch = (type, far) =>
        session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : two(far) });
      await changes(async () => {
        await touch('touchStart', 30);
        for (const far of [40, 55, 70]) await touch('touchMove', far);
        await touch('touchEnd', 0);
      });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    }
    await button(page, 'Fit').click();
    expect(await findings(page)).toEqual([]);
    await expectQuiet(visit);
    await context.close();
  }
});

it('lays 2,000 nodes out beside the page, and drags them with frames of a few milliseconds', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await page.getByLabel('Model and samples').setInputFiles([asInput('large.onnx', residual(490))]);
  const details = region(page, 'Model').getByRole('button', { name: /Details/ });
  await expect
    .poll(async () => (await details.count()) + (await button(page, 'Show the graph').count()), { timeout: 60_000 })
    .toBeGreaterThan(0);
  if ((await button(page, 'Show the graph').count()) === 0) await details.click();
  await button(page, 'Show the graph').waitFor();
  await site.browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'toplevel'] });
  await button(page, 'Show the graph').click();
  await page.locator('.graph-canvas').waitFor({ timeout: 120_000 });
  await page.waitForTimeout(500);
  const laid = tasksOf(await site.browser.stopTracing());
  await expect.poll(() => page.locator('.graph-foot p').innerText()).toMatch(/^1\s?9\d\d nodes/);

  const box = await surface(page).boundingBox();
  await site.browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'toplevel'] });
  await page.mouse.move(box.x + 300, box.y + 400);
  await page.mouse.down();
  for (let k = 0; k < 40; ++k) await page.mouse.move(box.x + 300, box.y + 400 - 8 * k);
  await page.mouse.up();
  const dragged = tasksOf(await site.browser.stopTracing());
  const frames = dragged.filter((task) => task > 0.5).sort((a, b) => a - b);
  console.info(
    `longest task while 2,000 nodes are laid out: ${Math.max(...laid).toFixed(1)} ms; while dragged: ${Math.max(...dragged).toFixed(1)} ms, the middle one of ${frames.length} ${frames[frames.length >> 1]?.toFixed(1)} ms`,
  );
  expect(laid.length).toBeGreaterThan(0);
  expect(Math.max(...laid)).toBeLessThan(longTask);
  expect(Math.max(...dragged)).toBeLessThan(longTask);
  await expectQuiet(visit);
  await context.close();
}, 240_000);

for (const name of ['yolox-nano-416', 'kwt-1']) {
  const path = `${shared}/zoo/${name}/model.onnx`;
  it.skipIf(!existsSync(path))(
    `draws ${name} and drags it${existsSync(path) ? '' : ' (skipped: TERSOR_SHARED has it not)'}`,
    async () => {
      const visit = await openPage(site);
      const { page, context } = visit;
      await openModel(page, `${name}.onnx`, readFileSync(path));
      const box = await surface(page).boundingBox();
      await site.browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline', 'toplevel'] });
      await page.mouse.move(box.x + 300, box.y + 400);
      await page.mouse.down();
      for (let k = 0; k < 40; ++k) await page.mouse.move(box.x + 300, box.y + 400 - 8 * k);
      await page.mouse.up();
      const tasks = tasksOf(await site.browser.stopTracing()).sort((a, b) => b - a);
      console.info(
        `${name}: longest tasks while dragged ${tasks
          .slice(0, 4)
          .map((task) => task.toFixed(1))
          .join(', ')} ms`,
      );
      expect(tasks[0]).toBeLessThan(longTask);
      await page.keyboard.press('/');
      await page.keyboard.type('conv');
      await expectQuiet(visit);
      await context.close();
    },
    240_000,
  );
}

it('has the graph without a network after the first load', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await context.setOffline(true);
  await page.reload();
  await untilReady(page);
  await openModel(page, 'residual.onnx', residual(3));
  await context.close();
});
