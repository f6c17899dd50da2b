// SPDX-License-Identifier: Apache-2.0
//
// The word that the page gives a result, and the one line of reason beside it.

import type { WithoutVnni } from 'tersor';

import { count, counted, fixed, outputDecibels, percent, sizeWords } from '../numbers';
import { floatFault, isForX64 } from './advice';
import { agreementOf } from './answers';
import { step } from './history';
import * as state from './state';

export interface Word {
  readonly title: string;
  readonly kind: 'fine' | 'note' | 'caution' | 'stop';
  readonly reason: string;
  /** The same for somebody who knows no decibels. */
  readonly plain: string;
  /** The file may be taken away as it is. */
  readonly isFit: boolean;
  /** False where float comes first, and nothing is said of the file. */
  readonly isOfFile: boolean;
}

const words = {
  usable: { title: 'Worth it', kind: 'fine', isFit: true },
  'usable with care': { title: 'Usable with care', kind: 'caution', isFit: true },
  'not worth it': { title: 'Not worth it', kind: 'caution', isFit: false },
  'not usable': { title: 'Not usable', kind: 'stop', isFit: false },
} as const;

/** " (of unseen samples 31 to 38 dB)"; empty where nobody can say. */
function ofUnseen(done: state.Result): string {
  const range = done.quantized.report.verdict?.unseen_range;
  return range ? ` (of unseen samples ${fixed(range.lower, 0)} to ${fixed(range.upper, 0)} dB)` : '';
}

/** How far the outputs of a new file are from float's, as a share of their size. */
function apartText({ comparison }: state.Result): string {
  const { output_sqnr_db: decibels } = comparison;
  const known = decibels !== null || comparison.outputs.every(({ mse }) => mse !== null);
  if (!known) return 'outputs that could not be compared';
  return decibels === null
    ? 'the same outputs as float'
    : `outputs about ${percent(10 ** (-decibels / 20), 1)} off float’s`;
}

