// SPDX-License-Identifier: Apache-2.0
//
// What the tests of a room notice: changes one place of its sources at a time and runs the tests, of a room of core after building them.
//
//   node scripts/mutate.mjs <tree> <build> <rooms> <count> <seed>
//
// <tree> is a copy of the project that may be changed, <build> its build folder; a room is a folder of one of core's wings, or one of those below. A change that the compiler refuses is not counted; one that is
// equal in effect stands in scripts/mutants_equal.txt, as "file: line as it is: change", with the reason behind a blank and "#".

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [tree, build, roomList, countText, seedText] = process.argv.slice(2);
const rooms = roomList.split(',');
const count = Number(countText);

/** Rooms in TypeScript: how a change comes into what the tests run, and the tests. */
const scripted = {
  'web/src/job': [['npx', 'vitest', 'run', '--project', 'web', '--bail', '1']],
  'wasm/src': [
    ['npm', 'run', '--silent', 'build', '--workspace', 'wasm'],
    [
      'npx',
      'vitest',
      'run',
      '--project',
      'package',
      '--bail',
      '1',
      'tests/wasm/package',
      'tests/wasm/same-bytes',
      'tests/wasm/settings',
    ],
  ],
};

/** The folder of a room. */
const folderOf = (room) =>
  room in scripted
    ? room
    : readdirSync(path.join(tree, 'core'))
        .map((wing) => `core/${wing}/${room}`)
        .find((folder) => existsSync(path.join(tree, folder)));

/** The Catch2 program that has a room's tests, as tests/CMakeLists.txt says. */
const testOf = (room) => {
  const lists = readFileSync(path.join(tree, 'tests/CMakeLists.txt'), 'utf8');
  const shared = [...lists.matchAll(/tersor_test\((\w+) FOLDERS ([\w ]+?) USES/g)].find(([, , folders]) =>
    folders.split(' ').includes(room),
  );
  return `test_${shared?.[1] ?? room}`;
};

/** What is changed: a pattern, what stands there afterwards, and the name of both. */
const kinds = [
  [/(?<=[\w)\]] )<(?= [\w(-])/g, '<='],
  [/(?<=[\w)\]] )<=(?= [\w(-])/g, '<'],
  [/(?<=[\w)\]] )>(?= [\w(-])/g, '>='],
  [/(?<=[\w)\]] )>=(?= [\w(-])/g, '>'],
  [/(?<= )==(?= )/g, '!='],
  [/(?<= )!=(?= )/g, '=='],
  [/(?<= )===(?= )/g, '!=='],
  [/(?<= )!==(?= )/g, '==='],
  [/(?<=[\w)\]] )\+(?= [\w(])/g, '-'],
  [/(?<=[\w)\]] )-(?= [\w(])/g, '+'],
  [/(?<=[\w)\]] )\*(?= [\w(])/g, '+'],
  [/(?<= )&&(?= )/g, '||'],
  [/(?<= )\|\|(?= )/g, '&&'],
  [/\bstd::min\b/g, 'std::max'],
  [/\bstd::max\b/g, 'std::min'],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
];

/** The same numbers for the same seed: mulberry32. */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Every place of a room where a change fits, outside of comments, texts, templates' brackets and what is left out of the program. */
function placesOf(room) {
  const folder = path.join(tree, folderOf(room));
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.(cpp|ts|mts)$/.test(name));
  return files.sort().flatMap((name) => {
    const file = path.join(folder, name);
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.flatMap((line, number) => {
      if (/^\s*(\/\/|\/?\*|#|static_assert|template|import|export (type|interface)|type |readonly )/.test(line))
        return [];
      const code = line
        .replace(/\/\/.*$/, '')
        .replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g, (text) => '"'.repeat(text.length));
      return kinds.flatMap(([pattern, to]) =>
        [...code.matchAll(pattern)].map(({ index, 0: from }) => ({ file, number, index, from, to, line })),
      );
    });
  });
}

const equal = new Set(
  readFileSync(new URL('mutants_equal.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/ # .*$/, '')),
);

const nameOf = ({ file, line, from, to }) => `${path.relative(tree, file)}: ${line.trim()}: ${from} to ${to}`;
const quiet = { encoding: 'utf8', timeout: 300_000, cwd: tree };

/** "found", "not found", or "refused" where the compiler or a warning says no. */
function judge(room, { file, number, index, from, to }) {
  const text = readFileSync(file, 'utf8');
  const lines = text.split('\n');
  lines[number] = lines[number].slice(0, index) + to + lines[number].slice(index + from.length);
  writeFileSync(file, lines.join('\n'));
  try {
    if (room in scripted) {
      const runs = scripted[room].map(([program, ...args]) => spawnSync(program, args, quiet).status === 0);
      return runs.every(Boolean) ? 'not found' : 'found';
    }
    if (spawnSync('ninja', ['-C', build, testOf(room)], quiet).status !== 0) return 'refused';
    const run = spawnSync(path.join(build, 'bin', testOf(room)), ['--abort'], { ...quiet, timeout: 120_000 });
    return run.status === 0 ? 'not found' : 'found';
  } finally {
    writeFileSync(file, text);
  }
}

const compiled = rooms.filter((room) => !(room in scripted)).map(testOf);
if (compiled.length > 0) execFileSync('ninja', ['-C', build, '--quiet', ...new Set(compiled)], { stdio: 'inherit' });
let all = 0;
let found = 0;
for (const room of rooms) {
  const places = placesOf(room).filter((place) => !equal.has(nameOf(place)));
  const random = randomNumbers(Number(seedText));
  const of = { found: 0, 'not found': 0 };
  while (of.found + of['not found'] < count && places.length > 0) {
    const [place] = places.splice(Math.floor(random() * places.length), 1);
    const verdict = judge(room, place);
    if (verdict === 'refused') continue;
    of[verdict]++;
    if (verdict === 'not found') console.log(`not found: ${nameOf(place)}`);
  }
  const tried = of.found + of['not found'];
  console.log(`${room}: ${of.found} of ${tried} found`);
  all += tried;
  found += of.found;
}
console.log(`in all: ${found} of ${all} found`);
