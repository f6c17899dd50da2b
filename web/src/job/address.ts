// SPDX-License-Identifier: Apache-2.0
//
// The settings, never data, in the address: what stands behind # is put there by the page, is sent to nobody, and fills the
// settings of whoever opens it.

import { batch, effect } from '@preact/signals';
import type { Override, Preprocessing } from 'tersor';

import { plain, configurationOf, letters, setConfiguration } from './configurations';
import { stepAndSay } from './history';
import { updateCoverage } from './coverage';
import { expectSamples } from './load';
import { problemOf, type Problem } from './problem';
import { quantizeAgain } from './quantize';
import * as state from './state';

type Fields = state.Configuration['fields'];

/** Names that no field of QuantizationConfig has. */
const platformKey = 'platform';
const floatKey = 'keep_float';
const overridesKey = 'overrides';
const frameworkKey = 'framework_info';
const preprocessingKey = 'preprocessing';
const calibrationKey = 'calibration_samples';
const viewKey = 'view';
/** The prefix of what is B’s. */
const prefixOfB = 'b.';

/** Words stand as they are; whatever else JSON would read stands as JSON. */
function written(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z][\w@-]*$/.test(value) && !/^(true|false|null)$/.test(value)
    ? value
    : JSON.stringify(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Text that an address may hold, as little escaped as it may be. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/%(3A|2C|40|5B|5D|7B|7D|2F|22)/g, (code) =>
    code === '%22' ? code : decodeURIComponent(code),
  );
}

function pairsOf(configuration: state.Configuration, prefix: string): [string, unknown][] {
  const { platformName, fields, keepFloat, listedOverrides, frameworkInfo } = configuration;
  const pairs: [string, unknown][] = [];
  if (platformName !== plain.platformName || prefix !== '') pairs.push([platformKey, platformName]);
  pairs.push(...Object.entries(fields));
  if (Object.keys(keepFloat).length > 0) pairs.push([floatKey, keepFloat]);
  if (listedOverrides.length > 0) pairs.push([overridesKey, listedOverrides]);
  if (frameworkInfo) pairs.push([frameworkKey, frameworkInfo]);
  return pairs.map(([name, value]) => [prefix + name, value]);
}

/** What stands behind # for the settings as they are; empty where all is as it comes. */
export function addressText(): string {
  const [a, b] = [configurationOf('A'), configurationOf('B')];
  const pairs = [...(a ? pairsOf(a, '') : []), ...(b ? pairsOf(b, prefixOfB) : [])];
  if (state.preprocessingIsGiven.value && state.preprocessing.value)
    pairs.push([preprocessingKey, state.preprocessing.value]);
  if (state.chosenCalibration.value !== null && state.samplesInfo.value) {
    pairs.push([calibrationKey, state.chosenCalibration.value]);
  }
  if (state.view.value !== 'answer') pairs.push([viewKey, state.view.value]);
  return pairs.map(([name, value]) => `${escaped(name)}=${escaped(written(value))}`).join('&');
}

function fault(message: string, place: string): Problem {
  return {
    code: 'invalid_config',
    message,
    place,
    hint: 'The settings stay as they are. Ask for the address again, or for the recipe.',
  };
}

function read(text: string): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const pair of text.split('&').filter(Boolean)) {
    const at = pair.indexOf('=');
    try {
      const name = decodeURIComponent(at < 0 ? pair : pair.slice(0, at));
      found.set(name, at < 0 ? true : parsed(decodeURIComponent(pair.slice(at + 1))));
    } catch {
      throw fault(`The address has a piece that cannot be read: “${pair.slice(0, 40)}”.`, 'address');
    }
  }
  return found;
}

