// SPDX-License-Identifier: Apache-2.0

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { enter, finish, reopen, report, skip, startRun, tick, type Plan } from '../src/job/stages';
import type { Run, StageId } from '../src/job/state';

// 4 for each of choose, write; 100 float, 130 calibrate, 200 int8, 60 compare
const plan: Plan = {
  evaluate: 100,
  calibrate: 100,
  compare: 10,
  labelled: true,
  corrects: false,
  trains: false,
  openSeconds: 0.5,
  nodes: 70,
};
const all = 100 + 130 + 4 + 4 + 200 + 60;

beforeEach(() => {
  vi.spyOn(performance, 'now').mockReturnValue(1000);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const stageOf = (run: Run, id: StageId) => run.stages.find((stage) => stage.id === id);
const states = (run: Run) => run.stages.map(({ id, state }) => `${id} ${state}`);
const told = (run: Run, stage: 'evaluate' | 'calibrate' | 'choose' | 'compare', done: number, total: number) =>
  report(run, { stage, done, total, note: '' }, 'float');

it('begins with the model read and the rest to come', () => {
  const run = startRun(plan);
  expect(run).toMatchObject({ startedAt: 1000, now: 1000, share: 0, secondsLeft: null, samplesPerSecond: null });
  expect(run.stages[0]).toMatchObject({ state: 'done', done: 70, total: 70, seconds: 0.5 });
  expect(run.stages.map(({ title }) => title)).toEqual([
    'Read model',
    'Float accuracy',
    'Calibrate',
    'Choose ranges',
    'Write file',
    'Int8 accuracy',
    'Error by layer',
  ]);
  const whole = startRun({ ...plan, labelled: false, corrects: true, trains: true });
  expect(whole.stages.map(({ title }) => title)).toEqual([
    'Read model',
    'Float answers',
    'Calibrate',
    'Choose ranges',
    'Round and correct',
    'Train',
    'Write file',
    'Int8 answers',
    'Error by layer',
  ]);
  expect(whole.stages.slice(1).every(({ state, done, seconds }) => state === 'waiting' && done + seconds === 0)).toBe(
    true,
  );
});

it('counts what is done by the work that each stage is', () => {
  const float = told(startRun(plan), 'evaluate', 50, 100);
  expect(float.share).toBeCloseTo(50 / all, 12);
  const calibrating = told(float, 'calibrate', 25, 100);
  expect(calibrating.share).toBeCloseTo((100 + 0.25 * 130) / all, 12);
  expect(told(calibrating, 'choose', 1, 2).share).toBeCloseTo((230 + 2) / all, 12);
  expect(told(calibrating, 'compare', 5, 10).share).toBeCloseTo((all - 30) / all, 12);
  // what does not say how much there is counts for nothing yet
  expect(told(calibrating, 'choose', 0, 0).share).toBeCloseTo(230 / all, 12);
});

it('never lets the share fall, or go beyond 1', () => {
  const far = told(startRun(plan), 'evaluate', 90, 100);
  expect(told(far, 'evaluate', 10, 100).share).toBe(far.share);
  expect(told(startRun(plan), 'compare', 50, 10).share).toBe(1);
  const nothing = startRun({ ...plan, evaluate: 0, calibrate: 0, compare: 0 });
  expect(told(nothing, 'choose', 1, 2).share).toBeCloseTo(2 / 8, 12);
});

it('does those before a stage when it begins, and begins none twice', () => {
  const run = enter(startRun(plan), 'choose');
  expect(states(run)).toEqual([
    'open done',
    'float done',
    'calibrate done',
    'choose running',
    'write waiting',
    'int8 waiting',
    'compare waiting',
  ]);
  expect(stageOf(run, 'float')?.done).toBe(100);
  expect(stageOf(run, 'choose')?.done).toBe(0);
  expect(run.share).toBeCloseTo(230 / all, 12);
  expect(enter(run, 'choose')).toBe(run);
  expect(enter(run, 'float')).toBe(run);
  expect(enter(run, 'train')).toBe(run);
});

it('keeps what stages that were done have counted', () => {
  const beyond = told(startRun(plan), 'evaluate', 120, 100);
  expect(stageOf(enter(beyond, 'calibrate'), 'float')?.done).toBe(120);
  const short = told(startRun(plan), 'evaluate', 40, 100);
  expect(stageOf(enter(short, 'calibrate'), 'float')?.done).toBe(100);
});

it('takes what the engine says of a stage for the stage that runs', () => {
  const run = report(startRun(plan), { stage: 'evaluate', done: 3, total: 80, note: '' }, 'int8');
  expect(stageOf(run, 'int8')).toMatchObject({ state: 'running', done: 3, total: 80 });
  expect(stageOf(run, 'float')).toMatchObject({ state: 'done', done: 100, total: 100 });
  const late = told(run, 'calibrate', 5, 100);
  expect(stageOf(late, 'calibrate')?.done).toBe(100);
  expect(report(run, { stage: 'samples', done: 1, total: 2, note: '' }, 'float')).toBe(run);
});

it('counts the seconds of the stage that runs, and says how long still and how fast', () => {
  const begun = told(startRun(plan), 'evaluate', 50, 100);
  expect(begun.secondsLeft).toBeNull();
  const later = tick(begun, 3000);
  expect(later.now).toBe(3000);
  expect(stageOf(later, 'float')?.seconds).toBe(2);
  expect(stageOf(later, 'calibrate')?.seconds).toBe(0);
  // 50 of all took 2 s, so the rest takes as long for each
  expect(later.secondsLeft).toBeCloseTo((2 * (all - 50)) / 50, 9);
  expect(later.samplesPerSecond).toBe(25);
  const choosing = tick(enter(later, 'choose'), 4000);
  expect(choosing.samplesPerSecond).toBe(25);
  expect(stageOf(choosing, 'float')?.seconds).toBe(2);
  expect(stageOf(choosing, 'choose')?.seconds).toBe(1);
});

it('estimates nothing from the first moments', () => {
  const begun = told(startRun(plan), 'evaluate', 50, 100);
  expect(tick(begun, 1300).secondsLeft).toBeNull();
  expect(tick(begun, 1310).secondsLeft).not.toBeNull();
  expect(tick(begun, 1100).samplesPerSecond).toBeNull();
  expect(tick(begun, 1110).samplesPerSecond).not.toBeNull();
  // 8 of 400
  const even = told(startRun({ ...plan, evaluate: 122, calibrate: 20, compare: 0 }), 'evaluate', 8, 122);
  expect(tick(even, 9000)).toMatchObject({ share: 0.02, secondsLeft: null });
  const little = told(startRun(plan), 'evaluate', 5, 100);
  expect(tick(little, 9000).secondsLeft).toBeNull();
});

it('leaves out what is there, and runs it after all where it does not serve', () => {
  const skipped = skip(enter(startRun(plan), 'float'), 'calibrate');
  expect(stageOf(skipped, 'calibrate')).toMatchObject({ state: 'done', done: 100 });
  expect(stageOf(skipped, 'choose')?.state).toBe('waiting');
  expect(skipped.share).toBeCloseTo(130 / all, 12);
  const again = reopen(tick(enter(skipped, 'choose'), 2000), 'calibrate');
  expect(states(again)).toEqual([
    'open done',
    'float done',
    'calibrate waiting',
    'choose waiting',
    'write waiting',
    'int8 waiting',
    'compare waiting',
  ]);
  expect(stageOf(again, 'choose')).toMatchObject({ done: 0, seconds: 0 });
  expect(stageOf(again, 'calibrate')?.done).toBe(0);
});

it('ends with all done', () => {
  const run = finish(told(startRun(plan), 'evaluate', 50, 100));
  expect(run).toMatchObject({ share: 1, secondsLeft: 0 });
  expect(run.stages.every(({ state, done, total }) => state === 'done' && done === total)).toBe(true);
});
