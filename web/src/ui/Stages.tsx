// SPDX-License-Identifier: Apache-2.0

import { engine, type Run, type StageState } from '../job/state';
import { count, duration, fixed, thin } from '../numbers';
import { Check } from './Icons';

/** "312 of 500 samples". */
export function stageFigure(stage: StageState): string {
  if (stage.total === 0) return '';
  const unit = stage.unit === '' ? '' : ` ${stage.unit}`;
  if (stage.state === 'waiting') return `${count(stage.total)}${unit}`;
  if (stage.id === 'open') return `${count(stage.total)}${unit}`;
  return `${count(stage.done)} of ${count(stage.total)}${unit}`;
}

function StageRow(props: { readonly stage: StageState }) {
  const { stage } = props;
  const share = stage.state === 'running' && stage.total > 0 ? stage.done / stage.total : 0;
  return (
    <li class={`stage stage-${stage.state}`}>
      <span class="stage-sign" aria-hidden="true">
        {stage.state === 'done' ? (
          <Check />
        ) : stage.state === 'running' ? (
          <span class="stage-ring" />
        ) : (
          <span class="stage-dot" />
        )}
      </span>
      <span class="stage-title">
        {stage.title}
        <span class="visually-hidden">, {stage.state}</span>
      </span>
      <span class="stage-figure">{stageFigure(stage)}</span>
      <span class="stage-time">{stage.state === 'waiting' ? '' : duration(stage.seconds)}</span>
      {stage.state === 'running' && (
        <svg class="stage-bar" width="100%" height="3" aria-hidden="true">
          <rect width={`${100 * share}%`} height="3" />
        </svg>
      )}
    </li>
  );
}

export function Stages(props: { readonly run: Run }) {
  const { run } = props;
  const workers = engine.value?.workers ?? 1;
  const rate = run.samplesPerSecond;
  return (
    <div class="block stages">
      <div class="block-head">
        <h3>Stages</h3>
        <span class="soft">
          {rate !== null && `${fixed(rate, rate < 10 ? 1 : 0)} samples${thin}/${thin}s, `}
          {workers} {workers === 1 ? 'worker' : 'workers'}
        </span>
      </div>
      <ol>
        {run.stages.map((stage) => (
          <StageRow key={stage.id} stage={stage} />
        ))}
      </ol>
      <p class="soft">Keep reading or switch tabs. Cancel keeps what was measured; Quantize then goes on from there.</p>
    </div>
  );
}