/** Checked by the engine as far as can be without a model. */
function configurationFrom(pairs: ReadonlyMap<string, unknown>, engine: state.Engine): state.Configuration {
  const { [platformKey]: platform = plain.platformName, ...rest } = Object.fromEntries(pairs);
  const { [floatKey]: keepFloat = {}, [overridesKey]: overrides = [], [frameworkKey]: info, ...fields } = rest;
  const platformName = String(platform);
  if (platformName.startsWith('file:')) {
    if (!state.ownPlatforms.value.some(({ label }) => label === platformName)) {
      throw fault(
        `These settings are for the platform file ${platformName.slice(5)}, which an address cannot hold.`,
        `address.${platformKey}`,
      );
    }
  } else {
    const [name = '', version] = platformName.split('@v');
    engine.getTargetPlatformCapabilities(name, version === undefined ? undefined : Number(version));
  }
  engine.quantizationConfig(fields as Fields as object);
  if (typeof keepFloat !== 'object' || keepFloat === null || Array.isArray(keepFloat))
    throw fault('An object of operators’ names is expected.', `address.${floatKey}`);
  if (!Array.isArray(overrides)) throw fault('A list of overrides is expected.', `address.${overridesKey}`);
  return {
    ...plain,
    platformName,
    fields: fields as Fields,
    keepFloat: keepFloat as state.Configuration['keepFloat'],
    listedOverrides: overrides as readonly Override[],
    frameworkInfo: (info ?? undefined) as state.Configuration['frameworkInfo'],
  };
}

/** Fills the settings from what stands behind #. */
export function takeAddress(text: string, engine: state.Engine): void {
  try {
    const pairs = read(text);
    const ofA = new Map([...pairs].filter(([name]) => !name.startsWith(prefixOfB)));
    const ofB = new Map(
      [...pairs].flatMap(([name, value]): [string, unknown][] =>
        name.startsWith(prefixOfB) ? [[name.slice(prefixOfB.length), value]] : [],
      ),
    );
    const preprocessing = ofA.get(preprocessingKey) as Preprocessing | undefined;
    const calibration = ofA.get(calibrationKey) as number | undefined;
    ofA.delete(preprocessingKey);
    ofA.delete(calibrationKey);
    state.view.value = state.views.find((one) => one === ofA.get(viewKey)) ?? state.view.value;
    ofA.delete(viewKey);
    const a = configurationFrom(ofA, engine);
    const b = ofB.size > 0 ? configurationFrom(ofB, engine) : null;
    stepAndSay('Settings of the address', () => {
      setConfiguration('A', a);
      if (b) setConfiguration('B', b);
      if (preprocessing) {
        state.preprocessing.value = preprocessing;
        state.preprocessingIsGiven.value = true;
      }
      if (calibration !== undefined) state.chosenCalibration.value = calibration;
    });
    if (!state.samples.value)
      expectSamples({
        ...(preprocessing ? { preprocessing } : {}),
        ...(calibration === undefined ? {} : { calibration }),
      });
    void updateCoverage();
    quantizeAgain();
  } catch (error) {
    batch(() => {
      state.settingsProblem.value = problemOf(error);
      state.openRegion('settings');
    });
  }
}

/** Reads the address once, and keeps it as the settings are from then on. */
export function followAddress(engine: state.Engine): void {
  const given = location.hash.slice(1);
  if (given !== '') takeAddress(given, engine);
  let own = given;
  let timer: ReturnType<typeof setTimeout> | undefined;
  effect(() => {
    const text = addressText();
    clearTimeout(timer);
    // browsers refuse an address that changes hundreds of times in a few seconds, as under a slider
    timer = setTimeout(() => {
      if (text === own || state.settingsProblem.peek()?.place.startsWith('address')) return;
      own = text;
      history.replaceState(history.state, '', text === '' ? location.pathname + location.search : `#${text}`);
    }, 150);
  });
  addEventListener('hashchange', () => {
    const text = location.hash.slice(1);
    if (text === own) return;
    own = text;
    takeAddress(text, engine);
  });
}

/** The whole address, to be shared. */
export function shareable(): string {
  const text = addressText();
  return location.href.replace(/#.*$/, '') + (text === '' ? '' : `#${text}`);
}

/** How many settings the address brought, for whoever opens it without a model. */
export function settingsInForce(): number {
  return letters.reduce((sum, letter) => {
    const configuration = configurationOf(letter);
    return sum + (configuration ? pairsOf(configuration, '').length : 0);
  }, 0);
}
