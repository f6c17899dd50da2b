# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Optional, Union

Path_ = Union[str, "os.PathLike[str]"]


def _write(path: Path_, data: bytes) -> None:
    """Beside its place first, so that no half-written file is ever there."""
    target = Path(path)
    beside = target.with_name(f"{target.name}.tersor-{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


@dataclass(frozen=True)
class Statistics:
    """What `calibrate()` saw: the bytes of a .tstats file."""

    bytes: bytes = field(repr=False)

    def save(self, path: Path_) -> None:
        _write(path, self.bytes)

    @classmethod
    def load(cls, path: Path_) -> Statistics:
        return cls(Path(path).read_bytes())


def _kilobytes(size: int) -> str:
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.2f} MB"


def _decibels(value: Optional[float]) -> str:
    return "exact" if value is None else f"{value:.1f} dB"


@dataclass(frozen=True)
class Result:
    """A quantized model. A notebook shows it as a table with a chart of the layers' errors."""

    bytes: bytes = field(repr=False)
    """The int8 ONNX file."""
    report: dict[str, Any] = field(repr=False)
    """What was measured: docs/report.md."""
    recipe: dict[str, Any] = field(repr=False)
    """What makes the same file again: `quantize(model, samples, recipe=result.recipe)`."""
    statistics: Statistics = field(repr=False)
    """What the samples came to, for other settings without running them again."""

    def save(self, path: Path_) -> None:
        """Writes the ONNX file."""
        _write(path, self.bytes)

    def save_recipe(self, path: Path_) -> None:
        _write(path, (json.dumps(self.recipe, indent=2) + "\n").encode())

    @property
    def accuracy(self) -> Optional[float]:
        """Share of right answers of the quantized model, 0 to 1; None without labels."""
        evaluated = self.report["evaluation"]["quantized"]
        return None if evaluated is None else evaluated["value"]

    @property
    def summary(self) -> str:
        """Verdict, size, accuracy and error in a few lines."""
        return "\n".join(f"{name}: {text}" if name else text for name, text in self._facts())

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        return f"<tersor.Result of {len(self.bytes)} bytes for {self.report['platform']['name']}>"

    def _facts(self) -> list[tuple[str, str]]:
        report = self.report
        before, after = report["model"]["size_bytes"], report["output"]["size_bytes"]
        facts = []
        if report["verdict"]:
            facts.append((report["verdict"]["usability"], report["verdict"]["reason"]))
        facts.append(("size", f"{_kilobytes(after)}, was {_kilobytes(before)}"))
        if report["time"]:
            facts.append(("time", report["time"]["sentence"]))
        in_float, quantized = report["evaluation"]["float"], report["evaluation"]["quantized"]
        if quantized and quantized["value"] is not None:
            counts = f"{quantized['correct']} of {quantized['count']}"
            before_ = "" if in_float is None else f", float {100 * in_float['value']:.2f} % ({in_float['correct']})"
            where = "held aside from calibration" if report["samples"]["held_aside"] else "that calibration has seen too"
            facts.append(("accuracy", f"{100 * quantized['value']:.2f} % ({counts}){before_}, on samples {where}"))
        if report["comparison"]:
            outputs = ", ".join(f"{one['name']} {_decibels(one['sqnr_db'])}" for one in report["comparison"]["outputs"])
            facts.append(("SQNR", outputs))
        stays = report["coverage"]["stays_float"]
        if stays:
            facts.append(("in float", f"{len(stays)} operators: " + ", ".join(sorted({one["op"] for one in stays}))))
        if report["verdict"]:
            facts += [("", text) for text in report["verdict"]["causes"] + report["verdict"]["cautions"]]
        return facts

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
            for name, text in self._facts()
        )
        return f'<div><table style="border-collapse:collapse">{rows}</table>{self._chart()}</div>'

    def _chart(self, most: int = 24) -> str:
        """A bar for each of the layers with the largest shares of the error."""
        comparison = self.report["comparison"]
        if not comparison or not comparison["layers"]:
            return ""
        layers = sorted(comparison["layers"], key=lambda one: -one["error_share"])[:most]
        longest = max(one["error_share"] for one in layers) or 1
        height, left, width = 18, 250, 330
        bars = []
        for row, one in enumerate(layers):
            y = row * height
            share = one["error_share"]
            name = one["name"] if len(one["name"]) <= 34 else "…" + one["name"][-33:]
            title = f"{one['name']} ({one['op']}): {_decibels(one['isolated_sqnr_db'])} alone"
            bars.append(
                f"<g><title>{escape(title)}</title>"
                f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{escape(name)}</text>'
                f'<rect x="{left}" y="{y + 3}" width="{max(1, width * share / longest):.1f}" height="{height - 6}" '
                f'fill="#3b78c4"/>'
                f'<text x="{left + width * share / longest + 6:.1f}" y="{y + 13}">{100 * share:.1f} %</text></g>'
            )
        shown = "" if len(layers) == len(comparison["layers"]) else f" ({len(layers)} of {len(comparison['layers'])})"
        caption = f"Share of the error by layer, largest first{shown}"
        size = f'width="{left + width + 70}" height="{height * len(layers)}"'
        return (
            f'<p style="margin:0.8em 0 0.2em">{caption}</p>'
            f'<svg role="img" aria-label="{caption}" {size} style="max-width:100%;font:12px sans-serif;fill:currentColor">'
            f"{''.join(bars)}</svg>"
        )
