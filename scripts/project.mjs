// SPDX-License-Identifier: Apache-2.0
//
// Writes what project.json says of the project into the packages that keep it in files of their own, and names the fields that
// are still empty. CMake (program, library, .deb) and the notices read project.json itself.
//
//   node scripts/project.mjs

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const read = (name) => readFileSync(path.join(root, name), 'utf8');

/** The fields of project.json; those that nobody has filled are ''. */
export const project = JSON.parse(read('project.json'));

/** Of "Name <mail>", as `author` may be. */
const [, name, email] = /^(.*?)(?: <(.+)>)?$/.exec(project.author);
const { homepage, repository, bugs, author } = project;
const filled = (fields) => Object.entries(fields).filter(([, value]) => value);

const inNpm = filled({ author, homepage, repository, bugs })
  .map(([field, value]) => `  "${field}": ${JSON.stringify(value)},\n`)
  .join('');
const people = filled({ name, email }).map(([field, value]) => `${field} = ${JSON.stringify(value)}`);
const urls = filled({ Homepage: homepage, Repository: repository, Issues: bugs });
const inPython = [
  ...(people.length > 0 ? [`authors = [{ ${people.join(', ')} }]`] : []),
  ...urls.map(([label, value]) => `urls.${label} = ${JSON.stringify(value)}`),
].map((line) => `${line}\n`);

/** By file: what stands there of the project, and what is to. */
const forms = {
  'wasm/package.json': [
    [/^ {2}"version": .*\n/m, `  "version": "${project.version}",\n`],
    [/^(?: {2}"(?:author|homepage|repository|bugs)": .*\n)*(?= {2}"license")/m, inNpm],
  ],
  'package-lock.json': [[/(?<="name": "tersor",\n {6}"version": )".*"/, `"${project.version}"`]],
  'pyproject.toml': [[/(?<=^# From project\.json\.\n)(?:(?:authors|urls\.\w+) = .*\n)*/m, inPython.join('')]],
};

/** The files as project.json has them: text by name. */
export function filledFiles() {
  return Object.entries(forms).map(([file, places]) => {
    const text = places.reduce((before, [from, to]) => {
      if (!from.test(before)) throw new Error(`${file} has no place for what project.json says: ${from}`);
      return before.replace(from, () => to);
    }, read(file));
    return [file, text];
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of filledFiles()) if (text !== read(file)) writeFileSync(path.join(root, file), text);
  const empty = Object.keys(project).filter((field) => project[field] === '');
  if (empty.length > 0)
    console.error(`warning: project.json leaves these empty, so no package names them: ${empty.join(', ')}.`);
}
