# SPDX-License-Identifier: Apache-2.0
"""python -m tersor.compat.onnxruntime.preprocess --input MODEL --output FILE, as `onnxruntime.quantization.preprocess`."""

from __future__ import annotations

import argparse

from .shape_inference import quant_pre_process


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the model as it is: what their command does is part of quantizing here.")
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True)
    for name in ("skip_optimization", "skip_onnx_shape", "skip_symbolic_shape"):
        parser.add_argument(f"--{name}", type=bool, default=False, help="without effect")
    for name in ("auto_merge", "guess_output_rank", "save_as_external_data", "all_tensors_to_one_file"):
        parser.add_argument(f"--{name}", action="store_true")
    for name in ("int_max", "verbose", "external_data_size_threshold"):
        parser.add_argument(f"--{name}", type=int, help="without effect")
    parser.add_argument("--external_data_location")
    asked = parser.parse_args()
    quant_pre_process(asked.input, asked.output, save_as_external_data=asked.save_as_external_data)


if __name__ == "__main__":
    main()
