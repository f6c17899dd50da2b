// SPDX-License-Identifier: Apache-2.0
//
// The package's type QuantizationConfig, made from the core's list of fields, so that an editor completes and checks it.

function typeOf(field) {
  const plain = { bool: 'boolean', int: 'number', number: 'number', enum: 'string', object: 'OpsetToLayers' }[
    field.type
  ];
  const type = field.choices === null ? plain : field.choices.map((choice) => `'${choice}'`).join(' | ');
  return field.nullable ? `${type} | null` : type;
}

function remarks(field) {
  const range = [field.minimum, field.maximum].map((limit) => (limit === null ? '…' : String(limit)));
  const limits = field.minimum === null && field.maximum === null ? '' : ` From ${range[0]} to ${range[1]}.`;
  const later = field.acts ? '' : ' This version takes the default only.';
  return `${field.meaning}${limits} Default ${field.default}.${later}`;
}

/** As the formatter sets it. */
function member(field) {
  const line = `  readonly ${field.name}?: ${typeOf(field)} | undefined;`;
  if (line.length <= 120) return line;
  const below = `  readonly ${field.name}?:\n    ${typeOf(field)} | undefined;`;
  if (below.length - below.indexOf('\n') - 1 <= 120) return below;
  const words = [...typeOf(field).split(' | '), 'undefined'];
  return `  readonly ${field.name}?:\n${words.map((word) => `    | ${word}`).join('\n')};`;
}

/** The text of src/quantization_config.ts. `fields`: what describeQuantizationConfig() gives. */
export function configTypes(fields) {
  const members = fields.map((field) => `  /** ${remarks(field)} */\n${member(field)}`);
  return `// SPDX-License-Identifier: Apache-2.0
// Made by build.mjs from the core's list of fields: do not edit.

import type { OpsetToLayers } from './requirements.js';

/** The fields of QuantizationConfig, by their documented names; what is left out has its default. */
export interface QuantizationConfig {
${members.join('\n')}
}
`;
}
