// SPDX-License-Identifier: Apache-2.0
//
// On the phone the main button is always at the bottom.

import { tryDemo } from '../engine/demo';
import { atStart, model, result, resultIsOld, run, samples } from '../job/state';
import { DownloadModel } from './Downloads';
import { chooseFiles, chooseFolder } from './files';
import { QuantizeButton } from './MainButton';

export function Dock() {
  if (atStart.value) {
    return (
      <div class="dock">
        <button type="button" class="button filled main-button" onClick={() => void tryDemo()}>
          Try the demo
        </button>
        <button type="button" class="button" onClick={chooseFiles}>
          Choose files
        </button>
      </div>
    );
  }
  if (!run.value && model.value && !samples.value) {
    return (
      <div class="dock">
        <button type="button" class="button filled main-button" onClick={chooseFolder}>
          Choose samples
        </button>
        <button type="button" class="button" onClick={chooseFiles}>
          Choose files
        </button>
      </div>
    );
  }
  const finished = result.value !== null && !resultIsOld.value && !run.value;
  return (
    <div class="dock">
      {finished && <DownloadModel class="main-button" />}
      <QuantizeButton />
    </div>
  );
}
