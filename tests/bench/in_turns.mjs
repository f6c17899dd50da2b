// SPDX-License-Identifier: Apache-2.0

/** A round lasts at least so long: what is quicker runs several times in it. */
const leastMilliseconds = 20;

/** A page's clock counts in 5 microseconds. */
const leastCounted = 0.5;

const timed = async (run, times) => {
  const start = performance.now();
  for (let k = 0; k < times; ++k) await run();
  return performance.now() - start;
};

/** The least of so many runs, a few together where they are shorter than what clocks count in. */
const leastOf = async (run, times, once) => {
  const together = Math.max(1, Math.ceil(leastCounted / Math.max(once, 0.005)));
  let least = Infinity;
  for (let k = 0; k < times; k += together) least = Math.min(least, (await timed(run, together)) / together);
  return least;
};

/** Milliseconds of one run of each, by round, in turns: the mean of the round's runs, or their least, which other work disturbs least. */
export async function inTurns(runs, rounds, { warm = 3, pause = 0, least = false } = {}) {
  // The first runs are those of the browser's baseline compiler.
  for (let k = 0; k < warm; ++k) for (const run of Object.values(runs)) await run();
  const times = {};
  const expected = {};
  for (const [who, run] of Object.entries(runs)) {
    const once = warm > 0 ? await timed(run, 1) : leastMilliseconds;
    times[who] = Math.max(1, Math.min(2000, Math.ceil(leastMilliseconds / Math.max(once, 0.005))));
    expected[who] = once;
    // Code that is quick has been run too seldom so far.
    if (times[who] > 1) await timed(run, times[who]);
  }
  const milliseconds = Object.fromEntries(Object.keys(runs).map((who) => [who, []]));
  for (let k = 0; k < rounds; ++k)
    for (const [who, run] of Object.entries(runs)) {
      // Threads that spin for a while after their work are left to rest.
      if (pause > 0) await new Promise((done) => setTimeout(done, pause));
      const some = least ? leastOf(run, times[who], expected[who]) : timed(run, times[who]);
      milliseconds[who].push(least ? await some : (await some) / times[who]);
    }
  return milliseconds;
}
