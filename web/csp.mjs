// SPDX-License-Identifier: Apache-2.0
//
// The page's content security policy, said once: the build writes it into the page, the server sends it as a header.

export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  'media-src blob:',
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** As a header it says too who may show the page in a frame, which a meta tag cannot: pages of the same origin. */
export const headerSecurityPolicy = `${contentSecurityPolicy}; frame-ancestors 'self'`;
