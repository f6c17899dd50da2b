# SPDX-License-Identifier: Apache-2.0
"""Pictures that callers hold in memory, as files that the core decodes: it preprocesses them as those of a folder."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Any, Optional

import numpy

from ._error import Error

CHANNELS = (1, 3, 4)
"""Grey, RGB and RGBA; transparency is laid over white, as in files."""


def is_image(value: Any) -> bool:
    """An image of Pillow, which is not needed for it."""
    return all(hasattr(value, name) for name in ("mode", "size", "convert", "tobytes"))


def pixels_of_image(image: Any, place: str) -> numpy.ndarray:
    """Its pixels as they are, (height, width, channels); palettes and other kinds become RGB or RGBA."""
    if image.mode == "F":
        message = "An image of mode F holds no pixels of 8 or 16 bits."
        raise Error("invalid_samples", message, place, "Give it as RGB or L.")
    if image.mode.startswith("I"):
        return numpy.asarray(image).astype(numpy.uint16)[..., None]
    has_alpha = "A" in image.getbands() or "transparency" in getattr(image, "info", {})
    wanted = "RGBA" if has_alpha else "L" if image.mode in ("1", "L") else "RGB"
    pixels = numpy.asarray(image if image.mode == wanted else image.convert(wanted))
    return pixels.reshape(image.size[1], image.size[0], -1)


def as_pictures(array: numpy.ndarray, spec: Mapping[str, Any], described: bool) -> Optional[numpy.ndarray]:
    """(count, height, width, channels), where uint8 numbers are pictures: with 1, 3 or 4 channels last. Where a
    preprocessing says that they are, channels may also come first, or be left out for grey. None for other arrays.
    `spec`: the input that they are for, {name, shape}; dimensions of any size are None."""
    shape = spec["shape"]
    if array.dtype != numpy.uint8 or (shape is not None and len(shape) != 4):
        return None
    channels_first = shape is not None and shape[1] in CHANNELS and shape[3] not in CHANNELS
    if array.ndim == 4 and array.shape[3] in CHANNELS:
        # Narrow pictures with channels first that fit as they are stay what they are.
        fits = shape is not None and all(want in (None, have) for want, have in zip(shape[1:], array.shape[1:]))
        return array if described or not (channels_first and fits) else None
    if array.ndim == 3 and array.shape[2] in CHANNELS:
        return array[None]
    if not described:
        return None
    if array.ndim == 4 and array.shape[1] in CHANNELS:
        return numpy.moveaxis(array, 1, 3)
    if array.ndim == 3:
        return numpy.moveaxis(array, 0, 2)[None] if array.shape[0] in CHANNELS and shape is None else array[..., None]
    return array[None, ..., None] if array.ndim == 2 else None


def file_of(pixels: numpy.ndarray, name: str) -> tuple[str, list[Any]]:
    """(path, parts) of one picture: Netpbm around the pixels' own memory; with transparency PNG."""
    height, width, channels = pixels.shape
    pixels = numpy.ascontiguousarray(pixels)
    if channels != 4:
        kind, ending = ("P5", "pgm") if channels == 1 else ("P6", "ppm")
        most = numpy.iinfo(pixels.dtype).max
        memory = pixels.astype(pixels.dtype.newbyteorder(">"), copy=False).reshape(-1).view(numpy.uint8)
        return f"{name}.{ending}", [f"{kind}\n{width} {height}\n{most}\n".encode(), memory]
    rows = numpy.zeros((height, 1 + 4 * width), numpy.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 0)), (b"IEND", b"")]
    file = b"\x89PNG\r\n\x1a\n"
    for kind, data in chunks:
        file += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return f"{name}.png", [file]
