#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/samples/material.h: small pictures and archives made by other software, and the pixels that it reads from them.

Needs numpy, Pillow and jpegtran (Debian's libjpeg-turbo-progs); run by hand when a case is added, not by any test. Seeds are fixed."""
import hashlib
import io
import pathlib
import subprocess
import tempfile
import unittest.mock
import zipfile
import zlib

import numpy as np
from PIL import Image, ImageOps

ROOT = pathlib.Path(__file__).resolve().parent.parent


def photo(height, width, channels, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 100 * np.sin(x / (5 + 3 * c) + y / (7 + c) + c) for c in range(channels)]
    return np.clip(np.stack(waves, -1) + rng.normal(0, 15, (height, width, channels)), 0, 255).astype(np.uint8)


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def jpeg(height, width, channels, seed, **options):
    pixels = photo(height, width, channels, seed)
    image = Image.fromarray(pixels[..., 0] if channels == 1 else pixels)
    return saved(image, "JPEG", **options)


def with_separate_scans(data):
    """The same picture, each component in a scan of its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as scans:
        scans.write("0;\n1;\n2;\n")
        scans.flush()
        return subprocess.run(["jpegtran", "-scans", scans.name], input=data, stdout=subprocess.PIPE, check=True).stdout


def exif(orientation):
    block = Image.Exif()
    block[0x0112] = orientation
    return block


def pictures():
    yield "kJpegSquare420", jpeg(16, 16, 3, 1, quality=60, subsampling=2)
    yield "kJpegOdd420", jpeg(13, 19, 3, 2, quality=75, subsampling=2)
    yield "kJpegOdd422", jpeg(9, 21, 3, 3, quality=75, subsampling=1)
    yield "kJpeg444Restarts", jpeg(11, 18, 3, 4, quality=80, subsampling=0, restart_marker_blocks=2)
    yield "kJpegGrey", jpeg(10, 14, 1, 5, quality=70)
    yield "kJpegProgressive", jpeg(17, 23, 3, 6, quality=85, subsampling=2, progressive=True)
    yield "kJpegProgressiveGrey", jpeg(20, 12, 1, 7, quality=90, progressive=True)
    yield "kJpeg411", jpeg(12, 37, 3, 8, quality=70, subsampling="4:1:1")
    yield "kJpegStoredRgb", jpeg(9, 9, 3, 9, quality=80, keep_rgb=True)
    yield "kJpegTurned", jpeg(8, 20, 3, 10, quality=70, exif=exif(6))
    yield "kJpegSeparateScans", with_separate_scans(jpeg(21, 37, 3, 15, quality=70, subsampling=2))
    yield "kPngRgb", saved(Image.fromarray(photo(12, 17, 3, 11)), "PNG")
    yield "kPngPalette", saved(Image.fromarray(photo(9, 13, 3, 12)).quantize(7), "PNG")
    yield "kPngBits", saved(Image.fromarray(photo(9, 13, 1, 13)[..., 0]).convert("1"), "PNG")
    yield "kPngTurned", saved(Image.fromarray(photo(6, 10, 3, 14)), "PNG", exif=exif(5))


def expected(data):
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    image = image.convert("L" if image.mode in ("L", "1") else "RGB")
    return image.size, np.asarray(image).tobytes()


def triangle(length, to):
    """The weights of the antialiased triangle filter as a dense matrix [to, length]."""
    scale = length / to
    support = max(scale, 1.0)
    centers = (np.arange(to) + 0.5) * scale
    weights = np.zeros((to, length))
    for i, center in enumerate(centers):
        low, high = max(int(center - support + 0.5), 0), min(int(center + support + 0.5), length)
        at = np.arange(low, high)
        weights[i, low:high] = np.maximum(0, 1 - np.abs((at - center + 0.5) / support))
    return weights / weights.sum(1, keepdims=True)


def resized(pixels, height, width):
    wide = np.einsum("yxc,ox->yoc", pixels.astype(np.float64), triangle(pixels.shape[1], width))
    tall = np.einsum("yxc,oy->oxc", wide, triangle(pixels.shape[0], height))
    return np.floor(tall + 0.5).astype(np.uint8)


def literal(name, data):
    lines = [", ".join(f"0x{b:02x}" for b in data[i:i + 20]) for i in range(0, len(data), 20)]
    return f"inline constexpr uint8_t {name}[] = {{\n    " + ",\n    ".join(lines) + "};\n"


def main():
    out = ["// SPDX-License-Identifier: Apache-2.0\n// Made by scripts/make_sample_material.py: do not edit.\n"
           "#pragma once\n\n#include <cstdint>\n\n// clang-format off\nnamespace tersor::test::material {\n"]
    cases = []
    for name, data in pictures():
        (width, height), pixels = expected(data)
        out.append(literal(name, data))
        cases.append(f'    {{"{name}", {name}, sizeof({name}), {width}, {height}, "{hashlib.sha256(pixels).hexdigest()}"}},')
    out.append("// Size and SHA-256 of the pixels as Pillow reads them, EXIF orientation applied.\n"
               "struct PictureCase {\n  const char* name;\n  const uint8_t* data;\n  unsigned long size;\n"
               "  int width, height;\n  const char* pixels;\n};\ninline constexpr PictureCase kPictures[] = {\n" + "\n".join(cases) + "\n};\n")

    cmyk = Image.fromarray(photo(8, 8, 4, 20), "CMYK")
    out.append(literal("kJpegCmyk", saved(cmyk, "JPEG", quality=60)))

    small = photo(13, 17, 3, 21)
    out.append(literal("kResizeFrom", small.tobytes()))
    out.append(literal("kResizeTo5x7", resized(small, 7, 5).tobytes()))
    out.append(literal("kResizeTo29x20", resized(small, 20, 29).tobytes()))

    archive = io.BytesIO()
    np.savez_compressed(archive, a=np.arange(24, dtype=np.float32).reshape(4, 3, 2), b=np.arange(4, dtype=np.int64)[:, None])
    out.append(literal("kNpzDeflated", archive.getvalue()))
    archive = io.BytesIO()
    np.savez(archive, a=np.arange(6, dtype=np.float32).reshape(1, 3, 2), b=np.array([[7]], dtype=np.int64))
    out.append(literal("kNpzStored", archive.getvalue()))
    # As an archive over 4 GB with 65535 members is written: nothing has room in its usual place.
    archive = io.BytesIO()
    with unittest.mock.patch.multiple(zipfile, ZIP64_LIMIT=0, ZIP_FILECOUNT_LIMIT=0):
        np.savez(archive, a=np.arange(6, dtype=np.float32).reshape(1, 3, 2), b=np.array([[7]], dtype=np.int64))
    large = archive.getvalue()
    out.append(literal("kNpzLarge", large[:-14] + b"\xff" * 12 + large[-2:]))

    text = b"".join(b"%d: what is deflated must inflate to itself. " % i for i in range(60))
    for name, level, strategy in (("kDynamic", 9, zlib.Z_DEFAULT_STRATEGY), ("kFixed", 9, zlib.Z_FIXED), ("kUnpacked", 0, 0)):
        packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
        out.append(literal("kDeflate" + name[1:], packer.compress(text[:700]) + packer.flush()))
    out.append(f'inline constexpr char kDeflated[] = "{text[:700].decode()}";\n')
    out.append("}  // namespace tersor::test::material\n// clang-format on\n")
    (ROOT / "tests" / "samples" / "material.h").write_text("\n".join(out))


if __name__ == "__main__":
    main()
