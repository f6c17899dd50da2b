// SPDX-License-Identifier: Apache-2.0
//
// Which operators are meant: types, and filters by attributes.

export type AttributeValue = number | string | readonly number[] | readonly string[];

/** A condition on attributes: a comparison, all of several (And), or any of several (Or). */
export type AttributeFilter =
  | {
      readonly attr: string;
      readonly op: 'Eq' | 'NotEq' | 'Greater' | 'GreaterEq' | 'Smaller' | 'SmallerEq' | 'Contains';
      readonly value: AttributeValue;
    }
  | { readonly all: readonly AttributeFilter[] }
  | { readonly any: readonly AttributeFilter[] };

/** Nodes of a type that fulfil every condition of `all`, and one of `any` where it is there. */
export interface LayerFilterParams {
  readonly layer: string;
  readonly all?: readonly AttributeFilter[] | undefined;
  readonly any?: readonly AttributeFilter[] | undefined;
  readonly kwargs?: Readonly<Record<string, AttributeValue>> | undefined;
}

/** An operator type or a filter each. */
export type Layers = readonly (string | LayerFilterParams)[];

/** A weight's general name ("kernel_attr") to operator type to the ONNX input ("W") that has the configuration of that name. */
export type AttrMapping = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Operator sets of a platform, each with the layers that it stands for; an empty list for none. */
export type OpsetToLayers = Readonly<
  Record<string, Layers | { readonly layers: Layers; readonly attr_mapping?: AttrMapping | undefined }>
>;
