// SPDX-License-Identifier: Apache-2.0
// The table of docs/performance.md, from the rows of build/bench.json.
import { readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';

import { isMet, texts } from './rows.mjs';

const titles = {
  browser: 'Floats in Chromium, one thread, seeded weights',
  zoo: 'Floats in Chromium, one thread, trained models',
  workers: 'Calibration in Chromium with workers',
  memory: 'A model of 100 MB',
  pictures: 'Pictures',
  native: 'Natively, one thread',
  files: 'The files in ONNX Runtime, one thread',
  quantize: 'The whole of `tersor quantize`, one thread',
};

/** What a figure depends on, and nothing that names this machine. */
export function machineClass() {
  const [{ model }] = os.cpus();
  const name = model
    .replace(/\((R|TM)\)|CPU|Processor/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return `${name}, ${os.cpus().length} cores, ${Math.round(os.totalmem() / 2 ** 30)} GB, ${os.type()} ${os.arch()}`;
}

function section(part, rows) {
  const made = [...new Set(rows.map(({ commit, date }) => `${date}, commit ${commit}`))].join('; ');
  const machine = [...new Set(rows.map((one) => one.machine))].join('; ');
  const lines = rows.map((one) => {
    const { ratio, bar, ours, theirs, spread, note } = texts(one);
    return `| ${one.name} | ${isMet(one) ? ratio : `**${ratio}**`} | ${bar} | ${ours} | ${theirs} | ${spread} | ${note} |`;
  });
  return [
    `### ${titles[part] ?? part}`,
    '',
    `${made}. ${machine}.`,
    '',
    '| what | ratio | bar | ours | other | spread | |',
    '|---|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

/** Puts the rows' table between the page's two marks. */
export function writeDocument(file, rows) {
  const parts = Object.keys(titles).filter((part) => rows.some((one) => one.part === part));
  const missed = rows.filter((one) => !isMet(one));
  const summary = `${rows.length} rows; ${missed.length === 0 ? 'every bar is met' : `missed (bold): ${missed.length}`}.\n`;
  const table = [
    summary,
    ...parts.map((part) =>
      section(
        part,
        rows.filter((one) => one.part === part),
      ),
    ),
  ].join('\n');
  const page = readFileSync(file, 'utf8');
  const marks = /(<!-- table -->\n)[\s\S]*?(<!-- end -->)/;
  if (!marks.test(page)) throw new Error(`${file} has no place for the table`);
  writeFileSync(
    file,
    page.replace(marks, (_, from, to) => `${from}${table}${to}`),
  );
}
