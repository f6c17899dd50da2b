// SPDX-License-Identifier: Apache-2.0
//
// Everything the page knows, as signals. The regions read them; only the other files of this folder write them.

import { computed, signal } from '@preact/signals';
import type {
  Comparison,
  Coverage,
  EvaluationResult,
  FieldValue,
  FrameworkInfo,
  Labels,
  LayerRow,
  Model,
  Override,
  Platform,
  Preprocessing,
  PreprocessingTrial,
  QuantizationConfig,
  QuantizedResult,
  Recipe,
  SampleFile,
  SamplePreview,
  SamplesInfo,
  Statistics,
  TargetPlatformCapabilities,
  Tersor,
  TrainingProgress,
} from 'tersor';

import type { Advice } from './advice';
import type { Problem } from './problem';
import type { Tokens } from './tokens';
import { wantedSamples } from './wanted_samples';

export interface OpenModel {
  readonly name: string;
  readonly file: Blob;
  /** Files that may hold its weights, by name. */
  readonly beside: ReadonlyMap<string, Blob>;
  readonly handle: Model;
  readonly seconds: number;
}

export interface SampleSet {
  /** Another number for every set that was opened, and for other labels. */
  readonly id: number;
  readonly name: string;
  /** The folder, file or archive that it came from, as the program is given it. */
  readonly source: string;
  readonly files: readonly SampleFile[];
  readonly labelsFile: SampleFile | null;
  /** Endings of the pictures that this browser decoded, and how many there are. */
  readonly decoded?: { readonly endings: string; readonly count: number } | null;
  /** The files are token ids of texts, of which some may have been cut. */
  readonly tokens?: Omit<Tokens, 'files'> | null;
  /** The labels that the samples have of their own are not used. */
  readonly isUnlabelled?: boolean;
}

/** A recipe that was opened: it fills the settings, and is compared with model and samples when the job runs. */
export interface OpenRecipe {
  readonly name: string;
  readonly recipe: Recipe;
  /** The user has read what differs and goes on. */
  readonly allowMismatch: boolean;
}

export type StageId = 'open' | 'float' | 'calibrate' | 'choose' | 'correct' | 'train' | 'write' | 'int8' | 'compare';

export interface StageState {
  readonly id: StageId;
  readonly title: string;
  readonly state: 'waiting' | 'running' | 'done';
  readonly done: number;
  readonly total: number;
  /** What is counted. */
  readonly unit: string;
  readonly seconds: number;
}

export interface Run {
  readonly startedAt: number;
  /** performance.now() of the latest tick. */
  readonly now: number;
  readonly stages: readonly StageState[];
  /** 0 to 1. */
  readonly share: number;
  /** Estimate; null until there is something to go by. */
  readonly secondsLeft: number | null;
  readonly samplesPerSecond: number | null;
}

/** What of a result is still that of the settings before, while a job goes on. */
export type Pending = 'figures' | 'layers' | 'elsewhere' | null;

export interface Result {
  /** Settings that made it, see settingsKey. */
  readonly key: string;
  /** Model and samples, see dataKey of the job. */
  readonly dataKey: string;
  /** `figures`: int8 and comparison are from before; `layers`: the comparison is; `elsewhere`: figures without VNNI follow. */
  readonly pending: Pending;
  readonly modelName: string;
  /** What the program is given as --data. */
  readonly dataName: string;
  /** The file of a platform that the reader brought; null for those that come with the engine. */
  readonly platformFile: string | null;
  /** Of the file. */
  readonly format: 'onnx' | 'tflite';
  readonly quantized: QuantizedResult;
  /** What the settings before came to, where this result took that one's place. */
  readonly before: Figures | null;
  readonly float: EvaluationResult;
  readonly int8: EvaluationResult;
  readonly comparison: Comparison;
  readonly seconds: number;
  readonly stages: readonly StageState[];
  /** All that made it but its training, see Untrained. */
  readonly untrainedKey: string;
}

/** What the same settings come to without training: what a training is held against. */
export interface Untrained {
  readonly key: string;
  readonly int8: EvaluationResult;
  readonly comparison: Comparison;
}

/** Figures of a result that another one is compared with. */
export interface Figures {
  readonly key: string;
  readonly value: number | null;
  readonly sqnr: number | null;
  readonly bytes: number;
}

