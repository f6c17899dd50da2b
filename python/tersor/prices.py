#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python -m tersor.prices PLATFORM.json [--platform ort-cpu] [--seconds S]

Measures what operators cost in the ONNX Runtime of this machine, in a few minutes, and writes a platform file with these prices: what is made with it (`--platform PLATFORM.json`,
`platform=` in Python and JavaScript) runs in integers what is quicker so here, and its forecasts are of this machine. No other work should load it. One thread, or with --web onnxruntime-web in Chromium: it times chains of two lengths of each operator, in float
and as the integer operator that the runtime makes of it between quantizers, at several sizes, and fits to their difference

    time = node + input * elements read + output * elements written + product * multiplications + column * elements gathered
           + weight * elements of the weight + place * positions of a convolution
           + tail * multiplications of the channels beyond the last multiple of 16

without negative terms, by least squares of relative errors; but no less than

    cold * elements of the weight

where the chain's weights do not stay in the core's cache from run to run: how fast they come from memory. Convolutions stand between convolutions, as in networks, so that
the runtime's change of layout is not among them; Transpose has a price of its own. Needs numpy, onnx, onnxruntime, scipy.
"""
import argparse
import datetime
import itertools
import json
import os
import pathlib
import platform
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from scipy.optimize import nnls

try:
    from ._timing import in_turns, session_of
except ImportError:  # scripts/prices runs this file by its path
    from _timing import in_turns, session_of

# Of the repository, for --web.
WEB = pathlib.Path(__file__).parents[2] / 'tests' / 'bench' / 'prices_web.mjs'
FEATURES = ('node', 'input', 'output', 'product', 'column', 'weight', 'place', 'tail')
SHORT, LONG = 2, 6
# Bytes of a core's own cache: weights of a model that has more are read from further away in every run.
CACHE = int(subprocess.check_output(['getconf', 'LEVEL2_CACHE_SIZE'])) or 1 << 20


class Chain:
    """A graph of `count` operators, one after the other; `quantized` puts a quantizer of uint8 behind each."""

    def __init__(self, quantized):
        self.quantized, self.nodes, self.constants, self.count = quantized, [], {}, 0
        self.random = np.random.default_rng(0)
        self.constant('scale', np.float32(0.02)), self.constant('zero', np.uint8(128))
        self.value = 'x'
        if quantized:
            self.value = self.pair('x')

    def constant(self, name, value):
        self.constants[name] = np.asarray(value)
        return name

    def name(self):
        self.count += 1
        return f'v{self.count}'

    def node(self, op, inputs, **attributes):
        out = self.name()
        self.nodes.append(h.make_node(op, inputs, [out], **attributes))
        return out

    def pair(self, value, scale='scale', zero='zero'):
        codes = self.node('QuantizeLinear', [value, scale, zero])
        return self.node('DequantizeLinear', [codes, scale, zero])

    def add(self, op, more=(), scale=None, quantized_output=True, **attributes):
        self.value = self.node(op, [self.value, *more], **attributes)
        if self.quantized and quantized_output:
            zero = 'zero' if scale is None else self.constant('lowest', np.uint8(0))
            self.value = self.pair(self.value, scale or 'scale', zero)

    def weight(self, shape, axis):
        """A constant weight: float, or int8 behind a DequantizeLinear with a scale for each output channel."""
        values, name = self.random.standard_normal(shape).astype(np.float32), self.name()
        if not self.quantized:
            return self.constant(name, values)
        self.constant(name, np.clip(np.round(values * 30), -127, 127).astype(np.int8))
        scales = self.constant(name + '_scale', np.full(shape[axis], 1 / 30, np.float32))
        zeros = self.constant(name + '_zero', np.zeros(shape[axis], np.int8))
        return self.node('DequantizeLinear', [name, scales, zeros], axis=axis)

    def bias(self, count):
        name = self.name()
        if not self.quantized:
            return self.constant(name, np.zeros(count, np.float32))
        self.constant(name, np.zeros(count, np.int32))
        scale = self.constant(name + '_scale', np.full(count, np.float32(0.02) * np.float32(1 / 30), np.float32))
        zero = self.constant(name + '_zero', np.zeros(count, np.int32))
        return self.node('DequantizeLinear', [name, scale, zero], axis=0)

    def model(self, shape, opset=17):
        used = {i for n in self.nodes for i in n.input}
        graph = h.make_graph(self.nodes, 'chain', [h.make_tensor_value_info('x', T.FLOAT, list(shape))],
                             [h.make_tensor_value_info(self.value, T.FLOAT, None)],
                             [nh.from_array(v, k) for k, v in self.constants.items() if k in used])
        return h.make_model(graph, opset_imports=[h.make_opsetid('', opset)], ir_version=8).SerializeToString()


def elements(shape):
    return int(np.prod(shape))


class Case:
    """`build(chain, k)` adds the k-th operator; `work` is what one operator does, by feature. What stands in the chain beside it is taken off:
    `less` is a case that is measured for it, `minus` the work of operators that have their prices already."""

    less, minus = None, {}

    def __init__(self, operator, quantized, shape, build, **work):
        self.operator, self.quantized, self.shape, self.build = operator, quantized, shape, build
        self.work = {'node': 1, **work}
        if 'weight' in work and 'product' in work:
            self.work['cold'] = self.cold(work['weight'])

    def cold(self, weight):
        """Of the weights of a step, those that two chains of which one is longer differ by in what is read from beyond the cache."""
        def beyond(steps):
            total = steps * weight * (1 if self.quantized else 4)
            return steps * weight if total > CACHE else 0
        return (beyond(LONG) - beyond(SHORT)) / (LONG - SHORT)

    def model(self, count):
        chain = Chain(self.quantized)
        for k in range(count):
            self.build(chain, k)
        return chain.model(self.shape)


def conv_case(quantized, kind, inner, outer, side, kernel, wide=None):
    """Two convolutions a step, from `inner` to `outer` channels and back, so that a step's work is the mean of both."""
    depthwise = kind == 'depthwise'
    tall = side if wide is None else 1
    wide = wide or side
    pads = [0 if tall == 1 else kernel // 2, kernel // 2] * 2
    shape_of = (1 if tall == 1 else kernel, kernel)
    gathered = inner if depthwise else (inner + outer) / 2
    column = gathered * np.prod(shape_of) * tall * wide

    def build(chain, k):
        for a, b in ((inner, outer), (outer, inner)):
            weight = chain.weight((b, 1 if depthwise else a, *shape_of), 0)
            chain.add('Conv', [weight, chain.bias(b)], pads=pads, group=a if depthwise else 1)

    per_step = tall * wide
    return Case(('QLinearConv' if quantized else 'Conv') + '/' + kind, quantized, (1, inner, tall, wide), build,
                node=2, input=(inner + outer) * per_step, output=(inner + outer) * per_step,
                product=2 * inner * (1 if depthwise else outer) * np.prod(shape_of) * per_step,
                column=0 if kind == 'pointwise' else 2 * column,
                weight=2 * inner * (1 if depthwise else outer) * np.prod(shape_of), place=2 * per_step,
                tail=sum(b % 16 * (1 if depthwise else a) for a, b in ((inner, outer), (outer, inner))) * np.prod(shape_of) * per_step)


def line_case(quantized, kind, inner, outer, length, kernel):
    """As conv_case, along one axis, for which the runtime has other kernels."""
    depthwise = kind == 'depthwise'

    def build(chain, k):
        for a, b in ((inner, outer), (outer, inner)):
            weight = chain.weight((b, 1 if depthwise else a, kernel), 0)
            chain.add('Conv', [weight, chain.bias(b)], pads=[kernel // 2] * 2, group=a if depthwise else 1)

    weight = 2 * inner * (1 if depthwise else outer) * kernel
    return Case(f"{'QLinearConv' if quantized else 'Conv'}/{kind}/line", quantized, (1, inner, length), build, node=2, input=(inner + outer) * length,
                output=(inner + outer) * length, product=weight * length, column=(inner + outer) * kernel * length if kind == 'dense' else 0,
                weight=weight, place=2 * length)


def dilated_case(quantized, kind, channels, side, kernel):
    depthwise = kind == 'depthwise'
    weight, area = channels * (1 if depthwise else channels) * kernel * kernel, side * side

    def build(chain, k):
        chain.add('Conv', [chain.weight((channels, 1 if depthwise else channels, kernel, kernel), 0), chain.bias(channels)],
                  pads=[2 * (kernel // 2)] * 4, dilations=[2, 2], group=channels if depthwise else 1)
    return Case(f"{'QLinearConv' if quantized else 'Conv'}/{kind}/dilated", quantized, (1, channels, side, side), build, input=channels * area,
                output=channels * area, product=weight * area, column=0 if depthwise else channels * kernel * kernel * area, weight=weight, place=area)


def rare_conv_cases(quantized):
    cases = []
    for inner, outer, length in ((16, 64, 800), (64, 256, 100), (128, 512, 50), (32, 32, 400), (256, 256, 32)):
        cases.append(line_case(quantized, 'pointwise', inner, outer, length, 1))
    for inner, outer, length, kernel in ((16, 32, 800, 3), (64, 64, 200, 3), (128, 128, 64, 5), (40, 64, 100, 3), (8, 16, 1600, 9), (256, 256, 32, 3)):
        cases.append(line_case(quantized, 'dense', inner, outer, length, kernel))
    for channels, length, kernel in ((32, 800, 3), (64, 200, 9), (256, 64, 3), (128, 100, 15), (16, 400, 5), (512, 32, 7), (96, 300, 3), (64, 64, 31)):
        cases.append(line_case(quantized, 'depthwise', channels, channels, length, kernel))
    for channels, side, kernel in ((16, 48, 3), (32, 32, 3), (64, 16, 3), (64, 28, 3), (128, 14, 3)):
        cases.append(dilated_case(quantized, 'dense', channels, side, kernel))
    for channels, side, kernel in ((32, 56, 3), (96, 28, 3), (240, 14, 5), (512, 14, 3), (16, 80, 3), (64, 28, 5), (24, 40, 3), (192, 7, 3)):
        cases.append(dilated_case(quantized, 'depthwise', channels, side, kernel))
    if quantized:
        return cases  # the runtime has no integer kernel for what follows
    for channels, outer, side, kernel, stride in ((16, 16, 28, 2, 2), (32, 32, 14, 4, 2), (64, 64, 14, 2, 2), (64, 64, 28, 3, 1), (128, 128, 7, 4, 2), (24, 24, 40, 3, 1)):
        def build(chain, k, channels=channels, outer=outer, side=side, kernel=kernel, stride=stride):
            pad = (kernel - stride) // 2 if stride > 1 else kernel // 2
            chain.add('ConvTranspose', [chain.constant(f'w{k}', chain.random.standard_normal((channels, outer, kernel, kernel)).astype(np.float32)), chain.bias(outer)],
                      strides=[stride] * 2, pads=[pad] * 4)
            if stride > 1:
                chain.value = chain.node('Slice', [chain.value, chain.constant('b', np.array([0, 0])), chain.constant('e', np.array([side, side])),
                                                   chain.constant('axes', np.array([2, 3]))])
        weight, area = channels * outer * kernel * kernel, side * side
        case = Case('ConvTranspose', False, (1, channels, side, side), build, input=channels * area, output=outer * area * stride * stride,
                    product=weight * area, column=outer * kernel * kernel * area, weight=weight, place=area * stride * stride)
        case.minus = {'copies': (1, outer * area)} if stride > 1 else {}
        cases.append(case)
    return cases


def conv_cases(quantized):
    cases = []
    for inner, outer, side in ((8, 24, 96), (16, 64, 56), (24, 144, 56), (32, 192, 28), (64, 384, 14), (160, 960, 7), (96, 96, 28),
                               (256, 256, 14), (512, 512, 7), (16, 16, 28), (8, 32, 8), (64, 64, 5), (8, 16, 48),
                               (16, 32, 24), (64, 128, 6), (128, 256, 3), (72, 120, 14), (40, 240, 14), (36, 72, 20), (960, 1280, 1), (1024, 256, 1), (384, 1536, 7)):
        cases.append(conv_case(quantized, 'pointwise', inner, outer, side, 1))
    for inner, outer, side, kernel in ((8, 8, 64, 3), (16, 16, 32, 3), (32, 32, 32, 3), (64, 64, 16, 3), (64, 64, 56, 3), (128, 128, 14, 3),
                                       (256, 256, 7, 3), (32, 32, 28, 5), (8, 32, 12, 3), (64, 64, 8, 3), (4, 64, 64, 3), (12, 24, 40, 3),
                                       (32, 16, 60, 3), (128, 8, 64, 3), (64, 4, 32, 3), (32, 8, 128, 5), (512, 256, 4, 3)):
        cases.append(conv_case(quantized, 'dense', inner, outer, side, kernel))
    for channels, side, kernel in ((16, 112, 3), (32, 56, 3), (96, 56, 3), (144, 28, 3), (384, 14, 3), (960, 7, 3), (72, 28, 5), (240, 14, 5),
                                   (672, 7, 5), (64, 10, 3), (16, 24, 3), (8, 48, 3), (32, 24, 3), (128, 6, 3),
                                   (256, 3, 3), (120, 14, 5), (24, 40, 3), (40, 28, 3), (16, 80, 3)):
        cases.append(conv_case(quantized, 'depthwise', channels, channels, side, kernel))
    return cases


def matrix_cases(quantized):
    cases = []
    for rows, deep, wide in ((1, 640, 128), (1, 128, 128), (1, 256, 256), (1, 1024, 1000), (1, 512, 2048), (32, 128, 512), (98, 64, 256), (196, 192, 192), (196, 192, 768),
                             (64, 512, 512), (256, 256, 256), (8, 64, 64)):
        for form in ('Gemm', 'MatMul') + (('MatMul to float',) if quantized else ()):
            to_float = form == 'MatMul to float'

            def build(chain, k, deep=deep, wide=wide, form=form, to_float=to_float):
                for a, b in ((deep, wide), (wide, deep)):
                    weight = chain.weight((a, b), 1)
                    if form == 'Gemm':
                        chain.add('Gemm', [weight, chain.bias(b)])
                    elif not to_float:
                        chain.add('MatMul', [weight])
                    else:
                        # Behind a float result stands an addition, so that the runtime gives floats; its work is counted with it.
                        chain.add('MatMul', [weight], quantized_output=False)
                        chain.add('Neg')
            operator = {'Gemm': 'QGemm', 'MatMul': 'QLinearMatMul', 'MatMul to float': 'MatMulIntegerToFloat'}[form] if quantized else form
            case = Case(operator, quantized, (rows, deep), build, node=2, input=rows * (deep + wide), output=rows * (deep + wide),
                        product=2 * rows * deep * wide, weight=2 * deep * wide)
            case.minus = {'Neg': (2, rows * (deep + wide)), 'QuantizeLinear': (2, rows * (deep + wide))} if to_float else {}
            cases.append(case)
    return cases


SIZES = ((1, 8, 16, 16), (1, 32, 28, 28), (1, 64, 56, 56), (1, 96, 56, 56))


def unary(name, quantized, op, integer=None, sizes=SIZES, out=1.0, opset=None, more=None, scale=None, **attributes):
    def case(shape):
        def build(chain, k):
            extra = [] if more is None else more(chain, shape)
            chain.add(op, extra, scale=chain.constant('one', np.float32(1 / 256)) if scale else None, **attributes)
        count = elements(shape)
        return Case(integer if quantized else name, quantized, shape, build, output=count * out)
    return [case(shape) for shape in sizes]


def binary(op, quantized):
    def case(shape):
        def build(chain, k):
            # Ones, for floats that are multiplied again and again would become denormal or infinite.
            chain.add(op, [chain.value if quantized else chain.constant('ones', np.ones(shape, np.float32))])
        return Case(('QLinear' + op) if quantized else op, quantized, shape, build, output=elements(shape))
    return [case(shape) for shape in SIZES]


def elementwise_cases():
    cases = []
    for op in ('Sigmoid', 'Tanh', 'Erf', 'Exp', 'Sqrt', 'HardSigmoid', 'HardSwish', 'Relu', 'LeakyRelu', 'Neg', 'Softplus', 'Log', 'Sin'):
        cases += unary(op, False, op)
    cases += unary('Clip', False, 'Clip', more=lambda c, s: [c.constant('lo', np.float32(0)), c.constant('hi', np.float32(6))])
    cases += unary('Mul/constant', False, 'Mul', more=lambda c, s: [c.constant('gain', np.ones((1, s[1], 1, 1), np.float32) * 1.01)])
    for op in ('Sigmoid', 'LeakyRelu'):
        cases += unary(op, True, op, 'QLinear' + op)
    cases += unary('Softmax', False, 'Softmax', axis=-1) + unary('Softmax', True, 'Softmax', 'QLinearSoftmax', scale=True, axis=-1)
    for op in ('Add', 'Mul'):
        cases += binary(op, True)
    for op in ('Add', 'Mul', 'Sub', 'Div', 'Max'):
        cases += binary(op, False)
    return cases


def quantizer_cases():
    """A pair of quantizers around an operator that has no integer kernel, less that operator."""
    def pairs(chain, k):
        chain.value = chain.pair(chain.node('Neg', [chain.value]))

    def channel_pairs(chain, k):
        count = chain.channels
        scales = chain.constant('scales', np.linspace(.01, .03, count).astype(np.float32))
        zeros = chain.constant('zeros', np.full(count, 128, np.uint8))
        value = chain.node('Neg', [chain.value])
        codes = chain.node('QuantizeLinear', [value, scales, zeros], axis=1)
        chain.value = chain.node('DequantizeLinear', [codes, scales, zeros], axis=1)
    cases = []
    for shape in SIZES:
        case = Case('quantizers', False, shape, pairs, output=elements(shape))
        case.minus = {'Neg': (1, elements(shape))}
        cases.append(case)
    return cases


def pool_cases():
    cases = []
    for quantized in (False, True):
        for channels, side in ((16, 56), (64, 28), (64, 56), (192, 14)):
            shape, count = (1, channels, side, side), channels * side * side

            def build(op, channels=channels, **attributes):
                def add(chain, k):
                    # A convolution between keeps the runtime's layout; it is taken off again.
                    weight = chain.weight((channels, 1, 1, 1), 0)
                    chain.add('Conv', [weight, chain.bias(channels)], group=channels)
                    if op:
                        chain.add(op, **attributes)
                return add
            for op, window in (('MaxPool', 3), ('AveragePool', 3)):
                name = {'MaxPool': 'MaxPool/integer', 'AveragePool': 'QLinearAveragePool'}[op] if quantized else op
                case = Case(name, quantized, shape, build(op, kernel_shape=[window, window], pads=[1, 1, 1, 1]), output=count, column=count * window * window)
                case.less = Case(name, quantized, shape, build(None))
                cases.append(case)
    for shape in SIZES[:3]:
        def plain(chain, k):
            # The runtime moves the QuantizeLinear to the front of the pooling, which then reads integers in the model's own order.
            chain.value = chain.pair(chain.node('MaxPool', [chain.node('Neg', [chain.value])], kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        case = Case('MaxPool/plain', False, shape, plain, column=9 * elements(shape))
        case.minus = {'Neg': (1, elements(shape)), 'quantizers': (1, elements(shape))}
        cases.append(case)
    for quantized in (False, True):
        for shape in SIZES:
            def build(chain, k):
                mean = chain.node('GlobalAveragePool', [chain.value])
                if chain.quantized:
                    mean = chain.pair(mean)
                chain.value = chain.node('Mul', [chain.value, mean])
                if chain.quantized:
                    chain.value = chain.pair(chain.value)
            case = Case('QLinearGlobalAveragePool' if quantized else 'GlobalAveragePool', quantized, shape, build, input=elements(shape))
            case.minus = {'QLinearMul' if quantized else 'Mul': (1, elements(shape))}
            cases.append(case)
    return cases


def mover_cases():
    cases = []
    for quantized in (False, True):
        suffix = '/integer' if quantized else ''
        for shape in SIZES:
            def transpose(chain, k, shape=shape):
                # A Reshape behind it keeps the runtime from joining it with the next.
                chain.value = chain.node('Transpose', [chain.value], perm=[0, 2, 3, 1])
                if chain.quantized:
                    chain.value = chain.pair(chain.value)
                chain.value = chain.node('Reshape', [chain.value, chain.constant('shape', np.array(shape))])
                if chain.quantized:
                    chain.value = chain.pair(chain.value)

            def concat(chain, k, shape=shape):
                half = shape[1] // 2
                axis = 1
                parts = []
                for begin, end in ((0, half), (half, shape[1])):
                    part = chain.node('Slice', [chain.value, chain.constant(f'b{begin}', np.array([begin])), chain.constant(f'e{end}', np.array([end])),
                                                chain.constant('axis', np.array([axis]))])
                    parts.append(chain.pair(part) if chain.quantized else part)
                chain.value = chain.node('Concat', parts[::-1], axis=axis)
                if chain.quantized:
                    chain.value = chain.pair(chain.value)
            cases.append(Case('Transpose' + suffix, quantized, shape, transpose, output=elements(shape)))
            cases.append(Case('copies' + suffix, quantized, shape, concat, node=3, output=2 * elements(shape)))
    for shape in ((1, 16, 28, 28), (1, 64, 28, 28), (1, 64, 14, 14)):
        for quantized in (False, True):
            def resize(chain, k, shape=shape):
                chain.value = chain.node('Resize', [chain.value, '', chain.constant('twice', np.array([1, 1, 2, 2], np.float32))], mode='nearest')
                if chain.quantized:
                    chain.value = chain.pair(chain.value)
                chain.value = chain.node('Slice', [chain.value, chain.constant('b', np.array([0, 0])), chain.constant('e', np.array([shape[2], shape[3]])),
                                                   chain.constant('axes', np.array([2, 3]))])
                if chain.quantized:
                    chain.value = chain.pair(chain.value)
            case = Case('Resize' + ('/integer' if quantized else ''), quantized, shape, resize, output=4 * elements(shape))
            case.minus = {'copies' + ('/integer' if quantized else ''): (1, elements(shape))}
            cases.append(case)
    for shape in ((1, 49, 64), (1, 196, 192), (1, 98, 128)):
        def norm(chain, k, shape=shape):
            mean = chain.node('ReduceMean', [chain.value], axes=[-1])
            chain.value = chain.node('Sub', [chain.value, mean])
        case = Case('ReduceMean', False, shape, norm, input=elements(shape))
        case.minus = {'Sub': (1, elements(shape))}
        cases.append(case)
    return cases


def recurrent_cases():
    cases = []
    for steps, size in ((1, 128), (10, 64), (40, 256)):
        def lstm(chain, k, steps=steps, size=size):
            w = chain.constant(f'w{k}', np.zeros((1, 4 * size, size), np.float32) + .01)
            out = chain.node('LSTM', [chain.value, w, w], hidden_size=size)
            chain.value = chain.node('Squeeze', [out, chain.constant('one', np.array([1]))])
        cases.append(Case('LSTM', False, (steps, 1, size), lstm, output=steps * size, product=8 * steps * size * size))
    for size in (64, 128, 256):
        def stored(chain, k, size=size):
            # Restored in each run, and no longer packed beforehand.
            codes = chain.constant(f'c{k}', np.full((1, 4 * size, size), 3, np.uint8))
            scales = chain.constant(f's{k}', np.full(4 * size, .01, np.float32))
            zeros = chain.constant(f'z{k}', np.full(4 * size, 2, np.uint8))
            w = chain.node('DequantizeLinear', [codes, scales, zeros], axis=1)
            out = chain.node('LSTM', [chain.value, w, w], hidden_size=size)
            chain.value = chain.node('Squeeze', [out, chain.constant('one', np.array([1]))])
        case = Case('stored', False, (1, 1, size), stored, node=0, weight=8 * size * size)
        case.minus = {'LSTM': (1, size, 0, 8 * size * size)}
        cases.append(case)
    return cases


def feed_of(case):
    return np.random.default_rng(1).standard_normal(case.shape).astype(np.float32)


def per_step(least):
    """Nanoseconds of one step: the difference of two chains, each by its least of many runs in turns, in seconds."""
    return (least[LONG] - least[SHORT]) / (LONG - SHORT) * 1e9


def measure_here(cases, seconds):
    """Yields (case, nanoseconds of one step) in this process."""
    for case in cases:
        sessions = {count: session_of(case.model(count)) for count in (SHORT, LONG)}
        feed = {'x': feed_of(case)}
        runs = [lambda session=session: session.run(None, feed) for session in sessions.values()]
        yield case, per_step(dict(zip(sessions, in_turns(runs, 15, seconds))))


def measure_in_page(cases, seconds):
    """As measure_here, in onnxruntime-web; what the page prints first says which version and browser."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for k, case in enumerate(cases):
            for count in (SHORT, LONG):
                (root / f'{k}-{count}.onnx').write_bytes(case.model(count))
            (root / f'{k}.bin').write_bytes(feed_of(case).tobytes())
        listed = [{'name': str(k), 'shape': list(case.shape), 'counts': [SHORT, LONG]} for k, case in enumerate(cases)]
        (root / 'cases.json').write_text(json.dumps(listed))
        with subprocess.Popen(['node', str(WEB), folder, str(seconds)], stdout=subprocess.PIPE, text=True) as process:
            for case, line in zip(cases, process.stdout):
                yield case, per_step({int(count): taken for count, taken in json.loads(line).items()})
        if process.returncode != 0:
            raise SystemExit(f'{WEB.name} ended with {process.returncode}')


def one_by_one(cases, measure, seconds):
    """(case, nanoseconds) for each of `cases`, without what its `less` takes."""
    taken = 0
    for case, nanoseconds in measure([one for case in cases for one in (case.less, case) if one], seconds):
        if case in cases:
            yield case, nanoseconds - taken
        taken = nanoseconds if case not in cases else 0


def value_of(price, work):
    return max(sum(price.get(feature, 0) * work.get(feature, 0) for feature in FEATURES), price.get('cold', 0) * work.get('cold', 0))


def work_of(numbers):
    """(nodes, output[, input, product, column, weight, place, tail])"""
    keys = ('node', 'output', 'input', 'product', 'column', 'weight', 'place', 'tail')
    return dict(zip(keys, numbers))


def with_cold(price, cases, times):
    """The price with the `cold` of least relative errors, where there is one that makes them smaller."""
    def error(cold):
        return sum(np.log(value_of({**price, 'cold': cold}, case.work) / max(t, 500)) ** 2 for case, t in zip(cases, times) if case.work.get('cold'))
    best = min([0] + [t / case.work['cold'] for case, t in zip(cases, times) if case.work.get('cold')], key=error)
    return {**price, 'cold': float(f'{best:.4g}')} if best > 0 else {f: v for f, v in price.items() if f != 'cold'}


def fit(cases, times):
    features = [f for f in FEATURES if any(case.work.get(f) for case in cases)]
    weights = [1 / max(t, 500) for t in times]
    matrix = np.array([[case.work.get(f, 0) * w for f in features] for case, w in zip(cases, weights)])
    size = np.maximum(matrix.max(axis=0), 1e-30)
    solution, _ = nnls(matrix / size, np.array([max(t, 0) * w for t, w in zip(times, weights)]))
    return {f: float(f'{v:.4g}') for f, v in zip(features, solution / size) if v > 0}


def with_prices(platform_name, prices):
    """The content of a platform file that has no other prices; these alone where no platform is named."""
    if not platform_name:
        return prices
    import tersor

    made = {**tersor.platforms(platform_name)['platform'], 'prices': prices}
    made.pop('other_prices', None)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', type=pathlib.Path, help='the file to write')
    parser.add_argument('--platform', default='ort-cpu', help='the platform that the prices go into; "" writes them alone')
    parser.add_argument('--seconds', type=float, default=0.1, help='for each case')
    parser.add_argument('--only', nargs='+', default=[], help='operators whose names begin or end so; the others keep their prices')
    parser.add_argument('--only-cold', action='store_true', help='the speed of weights from memory; all else keeps its price')
    parser.add_argument('--web', action='store_true', help='in onnxruntime-web in Chromium')
    parser.add_argument('--verbose', action='store_true')
    args = parser.parse_args()
    known = json.loads(args.out.read_text()) if (args.only or args.only_cold) and args.out.exists() else {'prices': {}}
    prices = known['prices'].get('prices', known['prices'])
    cases = [case for case in (elementwise_cases() + quantizer_cases() + conv_cases(False) + conv_cases(True) + rare_conv_cases(False) + rare_conv_cases(True) + matrix_cases(False) +
                               matrix_cases(True) + pool_cases() + mover_cases() + recurrent_cases())
             if (not args.only or case.operator.startswith(tuple(args.only)) or case.operator.endswith(tuple(args.only))) and (not args.only_cold or case.work.get('cold'))]
    # An operator's cases one after the other, and those that others are taken off first.
    operators = list(dict.fromkeys(case.operator for case in cases))
    cases.sort(key=lambda case: operators.index(case.operator))
    measured = one_by_one(cases, measure_in_page if args.web else measure_here, args.seconds)
    for operator, group in itertools.groupby(measured, key=lambda one: one[0].operator):
        cases, times = [], []
        for case, taken in group:
            for other, numbers in case.minus.items():
                taken -= value_of(prices.get(other, {}), work_of(numbers))
            cases.append(case), times.append(taken)
        price = with_cold({**prices[operator], 'cold': 0} if args.only_cold else fit(cases, times), cases, times)
        if args.verbose:
            for case, t in zip(cases, times):
                print(f'    {t / 1e3:9.2f} us, fitted {value_of(price, case.work) / 1e3:9.2f}  {case.shape} {case.work}')
        errors = [value_of(price, case.work) / max(t, 1) for case, t in zip(cases, times)]
        prices[operator] = price
        print(f'{operator:28s} {json.dumps(price)}  fitted/measured {min(errors):.2f} to {max(errors):.2f}', flush=True)
    cpu = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), platform.machine())
    flags = next((line for line in open('/proc/cpuinfo') if line.startswith('flags')), '')
    more = ' with ' + ', '.join(n for n, f in (('AVX-512', ' avx512f'), ('VNNI', '_vnni')) if f in flags) if '_vnni' in flags or ' avx512f' in flags else ''
    runtime, machine = f'ONNX Runtime {ort.__version__}', f'{cpu}{more}, one thread'
    if args.web:
        runtime, browser = subprocess.check_output(['node', str(WEB), '--about'], text=True).strip().split('\n')
        machine = f'{browser} on {cpu}, one thread'
    measured = {'runtime': runtime, 'machine': machine, 'date': str(datetime.date.today()), 'cache_bytes': CACHE, 'prices': prices}
    args.out.write_text(json.dumps(with_prices(args.platform, measured), indent=2) + '\n')


if __name__ == '__main__':
    main()
