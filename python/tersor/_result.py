# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Optional, Union

from ._error import Error

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
    """The int8 file: ONNX, or .tflite where `format` asked for it."""
    report: dict[str, Any] = field(repr=False)
    """What was measured: docs/report.md."""
    recipe: dict[str, Any] = field(repr=False)
    """What makes the same file again: `quantize(model, samples, recipe=result.recipe)`."""
    statistics: Statistics = field(repr=False)
    """What the samples came to, for other settings without running them again."""

    def save(self, path: Path_) -> None:
        """Writes the file."""
        is_tflite, named = self.bytes[4:8] == b"TFL3", Path(path).suffix == ".tflite"
        if is_tflite != named and (named or Path(path).suffix == ".onnx"):
            kind = "a .tflite file" if is_tflite else "an ONNX file"
            raise Error(
                "invalid_argument", f"The result is {kind}.", "path", f'Give format="{"tflite" if named else "onnx"}" to quantize().'
            )
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
            words = {True: ", on samples held aside from calibration", False: ", on samples that calibration has seen too"}
            where = words.get(report["samples"]["held_aside"], "")
            facts.append(("accuracy", f"{100 * quantized['value']:.2f} % ({counts}){before_}{where}"))
        own = report["metric"]
        if own:
            facts.append((own["metric"], f"{own['quantized']:.4g}, float {own['float']:.4g}, on {own['count']} samples"))
        facts += [("aim", one["message"]) for one in report["diagnostics"] if one["code"] == "aim"]
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


@dataclass(frozen=True)
class Variant:
    """A file that a model may be shipped as, and what it costs."""

    bytes: Optional[bytes] = field(repr=False)
    """The ONNX file; None where it cannot be made."""
    dtype: str
    """The word that transformers.js has for it."""
    file: str
    """The name that transformers.js looks for."""
    platform: Optional[str] = field(repr=False)
    """What it was quantized for; None of floats alone."""
    size_bytes: Optional[int] = field(repr=False)
    comparison: Optional[dict[str, Any]] = field(repr=False)
    """Its outputs beside the float model's, on the samples that judge; None without samples."""
    held_aside: bool = field(repr=False)
    """Calibration has seen none of those samples."""
    verdict: Optional[dict[str, Any]] = field(repr=False)
    """`usability` is a word, `reason` a sentence."""
    time: Optional[dict[str, Any]] = field(repr=False)
    """Expected time, where it is known."""
    leads: bool = field(repr=False)
    """Of the rows so far it is the one to take: the last that leads is the best of all."""
    notes: list[str] = field(repr=False)
    """Sentences, such as which nodes keep float32."""
    refused: Optional[dict[str, str]] = field(repr=False)
    """Why there is no file, with `message` and `hint`; else None."""

    def save(self, folder: Path_) -> None:
        """Writes the file into the folder, which is made where it is not there; nothing where there is no file."""
        if self.bytes is None:
            return
        Path(folder).mkdir(parents=True, exist_ok=True)
        _write(Path(folder) / self.file, self.bytes)

    def __str__(self) -> str:
        if self.refused is not None:
            return f"{self.dtype}: not made: {self.refused['message']}"
        facts = [_kilobytes(self.size_bytes or 0)]
        if self.comparison is not None:
            facts.append(_decibels(self.comparison["output_sqnr_db"]))
            same, first = self.comparison["agreement"], self.comparison["outputs"][0]
            cosine = first["median_cosine" if first["kind"] == "embedding" else "cosine_similarity"]
            if same:
                facts.append(f"{same['same']} of {same['count']} answers the same")
            elif cosine is not None:
                facts.append(f"cosine {cosine:.4f}")
        if self.time is not None:
            facts.append(f"{self.time['times_as_fast']:.2f} times as fast (forecast)")
        return f"{self.dtype}: {', '.join(facts)}" + (f": {self.verdict['usability']}" if self.verdict else "")
