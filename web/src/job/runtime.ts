// SPDX-License-Identifier: Apache-2.0

/** The copy of onnxruntime-web that the site brings, and its bytes; null where it brings none. Written by the build. */
export const runtime = (() => {
  if (typeof document === 'undefined') return null;
  const text = document.querySelector<HTMLMetaElement>('meta[name="tersor-verify"]')?.content ?? '';
  const [version, bytes] = text.split(' ');
  return version && bytes ? { name: `onnxruntime-web ${version}`, bytes: Number(bytes) } : null;
})();
