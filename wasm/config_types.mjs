// SPDX-License-Identifier: Apache-2.0
//
// The package's type QuantizationConfig, made from the core's list of fields, so that an editor completes and checks it.

/** The interfaces of fields that are objects of fields. */
const INTERFACES = {
  target_resource_utilization: 'ResourceUtilization',
  mixed_precision_config: 'MixedPrecisionQuantizationConfig',
  gradient_ptq_config: 'GradientPTQConfig',
  ignored_scope: 'IgnoredScope',
};

/** The types of fields that are objects of names that anybody gives. */
const RECORDS = {
  custom_tpc_opset_to_layer: 'OpsetToLayers',
  output_roles: 'Readonly<Record<string, OutputKind>>',
};

function typeOf(field) {
  const plain = {
    bool: 'boolean',
    int: 'number',
    number: 'number',
    integers: 'readonly number[]',
    texts: 'readonly string[]',
    objects: `readonly { ${(field.members ?? []).map((one) => `readonly ${one.name}?: ${typeOf(one)}`).join('; ')} }[]`,
    enum: 'string',
    object: INTERFACES[field.name] ?? RECORDS[field.name],
  }[field.type];
  const isNamed = field.choices === null || field.type === 'object';
  const type = isNamed ? plain : field.choices.map((choice) => `'${choice}'`).join(' | ');
  return field.nullable ? `${type} | null` : type;
}

function remarks(field) {
  const [minimum, maximum] = [field.minimum ?? null, field.maximum ?? null];
  const range = [minimum, maximum].map((limit) => (limit === null ? '…' : String(limit)));
  const limits = minimum === null && maximum === null ? '' : ` From ${range[0]} to ${range[1]}.`;
  const later = (field.acts ?? true) ? '' : ' This version takes the default only.';
  const otherwise = Array.isArray(field.default) ? JSON.stringify(field.default) : field.default;
  return `${field.meaning}${limits} Default ${otherwise}.${later}`;
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
  const listed = (of) => of.map((field) => `  /** ${remarks(field)} */\n${member(field)}`).join('\n');
  const interfaces = fields
    .filter((field) => (field.members ?? null) !== null)
    .map(
      (field) =>
        `/** ${field.meaning} */\nexport interface ${INTERFACES[field.name]} {\n${listed(field.members)}\n}\n\n`,
    );
  return `// SPDX-License-Identifier: Apache-2.0
// Made by build.mjs from the core's list of fields: do not edit.

import type { OpsetToLayers } from './types/layers.js';
import type { OutputKind } from './types/report.js';

${interfaces.join('')}/** The fields of QuantizationConfig, by their documented names; what is left out has its default. */
export interface QuantizationConfig {
${listed(fields)}
}
`;
}
