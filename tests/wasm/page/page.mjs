// SPDX-License-Identifier: Apache-2.0
//
// Runs in Chromium: window.quantize(settings) gives the digest of the file made.
import { Tersor, TersorError } from '/dist/index.js';

window.Tersor = Tersor;
window.TersorError = TersorError;

const blobAt = async (address) => (await fetch(address)).blob();
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

window.quantize = async ({ model, names, count, workers, preprocessing }) => {
  const tersor = await Tersor.create({ workers });
  const opened = await tersor.open(await blobAt(model));
  const samples = [];
  for (const name of names) {
    const address = `/data/${name.split('/').map(encodeURIComponent).join('/')}`;
    samples.push({ path: name, data: await blobAt(address) });
  }
  const made = await opened.quantize({
    samples,
    selection: { part: 'calibration', count },
    ...(preprocessing ? { preprocessing } : {}),
  });
  tersor.close();
  return hex(await crypto.subtle.digest('SHA-256', made.model));
};
