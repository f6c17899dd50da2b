// SPDX-License-Identifier: Apache-2.0
//
//   node tests/bench/main.mjs [browser] [native] [quantize] [--net NAME]... [--rounds N] [--json FILE]
//
// Prints a line per comparison and writes all as JSON: name, ratio (above 1: ours is faster or smaller), bar, both medians
// (in milliseconds, or in the unit named), spread. Ends non-zero when a bar is missed.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { nets } from './nets.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = path.join(root, 'build/bench');
const benches = {
  browser: async (options) => (await import('./browser.mjs')).benchBrowser(options),
  native: async (options) => (await import('./native.mjs')).benchNative(options),
  quantize: async (options) => (await import('./quantize.mjs')).benchQuantize(options),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    net: { type: 'string', multiple: true, default: Object.keys(nets) },
    rounds: { type: 'string', default: '15' },
    json: { type: 'string', default: path.join(root, 'build/bench.json') },
  },
});
const unknown = [...positionals.filter((name) => !(name in benches)), ...values.net.filter((name) => !(name in nets))];
if (unknown.length > 0) {
  console.error(
    `unknown: ${unknown.join(', ')}; benches: ${Object.keys(benches).join(', ')}; nets: ${Object.keys(nets).join(', ')}`,
  );
  process.exit(2);
}

mkdirSync(folder, { recursive: true });
for (const name of values.net) {
  const file = path.join(folder, `${name}.onnx`);
  if (!existsSync(file)) writeFileSync(file, nets[name]());
}

const options = {
  root,
  nets: folder,
  names: values.net,
  rounds: Number(values.rounds),
  bars: { 'mobilenet-v1': 0.6, 'mobilenet-v2': 0.8, 'resnet-18': 0.6, 'resnet-50': 0.6 },
  report: ({ name, ratio, bar, ours, theirs, spread, unit = 'ms' }) => {
    const [x, y] = [ours, theirs].map((median) => `${median.toFixed(1)} ${unit}`);
    const verdict = ratio >= bar ? 'met' : 'MISSED';
    console.log(
      `${name}: ${ratio.toFixed(2)}x (bar ${Number(bar.toFixed(2))}x ${verdict}; ${x} against ${y}; spread ${(spread * 100).toFixed(0)} %)`,
    );
  },
};
const rows = [];
for (const name of positionals.length > 0 ? positionals : Object.keys(benches))
  rows.push(...(await benches[name](options)));
writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
process.exitCode = rows.every(({ ratio, bar }) => ratio >= bar) ? 0 : 1;
