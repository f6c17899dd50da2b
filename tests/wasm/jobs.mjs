// SPDX-License-Identifier: Apache-2.0
//
// Models with samples for the package's tests: the zoo's labelled models where TERSOR_SHARED is, and the bundled demo always.
import { unzipSync } from 'fflate';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { nets } from '../bench/nets.mjs';
import { labelledModels, makeSamples, sharedFolder } from '../zoo/samples.mjs';

export const root = path.resolve(import.meta.dirname, '../..');
export const program = path.join(root, 'build/native/bin/tersor');
const demoFolder = path.join(root, 'web/public/demo');
const work = path.join(root, 'build/wasm-tests');

/** A folder of this test run's own, empty. */
export function emptyFolder(name) {
  const folder = path.join(work, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

export const demo = {
  name: 'demo',
  model: path.join(demoFolder, 'model.onnx'),
  preprocessing: JSON.parse(readFileSync(path.join(demoFolder, 'demo.json'), 'utf8')).preprocessing,
};

/** The demo's pictures, as a data set. */
export function demoFiles() {
  const entries = Object.entries(unzipSync(new Uint8Array(readFileSync(path.join(demoFolder, 'samples.zip')))));
  return entries.filter(([name]) => !name.endsWith('/')).map(([name, data]) => ({ path: name, data }));
}

function demoData(count = Infinity, name = 'demo-samples') {
  const folder = emptyFolder(name);
  for (const file of demoFiles().slice(0, count)) {
    const place = path.join(folder, file.path);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, file.data);
  }
  return folder;
}

/** Models to quantize: name, model file, folder of samples, preprocessing. `missing` says why one cannot run. */
export function jobs() {
  const zoo = labelledModels.map((id) => ({
    name: id,
    model: path.join(sharedFolder, 'zoo', id, 'model.onnx'),
    data: () => path.join(makeSamples(sharedFolder, id), 'calib'),
    preprocessing: null,
    missing: existsSync(path.join(sharedFolder, 'zoo', id)) ? '' : 'TERSOR_SHARED is not here',
  }));
  return [...zoo, { ...demo, data: () => demoData(), missing: '' }];
}

/** A model of 14 MB, large enough for its weights to be read again where they are needed; seeded, with two pictures. */
export function largeJob() {
  const model = path.join(emptyFolder('large-model'), 'model.onnx');
  writeFileSync(model, nets['mobilenet-v2']());
  return { name: 'mobilenet-v2', model, data: () => demoData(2, 'large-samples'), preprocessing: null, missing: '' };
}

/** Every file under a folder, with its path relative to it. */
export function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}
