# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the characters' demo: one character, turned and sheared, on a coloured and cluttered ground, with noise.

A picture depends on its generator, font and character alone. Every picture is reduced to a small palette, those
of the training set too, so that the network learns on what the files will hold.
"""

import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

CLASSES = "235689ABEFGKPRSZ"  # in bytewise order, as a data set numbers its folders; look-alikes on purpose
SIZE = 48  # pixels, height and width
COLOURS = 16

_FINE = 2  # characters are drawn on a canvas this many times finer, then averaged down
_CANVAS = SIZE * _FINE
_OTHERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"  # neighbours that reach into the picture

_font_cache: dict[tuple[Path, int], ImageFont.FreeTypeFont] = {}


def _font(path: Path, size: int) -> ImageFont.FreeTypeFont:
    key = (path, size)
    if key not in _font_cache:
        _font_cache[key] = ImageFont.truetype(str(path), size, layout_engine=ImageFont.Layout.BASIC)
    return _font_cache[key]


def _draw_line_of_text(rng: np.random.Generator, path: Path, character: str) -> Image.Image:
    """The character in the middle of a canvas, often with the edges of its neighbours."""
    font = _font(path, 4 * int(rng.integers(14, 21)))
    canvas = Image.new("L", (_CANVAS, _CANVAS))
    draw = ImageDraw.Draw(canvas)
    left, top, right, bottom = draw.textbbox((0, 0), character, font=font)
    x = (_CANVAS - left - right) / 2
    y = (_CANVAS - top - bottom) / 2
    draw.text((x, y), character, fill=255, font=font)
    gap = rng.uniform(5, 16)
    if rng.random() < 0.45:
        before = _OTHERS[rng.integers(len(_OTHERS))]
        box = draw.textbbox((0, 0), before, font=font)
        draw.text((x + left - gap - box[2], y), before, fill=255, font=font)
    if rng.random() < 0.45:
        after = _OTHERS[rng.integers(len(_OTHERS))]
        box = draw.textbbox((0, 0), after, font=font)
        draw.text((x + right + gap - box[0], y), after, fill=255, font=font)
    return canvas


def _distort(rng: np.random.Generator, canvas: Image.Image) -> np.ndarray:
    """Turned by up to 24 degrees, sheared, scaled, moved, slightly in perspective; coverage [SIZE, SIZE] in 0..1."""
    angle = np.deg2rad(rng.uniform(-24, 24))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shear = np.array([[1.0, rng.uniform(-0.3, 0.3)], [0.0, 1.0]])
    scale = np.diag(1.0 / rng.uniform(0.7, 1.15, size=2))
    matrix = turn @ shear @ scale
    middle = np.full(2, _CANVAS / 2)
    offset = middle - matrix @ (middle + rng.uniform(-9, 9, size=2))
    tilt = rng.uniform(-0.0012, 0.0012, size=2)
    # A point p of the result shows (matrix p + offset) / (1 + tilt . (p - middle)) of the canvas.
    norm = 1.0 - float(tilt @ middle)
    rows = np.column_stack([matrix, offset]) / norm
    data = (*rows[0], *rows[1], *(tilt / norm))
    turned = canvas.transform(canvas.size, Image.Transform.PERSPECTIVE, data, Image.Resampling.BICUBIC)
    return np.asarray(turned.resize((SIZE, SIZE), Image.Resampling.BOX), np.float64) / 255.0


def _luminance(colour: np.ndarray) -> float:
    return float(colour @ np.array([0.299, 0.587, 0.114]))


def _colour(rng: np.random.Generator) -> np.ndarray:
    """A colour of any luminance, seldom a glaring one."""
    colour = rng.uniform(0, 255, size=3)
    return colour + rng.uniform(0.1, 0.7) * (_luminance(colour) - colour)


def _colours(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two ground colours and an ink that stands out from both, some of them only just."""
    contrast = rng.uniform(40, 150)
    while True:
        ground = _colour(rng)
        other = np.clip(ground + rng.normal(0, 25, size=3), 0, 255)
        ink = _colour(rng)
        if min(abs(_luminance(ink) - _luminance(c)) for c in (ground, other)) >= contrast:
            return ground, other, ink
        contrast *= 0.98  # a middling ground leaves little room


