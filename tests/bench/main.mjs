// SPDX-License-Identifier: Apache-2.0
//
//   node tests/bench/main.mjs [browser] [zoo] [workers] [memory] [pictures] [native] [files] [web] [quantize] [--net NAME]... [--model ID]...
//                             [--rounds N] [--json FILE] [--write docs/performance.md]
//   node tests/bench/main.mjs --write docs/performance.md --only-write
//   node tests/bench/main.mjs --stale
//
// Prints a line per comparison and keeps all in a JSON file: name, ratio (above 1: ours is faster or smaller), bar, both
// medians and their unit, spread. Rows of parts, nets and models that are not run now stay as they are there. --write puts the
// table into the page. Ends non-zero when a bar is missed. --stale measures nothing: it lists what the page has that is older
// than the last change of what it measures.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { browserVersion } from './browser_version.mjs';
import { machineClass, writeDocument } from './document.mjs';
import { nets } from './nets.mjs';
import { isMet, texts } from './rows.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = path.join(root, 'build/bench');
const parts = {
  browser: async (options) => (await import('./browser.mjs')).benchBrowser(options),
  zoo: async (options) => (await import('./zoo.mjs')).benchZoo(options),
  workers: async (options) => (await import('./workers.mjs')).benchWorkers(options),
  memory: async (options) => (await import('./memory.mjs')).benchMemory(options),
  pictures: async (options) => (await import('./pictures.mjs')).benchPictures(options),
  native: async (options) => (await import('./native.mjs')).benchNative(options),
  files: async (options) => (await import('./files.mjs')).benchFiles(options),
  web: async (options) => (await import('./files.mjs')).benchWeb(options),
  quantize: async (options) => (await import('./quantize.mjs')).benchQuantize(options),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    net: { type: 'string', multiple: true, default: Object.keys(nets) },
    model: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '15' },
    json: { type: 'string', default: path.join(root, 'build/bench.json') },
    write: { type: 'string' },
    'only-write': { type: 'boolean', default: false },
    stale: { type: 'boolean', default: false },
  },
});
if (values.stale) {
  const { listStale } = await import('./stale.mjs');
  listStale('docs/performance.md', root);
  process.exit();
}
const unknown = [...positionals.filter((name) => !(name in parts)), ...values.net.filter((name) => !(name in nets))];
if (unknown.length > 0) {
  console.error(
    `unknown: ${unknown.join(', ')}; parts: ${Object.keys(parts).join(', ')}; nets: ${Object.keys(nets).join(', ')}`,
  );
  process.exit(2);
}

/** The commit of the sources, with a plus where they have been changed since. */
function commit() {
  const git = (...args) => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' }).trim();
  try {
    return git('rev-parse', '--short=10', 'HEAD') + (git('status', '--porcelain', '-uno') === '' ? '' : '+');
  } catch {
    return 'unknown';
  }
}

function writeNets() {
  mkdirSync(folder, { recursive: true });
  for (const [name, make] of Object.entries(nets)) {
    const file = path.join(folder, `${name}.onnx`);
    if (!existsSync(file)) writeFileSync(file, make());
  }
}

function report(row) {
  const { ratio, bar, ours, theirs, spread, note } = texts(row);
  const against = theirs === '' ? ours : `${ours} against ${theirs}`;
  const asked = bar === '' ? '' : `bar ${bar} ${isMet(row) ? 'met' : 'MISSED'}; `;
  console.log(`${row.name}: ${ratio} (${asked}${against}; spread ${spread})${note === '' ? '' : `; ${note}`}`);
}

const isWhole = values.net.length === Object.keys(nets).length && values.model.length === 0;

/** Rows of an earlier run that this one does not replace. */
function merged(old, part, rows) {
  const kept = old.filter((one) =>
    one.part === part ? !isWhole && !rows.some(({ name }) => name === one.name) : true,
  );
  const order = Object.keys(parts);
  return [...kept, ...rows].sort((a, b) => order.indexOf(a.part) - order.indexOf(b.part));
}

let all = existsSync(values.json)
  ? JSON.parse(readFileSync(values.json, 'utf8')).filter((one) => one.part in parts)
  : [];
const measured = [];
if (!values['only-write']) {
  writeNets();
  const options = {
    root,
    nets: folder,
    names: values.net,
    models: (id) => values.model.length === 0 || values.model.includes(id),
    rounds: Number(values.rounds),
    report,
  };
  const about = { commit: commit(), date: new Date().toISOString().slice(0, 10) };
  for (const part of positionals.length > 0 ? positionals : Object.keys(parts)) {
    const inBrowser = !['native', 'quantize'].includes(part);
    const machine = machineClass() + (inBrowser ? `, ${browserVersion()}` : '');
    const rows = (await parts[part](options)).map((one) => ({ part, ...one, ...about, machine }));
    measured.push(...rows);
    all = merged(all, part, rows);
    // After each part, so that one that fails takes none of the others with it.
    writeFileSync(values.json, `${JSON.stringify(all, null, 2)}\n`);
  }
}
if (values.write) writeDocument(values.write, all);
process.exitCode = measured.every(isMet) ? 0 : 1;
