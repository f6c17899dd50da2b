// SPDX-License-Identifier: Apache-2.0
//
// Follows a run: which stage, how far, how long still. The expected work of a stage is counted in float runs of one sample;
// the time of one such run is learnt while the job goes on.

import type { Progress, Stage } from 'tersor';

import type { Run, StageId, StageState } from './state';

export interface Plan {
  readonly evaluate: number;
  readonly calibrate: number;
  readonly compare: number;
  readonly labelled: boolean;
  readonly corrects: boolean;
  readonly trains: boolean;
  readonly openSeconds: number;
  readonly nodes: number;
}

/** Work of one unit of a stage against a float run of one sample, as seen on small convolutional models. */
const weight: Readonly<Record<StageId, number>> = {
  open: 0,
  float: 1,
  calibrate: 1.3,
  choose: 0,
  correct: 0,
  train: 0,
  write: 0,
  int8: 2,
  compare: 6,
};

/** Work of the stages that run no samples, in float runs. */
const fixedWork = 4;

export function startRun(plan: Plan): Run {
  const stage = (id: StageId, title: string, total: number, unit: string): StageState => ({
    id,
    title,
    state: 'waiting',
    done: 0,
    total,
    unit,
    seconds: 0,
  });
  const stages = [
    {
      ...stage('open', 'Read model', plan.nodes, 'nodes'),
      state: 'done' as const,
      done: plan.nodes,
      seconds: plan.openSeconds,
    },
    stage('float', plan.labelled ? 'Float accuracy' : 'Float answers', plan.evaluate, ''),
    stage('calibrate', 'Calibrate', plan.calibrate, ''),
    stage('choose', 'Choose ranges', 0, ''),
    ...(plan.corrects ? [stage('correct', 'Round and correct', 0, 'layers')] : []),
    ...(plan.trains ? [stage('train', 'Train', 0, 'rounds')] : []),
    stage('write', 'Write file', 0, ''),
    stage('int8', plan.labelled ? 'Int8 accuracy' : 'Int8 answers', plan.evaluate, ''),
    stage('compare', 'Error by layer', plan.compare, ''),
  ];
  const now = performance.now();
  return { startedAt: now, now, stages, share: 0, secondsLeft: null, samplesPerSecond: null };
}

function work(stage: StageState): number {
  return weight[stage.id] > 0 ? weight[stage.id] * stage.total : stage.id === 'open' ? 0 : fixedWork;
}

function part(stage: StageState): number {
  if (stage.state === 'done') return 1;
  return stage.state === 'running' && stage.total > 0 ? stage.done / stage.total : 0;
}

function estimate(run: Run): Run {
  const total = run.stages.reduce((sum, stage) => sum + work(stage), 0);
  const done = run.stages.reduce((sum, stage) => sum + work(stage) * part(stage), 0);
  const share = Math.max(run.share, Math.min(done / total, 1));
  const gone = (run.now - run.startedAt) / 1000;
  const secondsLeft = share > 0.02 && gone > 0.3 ? (gone * (1 - share)) / share : null;
  const running = run.stages.find((stage) => stage.state === 'running');
  const counts = running && weight[running.id] > 0 && running.seconds > 0.1;
  return {
    ...run,
    share,
    secondsLeft,
    samplesPerSecond: counts ? running.done / running.seconds : run.samplesPerSecond,
  };
}

/** The run a moment later. */
export function tick(run: Run, now: number): Run {
  const passed = (now - run.now) / 1000;
  const stages = run.stages.map((stage) =>
    stage.state === 'running' ? { ...stage, seconds: stage.seconds + passed } : stage,
  );
  return estimate({ ...run, now, stages });
}

/** Stage `id` begins; those before it are done. */
export function enter(run: Run, id: StageId): Run {
  const index = run.stages.findIndex((stage) => stage.id === id);
  if (run.stages[index]?.state !== 'waiting') return run;
  const stages = run.stages.map((stage, at) => {
    if (at < index)
      return stage.state === 'done'
        ? stage
        : { ...stage, state: 'done' as const, done: Math.max(stage.done, stage.total) };
    return at === index ? { ...stage, state: 'running' as const } : stage;
  });
  return estimate({ ...run, stages });
}

const stageOfEngine: Readonly<Partial<Record<Stage, StageId>>> = {
  calibrate: 'calibrate',
  choose: 'choose',
  correct: 'correct',
  train: 'train',
  write: 'write',
  compare: 'compare',
};

/** What the engine reports; `evaluation` says which evaluation runs. */
export function report(run: Run, progress: Progress, evaluation: 'float' | 'int8'): Run {
  const id = progress.stage === 'evaluate' ? evaluation : stageOfEngine[progress.stage];
  if (id === undefined) return run;
  const entered = enter(run, id);
  const stages = entered.stages.map((stage) =>
    stage.id === id && stage.state === 'running' ? { ...stage, done: progress.done, total: progress.total } : stage,
  );
  return estimate({ ...entered, stages });
}

/** A stage that was left out has to be run after all: it and those behind it are to come. */
export function reopen(run: Run, id: StageId): Run {
  const index = run.stages.findIndex((stage) => stage.id === id);
  const stages = run.stages.map((stage, at) =>
    at < index ? stage : { ...stage, state: 'waiting' as const, done: 0, seconds: 0 },
  );
  return { ...run, stages };
}

/** A stage whose result is already there. */
export function skip(run: Run, id: StageId): Run {
  const stages = run.stages.map((stage) =>
    stage.id === id ? { ...stage, state: 'done' as const, done: stage.total } : stage,
  );
  return estimate({ ...run, stages });
}

export function finish(run: Run): Run {
  const stages = run.stages.map((stage) => ({ ...stage, state: 'done' as const, done: stage.total }));
  return { ...run, stages, share: 1, secondsLeft: 0 };
}
