#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes torch_gradients.h: gradients of three small networks as PyTorch has them (in double), for torch_test.cpp, which
builds the same networks. Weights and inputs follow from their names:  python3 tests/gradient/torch_gradients.py"""

import math
import pathlib

import torch
import torch.nn.functional as F

MASK = (1 << 64) - 1


def numbers(name, shape, low=-1.0, high=1.0):
    """SplitMix64 of the name's FNV-1a: multiples of 2^-12, so that they are the same in every precision."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) & MASK
    values = []
    for _ in range(math.prod(shape)):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        values.append(round((low + (high - low) * (z >> 40) / (1 << 24)) * 4096) / 4096)
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


class Values:
    def __init__(self, network):
        self.network, self.all = network, {}

    def __call__(self, name, *shape, low=-1.0, high=1.0):
        self.all[name] = numbers(f"{self.network}.{name}", shape, low, high).requires_grad_()
        return self.all[name]


def residual(v):
    x = v("x", 1, 3, 12, 12)
    a = F.relu(F.conv2d(x, v("a", 6, 3, 3, 3), v("ab", 6), padding=1))
    b = F.relu(F.conv2d(a, v("b", 6, 1, 3, 3), v("bb", 6), stride=2, padding=1, groups=6))
    c = F.conv2d(b, v("c", 8, 6, 1, 1), v("cb", 8))
    d = F.conv2d(F.max_pool2d(a, 2), v("d", 8, 6, 1, 1))
    e = F.relu(c + d).mean((2, 3))
    return F.linear(e, v("e", 5, 8), v("eb", 5))


def gated(v):
    x = v("x", 1, 3, 10, 10)
    a = F.hardswish(F.conv2d(x, v("a", 6, 3, 3, 3), v("ab", 6), stride=2, padding=1))
    s = F.relu(F.conv2d(a.mean((2, 3), keepdim=True), v("s", 3, 6, 1, 1), v("sb", 3)))
    a = a * F.hardsigmoid(F.conv2d(s, v("t", 6, 3, 1, 1), v("tb", 6)))
    b = F.conv_transpose2d(a, v("b", 6, 4, 3, 3), v("bb", 4), stride=2, padding=1)
    b = F.batch_norm(b, v("m", 4).detach(), v("var", 4, low=0.5).detach(), v("g", 4), v("gb", 4), training=False, eps=1e-5)
    b = F.leaky_relu(b * torch.sigmoid(b), 0.1)
    c = F.avg_pool2d(b, 3).flatten(1)
    return F.log_softmax(F.linear(c, v("e", 5, 36), v("eb", 5)), 1)


def attention(v):
    x = v("x", 1, 6, 8)
    h = F.layer_norm(x, (8,), v("n", 8), v("nb", 8), 1e-5)
    q, k, w = (
        (h @ v(name, 8, 8) + v(name + "b", 8)).reshape(1, 6, 2, 4).transpose(1, 2) for name in ("q", "k", "w")
    )
    p = torch.softmax(q @ k.transpose(2, 3) * 0.5, -1)
    x = x + (p @ w).transpose(1, 2).reshape(1, 6, 8) @ v("o", 8, 8)
    h = F.layer_norm(x, (8,), v("l", 8), v("lb", 8), 1e-5)
    x = x + F.gelu(h @ v("f", 8, 12)) @ v("r", 12, 8)
    return torch.tanh(x.mean(1)) @ v("e", 8, 5)


def main():
    lines = ["// SPDX-License-Identifier: Apache-2.0", f"// Made by torch_gradients.py with PyTorch {torch.__version__.split('+')[0]}."]
    lines += ["#pragma once", "", "#include <vector>", "", "struct TorchGradient {"]
    lines += ["  const char *network, *value;", "  std::vector<float> gradient;", "};", ""]
    lines += ["inline const std::vector<TorchGradient> kTorchGradients = {"]
    for network in (residual, gated, attention):
        values = Values(network.__name__)
        y = network(values)
        (y * numbers(network.__name__ + ".by_y", y.shape)).sum().backward()
        for name, value in values.all.items():
            if name in ("m", "var", "g", "gb", "n", "nb", "l", "lb"):
                continue  # no training changes these here: normalizations are folded, or stay as they are
            text = ", ".join(f"{one:.7g}f" if any(c in f"{one:.7g}" for c in ".e") else f"{one:.7g}.0f" for one in value.grad.flatten().tolist())
            lines.append(f'    {{"{network.__name__}", "{name}", {{{text}}}}},')
    lines.append("};")
    path = pathlib.Path(__file__).with_name("torch_gradients.h")
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
