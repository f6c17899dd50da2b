// SPDX-License-Identifier: Apache-2.0
// What the files are worth where they run: ours, written by default, against the float file, and natively against the files that
// quantize_static makes of it (tests/bench/files.py), in onnxruntime-node and, for the zoo, in onnxruntime-web in Chromium; one thread each, all in turns,
// by the least of many runs.
// The models are the zoo's and, natively, those that PyTorch exports (tools/export_models.py of TERSOR_SHARED, random weights): torch and what else
// makes them lie in a Python of their own in build/bench/exporters. Samples, exports and all files are kept in build/bench/files; ours are made anew.
// TERSOR_PYTHON names a Python that has onnx and onnxruntime, scipy and pillow.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import * as ort from 'onnxruntime-node';

import { sharedFolder } from '../zoo/samples.mjs';
import { feedsOf } from './feeds.mjs';
import { inTurns } from './in_turns.mjs';
import { withPages } from './pages.mjs';
import { countRow, errorRow, failure, geometricMean, leastRow } from './rows.mjs';

const bars = {
  zoo: { mean: 1.35, each: 0.95 },
  exports: { mean: 1.3, each: 0.95 },
  peers: { mean: 1, each: 0.9 },
  web: { mean: 1.2, each: 0.9 },
};

/** Below this, files are dominated by the number of their nodes: nothing is asked of them against the float file. */
const leastMilliseconds = 0.1;

/** A file of a peer that is so much faster and so many decibels better at once is one that ours should have been. */
const [fasterBy, betterBy] = [1.05, 0.5];

const exporters = ['torch', 'torchvision', 'timm', 'transformers', 'ultralytics', 'onnxscript', 'onnx', 'numpy'];

const python = process.env.TERSOR_PYTHON;

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

/** Of zoo and exports in onnxruntime-node. */
export async function benchFiles(options) {
  const bench = begin(options);
  if (!bench) return [];
  const models = [...zooModels(), ...exportedModels(options.root, bench.folder, options.models)];
  for (const model of models.filter(({ id }) => options.models(id))) await bench.measureNatively(model);
  bench.addNativeMeans();
  return bench.rows;
}

/** Of the zoo in onnxruntime-web. */
export async function benchWeb(options) {
  const bench = begin(options);
  await bench?.measureInPages(zooModels().filter(({ id }) => options.models(id)));
  return bench?.rows ?? [];
}

function begin(options) {
  const missing = !python
    ? 'TERSOR_PYTHON names no Python'
    : existsSync(path.join(sharedFolder, 'zoo'))
      ? null
      : 'TERSOR_SHARED is not here';
  if (missing) console.log(`skipped: exported files (${missing})`);
  return missing ? null : new FileBench({ ...options, folder: path.join(options.root, 'build/bench/files') });
}

function zooModels() {
  const zoo = path.join(sharedFolder, 'zoo');
  return readdirSync(zoo)
    .map((id) => ({ id, kind: 'zoo', file: path.join(zoo, id, 'model.onnx') }))
    .filter(({ file }) => existsSync(file));
}

/** The exports, made where they are not there and one is asked for. */
function exportedModels(root, folder, isAsked) {
  const exported = path.join(folder, 'exports');
  const script = path.join(sharedFolder, 'tools/export_models.py');
  // All are made at once; which there are is known afterwards.
  const known = () => (existsSync(exported) ? readdirSync(exported).filter((name) => name.endsWith('.onnx')) : []);
  if (
    known().length === 0 &&
    existsSync(script) &&
    (isAsked('exports') || !zooModels().some(({ id }) => isAsked(id)))
  ) {
    const home = path.join(root, 'build/bench/exporters');
    const run = (program, ...args) => execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    if (!existsSync(home)) {
      console.log('installing PyTorch and what else exports models into build/bench/exporters');
      run(python, '-m', 'venv', home);
      run(path.join(home, 'bin/pip'), 'install', '--quiet', ...exporters);
    }
    run(path.join(home, 'bin/python'), script, '--out', exported);
  }
  return known().map((name) => ({
    id: path.basename(name, '.onnx'),
    kind: 'exports',
    file: path.join(exported, name),
    samples: path.join(exported, `${name.split('.')[0]}.npz`),
  }));
}

