// SPDX-License-Identifier: Apache-2.0
//
// MODEL TABLE OUT: the app without a page.
import { readFile, writeFile } from 'node:fs/promises';
import { argv } from 'node:process';

import { Tersor } from 'tersor';

const [model, table, out] = argv.slice(-3);
const tersor = await Tersor.create({ workers: 2 });
const opened = await tersor.open(await readFile(model));
const quantized = await opened.quantize({ samples: [{ path: 'samples.csv', data: await readFile(table) }] });
await writeFile(out, quantized.model);
tersor.close();
