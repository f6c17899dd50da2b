// SPDX-License-Identifier: Apache-2.0
// Runs in the page: files of one model in onnxruntime-web, in turns, one thread.
import * as ort from '/ort/ort.wasm.min.mjs';

import { feedsOf } from '/bench/feeds.mjs';
import { inTurns } from '/bench/in_turns.mjs';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = '/ort/';
ort.env.logLevel = 'error';

const fetched = async (url) => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} is not there`);
  return answer;
};

/** Least milliseconds by round for each of `urls` (name: URL), on the sample at `feed`. */
async function measureFiles({ urls, feed, rounds }) {
  const given = await (await fetched(feed)).json();
  const runs = {};
  for (const [name, url] of Object.entries(urls)) {
    const bytes = new Uint8Array(await (await fetched(url)).arrayBuffer());
    const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'], logSeverityLevel: 3 });
    const feeds = feedsOf(ort, session, given);
    runs[name] = () => session.run(feeds);
  }
  return inTurns(runs, rounds, { least: true });
}

Object.assign(window, { measureFiles, ready: true });