/** Kept between runs, so that what was measured is not measured again. */
export interface Measured {
  /** Model and samples of all of it. */
  readonly dataKey: string;
  readonly float: EvaluationResult | null;
  /** Newest first; those of other settings may serve as well. */
  readonly statistics: readonly KeptStatistics[];
}

interface KeptStatistics {
  readonly key: string;
  readonly statistics: Statistics;
}

/** A platform that the reader brought, as a file. */
interface OwnPlatform {
  /** What the picker calls it. */
  readonly label: string;
  readonly file: string;
  readonly title: string;
  readonly description: string;
  readonly capabilities: TargetPlatformCapabilities;
}

/** All settings that make a file, but for what is common to all files made of the same samples. */
export interface Configuration {
  readonly platformName: string;
  readonly fields: Readonly<Record<string, FieldValue>>;
  readonly keepFloat: Readonly<Record<string, boolean>>;
  readonly listedOverrides: readonly Override[];
  readonly frameworkInfo: FrameworkInfo | undefined;
  readonly recipe: OpenRecipe | null;
}

export type Letter = 'A' | 'B';

/** One line at the bottom of the page, for eight seconds. */
export interface Toast {
  readonly text: string;
  readonly id: number;
  /** A button beside it. */
  readonly action?: { readonly word: string; readonly act: () => void } | undefined;
}

export type RegionId = 'model' | 'samples' | 'settings' | 'results';

/** The package's class without its private members. */
export type Engine = Pick<Tersor, keyof Tersor>;

export const engine = signal<Engine | null>(null);
export const engineProblem = signal<Problem | null>(null);
/** After `tersor:ready`. */
export const ready = signal(false);
/** The offline worker holds the whole site. */
export const storedOffline = signal(false);

/** The samples are those of the demo. */
export const isDemo = signal(false);
/** The result that was saved last. */
export const saved = signal<QuantizedResult | null>(null);

/** Number of things being read right now. */
export const reading = signal(0);

export const model = signal<OpenModel | null>(null);
export const modelProblem = signal<Problem | null>(null);
export const coverage = signal<Coverage | null>(null);
export const coverageProblem = signal<Problem | null>(null);

export const samples = signal<SampleSet | null>(null);
export const samplesInfo = signal<SamplesInfo | null>(null);
export const samplesProblem = signal<Problem | null>(null);
/** Files that turned out to be unreadable only when they were decoded. */
export const unreadable = signal<readonly string[]>([]);
export const preprocessing = signal<Preprocessing | null>(null);
/** What trying the presets on the labels of these samples gave. */
export const preprocessingTrial = signal<PreprocessingTrial | null>(null);
/** What to go back to: the preprocessing with which these samples last fitted, while they do not with the one in force. */
export const fittingPreprocessing = signal<Preprocessing | null>(null);
/** What the labels confirmed, or the samples' own guess. */
export const usualPreprocessing = signal<Preprocessing | null>(null);
/** The reader, a recipe or an address said it; else it is a guess, or what labels confirmed. */
export const preprocessingIsGiven = signal(false);
/** It is what was guessed of these samples, and nothing has confirmed it. */
export const preprocessingIsGuess = computed(
  () =>
    !preprocessingIsGiven.value &&
    samplesInfo.value?.preprocessing_is_guess === true &&
    JSON.stringify(preprocessing.value) === JSON.stringify(samplesInfo.value.preprocessing),
);
/** Inputs of the model whose value the reader has to give, and has not. */
export const askedInputs = computed(() =>
  (samplesInfo.value?.inputs ?? [])
    .filter(({ name, from }) => from === 'asked' && preprocessing.value?.inputs?.[name] === undefined)
    .map(({ name }) => name),
);
export const hasRecordings = computed(() => samples.value?.files.some((file) => /\.wav$/i.test(file.path)) === true);
/** Recordings are to be cut into pieces, and nothing says how long one is. */
export const asksLength = computed(
  () => hasRecordings.value && sampleCount.value === 0 && /"length"/.test(samplesProblem.value?.hint ?? ''),
);
/** What the reader has to enter before the samples can be read, in words. */
export const asked = computed(() =>
  sampleCount.value > 0 ? [] : asksLength.value ? ['the length of a piece'] : askedInputs.value,
);
export const preview = signal<SamplePreview | null>(null);
export const previewProblem = signal<Problem | null>(null);
/** Samples set aside for calibration; null until the user moves the split. */
export const chosenCalibration = signal<number | null>(null);