def _ground(rng: np.random.Generator, first: np.ndarray, second: np.ndarray, ink: np.ndarray) -> np.ndarray:
    """A gradient between two colours with a few strokes and discs of weak contrast; [SIZE, SIZE, 3]."""
    angle = rng.uniform(0, 2 * np.pi)
    grid = np.linspace(-1, 1, SIZE)
    ramp = np.cos(angle) * grid[None, :] + np.sin(angle) * grid[:, None]
    ramp = np.clip(0.5 + 0.5 * ramp, 0, 1)[..., None]
    pixels = (1 - ramp) * first + ramp * second
    for _ in range(rng.integers(0, 5)):
        mask = Image.new("L", (SIZE, SIZE))
        draw = ImageDraw.Draw(mask)
        ends = rng.uniform(-8, SIZE + 8, size=4)
        if rng.random() < 0.6:
            draw.line(list(ends), fill=255, width=int(rng.integers(1, 5)))
        else:
            radius = rng.uniform(3, 14)
            draw.ellipse([ends[0] - radius, ends[1] - radius, ends[0] + radius, ends[1] + radius], fill=255)
        strength = rng.uniform(0.05, 0.4)
        tint = ink if rng.random() < 0.5 else _colour(rng)
        cover = strength * np.asarray(mask, np.float64)[..., None] / 255.0
        pixels = (1 - cover) * pixels + cover * tint
    return pixels


def _scratch(rng: np.random.Generator, pixels: np.ndarray, colour: np.ndarray) -> np.ndarray:
    """A thin line in the ground's colour across the character."""
    mask = Image.new("L", (_CANVAS, _CANVAS))
    ends = rng.uniform(0, _CANVAS, size=4)
    ImageDraw.Draw(mask).line(list(ends), fill=255, width=int(rng.integers(2, 6)))
    cover = np.asarray(mask.resize((SIZE, SIZE), Image.Resampling.BOX), np.float64)[..., None] / 255.0
    return (1 - cover) * pixels + cover * colour


def picture(rng: np.random.Generator, font: Path, character: str) -> Image.Image:
    """One picture in palette form, SIZE x SIZE, at most COLOURS colours."""
    cover = _distort(rng, _draw_line_of_text(rng, font, character))[..., None]
    first, second, ink = _colours(rng)
    pixels = (1 - cover) * _ground(rng, first, second, ink) + cover * ink
    if rng.random() < 0.35:
        pixels = _scratch(rng, pixels, first)
    image = Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))
    if rng.random() < 0.6:
        image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.3)))
    noise = rng.normal(0, rng.uniform(1, 13), size=(SIZE, SIZE, 1))
    pixels = np.asarray(image, np.float64) + noise
    image = Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))
    return image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(image: Image.Image) -> bytes:
    """An 8-bit palette PNG, its rows unfiltered: filters only lengthen noisy palette pictures."""
    numbers = np.asarray(image)
    palette = bytes(image.getpalette("RGB"))[: 3 * (int(numbers.max()) + 1)]
    rows = b"".join(b"\0" + row.tobytes() for row in numbers)
    header = struct.pack(">IIBBBBB", image.width, image.height, 8, 3, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"PLTE", palette)
            + _chunk(b"IDAT", zlib.compress(rows, 9)) + _chunk(b"IEND", b""))


def labelled(seed: int, part: int, fonts: list[Path], count: int) -> tuple[list[Image.Image], np.ndarray]:
    """`count` pictures and their class numbers, classes and fonts evenly used; `part` keeps the sets apart."""
    images, labels = [], np.empty(count, np.int32)
    for index in range(count):
        rng = np.random.default_rng([seed, part, index])
        labels[index] = index % len(CLASSES)
        font = fonts[(index // len(CLASSES)) % len(fonts)]
        images.append(picture(rng, font, CLASSES[labels[index]]))
    return images, labels
