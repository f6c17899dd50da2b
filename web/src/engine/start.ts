// SPDX-License-Identifier: Apache-2.0
//
// What happens after the first paint: the engine and its workers, the demo's data, the offline worker. When all of it is
// here the page does its job without a network and says so with `tersor:ready`.

import { followAddress } from '../job/address';
import { startAside } from '../job/aside';
import { followDeaths } from '../job/parts';
import { problemOf } from '../job/problem';
import * as state from '../job/state';
import { demoParts } from './demo';
import { compiled, light, storeOffline } from './site';

async function startEngine(): Promise<void> {
  try {
    const [{ Tersor }, wasmBinary] = await Promise.all([import('tersor'), compiled()]);
    const engine = await Tersor.create({ workers: 'auto', light, wasmBinary });
    state.engine.value = engine;
    followAddress(engine);
  } catch (error) {
    state.engineProblem.value = problemOf(error);
  }
}

export async function start(): Promise<void> {
  followDeaths();
  const demo = demoParts().catch(() => undefined); // who needs it asks again and tells
  await Promise.all([startEngine(), demo, startAside(), storeOffline()]);
  if (state.engine.value === null) return;
  state.ready.value = true;
  performance.mark('tersor:ready');
}
