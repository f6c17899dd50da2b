// SPDX-License-Identifier: Apache-2.0
//
// The end of scripts/test: a table of its parts, what failed and what was skipped, and the sum. Exits non-zero when a part failed.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const [results, left] = process.argv.slice(2);
const textOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);

/** How many tests of a part passed, failed and were skipped, by the name of its counter. */
const counters = {
  /** One test: the part itself. */
  steps: (part) => ({ passed: part.failed ? 0 : 1, failed: part.failed ? 1 : 0, skipped: [] }),

  /** The last lines of Catch2's programs, as ctest keeps them; in WebAssembly they come in colours. */
  catch2: (part, preset) => {
    const log = textOf(path.join(results, `${preset}.tests.log`)).replaceAll(/\u001b\[[\d;]*m/g, '');
    const right = [...log.matchAll(/All tests passed \(\d+ assertions? in (\d+) test cases?\)/g)];
    const wrong = [...log.matchAll(/^test cases: +(\d+) \|(?: +(\d+) passed \|)? +(\d+) failed/gm)];
    const failed = sum(wrong.map((found) => Number(found[3])));
    return {
      passed: sum(right.map((found) => Number(found[1]))) + sum(wrong.map((found) => Number(found[2] ?? 0))),
      failed: part.failed ? Math.max(1, failed) : failed,
      skipped: skippedLines(log),
    };
  },

  ctest: (part) => {
    const found = /tests passed, (\d+) tests failed out of (\d+)/.exec(part.log);
    const failed = Number(found?.[1] ?? 1);
    return { passed: Number(found?.[2] ?? 1) - failed, failed, skipped: [] };
  },

  vitest: (part) => {
    const file = path.join(results, `${part.name}.json`);
    if (!existsSync(file)) return counters.steps(part);
    const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = JSON.parse(textOf(file));
    const pending = testResults.flatMap(({ assertionResults }) =>
      assertionResults
        .filter(({ status }) => ['pending', 'skipped', 'todo'].includes(status))
        .map(({ fullName }) => fullName),
    );
    const failed = Math.max(numFailedTests, part.failed ? Math.max(1, numFailedTestSuites) : 0);
    return { passed: numPassedTests, failed, skipped: [...pending, ...skippedLines(part.log)] };
  },

  unittest: (part) => {
    const count = Number(/^Ran (\d+) tests?/m.exec(part.log)?.[1] ?? 0);
    const skipped = Number(/skipped=(\d+)/.exec(part.log)?.[1] ?? 0);
    return {
      passed: part.failed ? 0 : count - skipped,
      failed: part.failed ? Math.max(1, count) : 0,
      skipped: [...skippedLines(part.log), ...(skipped > 0 ? [`${skipped} of the Python package`] : [])],
    };
  },
};

function skippedLines(log) {
  return [...new Set([...log.matchAll(/^skipped: (.*)$/gm)].map((found) => found[1]))];
}

const parts = textOf(path.join(results, 'parts.tsv'))
  .trim()
  .split('\n')
  .map((line) => {
    const [name, counter, seconds, status] = line.split('\t');
    const [kind, preset] = counter.split(':');
    const part = { name, seconds, failed: status !== '0', log: textOf(path.join(results, `${name}.log`)) };
    return { ...part, ...counters[kind](part, preset) };
  });

const row = (name, tests, seconds) =>
  console.log(`${name.padEnd(14)}${String(tests).padStart(8)}${String(seconds).padStart(10)}`);
row('part', 'tests', 'seconds');
for (const { name, passed, failed, skipped, seconds } of parts) row(name, passed + failed + skipped.length, seconds);
row('in all', '', sum(parts.map(({ seconds }) => Number(seconds))));
for (const part of parts.filter(({ failed }) => failed > 0))
  console.log(`failed: ${part.name}, see ${path.join(results, `${part.name}.log`)}`);
for (const reason of parts.flatMap(({ skipped }) => skipped)) console.log(`skipped: ${reason}`);
if (left) console.log(left);
const all = (key) => sum(parts.map((part) => part[key]));
console.log(
  `${all('passed')} passed, ${all('failed')} failed, ${sum(parts.map(({ skipped }) => skipped.length))} skipped`,
);
process.exit(all('failed') > 0 ? 1 : 0);
