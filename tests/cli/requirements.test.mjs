// SPDX-License-Identifier: Apache-2.0
// docs/requirements.md against the requirement documents of TERSOR_SHARED and against the sources.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { sharedFolder } from '../zoo/samples.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const documents = path.join(sharedFolder, 'requirements');
const here = existsSync(documents);
if (!here) console.log('skipped: names of the requirement documents (TERSOR_SHARED is not here)');

const read = (...parts) => readFileSync(path.join(root, ...parts), 'utf8');

/** name, C++, JSON, TypeScript, Python, program and test of each line; empty where a cell is. */
const lines = read('docs/requirements.md')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const cells = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim());
    const [name, cpp, json, typescript, , program] = cells.map((cell) => cell.replaceAll('`', ''));
    return { name, cpp, json, typescript, program, acts: cells[6] };
  });

const filesUnder = (folder, pattern) =>
  readdirSync(path.join(root, folder), { recursive: true })
    .filter((name) => pattern.test(name))
    .map((name) => read(folder, name));

const word = (text) => new RegExp(`\\b${text}\\b`);

/** The arguments of a documented constructor, without their defaults. */
function argumentsOf(signature) {
  return signature
    .replace(/=[^,]*/g, '')
    .split(',')
    .map((one) => one.trim().replace(/^\*+/, ''));
}

/** Every class, argument, enum value, constant and function of a document of Model Compression Toolkit. */
function namesOfToolkit(text) {
  const names = [];
  for (const [, type, signature] of text.matchAll(
    /class model_compression_toolkit\.(?:target_platform\.)?(\w+)\((.*)\)¶/g,
  )) {
    names.push(type);
    if (signature !== 'value') names.push(...argumentsOf(signature).map((one) => `${type}.${one}`));
  }
  const enums = [...text.matchAll(/\.(\w+)\(value\)¶\n([^]*?)\n(?=\S+¶)/g)];
  for (const [, type, body] of enums)
    for (const [, value] of body.matchAll(/^(\w+) - /gm)) names.push(`${type}.${value}`);
  for (const [value] of text.matchAll(/\b(QuantizationMethod|ThresholdSelectionMethod)\.\w+/g)) names.push(value);
  for (const [, constant] of text.matchAll(/=([A-Z]\w*_[A-Z_]+)\b/g)) names.push(constant);
  for (const [, called] of text.matchAll(/\b(get_\w+) function/g)) names.push(called);
  for (const [type] of text.matchAll(/\bAttributeFilter\b/g)) names.push(type);
  return names;
}

function namesOfQuantizeConfig(text) {
  const [, type] = /^tfmot\.quantization\.keras\.(\w+)$/m.exec(text);
  const methods = [...text.matchAll(/^((?:get|set)_\w+)$/gm)].map(([method]) => `${type}.${method}`);
  return [type, ...methods, ...[...text.matchAll(/\b(\w+Quantizer)\(/g)].map(([, one]) => one)];
}

/** Classes with their arguments, what they are said to have, constants of the examples, and the parts in quotation marks. */
function namesOfTrainable(text) {
  const names = [];
  for (const [, type, signature] of text.matchAll(/^class [\w.]+\.(\w+)\((.*)\)$/gm))
    names.push(type, ...argumentsOf(signature).map((one) => `${type}.${one}`));
  for (const [, first, second] of text.matchAll(/\ba (\w+_config) and (\w+_config) functions/g))
    names.push(first, second);
  for (const [, constants] of text.matchAll(/constants import (.*)$/gm)) names.push(...constants.split(', '));
  for (const [, quoted] of text.matchAll(/“([^”]+)”/g)) names.push(quoted);
  return names;
}

test.skipIf(!here).each([
  ['quantization_config', namesOfToolkit, 27],
  ['target_platform', namesOfToolkit, 56],
  ['framework_info', namesOfToolkit, 9],
  ['quantize_config', namesOfQuantizeConfig, 9],
  ['trainable_infrastructure', namesOfTrainable, 28],
])('every name of %s has a line', (document, namesOf, least) => {
  const names = new Set(namesOf(readFileSync(path.join(documents, `${document}.txt`), 'utf8')));
  assert.ok(names.size >= least, `${names.size} names found: ${[...names].join(', ')}`);
  const known = new Set(lines.map(({ name }) => name));
  assert.deepEqual(
    [...names].filter((name) => !known.has(name)),
    [],
  );
});

const page = read('docs/requirements.md');
const blocksOf = (language) =>
  [...page.matchAll(new RegExp('^```' + language + '\\n([^]*?)^```$', 'gm'))].map(([, block]) =>
    block.trim().split('\n'),
  );
const squeezed = (text) => text.replace(/>>>|\s/g, '');

test.skipIf(!here)('the code blocks are those of the documents, and no document has another', () => {
  const all = readdirSync(documents)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => readFileSync(path.join(documents, name), 'utf8'));
  const text = squeezed(all.join('\n'));
  const said = blocksOf('python').flat();
  for (const line of said) assert.ok(text.includes(squeezed(line).replace(/^qc=/, '')), line);
  const ours = squeezed(said.join('\n'));
  // what a document marks as code, begins as a definition or makes a value of one of its classes
  const marked = all.flatMap((one) => [...one.matchAll(/>>> ([^]*?)(?=>>>|\n)/g)].map(([, code]) => code.trim()));
  assert.ok(marked.length >= 12, `${marked.length}`);
  const defined = all.flatMap((one) => one.match(/^ *(?:def|class) \w+\(.*\):$/gm) ?? []);
  assert.ok(defined.length >= 7);
  for (const code of [...marked, ...defined]) {
    if (/^import /.test(code)) continue;
    assert.ok(ours.includes(squeezed(code)), code);
  }
});

