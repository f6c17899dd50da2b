// SPDX-License-Identifier: Apache-2.0
// `tersor quantize` against quantize_static of ONNX Runtime's Python package, whole processes, one thread, on the labelled
// models of the zoo. TERSOR_PYTHON names a Python that has onnx and onnxruntime.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { labelledModels, makeSamples, sharedFolder } from '../zoo/samples.mjs';
import { geometricMean, row } from './rows.mjs';

/** Whose weights quantize_static cannot take per channel: it stumbles over a bias there. */
const perTensor = ['mnist-cntk'];

export async function benchQuantize({ root, nets: folder, rounds, report }) {
  const python = process.env.TERSOR_PYTHON;
  if (!python) {
    console.log('skipped: quantize against quantize_static (TERSOR_PYTHON names no Python)');
    return [];
  }
  if (!existsSync(path.join(sharedFolder, 'zoo'))) {
    console.log('skipped: quantize against quantize_static (TERSOR_SHARED is not here)');
    return [];
  }
  const here = path.join(root, 'tests/bench');
  const times = [];
  const sizes = [];
  const failures = [];
  for (const id of labelledModels) {
    const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
    const samples = path.join(makeSamples(sharedFolder, id), 'calib');
    const out = (who) => path.join(folder, `${id}.${who}.onnx`);
    const settings = ['activation', 'weights'].flatMap((of) => ['--set', `${of}_error_method=NOCLIPPING`]);
    settings.push('--threads', '1');
    const commands = [
      [
        path.join(root, 'build/native/bin/tersor'),
        'quantize',
        model,
        '--data',
        samples,
        '-o',
        out('ours'),
        ...settings,
      ],
      [
        python,
        path.join(here, 'quantize_static.py'),
        model,
        samples,
        out('theirs'),
        ...(perTensor.includes(id) ? ['--per-tensor'] : []),
      ],
    ];
    // The first round warms the disk's cache.
    const child = spawnSync(python, [path.join(here, 'whole_process.py'), String(rounds + 1)], {
      input: JSON.stringify(commands),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (child.status !== 0) {
      failures.push({ name: `quantize ${id}: a quantizer failed`, ratio: 0, bar: 1, ours: 0, theirs: 0, spread: 0 });
      report(failures.at(-1));
      continue;
    }
    const [ours, theirs] = JSON.parse(child.stdout);
    const milliseconds = ({ seconds }) => seconds.slice(1).map((s) => s * 1000);
    const megabytes = ({ kilobytes }) => kilobytes.slice(1).map((k) => k / 1024);
    times.push(
      row(`quantize ${id}, whole process, against quantize_static`, milliseconds(ours), milliseconds(theirs), 1),
    );
    sizes.push({
      ...row(`memory of quantize ${id}, against quantize_static`, megabytes(ours), megabytes(theirs), 1),
      unit: 'MB',
    });
    report(times.at(-1));
    report(sizes.at(-1));
  }
  const means = [
    geometricMean('quantize, whole process, labelled models', times, 4),
    { ...geometricMean('memory of quantize, labelled models', sizes, 4), unit: 'MB' },
  ];
  means.forEach(report);
  return [...times, ...sizes, ...means, ...failures];
}