export const platformName = signal('ort-cpu');
/** Of the file on the platforms of TensorFlow Lite; on all others it is ONNX. */
export const tfliteFormat = signal<'onnx' | 'tflite'>('onnx');
/** The fields that the user set. */
export const fields = signal<Readonly<Record<string, FieldValue>>>({});
export const ownPlatforms = signal<readonly OwnPlatform[]>([]);
/** Operators that the reader keeps in float (true) or wants in integers (false), by name; the others are the platform's. */
export const keepFloat = signal<Readonly<Record<string, boolean>>>({});
/** Other settings of single operators, from the form or from a recipe. */
export const listedOverrides = signal<readonly Override[]>([]);
/** What is known of operators otherwise than by default. */
export const frameworkInfo = signal<FrameworkInfo | undefined>(undefined);
export const recipe = signal<OpenRecipe | null>(null);
/** Which configuration the settings above, and the result, are those of. */
export const active = signal<Letter>('A');
/** The other configuration; null while there is one. */
export const parked = signal<Configuration | null>(null);
export const parkedResult = signal<Result | null>(null);
export const settingsProblem = signal<Problem | null>(null);

export const run = signal<Run | null>(null);
export const running = computed(() => run.value !== null);
export const runProblem = signal<Problem | null>(null);
/** A sentence about the last run that ended without a result. */
export const runNote = signal('');
export const result = signal<Result | null>(null);
/** Why the job ended after float accuracy, and of which model and samples. */
export interface FloatStop {
  readonly dataKey: string;
  readonly float: EvaluationResult;
  readonly advice: Advice;
}
export const floatStop = signal<FloatStop | null>(null);
/** Model and samples whose float accuracy the reader has taken as it is. */
export const acceptedFloat = signal('');
/** Float accuracy that ended a job, which labels that were then left out have shown. */
export interface FailedFloat {
  readonly model: OpenModel;
  readonly files: readonly SampleFile[];
  readonly float: EvaluationResult;
}
export const failedFloat = signal<FailedFloat | null>(null);
/** Model and samples without labels of which the reader says that float's outputs are right; the dataKey of the job. */
export const trustedFloat = signal('');
export const measured = signal<Measured>({ dataKey: '', float: null, statistics: [] });

/** One quantization of the curve of budgets. */
export interface TradeoffPoint {
  /** Bytes of weights, or operators in float. */
  readonly budget: number;
  /** The budget of the settings that make its file; null: none. */
  readonly made: number | null;
  readonly sizeBytes: number;
  readonly sqnr: number | null;
  /** Right answers of 1, or answers that are the float model's; null where outputs are no answers. */
  readonly share: number | null;
  /** Right answers lost against float of 1, or answers that are not float's; null as above. */
  readonly lost: number | null;
  readonly count: number;
  /** One run in the runtime, as far as its costs are known. */
  readonly milliseconds: number | null;
}

export interface Tradeoff {
  /** The settings but for the budget, and the samples. */
  readonly key: string;
  readonly resource: 'weights_memory' | 'float_operators';
  /** By rising budget. */
  readonly points: readonly TradeoffPoint[];
}

export const tradeoff = signal<Tradeoff | null>(null);
/** How a training goes that runs now, one entry for each figure that was told. */
export const training = signal<readonly TrainingProgress[]>([]);
/** Bytes that it takes at most in each worker; null where that is not known. */
export const trainingMemory = signal<number | null>(null);
/** Training is being timed, for the epochs of a budget in minutes. */
export const trainingTimed = signal(false);
/** The latest result that no training had a part in. */
export const untrained = signal<Untrained | null>(null);
export const trainingProblem = signal<Problem | null>(null);
/** Points made and points in all, while the curve is being made, or searched for what keeps to limits. */
export const tradeoffRun = signal<{
  readonly kind: 'curve' | 'search';
  readonly done: number;
  readonly of: number;
} | null>(null);
export const tradeoffProblem = signal<Problem | null>(null);