test.each([
  ['js', ['tests/wasm/documents.test.mjs']],
  ['cpp', ['tests/job/documents_test.cpp', 'tests/support/my_dense_quantize_config.h']],
])('the blocks in %s are those of %s, which run them', (language, files) => {
  const source = new Set(files.flatMap((file) => read(file).split('\n')).map((line) => line.trim()));
  const said = blocksOf(language).flat();
  assert.ok(said.length > 20);
  for (const line of said) assert.ok(source.has(line.trim()), `${files} have no line "${line.trim()}"`);
});

test('no name has two lines, and every line says what acts', () => {
  assert.equal(new Set(lines.map(({ name }) => name)).size, lines.length);
  for (const { name, acts } of lines) assert.match(acts, /^`[\w/]+\.(cpp|test\.mjs): .+`$|^does not act/, name);
});

test('every test case named is there', () => {
  for (const { name, acts } of lines) {
    const found = /^`([\w/.]+): (.+)`$/.exec(acts);
    if (!found) continue;
    const [, file, title] = found;
    const source = read('tests', file);
    const there = file.endsWith('.cpp')
      ? source.includes(`TEST_CASE("${title}")`)
      : ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
    assert.ok(there, `${name}: tests/${file} has no case "${title}"`);
  }
});

test('every C++ name is declared, a member in the header of its type', () => {
  const headers = filesUnder('core', /\.h$/);
  for (const { name, cpp } of lines) {
    const [, ...parts] = cpp.split('::');
    assert.ok(parts.length > 0, name);
    assert.ok(
      headers.some((text) => parts.every((part) => word(part).test(text))),
      `${name}: ${cpp} is in no header`,
    );
  }
});

test('every JSON member is read, every TypeScript name is exported, every option is there', () => {
  const core = filesUnder('core', /\.(h|cpp)$/).join('\n');
  const types = filesUnder('wasm/src', /\.ts$/);
  const program = filesUnder('core/doors/cli', /\.cpp$/).join('\n');
  const index = read('wasm/src/index.ts');
  const { properties } = JSON.parse(
    spawnSync(path.join(root, 'build/native/bin/tersor'), ['config', '--schema'], { encoding: 'utf8' }).stdout,
  );
  for (const { name, json, typescript, program: given } of lines) {
    const member = json.replaceAll('[]', '').split('.').at(-1);
    if (json.includes('.')) assert.ok(core.includes(`"${member}"`), `${name}: no "${member}" in JSON`);
    if (typescript) {
      const [type, ...members] = typescript.split('.');
      assert.match(index, word(type), `${name}: ${type} is not exported`);
      const declared = types.filter((text) => new RegExp(`(interface|type|class) ${type}\\b`).test(text));
      assert.ok(
        declared.some((text) => members.every((one) => word(one).test(text))),
        `${name}: ${typescript} is not there`,
      );
    }
    if (!given) continue;
    const [option, argument] = given.split(' ');
    assert.ok(program.includes(`"${option}"`), `${name}: no ${option}`);
    if (option !== '--set') continue;
    const [field, value] = argument.split('=');
    assert.ok(field in properties, `${name}: no field ${field}`);
    const allowed = properties[field].enum ?? properties[field].anyOf?.flatMap((one) => one.enum ?? []);
    if (/^[A-Z]/.test(value) && value !== 'WORD')
      assert.ok(allowed.includes(value), `${name}: ${argument} is not allowed`);
  }
});

test('a field that takes its default only is said not to act', () => {
  const schema = spawnSync(path.join(root, 'build/native/bin/tersor'), ['config', '--schema'], { encoding: 'utf8' });
  for (const [field, property] of Object.entries(JSON.parse(schema.stdout).properties)) {
    const line = lines.find(({ name }) => name === `QuantizationConfig.${field}`);
    if (line && 'const' in property) assert.match(line.acts, /^does not act/, field);
  }
});
