# SPDX-License-Identifier: Apache-2.0
"""The demos' networks as data: training (JAX) and export (ONNX) walk the same list.

Characters: a small MobileNet for pictures of 48 x 48: a stem, depthwise-separable blocks with Relu, and inverted residual
blocks with Relu6 and linear projections. Fruit: a small residual network for 64 x 64, of whole 3x3 convolutions, whose
integer kernels are quicker. Every convolution is without bias and followed by batch normalization.
"""

from dataclasses import dataclass

EPSILON = 1e-5  # of batch normalization


@dataclass(frozen=True)
class Conv:
    """A convolution with its normalization and activation. `groups` is 1 or, for depthwise, `inputs`."""

    name: str
    inputs: int
    outputs: int
    kernel: int
    stride: int
    groups: int
    activation: str  # "relu", "relu6" or "" for a linear projection
    opens: bool = False  # its input is what the block's last layer adds
    closes: bool = False  # adds what the block began with to its own result


def _separable(block: str, inputs: int, outputs: int, stride: int) -> list[Conv]:
    return [
        Conv(f"{block}.depthwise", inputs, inputs, 3, stride, inputs, "relu"),
        Conv(f"{block}.pointwise", inputs, outputs, 1, 1, 1, "relu"),
    ]


def _inverted_residual(block: str, channels: int, expanded: int) -> list[Conv]:
    return [
        Conv(f"{block}.expand", channels, expanded, 1, 1, 1, "relu6", opens=True),
        Conv(f"{block}.depthwise", expanded, expanded, 3, 1, expanded, "relu6"),
        Conv(f"{block}.project", expanded, channels, 1, 1, 1, "", closes=True),
    ]


CHARACTERS = [
    Conv("stem.conv", 3, 16, 3, 2, 1, "relu"),  # 48 -> 24
    *_separable("block1", 16, 24, 1),
    *_separable("block2", 24, 32, 2),  # 24 -> 12
    *_inverted_residual("block3", 32, 64),
    *_separable("block4", 32, 56, 2),  # 12 -> 6
    *_inverted_residual("block5", 56, 128),
    Conv("head.conv", 56, 112, 1, 1, 1, "relu"),
]


def _residual(block: str, channels: int) -> list[Conv]:
    return [
        Conv(f"{block}.first", channels, channels, 3, 1, 1, "relu", opens=True),
        Conv(f"{block}.second", channels, channels, 3, 1, 1, "", closes=True),
    ]


FRUIT = [
    Conv("stem.conv", 3, 16, 3, 2, 1, "relu"),  # 64 -> 32
    Conv("down1.conv", 16, 32, 3, 2, 1, "relu"),  # 32 -> 16
    *_residual("block1", 32),
    Conv("down2.conv", 32, 64, 3, 2, 1, "relu"),  # 16 -> 8
    *_residual("block2", 64),
    Conv("head.conv", 64, 96, 3, 2, 1, "relu"),  # 8 -> 4
]


def multiplications(layers: list[Conv], size: int, classes: int) -> int:
    """Multiplications of one picture of `size` x `size`."""
    total = layers[-1].outputs * classes
    for layer in layers:
        size //= layer.stride
        total += size * size * layer.outputs * layer.kernel**2 * layer.inputs // layer.groups
    return total
