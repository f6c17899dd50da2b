// SPDX-License-Identifier: Apache-2.0
//
// The page's own thread while the work goes on: a trace of its tasks, each by the processor time that it took itself, so that
// what else the machine does is not counted.

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';

import { asInput } from './files.mjs';
import { residual } from './networks.mjs';
import { button, longTask, openPage, region, runDemo, shared, untilDone, useSite, viewports } from './site.mjs';

const zoo = `${shared}/zoo`;

const site = useSite();

/** Tasks of the page's main thread while `work` was done, longest first: {milliseconds, what}. */
async function tasksOf(page, work) {
  await site.browser.startTracing(page, {
    categories: ['__metadata', 'toplevel', 'devtools.timeline', 'disabled-by-default-devtools.timeline', 'v8'],
  });
  await work();
  const { traceEvents } = JSON.parse(await site.browser.stopTracing());
  const own = traceEvents.find(({ name, args }) => name === 'TracingStartedInBrowser' && args.data);
  const frames = own?.args.data.frames ?? [];
  const pid = frames.find(({ parent }) => !parent)?.processId;
  const main = traceEvents.find(
    (event) => event.name === 'thread_name' && event.args.name === 'CrRendererMain' && event.pid === pid,
  );
  const mine = traceEvents.filter((event) => event.pid === pid && event.tid === main.tid && event.ph === 'X');
  const tasks = mine.filter(({ name }) => /RunTask$/.test(name));
  expect(tasks.length).toBeGreaterThan(50);
  return tasks
    .map((task) => {
      const inside = mine
        .filter(({ ts, dur, name }) => ts >= task.ts && ts + (dur ?? 0) <= task.ts + task.dur && !/RunTask$/.test(name))
        .sort((a, b) => (b.dur ?? 0) - (a.dur ?? 0));
      const what = [...new Set(inside.map(({ name }) => name))].slice(0, 4).join(', ');
      return { milliseconds: Math.round((task.tdur ?? task.dur) / 100) / 10, what };
    })
    .sort((a, b) => b.milliseconds - a.milliseconds);
}

function expectShort(tasks, what) {
  console.info(
    `${what}: longest tasks ${tasks
      .slice(0, 3)
      .map((task) => `${task.milliseconds} ms`)
      .join(', ')}`,
  );
  expect(tasks.filter(({ milliseconds }) => milliseconds > longTask)).toEqual([]);
}

it.each(viewports)('E.3 row 11: no task is long during the whole job ($width pixels)', async (viewport) => {
  const { page, context } = await openPage(site, { viewport });
  expectShort(await tasksOf(page, () => runDemo(page)), 'demo');
  const again = async () => {
    await button(page, 'Change settings').click();
    await page.getByLabel('Where it will run').selectOption({ label: 'Any bits' });
    await untilDone(page);
    await button(page, 'Compare budgets').click();
    await button(page, 'Compare budgets again').waitFor({ timeout: 120_000 });
  };
  expectShort(await tasksOf(page, again), 'search of bits');
  await context.close();
});

const graphs = [
  ['1000 operators', () => asInput('deep.onnx', residual(240)), true],
  ['yolox-nano', () => `${zoo}/yolox-nano-416/model.onnx`, existsSync(zoo)],
];
for (const [name, file, isThere] of graphs) {
  it.skipIf(!isThere)(`no task is longer than 50 ms while the graph of ${name} is laid out`, async () => {
    const { page, context } = await openPage(site);
    const look = async () => {
      await page.getByLabel('Model and samples').setInputFiles(file());
      await region(page, 'Model').getByText('parameters').first().waitFor({ timeout: 60_000 });
      const details = region(page, 'Model').getByRole('button', { name: /Details/ });
      if ((await button(page, 'Show the graph').count()) === 0) await details.click();
      await button(page, 'Show the graph').click();
      await page.locator('.graph-canvas').waitFor({ timeout: 120_000 });
      await page.waitForTimeout(500);
    };
    expectShort(await tasksOf(page, look), `graph of ${name}`);
    await context.close();
  });
}
