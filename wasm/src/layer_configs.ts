// SPDX-License-Identifier: Apache-2.0
//
// QuantizeConfigs that are objects with methods: asked here, layer by layer, before a job; what they return goes to the
// workers, and into the recipe, as data.

import { TersorError } from './error.js';
import type { LayerFacts } from './protocol.js';
import type {
  Layer,
  LayerActivation,
  LayerQuantizer,
  LayerWeight,
  QuantizeConfig,
  QuantizeConfigData,
} from './requirements.js';
import type { Override } from './types.js';

const methods = [
  'get_weights_and_quantizers',
  'get_activations_and_quantizers',
  'set_quantize_weights',
  'set_quantize_activations',
  'get_output_quantizers',
  'get_config',
] as const;

function isObject(given: Override['quantize_config']): given is QuantizeConfig {
  if (given === null || typeof given !== 'object') return false;
  return methods.some((name) => typeof (given as Partial<QuantizeConfig>)[name] === 'function');
}

function wrong(layer: LayerFacts, what: string, place: string): TersorError {
  const message = `The QuantizeConfig of "${layer.name}" (${layer.type}) ${what}`;
  return new TersorError({ code: 'invalid_config', message, place });
}

/** What the methods see of a layer, and change. */
class SeenLayer implements Layer {
  readonly name: string;
  readonly type: string;
  readonly outputs: number;
  readonly weights: LayerWeight[];
  activation: LayerActivation;
  readonly #place: string;

  constructor(facts: LayerFacts, place: string) {
    this.name = facts.name;
    this.type = facts.type;
    this.outputs = facts.outputs;
    this.weights = facts.weights.map((weight) => ({ ...weight }));
    this.activation = { name: facts.activation };
    this.#place = place;
  }

  get kernel(): LayerWeight {
    return this.#weight('kernel');
  }
  set kernel(weight: LayerWeight) {
    this.#replace('kernel', weight);
  }
  get bias(): LayerWeight {
    return this.#weight('bias');
  }
  set bias(weight: LayerWeight) {
    this.#replace('bias', weight);
  }

  #weight(name: string): LayerWeight {
    const found = this.weights.find((weight) => weight.name === name);
    if (found) return found;
    throw new TersorError({
      code: 'invalid_config',
      message: `The layer "${this.name}" (${this.type}) has no constant weight called "${name}".`,
      place: this.#place,
    });
  }

  #replace(name: string, weight: LayerWeight): void {
    this.weights[this.weights.indexOf(this.#weight(name))] = weight;
  }
}

function askWeights(config: QuantizeConfig, layer: SeenLayer, refuse: (what: string) => TersorError) {
  const wanted = config.get_weights_and_quantizers(layer);
  const quantizers: Record<string, LayerQuantizer> = {};
  for (const [weight, quantizer] of wanted) {
    if (!layer.weights.includes(weight)) throw refuse('names a weight that is not of the layer.');
    if (weight.name in quantizers) throw refuse(`names "${weight.name}" twice.`);
    quantizers[weight.name] = quantizer;
  }
  const quantized = wanted.map(([weight, quantizer]) => ({ ...weight, quantizer }));
  config.set_quantize_weights(layer, quantized);
  const left = quantized.find((weight) => !layer.weights.includes(weight));
  if (left) throw refuse(`leaves the weight "${left.name}" as it was: set_quantize_weights does not put it back.`);
  return quantizers;
}

function askActivation(config: QuantizeConfig, layer: SeenLayer, refuse: (what: string) => TersorError) {
  const wanted = config.get_activations_and_quantizers(layer);
  const [first] = wanted;
  if (wanted.length > 1) throw refuse('names several activations; a layer has one.');
  if (first && first[0] !== layer.activation) throw refuse('names an activation that is not of the layer.');
  const quantized = wanted.map(([activation, quantizer]) => ({ ...activation, quantizer }));
  config.set_quantize_activations(layer, quantized);
  if (quantized[0] && layer.activation !== quantized[0])
    throw refuse('leaves the activation as it was: set_quantize_activations does not put it back.');
  return first ? first[1] : null;
}

/** What an object says of one layer, as data. */
function dataOf(config: QuantizeConfig, facts: LayerFacts, place: string): QuantizeConfigData {
  const refuse = (what: string) => wrong(facts, what, place);
  const layer = new SeenLayer(facts, place);
  const weights = askWeights(config, layer, refuse);
  const activation = askActivation(config, layer, refuse);
  return {
    class_name: 'LayerQuantizeConfig',
    config: { weights, activation, outputs: config.get_output_quantizers(layer) },
  };
}

function checkMethods(config: QuantizeConfig, place: string): void {
  const missing = methods.filter((name) => typeof config[name] !== 'function');
  if (missing.length === 0) return;
  throw new TersorError({
    code: 'invalid_config',
    message: `A QuantizeConfig has six methods; here there is no ${missing.join(', no ')}.`,
    place,
  });
}

/** The overrides with data in the place of objects. `layersOf`: the layers that number `which` of them chooses. */
export async function overridesAsData(
  overrides: readonly Override[],
  layersOf: (overrides: readonly Override[], which: number) => Promise<readonly LayerFacts[]>,
): Promise<readonly Override[]> {
  if (!overrides.some((one) => isObject(one.quantize_config))) return overrides;
  const bare = overrides.map(({ quantize_config: _, ...rest }) => rest);
  const told: Override[] = [];
  for (const [which, override] of overrides.entries()) {
    const config = override.quantize_config;
    if (!isObject(config)) {
      told.push(override);
      continue;
    }
    const place = `overrides[${which}].quantize_config`;
    checkMethods(config, place);
    const layers: Record<string, QuantizeConfigData> = {};
    for (const layer of await layersOf(bare, which)) layers[layer.name] = dataOf(config, layer, place);
    const [first, ...others] = Object.values(layers);
    const same = first && others.every((one) => JSON.stringify(one) === JSON.stringify(first));
    told.push({
      ...override,
      quantize_config: same ? first : { class_name: 'ByLayerQuantizeConfig', config: { layers } },
    });
  }
  return told;
}
