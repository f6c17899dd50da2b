// SPDX-License-Identifier: Apache-2.0

import type { Preprocessing, TargetPlatformCapabilities } from 'tersor';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { addressText, followAddress, settingsInForce, shareable, takeAddress } from '../src/job/address';
import { plain } from '../src/job/configurations';
import { undo } from '../src/job/history';
import { addArrivals } from '../src/job/load';
import { openPlatform } from '../src/job/platform';
import * as state from '../src/job/state';
import { file, firstVisit, openPets, petPictures } from './helpers';

const engine = () => {
  if (!state.engine.value) throw new Error('no engine');
  return state.engine.value;
};
const take = (text: string) => takeAddress(text, engine());

beforeEach(firstVisit);
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('what is written', () => {
  it('is nothing where all is as it comes', () => {
    expect(addressText()).toBe('');
    state.platformName.value = 'chip@v1';
    expect(addressText()).toBe('platform=chip@v1');
  });

  it('are words as they are, and everything else as JSON', () => {
    for (const [value, text] of [
      ['MSE', 'MSE'],
      [4, '4'],
      [true, 'true'],
      [null, 'null'],
      ['true', '%22true%22'],
      ['false', '%22false%22'],
      ['4', '%224%22'],
      ['two words', '%22two%20words%22'],
      [{ weights_memory: 5 }, '{%22weights_memory%22:5}'],
    ] as const) {
      state.fields.value = { x: value as string };
      expect(addressText()).toBe(`x=${text}`);
      state.fields.value = {};
      take(`x=${text}`);
      expect(state.fields.value).toEqual({ x: value });
    }
  });

  it('has operators, what is known of them, and both configurations', () => {
    state.keepFloat.value = { gap: true };
    state.listedOverrides.value = [{ type: 'Conv', annotate: true }];
    state.frameworkInfo.value = { no_quantization_ops: ['Softmax'] };
    state.parked.value = { ...plain, fields: { weights_n_bits: 4 } };
    const text = addressText();
    expect(text.split('&')).toEqual([
      'keep_float={%22gap%22:true}',
      'overrides=[{%22type%22:%22Conv%22,%22annotate%22:true}]',
      'framework_info={%22no_quantization_ops%22:[%22Softmax%22]}',
      'b.platform=ort-cpu',
      'b.weights_n_bits=4',
    ]);
    expect(settingsInForce()).toBe(4);
    const before = [state.keepFloat.value, state.listedOverrides.value, state.frameworkInfo.value, state.parked.value];
    state.keepFloat.value = {};
    state.listedOverrides.value = [];
    state.frameworkInfo.value = undefined;
    state.parked.value = null;
    take(text);
    expect([state.keepFloat.value, state.listedOverrides.value, state.frameworkInfo.value, state.parked.value]).toEqual(
      before,
    );
  });

  it('has what the reader said of samples, once there are some', async () => {
    state.preprocessing.value = { crop: 'none' } as Preprocessing;
    state.chosenCalibration.value = 7;
    expect(addressText()).toBe('');
    state.preprocessingIsGiven.value = true;
    expect(addressText()).toBe('preprocessing={%22crop%22:%22none%22}');
    state.preprocessing.value = null;
    expect(addressText()).toBe('');
    await openPets();
    expect(addressText()).toBe('');
    state.chosenCalibration.value = 7;
    expect(addressText()).toBe('calibration_samples=7');
  });
});

