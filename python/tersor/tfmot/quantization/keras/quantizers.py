# SPDX-License-Identifier: Apache-2.0
"""The quantizers that a QuantizeConfig returns: descriptions. What is left out is 8 bits, one range, asymmetric where the
platform offers that, and else what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from ...._described import Described

__all__ = ["AllValuesQuantizer", "LastValueQuantizer", "MovingAverageQuantizer", "Quantizer"]


@dataclass(eq=False, repr=False)
class Quantizer(Described):
    num_bits: Optional[int] = None
    per_axis: Optional[bool] = None
    symmetric: Optional[bool] = None
    narrow_range: Optional[bool] = None
    batch_size: Optional[int] = None

    def get_config(self) -> dict[str, Any]:
        given = {name: value for name, value in super().get_config().items() if value is not None}
        return {"class_name": type(self).__name__, "config": given}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Any:
        """Of get_config(), or of the members alone."""
        return cls(**config.get("config", {}) if "class_name" in config else config)


class LastValueQuantizer(Quantizer):
    """The extremes of the last batch; of a weight, or of samples without `batch_size`, the extremes of all."""


class MovingAverageQuantizer(Quantizer):
    """Extremes that follow the batches, a thousandth of the way each, from -6 and 6; of samples without `batch_size`, the mean
    of the extremes of each."""


class AllValuesQuantizer(Quantizer):
    """The extremes of all batches."""
