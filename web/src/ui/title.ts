// SPDX-License-Identifier: Apache-2.0

import { effect } from '@preact/signals';

import { stem } from '../job/intake';
import { percent, thin } from '../numbers';
import { announcement, result, run, tradeoffRun } from '../job/state';

/** "52 % · Calibrate · Tersor" while running, "91.60 % · resnet20 · Tersor" afterwards; each quarter is announced. */
export function followTitle(): void {
  const start = document.title;
  let told = 0;
  effect(() => {
    const running = run.value;
    const done = result.value;
    if (running) {
      const stage = running.stages.find((s) => s.state === 'running');
      const share = Math.floor(100 * running.share);
      document.title = [`${share}${thin}%`, stage?.title, 'Tersor'].filter(Boolean).join(' · ');
      const quarter = Math.floor(share / 25);
      if (quarter > told && quarter < 4) announcement.value = `${quarter * 25} percent, ${stage?.title ?? ''}`;
      told = quarter;
      return;
    }
    told = 0;
    const budgets = tradeoffRun.value;
    if (budgets) {
      document.title = `${Math.floor((100 * budgets.done) / budgets.of)}${thin}% · Budgets · Tersor`;
      return;
    }
    if (done) {
      const figure = done.int8.value === null ? null : percent(done.int8.value);
      document.title = [figure, stem(done.modelName), 'Tersor'].filter(Boolean).join(' · ');
      return;
    }
    document.title = start;
  });
}