/** How much of a result is shown: a sentence and a button, what made it, or all there is. */
export const views = ['answer', 'why', 'everything'] as const;
export type View = (typeof views)[number];
export const view = signal<View>('answer');
/** Shows at least so much, for what is to be looked at there. */
export function showAtLeast(wanted: View): void {
  if (views.indexOf(view.value) < views.indexOf(wanted)) view.value = wanted;
}

export const openRegions = signal<ReadonlySet<RegionId>>(new Set());
/** Opens a region beside those that are open. */
export function openRegion(id: RegionId): void {
  openRegions.value = new Set([...openRegions.value, id]);
}
/** Closes all regions but this one; settings stay as they are, where the reader was. */
export function openOnly(...regions: readonly RegionId[]): void {
  openRegions.value = new Set([...[...openRegions.value].filter((id) => id === 'settings'), ...regions]);
}
/** Output name of the layer whose panel is open. */
export const openLayer = signal<string | null>(null);
/** The open layer as it was before a run left it in float: it has no row any more. */
export const goneLayer = signal<LayerRow | null>(null);
/** What screen readers are told. */
export const announcement = signal('');
export const toast = signal<Toast | null>(null);

export const sampleCount = computed(() => samplesInfo.value?.count ?? 0);

export const defaultCalibration = computed(() => engine.value?.defaultCalibrationCount(sampleCount.value) ?? 0);

export const calibrationCount = computed(() => {
  const chosen = chosenCalibration.value;
  return chosen === null ? defaultCalibration.value : Math.min(chosen, sampleCount.value);
});

/** Where all samples calibrate, all of them evaluate too. */
export const evaluationCount = computed(() => {
  const rest = sampleCount.value - calibrationCount.value;
  return rest > 0 ? rest : sampleCount.value;
});

/** Which output of the model a class folder stands for. */
export interface ClassMapping {
  readonly by: 'order' | 'number' | 'hand';
  /** By folder, for `hand`; those that are not here keep their place in the order. */
  readonly outputs: Readonly<Record<string, number>>;
}

export const classMapping = signal<ClassMapping>({ by: 'order', outputs: {} });

/** The number in a folder's name, such as 207 or "class_207"; null where there is none, or several. */
export function outputInName(name: string): number | null {
  const found = name.match(/\d+/g);
  return found?.length === 1 ? Number(found[0]) : null;
}

/** Values of the model's first output where it is a list; null where it is none. */
export const outputCount = computed(() => {
  const shape = model.value?.handle.info.outputs[0]?.shape;
  const last = shape?.at(-1);
  return shape && shape.length === 2 && typeof last === 'number' && last > 1 ? last : null;
});

/** Outputs of the class folders by name; null while they are as they come. */
export const mappedOutputs = computed<ReadonlyMap<string, number> | null>(() => {
  const { by, outputs } = classMapping.value;
  const classes = samplesInfo.value?.classes ?? [];
  if (by === 'order' || classes.length === 0) return null;
  return new Map(
    classes.map(({ name, label }) => [
      name,
      by === 'number' ? (outputInName(name) ?? label) : (outputs[name] ?? label),
    ]),
  );
});

/** The folder, or other class, that stands for an output; null where none or several do. */
export function folderOfLabel(output: number): string | null {
  const mapped = mappedOutputs.value;
  const found = (samplesInfo.value?.classes ?? []).filter(({ name, label }) => (mapped?.get(name) ?? label) === output);
  return found.length === 1 ? (found[0]?.name ?? null) : null;
}

/** The samples' own labels are numbers of outputs, and not folders or names that stand for some. */
export const areNumbers = computed(() => samplesInfo.value?.labels_from === 'files');

/** Class folders that are fewer than the outputs, where nothing says which of them they are. */
export const foldersByOrder = computed(() => {
  const classes = samplesInfo.value?.classes ?? [];
  const outputs = outputCount.value;
  const isOther = areNumbers.value || samples.value?.labelsFile || samples.value?.isUnlabelled || mappedOutputs.value;
  if (outputs === null || classes.length === 0 || classes.length >= outputs || isOther) return null;
  return classes.every(({ label }, k) => label === k) ? { folders: classes.length, outputs } : null;
});

