// SPDX-License-Identifier: Apache-2.0
//
// Cuts the page's typeface out of IBM Plex Sans (OFL 1.1): weights 400 to 600, the glyphs the page writes, as one woff2.
// The licence reserves the name "Plex", so the subset calls itself "Tersor Sans".

import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const family = 'Tersor Sans';

/** ASCII, and the signs of the page's texts, numbers, units and formulas. Accented letters stand only in names that a user brings; the system's
 * typeface writes those. */
function characters() {
  const codes = [];
  for (let code = 0x20; code < 0x7f; ++code) codes.push(code);
  for (let code = 0xa0; code < 0xc0; ++code) codes.push(code);
  const signs = '‐–—‘’“”…‹›′″−×÷±≈≠≤≥∞→←↑↓σΔµπλ√·•€™ ⁄';
  return String.fromCodePoint(...codes) + signs + '\u2009\u202f';
}

/** The sfnt `name` table: family, style, full name, PostScript name, licence. */
function nameTable(licenceUrl) {
  const records = [
    [0, 'Copyright IBM Corp. 2017. Subset under another name by the Tersor authors.'],
    [1, family],
    [2, 'Regular'],
    [4, family],
    [6, family.replaceAll(' ', '')],
    [13, 'SIL Open Font License, Version 1.1'],
    [14, licenceUrl],
  ];
  const strings = records.map(([, text]) => Buffer.from(text, 'utf16le').swap16());
  const table = Buffer.alloc(6 + 12 * records.length);
  table.writeUInt16BE(records.length, 2);
  table.writeUInt16BE(table.length, 4);
  let offset = 0;
  records.forEach(([id], index) => {
    const at = 6 + 12 * index;
    // platform 3 (Windows), encoding 1 (Unicode), language 0x409
    [3, 1, 0x409, id, strings[index].length, offset].forEach((value, k) => table.writeUInt16BE(value, at + 2 * k));
    offset += strings[index].length;
  });
  return Buffer.concat([table, ...strings]);
}

function checksum(bytes) {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 4) {
    const word = Buffer.alloc(4);
    bytes.copy(word, 0, at, Math.min(at + 4, bytes.length));
    sum = (sum + word.readUInt32BE()) >>> 0;
  }
  return sum;
}

/** Glyph of a character, by the segments of a format 4 character map; 0 where it has none. */
function glyphOf(cmap, code) {
  for (let record = 0; record < cmap.readUInt16BE(2); ++record) {
    const at = cmap.readUInt32BE(4 + 8 * record + 4);
    if (cmap.readUInt16BE(at) !== 4) continue;
    const segments = cmap.readUInt16BE(at + 6) / 2;
    const [ends, starts] = [at + 14, at + 16 + 2 * segments];
    const [deltas, offsets] = [starts + 2 * segments, starts + 4 * segments];
    for (let k = 0; k < segments; ++k) {
      const start = cmap.readUInt16BE(starts + 2 * k);
      if (code < start || code > cmap.readUInt16BE(ends + 2 * k)) continue;
      const delta = cmap.readUInt16BE(deltas + 2 * k);
      const offset = cmap.readUInt16BE(offsets + 2 * k);
      if (offset === 0) return (code + delta) & 0xffff;
      const glyph = cmap.readUInt16BE(offsets + 2 * k + offset + 2 * (code - start));
      return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
    }
  }
  return 0;
}

/** Widens the narrow no-break space from an eighth to a fifth of an em: it stands before units and between groups of digits. */
function widenNarrowSpace(tables) {
  const table = (tag) => tables.find(([other]) => other === tag)[1];
  const glyph = glyphOf(table('cmap'), 0x202f);
  const long = table('hhea').readUInt16BE(34);
  if (glyph === 0 || glyph >= long) throw new Error('the font has no narrow no-break space');
  table('hmtx').writeUInt16BE(200, 4 * glyph);
}

/** A TrueType file with its `name` table replaced and its checksums made anew. */
function withName(sfnt, name) {
  const count = sfnt.readUInt16BE(4);
  const tables = [];
  for (let index = 0; index < count; ++index) {
    const at = 12 + 16 * index;
    const tag = sfnt.toString('latin1', at, at + 4);
    const start = sfnt.readUInt32BE(at + 8);
    const bytes = Buffer.from(sfnt.subarray(start, start + sfnt.readUInt32BE(at + 12)));
    if (tag === 'head') bytes.writeUInt32BE(0, 8);
    tables.push([tag, tag === 'name' ? name : bytes]);
  }
  widenNarrowSpace(tables);
  const header = Buffer.from(sfnt.subarray(0, 12));
  const directory = Buffer.alloc(16 * count);
  const body = [];
  let offset = 12 + directory.length;
  tables.forEach(([tag, bytes], index) => {
    const at = 16 * index;
    directory.write(tag, at, 'latin1');
    directory.writeUInt32BE(checksum(bytes), at + 4);
    directory.writeUInt32BE(offset, at + 8);
    directory.writeUInt32BE(bytes.length, at + 12);
    const padded = Buffer.alloc((bytes.length + 3) & ~3);
    bytes.copy(padded);
    body.push(padded);
    offset += padded.length;
  });
  const file = Buffer.concat([header, directory, ...body]);
  const head = tables.findIndex(([tag]) => tag === 'head');
  const headOffset = directory.readUInt32BE(16 * head + 8);
  file.writeUInt32BE((0xb1b0afba - checksum(file)) >>> 0, headOffset + 8);
  return file;
}

/** Writes the woff2 to `path` unless it is there, and newer than this script. */
export async function makeFont(path) {
  const written = (file) =>
    stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
  if ((await written(path)) > (await written(fileURLToPath(import.meta.url)))) return;
  const subsetFont = require('subset-font');
  const fontverter = require('fontverter');
  const root = dirname(require.resolve('@ibm/plex-sans-variable/package.json'));
  const full = await readFile(join(root, 'fonts/complete/ttf/IBM Plex Sans Var-Roman.ttf'));
  const subset = await subsetFont(full, characters(), {
    targetFormat: 'truetype',
    variationAxes: { wght: { min: 400, max: 600 }, wdth: 100 },
    keepFeatures: ['kern'],
    noHinting: true,
  });
  const named = withName(subset, nameTable('https://openfontlicense.org'));
  const woff2 = await fontverter.convert(named, 'woff2');
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.tmp`, woff2);
  await rename(`${path}.tmp`, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = process.argv[2] ?? fileURLToPath(new URL('../../web/src/generated/tersor-sans.woff2', import.meta.url));
  await makeFont(path);
  console.log(`${path}: ${(await readFile(path)).length} bytes`);
}