describe('what is read', () => {
  it('fills the settings in a step that is told and can be taken back', () => {
    state.fields.value = { weights_n_bits: 2 };
    take('platform=ort-cpu@v1&activation_n_bits=4&prefer');
    expect(state.platformName.value).toBe('ort-cpu@v1');
    expect(state.fields.value).toEqual({ activation_n_bits: 4, prefer: true });
    expect(state.toast.value?.text).toBe('Settings of the address');
    expect(state.parked.value).toBeNull();
    undo();
    expect(state.fields.value).toEqual({ weights_n_bits: 2 });
  });

  it('asks the engine for the platform, by version', () => {
    const asked = vi.spyOn(engine(), 'getTargetPlatformCapabilities');
    take('platform=chip@v2&b.platform=other');
    expect(asked.mock.calls).toEqual([
      ['chip', 2],
      ['other', undefined],
    ]);
    expect(state.parked.value?.platformName).toBe('other');
  });

  it('says of samples what it has, for those to come', async () => {
    take('preprocessing={%22crop%22:%22none%22}&calibration_samples=30');
    expect(state.preprocessing.value).toEqual({ crop: 'none' });
    expect(state.preprocessingIsGiven.value).toBe(true);
    expect(state.chosenCalibration.value).toBe(30);
    expect(state.fields.value).toEqual({});
    await addArrivals([file('net.onnx'), ...petPictures]);
    expect(state.calibrationCount.value).toBe(30);
    expect(state.preprocessingIsGiven.value).toBe(true);
    take('weights_n_bits=4');
    expect(state.calibrationCount.value).toBe(30);
    await addArrivals(petPictures);
    expect(state.chosenCalibration.value).toBeNull();
    expect(state.preprocessingIsGiven.value).toBe(false);
  });

  it('takes a platform file that was opened before', () => {
    const own = { name: 'mine', title: 'Mine', description: '' } as unknown as TargetPlatformCapabilities;
    openPlatform('a.json', own);
    openPlatform('b.json', own);
    take('platform=file:a.json');
    expect(state.platformName.value).toBe('file:a.json');
    expect(state.settingsProblem.value).toBeNull();
  });

  it('changes nothing where a part cannot be, and says which', () => {
    state.fields.value = { weights_n_bits: 2 };
    for (const [text, place] of [
      ['platform=file:other.json', 'address.platform'],
      ['keep_float=4', 'address.keep_float'],
      ['keep_float=null', 'address.keep_float'],
      ['keep_float=[]', 'address.keep_float'],
      ['overrides={}', 'address.overrides'],
      ['weights_n_bits=%E0%A4%A', 'address'],
    ] as const) {
      state.settingsProblem.value = null;
      state.openRegions.value = new Set();
      take(text);
      expect(state.settingsProblem.value).toMatchObject({ code: 'invalid_config', place });
      expect(state.openRegions.value.has('settings')).toBe(true);
      expect(state.fields.value).toEqual({ weights_n_bits: 2 });
    }
  });
});

describe('the address of the page', () => {
  const replaced: string[] = [];
  let turned: () => void = () => undefined;
  const page = { hash: '', pathname: '/app/', search: '?x', href: 'https://a.b/app/?x#old' };

  beforeEach(() => {
    vi.useFakeTimers();
    replaced.length = 0;
    page.hash = '';
    vi.stubGlobal('location', page);
    vi.stubGlobal('history', { state: null, replaceState: (_s: unknown, _t: string, to: string) => replaced.push(to) });
    vi.stubGlobal('addEventListener', (_name: string, act: () => void) => (turned = act));
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const turn = (hash: string) => {
    page.hash = hash;
    turned();
  };

  it('is read once, follows the settings, and is read where it is changed by hand', () => {
    page.hash = '#weights_n_bits=4';
    followAddress(engine());
    expect(state.fields.value).toEqual({ weights_n_bits: 4 });
    vi.advanceTimersByTime(200);
    expect(replaced).toEqual([]);
    state.fields.value = { weights_n_bits: 3 };
    state.fields.value = { weights_n_bits: 2 };
    vi.advanceTimersByTime(200);
    expect(replaced).toEqual(['#weights_n_bits=2']);
    state.fields.value = {};
    vi.advanceTimersByTime(200);
    expect(replaced.at(-1)).toBe('/app/?x');
    turn('#weights_n_bits=8');
    expect(state.fields.value).toEqual({ weights_n_bits: 8 });
    state.fields.value = {};
    turn('#weights_n_bits=8');
    expect(state.fields.value).toEqual({});
  });

  it('fills nothing where it is empty', () => {
    followAddress(engine());
    expect(state.toast.value).toBeNull();
  });

  it('stays as it was given while it cannot be read', () => {
    followAddress(engine());
    turn('#overrides=4');
    state.fields.value = { weights_n_bits: 2 };
    vi.advanceTimersByTime(200);
    expect(replaced).toEqual([]);
  });

  it('can be shared whole', () => {
    expect(shareable()).toBe('https://a.b/app/?x');
    state.fields.value = { weights_n_bits: 2 };
    expect(shareable()).toBe('https://a.b/app/?x#weights_n_bits=2');
    expect(settingsInForce()).toBe(1);
  });
});