class FileBench {
  rows = [];
  ratios = { zoo: [], exports: [], peers: [] };
  dominated = [];
  compared = 0;

  constructor(options) {
    Object.assign(this, options);
  }

  add(one) {
    this.rows.push(one);
    this.report(one);
    return one;
  }

  /** The last line that tests/bench/files.py prints, as JSON. */
  ask(...args) {
    const script = path.join(this.root, 'tests/bench/files.py');
    const text = execFileSync(python, ['-B', script, ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text === '' ? null : JSON.parse(text.trim().split('\n').at(-1));
  }

  /** The folder with a model's samples. */
  samplesOf({ id, kind, samples }) {
    const folder = path.join(this.folder, 'samples', id);
    if (!existsSync(path.join(folder, 'feed.json'))) {
      mkdirSync(folder, { recursive: true });
      this.ask('samples', ...(kind === 'zoo' ? ['zoo', sharedFolder, id] : ['export', samples]), folder);
    }
    return folder;
  }

  /** The peers' files: {configuration: {file, decibels}}. They are made once for a version of ONNX Runtime. */
  peersOf(model) {
    this.runtime ??= execFileSync(python, ['-c', 'import onnxruntime; print(onnxruntime.__version__)'], {
      encoding: 'utf8',
    }).trim();
    const folder = path.join(this.folder, 'peers', model.id);
    const kept = path.join(folder, 'made.json');
    if (!existsSync(kept) || readJson(kept).runtime !== this.runtime) {
      const made = this.ask('peers', model.file, this.samplesOf(model), folder);
      writeFileSync(kept, JSON.stringify({ runtime: this.runtime, made }, null, 1));
    }
    return Object.fromEntries(
      Object.entries(readJson(kept).made)
        .filter(([, { error }]) => error === undefined)
        .map(([name, { sqnr_db: decibels }]) => [name, { file: path.join(folder, `${name}.onnx`), decibels }]),
    );
  }

  /** Our file by default for a platform: { file, decibels }. */
  quantize(model, platform) {
    const file = path.join(this.folder, 'ours', platform, `${model.id}.onnx`);
    mkdirSync(path.dirname(file), { recursive: true });
    const samples = this.samplesOf(model);
    const args = ['quantize', model.file, '--data', path.join(samples, 'calib'), '--platform', platform, '-o', file];
    const { status, stderr } = spawnSync(path.join(this.root, 'build/native/bin/tersor'), args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr.trim().split('\n')[0]);
    const { error, sqnr_db: decibels } = this.ask('errors', model.file, samples, file)[file];
    if (error !== undefined) throw new Error(error);
    return { file, decibels };
  }

  /** Least milliseconds by round of each file; files that onnxruntime-node does not open are left out. */
  async timesOf(files, sample) {
    const runs = {};
    const sessions = [];
    for (const [name, file] of Object.entries(files)) {
      try {
        const session = await ort.InferenceSession.create(file, {
          intraOpNumThreads: 1,
          interOpNumThreads: 1,
          logSeverityLevel: 4,
        });
        sessions.push(session);
        const feeds = feedsOf(ort, session, sample);
        await session.run(feeds);
        runs[name] = () => session.run(feeds);
      } catch (error) {
        if (name === 'ours' || name === 'float') throw new Error(`${name}: ${error.message.split('\n')[0]}`);
      }
    }
    try {
      return await inTurns(runs, this.rounds, { least: true });
    } finally {
      for (const session of sessions) await session.release();
    }
  }

  async measureNatively(model) {
    const name = `${model.id}, onnxruntime-node`;
    try {
      const peers = this.peersOf(model);
      const ours = this.quantize(model, 'ort-cpu');
      const files = Object.fromEntries(Object.entries(peers).map(([key, { file }]) => [key, file]));
      const sample = readJson(path.join(this.samplesOf(model), 'feed.json'));
      const times = await this.timesOf({ ours: ours.file, float: model.file, ...files }, sample);
      this.addFloat(name, model.kind, times, ours);
      const timed = Object.fromEntries(Object.entries(peers).filter(([key]) => key in times));
      if (Object.keys(timed).length > 0) this.addPeers(name, times, ours, timed);
    } catch (error) {
      this.add(failure(`${name}, against float`, error.message.split('\n')[0]));
    }
  }

  addFloat(name, kind, times, { decibels }) {
    const isShort = Math.min(...times.float) < leastMilliseconds;
    const bar = isShort ? 0 : bars[kind].each;
    const one = this.add(
      leastRow(`${name}, against float`, times.ours, times.float, bar, { note: decibelsNote(decibels) }),
    );
    if (!isShort) this.ratios[kind].push(one);
  }

  addPeers(name, times, ours, peers) {
    const names = Object.keys(peers);
    const least = (of) => names.reduce((best, key) => (of(key) < of(best) ? key : best));
    const fastest = least((key) => Math.min(...times[key]));
    const note = `${fastest}, ${decibelsNote(ours.decibels, peers[fastest].decibels)}`;
    const title = `${name}, against the fastest file of quantize_static`;
    this.ratios.peers.push(this.add(leastRow(title, times.ours, times[fastest], bars.peers.each, { note })));
    ++this.compared;
    if (ours.decibels === null) return;
    const best = least((key) => -peers[key].decibels);
    const against = `${name}, error, against the best file of quantize_static`;
    this.add(errorRow(against, ours.decibels, peers[best].decibels, best));
    for (const key of names) {
      const faster = leastRow('', times.ours, times[key], 0).ratio < 1 / fasterBy;
      const better = peers[key].decibels - ours.decibels;
      if (faster && better > betterBy) this.dominated.push(`${name.split(',')[0]} (${key}: ${better.toFixed(1)} dB)`);
    }
  }

  addNativeMeans() {
    for (const [kind, title] of [
      ['zoo', 'zoo, onnxruntime-node, against float'],
      ['exports', 'exports, onnxruntime-node, against float'],
      ['peers', 'zoo and exports, onnxruntime-node, against the fastest file of quantize_static'],
    ]) {
      const rows = this.ratios[kind];
      if (rows.length > 0) this.add(geometricMean(`${title}, ${rows.length} models`, rows, bars[kind].mean));
    }
    if (this.compared > 0) {
      const title = 'models with a file of quantize_static that is more than 5 % faster and more than 0.5 dB better';
      this.add(countRow(title, this.dominated.length, this.compared, this.dominated.join(', ')));
    }
  }

  async measureInPages(models) {
    const places = { root: this.root, nets: this.nets, shared: sharedFolder, files: this.folder };
    await withPages(places, async (pages) => {
      const rows = [];
      for (const model of models) {
        const name = `${model.id}, onnxruntime-web, against float`;
        try {
          const ours = this.quantize(model, 'ort-web');
          this.samplesOf(model);
          const options = {
            urls: { ours: `/files/ours/ort-web/${model.id}.onnx`, float: `/zoo/${model.id}/model.onnx` },
            feed: `/files/samples/${model.id}/feed.json`,
            rounds: this.rounds,
          };
          const times = await pages.with('files_page.mjs', (page) =>
            page.evaluate((given) => window.measureFiles(given), options),
          );
          rows.push(
            this.add(leastRow(name, times.ours, times.float, bars.web.each, { note: decibelsNote(ours.decibels) })),
          );
        } catch (error) {
          this.add(failure(name, error.message.split('\n')[0]));
        }
      }
      const title = `zoo, onnxruntime-web, against float, ${rows.length} models`;
      if (rows.length > 0) this.add(geometricMean(title, rows, bars.web.mean));
    });
  }
}

/** SQNRs, of which a model without float outputs has none. */
const decibelsNote = (...values) =>
  values.includes(null) ? 'no float outputs' : values.map((value) => `${value.toFixed(1)} dB`).join(' against ');
