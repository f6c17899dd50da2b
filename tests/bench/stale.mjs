// SPDX-License-Identifier: Apache-2.0
// Which sections of docs/performance.md are older than the last change of what they measure.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { tableSections } from './document.mjs';

const engine = ['core/engine'];
const line = ['core/quantize', 'core/line', 'platforms'];
const measured = {
  browser: [...engine, 'wasm'],
  zoo: [...engine, 'wasm'],
  workers: [...engine, ...line, 'wasm'],
  memory: [...engine, ...line, 'wasm'],
  pictures: ['core/engine/samples', 'core/engine/kernels', 'wasm'],
  native: engine,
  files: line,
  web: line,
  quantize: [...engine, ...line, 'core/doors'],
};

/** { date, commit } of each run that a section's rows are of, from the line under its title. */
export function runsOf(section) {
  const found = section.matchAll(/(\d{4}-\d{2}-\d{2}), commit ([0-9a-f]{7,40}\+?)/g);
  return [...found].map(([, date, commit]) => ({ date, commit }));
}

/** The last change of the paths since a run: "abc1234567 2026-11-28 subject", or "" where there is none. */
function changeSince({ date, commit }, paths, root) {
  const git = (...args) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
  const log = (...since) => git('log', '-1', '--abbrev=10', '--format=%h %cs %s', ...since, '--', ...paths);
  try {
    return log(`${commit.replace('+', '')}..HEAD`);
  } catch {
    return log(`--since=${date}T23:59:59`); // the commit is not here
  }
}

/** A line for each section that is older than what it measures; prints them. */
export function listStale(file, root) {
  let stale = 0;
  for (const [part, section] of tableSections(readFileSync(file, 'utf8'))) {
    const title = section.slice(4, section.indexOf('\n'));
    const rows = (section.match(/^\| (?!what)[^|]+\|.*$/gm) ?? []).length;
    for (const run of runsOf(section)) {
      const change = changeSince(run, measured[part], root);
      if (change === '') continue;
      ++stale;
      console.log(`${title} (${part}, ${rows} rows): ${run.date}, commit ${run.commit}; changed since: ${change}`);
    }
  }
  console.log(
    stale === 0 ? 'No row is older than what it measures.' : `scripts/bench PART --write ${file} measures a part anew.`,
  );
}
