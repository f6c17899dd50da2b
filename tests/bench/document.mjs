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
  web: 'The files in ONNX Runtime Web, one thread',
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

/** The page's sections by their titles. */
function sectionsOf(table) {
  const parts = table.split(/^(?=### )/m).filter((one) => one.startsWith('### '));
  return new Map(parts.map((one) => [one.slice(4, one.indexOf('\n')), one]));
}

/** [part, text] of each section of the page's table. */
export function tableSections(page) {
  const table = page.slice(page.indexOf('<!-- table -->'), page.indexOf('<!-- end -->'));
  const known = sectionsOf(table);
  return Object.entries(titles)
    .filter(([, title]) => known.has(title))
    .map(([part, title]) => [part, known.get(title)]);
}

/** Puts the rows' table between the page's two marks; parts that no row is of stay as the page has them. */
export function writeDocument(file, rows) {
  const page = readFileSync(file, 'utf8');
  const marks = /(<!-- table -->\n)([\s\S]*?)(<!-- end -->)/;
  const table = page.match(marks)?.[2];
  if (table === undefined) throw new Error(`${file} has no place for the table`);
  const known = sectionsOf(table);
  const sections = Object.entries(titles).map(([part, title]) => {
    const own = rows.filter((one) => one.part === part);
    return own.length > 0 ? section(part, own) : known.get(title);
  });
  const text = sections
    .filter(Boolean)
    .map((one) => `${one.trimEnd()}\n`)
    .join('\n');
  const lines = text.match(/^\| (?!what)[^|]+\|.*$/gm) ?? [];
  const missed = lines.filter((line) => line.split('|')[2].includes('**')).length;
  const summary = `${lines.length} rows; ${missed === 0 ? 'every bar is met' : `missed (bold): ${missed}`}.\n`;
  writeFileSync(
    file,
    page.replace(marks, (_, from, _table, to) => `${from}${summary}\n${text}${to}`),
  );
}
