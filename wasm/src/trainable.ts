// SPDX-License-Identifier: Apache-2.0
//
// The classes of trainable_infrastructure as values, and the quantizers that they describe, which compute in the caller's
// own core: `tersor.trainableQuantizer({ identifier: 'LSQ', config: new TrainableQuantizerWeightsConfig({ ... }) })`.

import { jsonOf, valueOf, type Core } from './core.js';
import { described, describedByDefaults } from './described.js';
import { TersorError } from './error.js';
import type * as types from './types/trainable.js';

export const QuantizationTarget = { Weights: 'Weights', Activation: 'Activation' } as const;
export type QuantizationTarget = (typeof QuantizationTarget)[keyof typeof QuantizationTarget];

/** Variables that stand for weights, and those of the quantizer. */
export const VariableGroup = { WEIGHTS: 'WEIGHTS', QPARAMS: 'QPARAMS' } as const;
export type VariableGroup = types.VariableGroup;

/** The documents' name of a key: `{ [THRESHOLD]: 2.0 }`. */
export const THRESHOLD = 'threshold';

export const TrainableQuantizerCandidateConfig = describedByDefaults<types.TrainableQuantizerCandidateConfig>();
export type TrainableQuantizerCandidateConfig = types.TrainableQuantizerCandidateConfig;

export const TrainableQuantizerWeightsConfig = described<types.TrainableQuantizerWeightsConfig>({});
export type TrainableQuantizerWeightsConfig = types.TrainableQuantizerWeightsConfig;

export const TrainableQuantizerActivationConfig = described<types.TrainableQuantizerActivationConfig>({});
export type TrainableQuantizerActivationConfig = types.TrainableQuantizerActivationConfig;

/** The core's memory of a quantizer goes when nobody holds the quantizer any more. */
const dropped = new FinalizationRegistry<{ readonly core: Core; readonly id: number }>(({ core, id }) => {
  core.dropTrainable(id);
});

function floatsOf(value: Float32Array, what: string): Float32Array {
  if (value instanceof Float32Array) return value;
  throw new TersorError({ code: 'invalid_argument', message: `${what} are a Float32Array.`, place: what });
}

/**
 * A quantizer of the core, with its variables on this side.
 * @internal
 */
export class CoreTrainableQuantizer implements types.BaseTrainableQuantizer {
  readonly #core: Core;
  readonly #id: number;
  readonly #config: string;
  #variables: readonly types.Variable[] = [];

  constructor(core: Core, options: types.TrainableQuantizerOptions) {
    const { identifier = 'STE', config, freeze_quant_params = false } = options;
    const given = {
      class_name: 'BaseTrainableQuantizer',
      identifier,
      config: { quantization_config: config, freeze_quant_params },
    };
    const { id, config: text } = valueOf(core.makeTrainable(JSON.stringify(given)));
    this.#core = core;
    this.#id = id;
    this.#config = text;
    dropped.register(this, { core, id });
  }

  initialize_quantization(values: Float32Array, shape: readonly number[], name: string): void {
    const made = valueOf(this.#core.initializeTrainable(this.#id, floatsOf(values, 'values'), shape, name));
    const info = JSON.parse(made.info) as readonly Pick<types.Variable, 'name' | 'group' | 'is_trainable'>[];
    this.#variables = info.map((one, k) => {
      const value = made.values[k] ?? new Float32Array(0);
      return { ...one, value, gradient: new Float32Array(value.length) };
    });
  }

  call(inputs: Float32Array, training: boolean): Float32Array {
    return valueOf(this.#core.callTrainable(this.#id, this.#values(), floatsOf(inputs, 'inputs'), training));
  }

  gradient(inputs: Float32Array, by_output: Float32Array): Float32Array {
    const [x, by] = [floatsOf(inputs, 'inputs'), floatsOf(by_output, 'by_output')];
    const { by_input, gradients } = valueOf(this.#core.gradientOfTrainable(this.#id, this.#values(), x, by));
    this.#variables.forEach(({ gradient }, k) => {
      gradients[k]?.forEach((more, i) => {
        gradient[i] = (gradient[i] ?? 0) + more;
      });
    });
    return by_input;
  }

  convert2inferable(): types.InferableQuantizerData | null {
    return jsonOf(this.#core.convertTrainable(this.#id, this.#values()));
  }

  get_trainable_variables(group: VariableGroup): readonly types.Variable[] {
    const numbers = jsonOf<readonly number[]>(this.#core.variablesOfTrainable(this.#id, group));
    return this.#variables.filter((_, k) => numbers.includes(k));
  }

  get_config(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.#config) as Readonly<Record<string, unknown>>;
  }

  #values(): readonly Float32Array[] {
    return this.#variables.map(({ value }) => value);
  }
}
