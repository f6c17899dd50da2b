// SPDX-License-Identifier: Apache-2.0
//
// Where a model will run: the platforms that come with the engine, and those that the reader brings as files.

import type { TargetPlatformCapabilities } from 'tersor';

import { step } from './history';
import * as state from './state';

interface PlatformChoice {
  /** `name`, `name@vK` of an older version, or the label of a file. */
  readonly label: string;
  readonly title: string;
  readonly description: string;
}

/** The newest version of each under its plain name, older ones after it, then the reader's own. */
export function platformChoices(): PlatformChoice[] {
  const all = state.engine.value?.platforms() ?? [];
  const newest = (name: string) => Math.max(...all.filter((one) => one.name === name).map((one) => one.version));
  const known = all
    .map((one) => {
      const old = one.version !== newest(one.name);
      return {
        label: old ? `${one.name}@v${one.version}` : one.name,
        title: old ? `${one.title}, version ${one.version}` : one.title,
        description: one.description,
      };
    })
    .sort((a, b) => Number(a.label.includes('@')) - Number(b.label.includes('@')));
  return [...known, ...state.ownPlatforms.value];
}

export function chosenPlatform(): PlatformChoice | undefined {
  return platformChoices().find((choice) => choice.label === state.platformName.value);
}

export function platformTitle(label = state.platformName.value): string {
  return platformChoices().find((choice) => choice.label === label)?.title ?? label;
}

/** Chooses the platform of a file. */
export function openPlatform(file: string, capabilities: TargetPlatformCapabilities): void {
  const label = `file:${file}`;
  const { name, description } = capabilities;
  const title = capabilities.title || name || file;
  state.ownPlatforms.value = [
    ...state.ownPlatforms.value.filter((own) => own.label !== label),
    { label, file, title, description, capabilities },
  ];
  step(`Where it will run: ${title}`, () => {
    state.platformName.value = label;
    state.recipe.value = null;
    state.settingsProblem.value = null;
    state.openRegion('settings');
    state.announcement.value = `${file}: platform ${name} is chosen.`;
  });
}
