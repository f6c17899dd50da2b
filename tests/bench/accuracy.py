#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accuracy.py SHARED PROGRAM OUT.md [--samples DIR] [--models ID,ID,...]

Quantizes every model of the zoo with the default settings, lets ONNX Runtime judge the files on evaluation samples, and
writes the table of docs/accuracy.md beside what other tools reach (SHARED/anchors/peers.json). Needs numpy, onnx and
onnxruntime (Python), and the samples that SHARED/anchors/make_samples.py makes in DIR/<id>.
"""
import argparse
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LABELLED = ['mlperf-ic-resnet8', 'mlperf-kws-dscnn', 'mlperf-vww-mobilenetv1', 'mlperf-ad-autoencoder', 'cifar10-resnet20',
            'mnist-cntk', 'imagenet-mobilenetv1-025-224', 'hand-keypoint-mlp']


def samples_of(shared, folder, model):
    target = folder / model
    if not (target / 'calib').exists():
        subprocess.run([sys.executable, shared / 'anchors/make_samples.py', '--model-id', model, '--out', target,
                        '--zoo', shared / 'zoo'], check=True, stdout=subprocess.DEVNULL)
    return target / 'calib'


def quantize(args, model, calib, out, *more):
    command = [args.program, 'quantize', args.shared / 'zoo' / model / 'model.onnx', '--data', calib, '-o', out, *more]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def judge(args, model, file):
    command = [sys.executable, '-B', args.shared / 'anchors/evaluate.py', '--model-id', model, '--onnx', file,
               '--zoo', args.shared / 'zoo']
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def core_share(file):
    """Conv, ConvTranspose, Gemm and MatMul whose operands all come out of DequantizeLinear, and all of them."""
    import onnx
    graph = onnx.load(file).graph
    maker = {o: n.op_type for n in graph.node for o in n.output}
    core = [n for n in graph.node if n.op_type in ('Conv', 'ConvTranspose', 'Gemm', 'MatMul')]
    whole = sum(all(maker.get(i) == 'DequantizeLinear' for i in n.input[:2]) for n in core)
    return f'{whole}/{len(core)}'


def metric(row):
    for name in ('accuracy', 'auc'):
        if row.get(name) is not None:
            return f'{100 * row[name]:.2f} %' if name == 'accuracy' else f'{row[name]:.3f}'
    return ''


def bold(text):
    return f"**{text}**" if text else ""


def decibels(value):
    return '' if value is None else f'{value:.1f}'


def peer(row):
    if not row:
        return ''
    return f"{decibels(row['sqnr_db'])} ({row['tool']}, {row.get('core_int8', '?')}/{row.get('core_ops', '?')})"


def parser_of(text):
    """What this script and those beside it are told: where shared files, program, page and samples are, and which models to take."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('shared', type=pathlib.Path)
    parser.add_argument('program', type=pathlib.Path)
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('--samples', type=pathlib.Path, default=pathlib.Path('samples'))
    parser.add_argument('--models', default=','.join(LABELLED))
    return parser


def main():
    parser = parser_of(__doc__)
    parser.set_defaults(samples=None, models='')
    args = parser.parse_args()
    args.shared, args.program = args.shared.resolve(), args.program.resolve()
    peers = json.loads((args.shared / 'anchors/peers.json').read_text())['accuracy']
    models = args.models.split(',') if args.models else LABELLED + sorted(set(peers) - set(LABELLED))
    import onnxruntime
    lines, few = [], []
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for model in models:
            calib, file = samples_of(args.shared, args.samples or work, model), work / f'{model}.onnx'
            quantize(args, model, calib, file)
            ours, theirs = judge(args, model, file), peers[model]
            default = theirs.get('ort_default') or {}
            float_value = theirs.get('float')
            as_text = '' if float_value is None else (f'{float_value:.3f}' if ours.get('auc') is not None else f'{100 * float_value:.2f} %')
            lines.append(f"| {model} | {as_text} | {metric(ours)} | {bold(decibels(ours.get('sqnr_db')))} | {core_share(file)} | "
                         f"{peer(theirs.get('best'))} | {peer(theirs.get('best_any'))} | {decibels(default.get('sqnr_db'))} |")
            print(lines[-1], flush=True)
            if model in LABELLED:
                row = [model]
                for count in ('8', '32'):
                    quantize(args, model, calib, file, '--limit', count)
                    row.append(decibels(judge(args, model, file).get('sqnr_db')))
                row += [decibels(ours.get('sqnr_db')), decibels(default.get('sqnr_db'))]
                few.append('| ' + ' | '.join(row) + ' |')
                print(few[-1], flush=True)
    version = subprocess.run([args.program, '--version'], capture_output=True, text=True).stdout.strip()
    page = args.out.read_text()
    made = (f'Made by `tests/bench/accuracy.py` on {datetime.date.today()} with {version.capitalize()} and ONNX Runtime '
            f'{onnxruntime.__version__}.\n\n'
            '| model | float | int8 | SQNR in dB | integer core operators | best peer, all core operators int8 | best peer, some in float | '
            'ONNX Runtime default |\n|---|---|---|---|---|---|---|---|\n' + '\n'.join(lines) +
            '\n\nFewer samples, SQNR in dB:\n\n| model | 8 samples | 32 samples | all | ONNX Runtime default, all |\n|---|---|---|---|---|\n' +
            '\n'.join(few) + '\n')
    page = re.sub(r'(<!-- table -->\n).*?(<!-- end -->)', lambda m: m.group(1) + made + m.group(2), page, flags=re.S)
    args.out.write_text(page)


if __name__ == '__main__':
    main()
