#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""budgets.py SHARED PROGRAM OUT.md [--samples DIR] [--models ID,ID,...] [--parts 0.75,0.6,0.5]

Bits within a budget beside MCT: chooses among weights of 8, 4 and 2 bits (the table of IMX500 version 1) with tersor and with the
model compression toolkit, from the same samples and within the same bytes, and writes a table of accuracy and SQNR of the outputs.
MCT's result is its own simulation in PyTorch, Tersor's the file in ONNX Runtime. Needs the samples of tests/zoo/samples.mjs and a
Python with model-compression-toolkit, onnx2torch, onnxruntime and numpy below 2.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy
import onnx2torch
import onnxruntime
import torch
import model_compression_toolkit as mct

MODELS = ('cifar10-resnet20', 'mlperf-ic-resnet8', 'mlperf-kws-dscnn', 'mlperf-vww-mobilenetv1',
          'imagenet-mobilenetv1-025-224')
CALIBRATION = 128
EVALUATION = 2000
BATCH = 50


class Shortcut(torch.nn.Module):
    """Of the CIFAR ResNets: every second pixel, and zeros for the new channels."""

    def __init__(self, added):
        super().__init__()
        self.added = added

    def forward(self, x):
        return torch.nn.functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.added, self.added))


class Block(torch.nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(after)
        self.relu1 = torch.nn.ReLU()
        self.conv2 = torch.nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(after)
        self.relu2 = torch.nn.ReLU()
        self.shortcut = torch.nn.Identity() if stride == 1 else Shortcut((after - before) // 2)

    def forward(self, x):
        return self.relu2(self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x))))) + self.shortcut(x))


class ResNet20(torch.nn.Module):
    """The zoo's file has its shortcuts as Slice and ConstantOfShape, which onnx2torch does not read; so from the weights."""

    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(16)
        self.relu = torch.nn.ReLU()
        width, layers = 16, []
        for after in (16, 32, 64):
            blocks = [Block(width, after, 1 if after == width else 2)] + [Block(after, after, 1) for _ in range(2)]
            layers.append(torch.nn.Sequential(*blocks))
            width = after
        self.layer1, self.layer2, self.layer3 = layers
        self.pool = torch.nn.AvgPool2d(8)
        self.linear = torch.nn.Linear(64, 10)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(self.relu(self.bn1(self.conv1(x))))))
        return self.linear(torch.flatten(self.pool(x), 1))


def torch_model(folder):
    weights = folder / 'weights.th'
    if not weights.exists():
        return onnx2torch.convert(str(folder / 'model.onnx')).eval()
    state = torch.load(weights, map_location='cpu', weights_only=False)['state_dict']
    model = ResNet20()
    model.load_state_dict({key.removeprefix('module.'): value for key, value in state.items()})
    return model.eval()


def outputs_of_file(file, x):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(file), options, providers=['CPUExecutionProvider'])
    name = session.get_inputs()[0].name
    return numpy.concatenate([session.run(None, {name: x[k:k + 1]})[0] for k in range(len(x))])


def outputs_of_torch(model, x):
    with torch.no_grad():
        parts = [model(torch.from_numpy(x[k:k + BATCH])) for k in range(0, len(x), BATCH)]
    return torch.cat([part[0] if isinstance(part, (tuple, list)) else part for part in parts]).numpy()


def figures(y, exact, labels):
    """Percent right and SQNR in dB."""
    y, exact = y.reshape(len(labels), -1).astype(float), exact.reshape(len(labels), -1).astype(float)
    right = 100 * float((y.argmax(1) == labels).mean())
    return right, 10 * float(numpy.log10((exact**2).sum() / max(((y - exact)**2).sum(), 1e-30)))


def searched_by_mct(model, calibration, part, platform):
    """MCT's model within that part of its 8-bit weights' bytes, and what these take."""
    data = [torch.from_numpy(numpy.concatenate(calibration[k:k + 32])) for k in range(0, len(calibration), 32)]

    def batches():
        for batch in data:
            yield [batch]

    config = mct.core.CoreConfig(mixed_precision_config=mct.core.MixedPrecisionQuantizationConfig(num_of_images=32))
    whole = mct.core.pytorch_resource_utilization_data(model, batches, config, target_platform_capabilities=platform)
    budget = mct.core.ResourceUtilization(weights_memory=part * whole.weights_memory)
    quantized, info = mct.ptq.pytorch_post_training_quantization(
        model, batches, target_resource_utilization=budget, core_config=config, target_platform_capabilities=platform)
    return quantized, info.final_resource_utilization.weights_memory / whole.weights_memory


def quantized_by_tersor(program, model, folder, out, *settings):
    command = [program, 'quantize', model, '--data', folder, '--limit', str(CALIBRATION), '--platform', 'imx500@v1',
               '--json', '-o', out]
    return json.loads(subprocess.run([*map(str, command), *settings], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[1])
    parser.add_argument('shared', type=pathlib.Path)
    parser.add_argument('program', type=pathlib.Path)
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('--samples', type=pathlib.Path, default=pathlib.Path('build/zoo-samples'))
    parser.add_argument('--models', default=','.join(MODELS))
    parser.add_argument('--parts', default='0.75,0.6,0.5')
    options = parser.parse_args()
    torch.set_num_threads(1)
    platform = mct.get_target_platform_capabilities('1.0', 'imx500')
    options.out.write_text('| model | weights | Tersor | bytes | MCT | bytes |\n|---|---|---|---|---|---|\n', encoding='utf-8')
    for name in options.models.split(','):
        folder, samples = options.shared / 'zoo' / name, options.samples / name
        calibration = [numpy.load(file) for file in sorted((samples / 'calib').glob('*.npy'))[:CALIBRATION]]
        x, labels = numpy.load(samples / 'eval_x.npy')[:EVALUATION], numpy.load(samples / 'eval_y.npy')[:EVALUATION]
        exact = outputs_of_file(folder / 'model.onnx', x)
        with tempfile.TemporaryDirectory() as temporary:
            file = pathlib.Path(temporary) / 'q.onnx'

            def of_tersor(*settings):
                made = quantized_by_tersor(options.program, folder / 'model.onnx', samples / 'calib', file, *settings)
                return made, figures(outputs_of_file(file, x), exact, labels)

            whole = of_tersor('--weights-memory', '1GB')[0]['trial']['bits']['taken']['weights_memory']
            rows = [('4 bits everywhere', of_tersor('--set', 'weights_n_bits=4')[1], 0.5, None, None)]
            for part in map(float, options.parts.split(',')):
                made, ours = of_tersor('--weights-memory', str(part * whole))
                taken = made['trial']['bits']['taken']['weights_memory'] / whole
                try:
                    quantized, of_mct = searched_by_mct(torch_model(folder), calibration, part, platform)
                    theirs = figures(outputs_of_torch(quantized, x), exact, labels)
                except Exception as error:  # what MCT cannot read is a row as well
                    theirs, of_mct = f'{type(error).__name__}: {str(error)[:80]}', None
                rows.append((f'{100 * part:.0f} %', ours, taken, theirs, of_mct))
        with options.out.open('a', encoding='utf-8') as out:
            for label, ours, taken, theirs, of_mct in rows:
                text = '' if theirs is None else theirs if isinstance(theirs, str) else f'{theirs[0]:.2f} %, {theirs[1]:.1f} dB'
                share = '' if of_mct is None else f'{100 * of_mct:.1f} %'
                out.write(f'| {name} | {label} | {ours[0]:.2f} %, {ours[1]:.1f} dB | {100 * taken:.1f} % | {text} | {share} |\n')


if __name__ == '__main__':
    main()
