// SPDX-License-Identifier: Apache-2.0
//
// The app in a worker of a page or of Node: it is sent model and table, and sends the file back.
const inNode = typeof process !== 'undefined';
const port = inNode ? (await import('node:worker_threads')).parentPort : self;
const { Tersor } = await import(inNode ? 'tersor' : './tersor/index.js');

async function quantize([model, table]) {
  const tersor = await Tersor.create({ workers: 2 });
  const opened = await tersor.open(model);
  const quantized = await opened.quantize({ samples: [{ path: 'samples.csv', data: table }] });
  tersor.close();
  port.postMessage(quantized.model);
}
if (inNode) port.once('message', quantize);
else port.onmessage = ({ data }) => quantize(data);
port.postMessage('ready');