/** "4.1× smaller, about 1.6 times as fast, the same answer as float for 63 of 64 samples." */
function gain(done: state.Result, isPlain: boolean): string {
  const { report } = done.quantized;
  const smaller = sizeWords(report.model.size_bytes / report.output.size_bytes);
  const times = report.time?.times_as_fast;
  const about = report.time?.measured ? '' : 'about ';
  const fast = times === undefined ? '' : times > 1.05 ? `${about}${fixed(times, 1)} times as fast` : 'no faster';
  const agreement = agreementOf(done);
  const same = agreement
    ? `the same answer as float for ${count(agreement.same)} of ${counted(agreement.count, 'sample')}`
    : isPlain
      ? apartText(done)
      : `output SQNR ${outputDecibels(done.comparison)}${ofUnseen(done)}`;
  const sentence = [smaller, fast, same].filter(Boolean).join(', ');
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

/** What x64 processors without VNNI give of the same samples; null where that is the same, or nobody asks there. */
export function withoutVnniOf({ quantized, comparison }: state.Result): WithoutVnni | null {
  return isForX64(quantized.report.platform.name) ? comparison.without_vnni : null;
}

/** Shares of answers lost, and of outputs by which they are further off float's, from which a reader is told first. */
const answersWorthAWord = 0.02;
const outputsWorthAWord = 0.05;

/**
 * The same file on x64 processors without VNNI, where it is plainly worse there: "the same answer as float for 6 of 64 samples
 * instead of 60".
 */
export function worseElsewhere(done: state.Result): string | null {
  const there = withoutVnniOf(done);
  if (!there) return null;
  const [here, kept] = [done.comparison.agreement, there.agreement];
  if (here && kept && here.count > 0)
    return here.same - kept.same > answersWorthAWord * here.count
      ? `the same answer as float for ${count(kept.same)} of ${counted(kept.count, 'sample')} instead of ${count(here.same)}`
      : null;
  const off = (decibels: number | null) => (decibels === null ? 0 : 10 ** (-decibels / 20));
  const [offHere, offThere] = [off(done.comparison.output_sqnr_db), off(there.output_sqnr_db)];
  return offThere - offHere > outputsWorthAWord
    ? `outputs about ${percent(offThere, 1)} off float’s instead of ${percent(offHere, 1)}`
    : null;
}

/** Below which the core calls no file usable (core/report/verdict.cpp). */
const fairAgreement = 0.85;
const fairDecibels = 10;

/** On x64 processors without VNNI the file could not be used. */
function isLostElsewhere(done: state.Result): boolean {
  const there = withoutVnniOf(done);
  if (!there || worseElsewhere(done) === null) return false;
  const { agreement, output_sqnr_db: decibels } = there;
  return agreement && agreement.count > 0
    ? agreement.same < fairAgreement * agreement.count
    : decibels !== null && decibels < fairDecibels;
}

/** A set of fewer samples says nothing of others (core/report/verdict.cpp). */
const fewestToSay = 4;
/** Share of samples from which copies are spoken of (core/report/verdict.cpp). */
const manyCopies = 0.25;

/** What a reader is to know of a file that is usable with care, where the gain does not say it. */
function careOf(done: state.Result): string {
  const { float, int8, comparison } = done;
  const sure = percent(float.sureness ?? 0, 0);
  if (float.doubt === 'weak')
    return `The float model is right in ${percent(float.value)} alone, which is less than trained models have: samples or labels may not fit it.`;
  if (float.label_order) return 'The labels look like a reordering of the model’s outputs: see Everything.';
  if (float.doubt === 'overconfident')
    return `The float model is ${sure} sure of its answers and right in ${percent(float.value)}: samples or labels may not fit it.`;
  if (float.doubt === 'unsure')
    return `The float model is hardly sure of any answer (${sure} on average): these may not be samples of its kind.`;
  const answers = agreementOf(done) ? [...(float.answers ?? [])] : [];
  if (answers.length >= fewestToSay && new Set(answers).size === 1)
    return 'The float model gives every sample the same answer: these may not be samples of its kind.';
  const { samples, distinct } = comparison;
  if (distinct < fewestToSay)
    return `${counted(distinct, samples === distinct ? 'sample' : 'different sample')} cannot tell what others will have.`;
  if (samples - distinct > manyCopies * samples)
    return `${samples - distinct} of ${samples} samples are copies of others, so that the figures say less than they seem to.`;
  if (float.value !== null && int8.value !== null && int8.value < float.value)
    return `On your labels ${percent(int8.value)} are right instead of ${percent(float.value)}.`;
  return '';
}

/** Where nothing has shown that float's own outputs are right on these samples: what a reader is asked. */
export function openQuestion(done: state.Result): string | null {
  if (done.float.value !== null || state.trustedFloat.value === done.dataKey) return null;
  const failed = state.failedFloat.value;
  const isSame = failed?.model === state.model.value && failed?.files === state.samples.value?.files;
  return failed && isSame
    ? `With their labels float was right in ${percent(failed.float.value ?? 0)} of ${counted(failed.float.count, 'sample')}. Is it right all the same?`
    : 'There are no labels to tell whether float itself is right on these samples. Is it?';
}

/** The reader has looked at float's outputs. */
export function trustFloat({ dataKey }: state.Result): void {
  step('Float is right', () => (state.trustedFloat.value = dataKey));
}

/** The word of a file by what was measured of it. */
function measuredWord(done: state.Result, usability: keyof typeof words): Word {
  const word = words[usability === 'usable' && isLostElsewhere(done) ? 'usable with care' : usability];
  const care = word.kind === 'caution' ? careOf(done) : '';
  const of = { reason: gain(done, false), plain: [gain(done, true), care].filter(Boolean).join(' '), isOfFile: true };
  return word.kind === 'fine' && openQuestion(done)
    ? { ...word, ...of, title: 'Worth it if float is right', kind: 'note' }
    : { ...word, ...of };
}

/** Null until it was measured. Where float itself is wrong on these samples, nothing is said of the file. */
export function wordOf(done: state.Result): Word | null {
  const { verdict } = done.quantized.report;
  if (!verdict) return null;
  if (done.float.doubt !== 'guessing') return measuredWord(done, verdict.usability);
  const fault = floatFault({ float: done.float, order: null, ...state.samplesFacts.value });
  const found = `Float accuracy is ${percent(done.float.value)}, and no figure of the new file says anything until that is right.`;
  return {
    title: 'First get float right',
    kind: 'stop',
    reason: fault?.id === 'at-chance' ? `${found} ${fault.reason}` : found,
    plain: found,
    isFit: false,
    isOfFile: false,
  };
}
