// SPDX-License-Identifier: Apache-2.0

/** Put in by the build from public/demo/fruit. */
declare const __TERSOR_DEMO__: { readonly modelBytes: number; readonly samples: number; readonly bytes: number };
