// SPDX-License-Identifier: Apache-2.0
// The memory of a page's process, as Linux counts it.
import { readFileSync, writeFileSync } from 'node:fs';

const megabytes = (pid, field) => {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return (Number(line[1]) * 1024) / 1e6;
};

/** The process that runs `page`: of all renderers the one that works while the page does. */
async function processOf(browser, page) {
  const session = await browser.newBrowserCDPSession();
  const renderers = async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    return new Map(processInfo.filter(({ type }) => type === 'renderer').map(({ id, cpuTime }) => [id, cpuTime]));
  };
  const before = await renderers();
  await page.evaluate(() => {
    const end = performance.now() + 300;
    while (performance.now() < end);
  });
  const after = await renderers();
  await session.detach();
  const worked = (id) => after.get(id) - (before.get(id) ?? 0);
  return [...after.keys()].sort((a, b) => worked(b) - worked(a))[0];
}

/** Megabytes of the page's process at most during `work`, above what it holds now, and what `work` gave. */
export async function peakDuring(browser, page, work) {
  const pid = await processOf(browser, page);
  const idle = megabytes(pid, 'VmRSS');
  writeFileSync(`/proc/${pid}/clear_refs`, '5'); // the high-water mark starts anew
  const result = await work();
  return { idle, above: megabytes(pid, 'VmHWM') - idle, result };
}
