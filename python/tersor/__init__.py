# SPDX-License-Identifier: Apache-2.0
"""Quantizes float ONNX models to int8 on your own samples.

    import numpy, tersor
    result = tersor.quantize("model.onnx", numpy.load("samples.npy"), labels=numpy.load("labels.npy"))
    print(result.summary)
    result.save("model.int8.onnx")

The same core as the program `tersor` and the npm package, and the same bytes for the same model, settings and samples.
Calls work on several threads without the GIL; Ctrl+C ends them. What goes wrong is a `tersor.Error`.
"""

from . import mct, tfmot
from ._calls import (
    calibrate,
    check,
    compare,
    convert,
    evaluate,
    inspect,
    merge,
    platforms,
    quantize,
    run,
    tradeoff,
    tune,
    variants,
)
from ._core import __version__
from ._error import Error
from ._result import Result, Statistics, Variant

__all__ = [
    "Error",
    "Result",
    "Statistics",
    "Variant",
    "__version__",
    "calibrate",
    "check",
    "compare",
    "convert",
    "evaluate",
    "inspect",
    "mct",
    "merge",
    "platforms",
    "quantize",
    "run",
    "tfmot",
    "tradeoff",
    "tune",
    "variants",
]
