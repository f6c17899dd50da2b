# SPDX-License-Identifier: Apache-2.0
"""The names of TensorFlow's model optimization toolkit by which a layer says how it is quantized."""

from . import quantization

__all__ = ["quantization"]
