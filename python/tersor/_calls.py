# SPDX-License-Identifier: Apache-2.0
"""The functions of the package."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any, Optional, Union

import numpy

from . import _core
from ._described import plain
from ._error import Error
from ._given import (
    Model,
    Path_,
    Samples,
    as_json,
    labels_of,
    model_parts,
    named,
    open_model,
    open_samples,
    platform_of,
    require_no_argument,
    settings_of,
    timer_of,
)
from ._metric import Function, OwnMetric, arrays_of
from ._progress import ProgressBar
from ._result import Result, Statistics, Variant, _write
from ._trainable import with_names

Progress = Callable[[str, int, int], None]
"""Called a few times a second with the stage ("calibrate", "try", "correct", "compare", "evaluate", "run"), the units done
and all of them. What it raises ends the call."""

Timer = Callable[[list[bytes], dict[str, numpy.ndarray]], Mapping[str, Any]]
"""Times ONNX files, the float model first, on a sample by name: `{"runtime": "name 1.0", "threads": 1, "milliseconds": [...]}`."""

Metric = Union[str, Function]
"""A metric's name, or a function of one's own: of the outputs by name, as `run()` gives them, and the labels as they were given."""

Platform = Union[str, Path_, Mapping[str, Any], Any]
"""Also an `mct.target_platform.TargetPlatformCapabilities`."""


def quantize(
    model: Model,
    samples: Optional[Samples] = None,
    labels: Any = None,
    platform: Optional[Platform] = None,
    *,
    statistics: Union[Statistics, Iterable[Statistics], None] = None,
    calibration_samples: Optional[int] = None,
    preprocessing: Union[str, Mapping[str, Any], None] = None,
    config: Any = None,
    preset: Optional[str] = None,
    overrides: Any = None,
    keep_float: Union[str, Iterable[str], None] = None,
    framework_info: Any = None,
    recipe: Union[Path_, Mapping[str, Any], None] = None,
    allow_mismatch: bool = False,
    compare: bool = True,
    classes: bool = False,
    runtime: str = "x64",
    measure: Union[bool, Timer] = False,
    metric: Optional[Function] = None,
    accuracy: Optional[float] = None,
    sqnr: Optional[float] = None,
    format: str = "onnx",
    threads: int = 0,
    progress: Union[Progress, bool, None] = None,
    trainable_quantizers: Iterable[type] = (),
    _training: Any = None,
    **fields: Any,
) -> Result:
    """Makes an int8 ONNX file of a float model, or a .tflite file.

    samples: an array of shape (N, ...) for a model of one input, `{name: array}`, something to iterate over that gives
        samples or batches (with labels beside them, as a DataLoader does), or paths of folders and files. Not needed where
        weights alone are quantized (weight-only-int8, ...).
    labels: the class number of each sample: accuracy of both models is then in the report, and a training whose
        label_weight is above 0 learns from them. Class folders bring their own.
    platform: where the model will run: "ort-cpu" (the default), another of `platforms()`, or a platform file.
    statistics: of `calibrate()`, in place of samples or beside them.
    calibration_samples: calibrate on so many samples, spread evenly, and evaluate on the others. By default all calibrate,
        but 128 and at most half of them where there are labels.
    compare: whether the report looks at the error of each layer, on at most 64 samples.
    runtime: whose arithmetic the report is in: "x64", "wasm", "arm64" or "avx2"; that of a .tflite file is "tflite-micro".
    format: of the file: "onnx" (operators between DequantizeLinear and QuantizeLinear), "qoperator" (the same numbers in
        QLinearConv and the like, for old versions of ONNX Runtime), or "tflite" for TensorFlow Lite (platforms "tflite"
        and "tflite-micro").
    metric: a function of one's own, `metric(outputs, labels) -> float`, more being better: of the outputs by name, as `run()`
        gives them, and the labels of the same samples, which need not be class numbers. What is tried on samples held aside, the
        verdict and `accuracy` then go by it, and `report["metric"]` has what it says of both models. It is called in this
        thread, also with parts of the samples (7 of 8 held aside). As with labels, half of the samples calibrate, at most 128.
    accuracy: the smallest file with at most so many percentage points of right answers less than the float model, or hundredths
        of `metric`; where the platform offers several numbers of bits, else with the fewest operators in float.
    sqnr: the same with at least so many dB in every output.
    measure: take the fastest of the files that are as accurate, timed here in the package onnxruntime for some seconds, with
        one thread. The recipe repeats the choice anywhere without measuring; the report's `time` is what was measured.
    threads: how many work; 0: one for each core. The result does not depend on it.
    config: fields of the configuration (docs/configuration.md) as a dictionary or a JSON file's path; or an
        `mct.QuantizationConfig`, which sets every field to the requirement documents' default that it does not name.
    keep_float: names of nodes and operator types that stay in float; "none" switches the automatic choice off. By patterns
        and parts of the graph: `ignored_scope={"patterns": [...]}`, or an `nncf.IgnoredScope`.
    overrides, framework_info: dictionaries, or the classes of `tersor.mct` and `tersor.tfmot`.
    trainable_quantizers: classes that derive from `mct.trainable_infrastructure.BaseTrainableQuantizer` and that the recipe or
        an override's `trainable_quantizer` names; an override may hold the class itself.
    progress: a function that hears of it, or True for bars in a notebook and a terminal.
    fields: of the configuration by name, as in `effort=2, weights_n_bits=4`; they win over `config`.
    """
    require_no_argument(fields, quantize)
    opened = open_model(model)
    timer = timer_of(measure)
    overrides, trainable = with_names(overrides, trainable_quantizers)
    settings = settings_of(
        opened, platform, config, fields, preset, overrides, framework_info, recipe, allow_mismatch, keep_float
    )
    settings["format"] = format
    if (accuracy is not None or sqnr is not None) and (samples is None or statistics is not None):
        place = "sqnr" if accuracy is None else "accuracy"
        raise Error("invalid_argument", "accuracy and sqnr need samples, and take no statistics.", place, "Give samples alone.")
    parts = [] if statistics is None else [statistics] if isinstance(statistics, Statistics) else list(statistics)
    made, _ = _quantized(
        opened,
        samples,
        labels,
        settings,
        preprocessing,
        calibration_samples,
        statistics=[one.bytes for one in parts],
        runtime=runtime,
        classes=classes,
        compare=compare,
        timer=timer,
        metric=metric,
        aim=None if accuracy is None and sqnr is None else (accuracy, sqnr),
        training=_training,
        trainable=trainable,
        threads=threads,
        progress=progress,
    )
    return made


def _quantized(
    opened: _core.OpenModel,
    samples: Optional[Samples],
    labels: Any,
    settings: dict[str, Any],
    preprocessing: Any,
    limit: Optional[int],
    *,
    statistics: Iterable[bytes] = (),
    runtime: str,
    classes: bool = False,
    compare: bool = True,
    timer: Any = None,
    limits: Optional[tuple[Optional[float], Optional[float]]] = None,
    metric: Optional[Function] = None,
    aim: Optional[tuple[Optional[float], Optional[float]]] = None,
    training: Any = None,
    trainable: Iterable[Any] = (),
    threads: int,
    progress: Union[Progress, bool, None],
) -> tuple[Result, str]:
    """A result, and what `limits` (points lost at most, decibels at least) say of it as JSON. A recipe of the settings brings its
    preprocessing and its number of samples, where none are given."""
    followed = settings["recipe"]
    if followed is not None and preprocessing is None:
        preprocessing = followed.get("preprocessing")
    data, known, own = None, [], None
    if samples is not None:
        data, labels = open_samples(opened, samples, preprocessing, labels)
        if metric is None:
            known = labels_of(data, labels)
        else:
            own = OwnMetric(metric, data, labels)
    elif metric is not None:
        raise Error("invalid_argument", "A metric needs samples to judge outputs of.", "metric", "Give samples.")
    if limit is None and followed is not None:
        used = followed["data_set"]
        limit = used["samples"] if used["samples"] < used["of"] else 0 if limits is not None else None
    if limit is None:
        judges = known or metric is not None or aim is not None
        limit = _core.default_calibration_count(data.size) if data is not None and judges else 0
    text = as_json(settings, "config")
    bar = ProgressBar() if progress is True else None if progress is False else progress
    called = None if own is None else (own.name, own.some)
    with bar if isinstance(bar, ProgressBar) else nullcontext():
        made = _core.quantize(
            opened,
            text,
            list(statistics),
            data,
            known,
            limit,
            runtime,
            classes,
            compare,
            timer,
            called,
            aim,
            limits,
            training,
            list(trainable),
            threads,
            bar,
        )
    bytes_, recipe, report, gathered, checked = made
    return Result(bytes_, json.loads(report), json.loads(recipe), Statistics(gathered)), checked


def check(
    model: Model,
    samples: Samples,
    recipe: Union[Path_, Mapping[str, Any]],
    labels: Any = None,
    *,
    max_loss: Optional[float] = None,
    min_sqnr: Optional[float] = None,
    metric: Optional[Function] = None,
    config: Any = None,
    runtime: str = "x64",
    threads: int = 0,
    progress: Union[Progress, bool, None] = None,
    **fields: Any,
) -> dict[str, Any]:
    """Makes the file that a recipe says, of a model and samples that may have changed since, and judges it: `passed`, and `rows`
    of what was judged (docs/recipe.md).

    max_loss: the most percentage points that may be lost: of right answers where there are labels, else of answers that are the
        float model's.
    min_sqnr: the least SQNR of every output, in dB.
    metric: as of `quantize()`; `max_loss` is then in hundredths of it.
    config, fields: over those of the recipe.
    """
    require_no_argument(fields, check)
    opened = open_model(model)
    settings = settings_of(opened, config=config, fields=fields, recipe=recipe, allow_mismatch=True)
    limits = (max_loss, min_sqnr)
    _, checked = _quantized(
        opened,
        samples,
        labels,
        settings,
        None,
        None,
        runtime=runtime,
        limits=limits,
        metric=metric,
        threads=threads,
        progress=progress,
    )
    return json.loads(checked)


def tradeoff(
    model: Model,
    samples: Samples,
    labels: Any = None,
    platform: Optional[Platform] = None,
    *,
    points: int = 7,
    calibration_samples: int = 0,
    preprocessing: Union[str, Mapping[str, Any], None] = None,
    config: Any = None,
    preset: Optional[str] = None,
    overrides: Any = None,
    keep_float: Union[str, Iterable[str], None] = None,
    framework_info: Any = None,
    threads: int = 0,
    progress: Optional[Progress] = None,
    **fields: Any,
) -> dict[str, Any]:
    """Error and accuracy by what the model may take: `points`, one quantization for each of so many budgets, each with its
    `size_bytes`, `output_sqnr_db`, `accuracy` and `recipe`. `resource` says what is limited: bytes of weights where the platform
    offers several numbers of bits, else the operators in float. Calibrates on 128 samples, at most half, and measures on the
    others."""
    require_no_argument(fields, tradeoff)
    opened = open_model(model)
    settings = settings_of(opened, platform, config, fields, preset, overrides, framework_info, keep_float=keep_float)
    data, labels = open_samples(opened, samples, preprocessing, labels)
    known = labels_of(data, labels)
    text = as_json(settings, "config")
    return json.loads(_core.tradeoff(opened, data, text, known, calibration_samples, points, threads, progress))


def tune(
    model: Model,
    samples: Samples,
    labels: Any = None,
    platform: Optional[Platform] = None,
    *,
    epochs: Optional[int] = None,
    minutes: Optional[float] = None,
    checkpoint: Optional[Path_] = None,
    resume: Union[Path_, bytes, None] = None,
    callback: Optional[Callable[[dict[str, Any]], Any]] = None,
    progress: Union[Progress, bool, None] = None,
    gradient_ptq_config: Any = None,
    **arguments: Any,
) -> Result:
    """The same as `quantize()`, whose other arguments it takes, with a training of rounding, biases and ranges on the samples
    (docs/training.md); towards the labels too where they are given.

    epochs: go through the samples so often; 20 by default.
    minutes: train for about so many minutes in place of epochs.
    checkpoint: a file that is written with where the training stands, every 30 seconds and at the end.
    resume: such a file, or its bytes, to go on from, with the same model, samples and settings.
    callback: called after each round with `step` of `steps`, `loss`, and what the samples held aside say: `before_db`,
        `best_db`, `last_db`, with labels `before_right`, `best_right` and `last_right` of `held`. When it returns True the
        training ends with the best so far, and the recipe says after how many steps; what it raises ends the call.
    progress: as of `quantize()`; the bar of the training says the loss and the best of the samples held aside too.
    """
    if epochs is not None and minutes is not None:
        raise Error("invalid_argument", "A training goes by epochs or by minutes.", "minutes", "Give one of them.")
    if minutes is not None and not minutes > 0:
        raise Error("invalid_argument", f"A training of {minutes} minutes is none.", "minutes", "Give more than 0.")
    state = resume
    if resume is not None and not isinstance(resume, (bytes, bytearray, memoryview)):
        try:
            with open(resume, "rb") as file:
                state = file.read()
        except OSError as error:
            raise Error("io", f"The checkpoint cannot be read: {error.strerror}.", os.fspath(resume)) from error
    keep = None if checkpoint is None else lambda bytes_: _write(checkpoint, bytes_)
    bar = ProgressBar() if progress is True else None

    def watch(now: str) -> bool:
        training_now = json.loads(now)
        if bar is not None:
            bar.train(training_now)
        return callback is not None and callback(training_now) is True

    hears = None if bar is None and callback is None else watch
    run = (None if minutes is None else float(minutes), None if state is None else bytes(state), keep, hears)
    training = dict(plain(gradient_ptq_config) or {})
    if epochs is not None:
        training["n_epochs"] = epochs
    if labels is not None and arguments.get("metric") is None:  # whose labels need not be classes
        training.setdefault("label_weight", 0.5)
    heard = progress if bar is None else bar
    return quantize(model, samples, labels, platform, gradient_ptq_config=training, progress=heard, _training=run, **arguments)


@named
def convert(model: Model, output: Optional[Path_] = None, *, opset: int = 0, external: bool = False) -> bytes:
    """Writes a model anew, raised to a newer operator set where asked to, and returns its bytes.

    external: large weights go into a file beside `output`, whose name is that with ".data" behind it.
    """
    if external and output is None:
        raise Error("invalid_argument", "Weights in a file beside the model need a model that is a file.", "external", "Give output.")
    location = f"{os.path.basename(os.fspath(output))}.data" if external and output is not None else ""
    data, _, beside = model_parts(model)
    made, weights = _core.convert(data, beside, opset, location)
    if output is not None:
        if external:
            _write(os.path.join(os.path.dirname(os.fspath(output)), location), weights)
        _write(output, made)
    return made


def calibrate(
    model: Model,
    samples: Samples,
    platform: Optional[Platform] = None,
    *,
    shard: tuple[int, int] = (1, 1),
    calibration_samples: Optional[int] = None,
    preprocessing: Union[str, Mapping[str, Any], None] = None,
    config: Any = None,
    preset: Optional[str] = None,
    overrides: Any = None,
    keep_float: Union[str, Iterable[str], None] = None,
    framework_info: Any = None,
    threads: int = 0,
    progress: Optional[Progress] = None,
    **fields: Any,
) -> Statistics:
    """Runs samples through the float model and keeps what it saw, for `quantize(statistics=...)`.

    shard: (2, 4) takes the second of four parts of the samples; `merge()` puts the four together, to the same bytes as one
        process gives. Of an array that is mapped from a file (`numpy.load(path, mmap_mode="r")`) only these are read.
    The other arguments are those of `quantize()`.
    """
    require_no_argument(fields, calibrate)
    opened = open_model(model)
    settings = settings_of(opened, platform, config, fields, preset, overrides, framework_info, keep_float=keep_float)
    data, _ = open_samples(opened, samples, preprocessing)
    number, count = shard
    text = as_json(settings, "config")
    limit = calibration_samples or 0
    return Statistics(_core.calibrate(opened, data, text, limit, number, count, threads, progress))


def merge(parts: Iterable[Statistics]) -> Statistics:
    """Statistics of parts of one data set as those of all: in any order and grouping the same bytes."""
    given = [one.bytes for one in parts]
    if not given:
        raise Error("invalid_argument", "There are no statistics to put together.", "parts")
    return Statistics(_core.merge(given))


@named
def variants(
    model: Model,
    samples: Optional[Samples] = None,
    *,
    only: Optional[Iterable[str]] = None,
    calibration_samples: Optional[int] = None,
    preprocessing: Union[str, Mapping[str, Any], None] = None,
    threads: int = 0,
    progress: Optional[Progress] = None,
) -> Iterator[Variant]:
    """Every file that a model may be shipped as, float16 to 4 bits, each as soon as it is there (docs/variants.md).

        for one in tersor.variants("model.onnx", samples):
            print(one)
            one.save("onnx/")

    samples: half of them calibrate, 128 at most or `calibration_samples`, and the others judge. Without any, weights alone
        are in integers, and nothing is judged.
    only: some of the words "fp32", "fp16", "q8", "int8", "uint8", "q4", "q4_int8", "q4f16"; by default all.
    """
    opened = open_model(model)
    data = None if samples is None else open_samples(opened, samples, preprocessing)[0]
    names = [only] if isinstance(only, str) else list(only or [])
    maker = _core.variants(opened, data, calibration_samples or 0, names)

    def rows() -> Iterator[Variant]:
        while (made := maker.next(threads, progress)) is not None:
            row, content = made
            yield Variant(content, **json.loads(row))

    return rows()


@named
def evaluate(
    model: Model,
    samples: Samples,
    labels: Any = None,
    metric: Optional[Metric] = None,
    *,
    reference: Optional[Model] = None,
    group: int = 1,
    preprocessing: Union[str, Mapping[str, Any], None] = None,
    runtime: str = "x64",
    threads: int = 0,
    progress: Optional[Progress] = None,
) -> dict[str, Any]:
    """How often a model, float or quantized, is right: `value` from 0 to 1 with `count`, `correct` and `interval`.

    metric: "top1", "top5", "auc", "reconstruction-auc" (with `group`), or "answers", which needs no labels; by default
        "top1" where there are labels, else "answers". Or a function of the outputs and the labels, as in
        `metric=lambda outputs, labels: float((outputs["y"].argmax(1) == labels).mean())`: `value` is what it returns, and
        `reference_value` what it returns of the reference.
    reference: another model, such as the float one: same answers (`agreement`) and SQNR of each output are added.
    """
    opened = open_model(model)
    other = None if reference is None else open_model(reference)
    if other is not None:  # a .tflite file has channels last
        opened, other = _core.as_made_from(opened, other), _core.as_made_from(other, opened)
    data, labels = open_samples(opened, samples, preprocessing, labels)
    if callable(metric):
        own = OwnMetric(metric, data, labels)
        found: dict[str, Any] = {"metric": own.name, "count": data.size}
        for key, one in (("value", opened), ("reference_value", other)):
            if one is not None:
                found[key] = own.value(_outputs(one, data, runtime, threads, progress), own.labels, data.size)
        return found
    known: list[int] = []
    if metric != "answers":
        known = labels_of(data, labels, group)
    if metric is None:
        metric = "top1" if known else "answers"
    if not known and metric != "answers":
        raise Error("invalid_labels", f'"{metric}" needs labels, and there are none.', "labels", "Give one a sample.")
    return json.loads(_core.evaluate(opened, other, data, known, metric, runtime, group, threads, progress))


@named
def compare(
    model: Model,
    quantized: Union[Model, Result],
    samples: Samples,
    *,
    labels: Any = None,
    metric: Optional[Function] = None,
    classes: bool = False,
    output_roles: Optional[Mapping[str, str]] = None,
    preprocessing: Union[str, Mapping[str, Any], None] = None,
    runtime: str = "x64",
    threads: int = 0,
    progress: Optional[Progress] = None,
) -> dict[str, Any]:
    """What quantization did, layer by layer: `layers`, `outputs`, `agreement`, ..., and the `verdict` of these samples
    (docs/report.md). `output_roles` is as the field of the configuration: {"y": "boxes"}. `metric`: a function of the outputs and
    the labels, as of `evaluate()`: `metric` in the answer has what it returns of both models, {"float": ..., "quantized": ...}."""
    opened = open_model(model)
    other = open_model(quantized.bytes if isinstance(quantized, Result) else quantized)
    data, labels = open_samples(opened, samples, preprocessing, labels)
    roles = json.dumps(dict(output_roles or {}))
    compared = json.loads(_core.compare(opened, other, data, runtime, classes, roles, threads, progress))
    if metric is not None:
        own = OwnMetric(metric, data, labels)
        outputs = [_outputs(one, data, runtime, threads, progress) for one in (opened, other)]
        values = (own.value(one, own.labels, data.size) for one in outputs)
        compared["metric"] = dict(zip(("float", "quantized"), values))
    return compared


@named
def run(
    model: Model,
    samples: Samples,
    *,
    preprocessing: Union[str, Mapping[str, Any], None] = None,
    runtime: str = "x64",
    threads: int = 0,
    progress: Optional[Progress] = None,
) -> dict[str, Any]:
    """Outputs of a model, float or quantized, by name: one array with the samples along its first axis, or a list of arrays
    where they differ in shape. A quantized model runs in the arithmetic of ONNX Runtime, bit for bit."""
    opened = open_model(model)
    data, _ = open_samples(opened, samples, preprocessing)
    return _outputs(opened, data, runtime, threads, progress)


def _outputs(
    opened: _core.OpenModel, data: _core.OpenData, runtime: str, threads: int, progress: Optional[Progress]
) -> dict[str, Any]:
    return arrays_of(_core.run(opened, data, runtime, threads, progress))


@named
def inspect(model: Model) -> dict[str, Any]:
    """Inputs, outputs, operators, weights and warnings of a model."""
    return json.loads(_core.inspect(open_model(model)))


def platforms(name: Optional[Platform] = None, **fields: Any) -> Any:
    """What files can be made for: a list; or how the platform of that name quantizes each operator set under these fields of
    the configuration."""
    if name is None:
        return json.loads(_core.platforms())
    return json.loads(_core.platform(as_json(platform_of(name), "platform"), as_json(fields, "config")))
