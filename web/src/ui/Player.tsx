// SPDX-License-Identifier: Apache-2.0
//
// A recording of the reader's own, to be heard.

import { useEffect, useState } from 'preact/hooks';

import { samples } from '../job/state';

export function isSound(path: string): boolean {
  return /\.wav$/i.test(path);
}

export function Player({ path }: { readonly path: string }) {
  const data = samples.value?.files.find((file) => file.path === path)?.data;
  const [address, setAddress] = useState('');
  useEffect(() => {
    if (!data) return undefined;
    const made = URL.createObjectURL(new Blob([data as BlobPart], { type: 'audio/wav' }));
    setAddress(made);
    // Once the element is gone, which may still be loading from it.
    return () => void setTimeout(() => URL.revokeObjectURL(made));
  }, [data]);
  if (!data || address === '') return null;
  return <audio controls preload="metadata" src={address} aria-label={`The recording ${path}`} />;
}
