#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""parameters.py SHARED PROGRAM OUT.md [--samples DIR] [--models ID,ID,...]

What each parameter of QuantizationConfig does by itself: quantizes the labelled models with one setting changed, lets ONNX
Runtime judge the files, and writes the section "Each parameter alone" of docs/accuracy.md. Needs what accuracy.py needs.
"""
import pathlib
import re
import subprocess
import tempfile

import accuracy

# A platform, what is set there in every line, and the lines.
TABLES = [
    ('imx500', ['weights_n_bits=4', 'activation_channel_equalization=false', 'weights_threshold_method=MSE'],
     ['weights_second_moment_correction=true']),
    ('imx500', [], [
        'relu_unbound_correction=true', 'input_scaling=true', 'softmax_shift=true', 'shift_negative_activation_correction=true',
        'weights_second_moment_correction=true', 'weights_n_bits=4'
    ]),
    ('ort-cpu', [], [
        'weights_bias_correction=false', 'activation_channel_equalization=false', 'weights_per_channel_threshold=false',
        'activation_threshold_method=NOCLIPPING', 'activation_threshold_method=MSE', 'activation_threshold_method=KL',
        'weights_threshold_method=MSE', 'z_threshold=8', 'min_threshold=1e-4', 'activation_quantization_method=SYMMETRIC',
        'activation_quantization_method=POWER_OF_TWO', 'weights_quantization_method=POWER_OF_TWO',
        'enable_activation_quantization=false', 'enable_weights_quantization=false'
    ]),
]


def options(platform, settings):
    return ['--platform', platform] + [word for setting in settings for word in ('--set', setting)]


def reached(args, model, calib, folder, platform, settings, usual=None):
    """(bytes, cell): SQNR in dB, or accuracy where a model's outputs have none; "=" for the same file as `usual`."""
    file = folder / 'out.onnx'
    try:
        accuracy.quantize(args, model, calib, file, *options(platform, settings))
    except subprocess.CalledProcessError as error:
        print(f'{model} {settings}: {error.stderr.strip()}', flush=True)
        return None, 'refused'
    made = without_recipe(file)
    if usual is not None and made == usual:
        return made, '='
    row = accuracy.judge(args, model, file)
    return made, accuracy.decibels(row.get('sqnr_db')) or accuracy.metric(row)


def without_recipe(file):
    """The file but for what it says of its own settings."""
    import onnx
    model = onnx.load(file)
    del model.metadata_props[:]
    return model.SerializeToString()


def table(args, platform, always, settings, folder):
    models = args.models.split(',')
    head = f'`--platform {platform}' + ''.join(f' --set {one}' for one in always) + '`'
    lines = [f'| {head} | ' + ' | '.join(models) + ' |', '|---' * (len(models) + 1) + '|']
    usual, cells = {}, {}
    for model in models:
        calib = accuracy.samples_of(args.shared, args.samples, model)
        usual[model], cells[model, None] = reached(args, model, calib, folder, platform, always)
        for setting in settings:
            cells[model, setting] = reached(args, model, calib, folder, platform, always + [setting], usual[model])[1]
        print(model, [cells[model, setting] for setting in (None, *settings)], flush=True)
    for setting in (None, *settings):
        lines.append(f'| {"as it is" if setting is None else f"`{setting}`"} | ' +
                     ' | '.join(cells[model, setting] for model in models) + ' |')
    return '\n'.join(lines) + '\n'


def main():
    parser = accuracy.parser_of(__doc__)
    parser.add_argument('--tables', default='', help='numbers of tables from 0, all by default')
    args = parser.parse_args()
    chosen = [TABLES[int(k)] for k in args.tables.split(',')] if args.tables else TABLES
    with tempfile.TemporaryDirectory() as name:
        text = '\n'.join(table(args, *one, pathlib.Path(name)) for one in chosen)
    page = args.out.read_text()
    page = re.sub(r'(<!-- parameters -->\n).*?(<!-- end of parameters -->)', lambda m: m.group(1) + text + m.group(2), page,
                  flags=re.S)
    args.out.write_text(page)


if __name__ == '__main__':
    main()