/** Of the samples, what tells why float accuracy is low. */
export const samplesFacts = computed(() => ({
  trial: preprocessingTrial.value,
  isOtherThanBest: preprocessingTrial.value !== null && preprocessingIsGiven.value,
  byOrder: foldersByOrder.value,
  isOfFolders: !samples.value?.labelsFile && !areNumbers.value,
}));

/** What is wrong with the classes as they are mapped, as a sentence; empty where nothing is. */
export const mappingFault = computed(() => {
  const classes = samplesInfo.value?.classes ?? [];
  const outputs = outputCount.value;
  if (outputs === null || classes.length === 0 || samples.value?.labelsFile || samples.value?.isUnlabelled) return '';
  const mapped = mappedOutputs.value;
  const highest = mapped ? Math.max(...mapped.values()) : Math.max(...classes.map(({ label }) => label));
  if (highest >= outputs) {
    return mapped || areNumbers.value
      ? `Output ${highest} is not there: the model has outputs 0 to ${outputs - 1}.`
      : 'There are more folders than outputs: these samples are for another model.';
  }
  return '';
});

export const labels = computed<Labels>(() => {
  const set = samples.value;
  if (set?.labelsFile) return set.labelsFile;
  if (set?.isUnlabelled) return null;
  const mapped = mappedOutputs.value;
  const own = samplesInfo.value?.labels;
  if (set && mapped && own) {
    const offset = preprocessing.value?.label_offset ?? 0;
    const outputs = new Map(samplesInfo.value?.classes.map(({ name, label }) => [label, mapped.get(name) ?? label]));
    return own.map((label) => (outputs.get(label) ?? label) - offset);
  }
  return (samplesInfo.value?.classes.length ?? 0) > 0 ? 'folders' : null;
});

/** A demo was asked for, and its files are on their way. */
export const demoIsComing = signal(false);

/** Nothing has been opened yet: the page shows what it is for. */
export const atStart = computed(
  () =>
    !demoIsComing.value &&
    model.value === null &&
    samples.value === null &&
    recipe.value === null &&
    modelProblem.value === null &&
    samplesProblem.value === null &&
    settingsProblem.value === null &&
    result.value === null,
);

/** The platform as the package takes it. */
export const platform = computed<Platform>(
  () => ownPlatforms.value.find((own) => own.label === platformName.value)?.capabilities ?? platformName.value,
);

/** The fields as the package's type knows them; the form holds to the engine's list, which that type is made from. */
export const config = computed(() => fields.value as QuantizationConfig);

/** All settings of single operators; of equals the later one wins. */
export const overrides = computed<readonly Override[]>(() =>
  overridesOf({ keepFloat: keepFloat.value, listedOverrides: listedOverrides.value }),
);

/** All settings of single operators in a configuration; of equals the later one wins. */
export function overridesOf(configuration: Pick<Configuration, 'keepFloat' | 'listedOverrides'>): readonly Override[] {
  return [
    ...configuration.listedOverrides,
    ...Object.entries(configuration.keepFloat).map(([name, isFloat]) => ({
      name,
      config: { enable_weights_quantization: !isFloat, enable_activation_quantization: !isFloat },
    })),
  ];
}

/** The settings as the package takes them. */
export const settings = computed(() => ({
  platform: platform.value,
  config: config.value,
  overrides: overrides.value,
  frameworkInfo: frameworkInfo.value,
}));

/** All that a result depends on besides the model. */
function formatOn(platform: string): 'onnx' | 'tflite' {
  return isOfTflite(platform) ? tfliteFormat.value : 'onnx';
}

/** Of the file that the settings make. */
export const format = computed(() => formatOn(platformName.value));

function keyOf(configuration: Omit<Configuration, 'recipe'>): string {
  return JSON.stringify([
    samples.value?.id ?? 0,
    samples.value?.files.length ?? 0,
    configuration.platformName,
    formatOn(configuration.platformName),
    configuration.fields,
    preprocessing.value,
    calibrationCount.value,
    classMapping.value,
    overridesOf(configuration),
    configuration.frameworkInfo,
  ]);
}

/** Where the file may be a .tflite file. */
export function isOfTflite(platform: string): boolean {
  return /^tflite(-micro)?(@|$)/.test(platform);
}

