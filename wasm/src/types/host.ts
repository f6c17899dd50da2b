// SPDX-License-Identifier: Apache-2.0
//
// Types of the host: those that a program has (TypeScript's library of the browser, those of Node), else what is needed of them, so
// that the package's types hold without either.

type OfHost<Name extends string, Else> =
  typeof globalThis extends Record<Name, { prototype: infer Type }> ? Type : Else;

export type HostURL = OfHost<'URL', { readonly href: string }>;
export type HostBlob = OfHost<
  'Blob',
  { readonly size: number; readonly type: string; arrayBuffer(): Promise<ArrayBuffer> }
>;
export type HostFile = OfHost<'File', HostBlob & { readonly name: string }>;
export type HostAbortSignal = OfHost<'AbortSignal', { readonly aborted: boolean }>;
