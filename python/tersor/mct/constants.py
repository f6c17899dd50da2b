# SPDX-License-Identifier: Apache-2.0
"""Keys of quantization params, and numbers."""

THRESHOLD = "threshold"
SIGNED = "is_signed"
RANGE_MIN = "range_min"
RANGE_MAX = "range_max"
LUT_VALUES = "lut_values"
MIN_THRESHOLD = 2**-16
FLOAT_BITWIDTH = 32