function openWith(chosen: typeof fields.value): Omit<Configuration, 'recipe'> {
  return {
    platformName: platformName.value,
    fields: chosen,
    keepFloat: keepFloat.value,
    listedOverrides: listedOverrides.value,
    frameworkInfo: frameworkInfo.value,
  };
}

/** What a result depends on besides the model. */
export const settingsKey = computed(() => keyOf(openWith(fields.value)));

/** What a curve of budgets depends on. */
export const tradeoffKey = computed(() => {
  const { target_resource_utilization: _target, mixed_precision_config: _mixed, ...others } = fields.value;
  return keyOf(openWith(others));
});

/** What a result depends on but for its training. */
export const untrainedKey = computed(() => {
  const { gradient_ptq_config: _training, ...others } = fields.value;
  return keyOf(openWith(others));
});

/** A result is shown as its answer, and what else there is keeps out of the way. */
export const showsAnswer = computed(() => view.value === 'answer' && result.value !== null && run.value === null);

/** The figures shown are of other settings. */
export const resultIsOld = computed(() => result.value !== null && result.value.key !== settingsKey.value);

/** Which operators are integers: as the file turned out, and before there is one as it is expected. */
export const shownCoverage = computed(() =>
  result.value && !resultIsOld.value ? result.value.quantized.report.coverage : coverage.value,
);

/** What a result of the configuration that is not open depends on; null where there is none. */
export const parkedKey = computed(() => parked.value && keyOf(parked.value));
/** The same of the configuration that is not open. */
export const parkedIsOld = computed(() => parkedResult.value !== null && parkedResult.value.key !== parkedKey.value);

/** What the reader looks at: all columns, or float, A or B alone. */
export const looksAt = signal<'all' | 'F' | Letter>('all');
/** Pictures and lists on the page that follow it, besides the table of everything. */
export const followers = signal(0);

/** What the opened recipe is called, where it was made for another model than the open one. */
export const foreignRecipe = computed(() => {
  const digest = model.value?.handle.info.sha256;
  return digest && recipe.value && recipe.value.recipe.model_digest !== digest ? recipe.value.name : null;
});

/** Bytes of the new file, as far as the engine can tell beforehand. */
export const expectedBytes = computed(() => coverage.value?.estimated_size_bytes || null);
/** What the file has where samples ask for float; null where that is about the same. */
export const mostBytes = computed(() => {
  const most = coverage.value?.estimated_largest_bytes ?? 0;
  return expectedBytes.value !== null && most > 1.05 * expectedBytes.value ? most : null;
});

/** What is missing before Quantize can run, as a sentence; empty when nothing is. */
export const missing = computed(() => {
  if (engineProblem.value) return 'The engine did not start; see above.';
  if (!model.value)
    return samples.value
      ? 'Next: the float model (.onnx or .tflite).'
      : 'Next: a float model (.onnx or .tflite) and samples.';
  if (coverageProblem.value)
    return `Waiting for an answer above: ${coverageProblem.value.message.split('\n')[0] ?? ''}`;
  if (!samples.value) return wantedSamples(model.value.handle.info.inputs[0]).next;
  if (asked.value.length > 0) return `Waiting for an answer above: ${asked.value.join(', ')}.`;
  if (samplesProblem.value && (sampleCount.value === 0 || fittingPreprocessing.value))
    return 'Waiting for an answer above: the samples do not fit the model.';
  if (samplesProblem.value?.code === 'invalid_labels')
    return 'Waiting for an answer above: the labels do not fit the samples.';
  if (!samplesInfo.value) return 'Reading samples …';
  if (sampleCount.value === 0) return 'Next: samples that fit the model.';
  if (mappingFault.value) return 'Waiting for an answer above: the class folders do not fit the model’s outputs.';
  if (samplesInfo.value.errors.length > 0) return 'Waiting for an answer above: some samples do not fit the model.';
  return '';
});

/** The reader made a file and has not saved it. */
export const isUnsaved = computed(
  () => result.value !== null && !isDemo.value && saved.value !== result.value.quantized,
);

/** A job on what is there would end as soon as the files that are being read take its place. */
export const canQuantize = computed(
  () =>
    missing.value === '' &&
    reading.value === 0 &&
    run.value === null &&
    tradeoffRun.value === null &&
    engine.value !== null,
);
