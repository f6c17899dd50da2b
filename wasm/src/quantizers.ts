// SPDX-License-Identifier: Apache-2.0
//
// The quantizers that a QuantizeConfig returns: descriptions, under the documents' names. What is left out has the default
// of the class.

import type { LayerQuantizerClass } from './requirements.js';

/** Left out: 8 bits, one range, asymmetric where the platform offers it, else as the platform has it. */
export interface QuantizerMembers {
  readonly num_bits?: number | undefined;
  /** One range for each output channel of a weight. */
  readonly per_axis?: boolean | undefined;
  readonly symmetric?: boolean | undefined;
  readonly narrow_range?: boolean | undefined;
  /** Of an activation: the range follows the samples in their order, so many at a time, as it follows batches in training. */
  readonly batch_size?: number | undefined;
}

class Described<Name extends LayerQuantizerClass, Members> {
  constructor(
    readonly class_name: Name,
    readonly config: Members,
  ) {}
}

/** The extremes of the last batch; of samples without `batch_size`, of all. */
export class LastValueQuantizer extends Described<'LastValueQuantizer', QuantizerMembers> {
  constructor(members: QuantizerMembers = {}) {
    super('LastValueQuantizer', members);
  }
}

/** Extremes that follow the batches, a thousandth of the way each, from -6 and 6; of samples without `batch_size`, the mean of the
 * extremes of each. */
export class MovingAverageQuantizer extends Described<'MovingAverageQuantizer', QuantizerMembers> {
  constructor(members: QuantizerMembers = {}) {
    super('MovingAverageQuantizer', members);
  }
}

/** The extremes of all batches. */
export class AllValuesQuantizer extends Described<'AllValuesQuantizer', QuantizerMembers> {
  constructor(members: QuantizerMembers = {}) {
    super('AllValuesQuantizer', members);
  }
}

/** A range that no sample changes. */
export class FixedQuantizer extends Described<
  'FixedQuantizer',
  QuantizerMembers & { readonly init_min: number; readonly init_max: number }
> {
  constructor(init_min: number, init_max: number, members: QuantizerMembers = {}) {
    super('FixedQuantizer', { ...members, init_min, init_max });
  }
}
