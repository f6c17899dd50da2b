// SPDX-License-Identifier: Apache-2.0
//
// Runs in Chromium: window.quantize(settings) gives for each platform the digest of the file made, or what refuses it.
import { Tersor, TersorError } from '/dist/index.js';

window.Tersor = Tersor;
window.TersorError = TersorError;

const blobAt = async (address) => (await fetch(address)).blob();
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

window.quantize = async ({ model, names, count, workers, preprocessing, platforms }) => {
  const tersor = await Tersor.create({ workers });
  const opened = await tersor.open(await blobAt(model));
  const samples = [];
  for (const name of names) {
    const address = `/data/${name.split('/').map(encodeURIComponent).join('/')}`;
    samples.push({ path: name, data: await blobAt(address) });
  }
  const found = [];
  for (const platform of platforms) {
    try {
      const made = await opened.quantize({
        samples,
        selection: { part: 'calibration', count },
        platform,
        ...(preprocessing ? { preprocessing } : {}),
      });
      made.close();
      // where the context is not secure the page has no digests; then it is the report's
      const { subtle } = crypto;
      found.push(subtle ? hex(await subtle.digest('SHA-256', made.model)) : made.report.output.sha256);
    } catch (error) {
      if (!(error instanceof TersorError)) throw error;
      found.push(error.message);
    }
  }
  tersor.close();
  return found;
};
