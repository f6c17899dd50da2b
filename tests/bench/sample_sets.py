#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sample_sets.py SHARED PROGRAM OUT.md [--samples DIR] [--models ID,ID,...]

How much the choice of calibration samples matters: quantizes each labelled model with the default settings on two disjoint
sets of 8 and of 32 samples, lets ONNX Runtime judge the files, and writes the section "Which samples" of docs/accuracy.md.
Needs what accuracy.py needs.
"""
import pathlib
import re
import shutil
import tempfile

import accuracy


def two_sets(calib, count, folder):
    """The samples in turn to one set and the other, from the start."""
    files = sorted(path for path in calib.iterdir() if path.is_file())
    sets = []
    for first in (0, 1):
        target = folder / f'{count}-{first}'
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for file in files[first:2 * count:2]:
            shutil.copy(file, target)
        sets.append(target)
    return sets


def main():
    parser = accuracy.parser_of(__doc__)
    args = parser.parse_args()
    rows, spreads = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in args.models.split(','):
            calib = accuracy.samples_of(args.shared, args.samples, model)
            row = [model]
            for count in (8, 32):
                reached = []
                for data in two_sets(calib, count, folder):
                    accuracy.quantize(args, model, data, folder / 'out.onnx')
                    reached.append(accuracy.judge(args, model, folder / 'out.onnx').get('sqnr_db'))
                row += [accuracy.decibels(value) for value in reached]
                if None not in reached:
                    spreads.append((count, abs(reached[0] - reached[1])))
            rows.append('| ' + ' | '.join(row) + ' |')
            print(rows[-1], flush=True)
    text = ('| model | 8 samples | 8 others | 32 samples | 32 others |\n|---|---|---|---|---|\n' + '\n'.join(rows) + '\n\n' +
            ' '.join(f'Between two sets of {count} the SQNR differs by {sum(all_of) / len(all_of):.1f} dB in the mean, {max(all_of):.1f} at most.'
                     for count in (8, 32) if (all_of := [value for n, value in spreads if n == count])) + '\n')
    page = args.out.read_text()
    page = re.sub(r'(<!-- sets -->\n).*?(<!-- end of sets -->)', lambda m: m.group(1) + text + m.group(2), page, flags=re.S)
    args.out.write_text(page)


if __name__ == '__main__':
    main()
