# SPDX-License-Identifier: Apache-2.0
"""Renders the fruit demo's photographs: one fruit or vegetable on a table before a wall, by sphere tracing (JAX).

A picture depends on its generator and class alone. Shapes are signed distance functions, in units of about a hand's
breadth, y up; lamps, cloths, colours, turns and lenses vary. Every picture goes through JPEG, those of the training
set too, so that the network learns on what the files will hold.
"""

import io
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from PIL import Image

CLASSES = ("apple", "aubergine", "banana", "carrot", "lemon", "lime", "orange", "pear", "plum", "tomato")
SIZE = 96  # pixels, height and width
QUALITY = 88  # of the JPEG files

_RAYS = 112  # a side; averaged down to SIZE
_REACH = 1.2  # of the largest thing from its middle
_STEPS, _SHADOW_STEPS = 16, 8
_BATCH = 40

Array = jax.Array


# Distances of points [..., 3]. -----------------------------------------------------------------------------------------


def _length(*parts: Array) -> Array:
    return jnp.sqrt(sum(part * part for part in parts) + 1e-9)


def _capsule(p: Array, a: tuple, b: tuple, first: float | Array, last: float | Array) -> Array:
    """Between points a and b, with a radius that changes linearly."""
    start, axis = jnp.array(a), jnp.array(b) - jnp.array(a)
    h = jnp.clip((p - start) @ axis / (axis @ axis), 0, 1)
    return _length(*jnp.moveaxis(p - start - h[..., None] * axis, -1, 0)) - (first + (last - first) * h)


def _join(a: Array, b: Array, k: float) -> Array:
    """The nearer of both, rounded where they meet."""
    h = jnp.clip(0.5 + 0.5 * (b - a) / k, 0, 1)
    return b + (a - b) * h - k * h * (1 - h)


def _dimpled(p: Array, ring: float, radius: float, flat: float) -> Array:
    """A ring thicker than wide: a ball with a dimple above and below."""
    return _length(_length(p[..., 0], p[..., 2]) - ring, p[..., 1] / flat) * 0.9 - radius * 0.9


def _ellipsoid(p: Array, long: float, thick: float) -> Array:
    q = _length(p[..., 0] / long, p[..., 1] / thick, p[..., 2] / thick)
    return (q - 1) * thick


def _shape(kind: str, p: Array, r: dict[str, Array]) -> tuple[Array, Array]:
    """Distances to the body and to its stem or leaves."""
    far = jnp.full(p.shape[:-1], 9.0)
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    bend = r["bend"]
    if kind == "apple":
        return (_dimpled(p, 0.17, 0.34, 1.05 + 0.15 * bend),
                _capsule(p, (0.0, 0.2, 0.0), (0.06, 0.48, 0.03), 0.02, 0.03))
    if kind == "tomato":
        leaf = 0.09 + 0.11 * jnp.abs(jnp.cos(2.5 * jnp.arctan2(z, x))) ** 2
        star = jnp.maximum(_length(x, z) - leaf, jnp.abs(y - 0.27) - 0.035) * 0.5
        return _dimpled(p, 0.2, 0.31, 0.92), jnp.minimum(star, _capsule(p, (0.0, 0.2, 0.0), (0.02, 0.4, 0.0), 0.03, 0.02))
    if kind == "orange":
        return _length(x, y * 1.03, z) - 0.46, jnp.maximum(_length(x, z) - 0.05, jnp.abs(y - 0.44) - 0.02)
    if kind in ("lemon", "lime"):
        long, nipple = (0.52, 0.1) if kind == "lemon" else (0.45, 0.06)
        body = _ellipsoid(p, long, 0.37)
        tip = _length(jnp.abs(x) - long * 0.97, y, z) - nipple
        return _join(body, tip, 0.12), far
    if kind == "pear":
        body = _join(_length(x, y * 0.97, z) - 0.38, _length(x - 0.06 * bend, y - 0.46, z) - 0.19, 0.3)
        return body, _capsule(p, (0.05, 0.6, 0.0), (0.12, 0.82, 0.03), 0.025, 0.03)
    if kind == "plum":
        body = _length(x / 1.12, y, z) - 0.36
        groove = 0.02 * jnp.exp(-((z / 0.05) ** 2)) * (y > 0)
        return (body + groove) * 0.9, _capsule(p, (0.0, 0.3, 0.0), (0.03, 0.47, 0.0), 0.018, 0.018)
    if kind == "banana":
        reach = 0.75 + 0.25 * bend
        angle = jnp.clip(jnp.arctan2(x, z + reach), -0.68, 0.68)
        thick = 0.155 * jnp.sqrt(jnp.clip(1.02 - (angle / 0.72) ** 2, 0.06, 1))
        body = _length(x - reach * jnp.sin(angle), y, z + reach - reach * jnp.cos(angle)) - thick
        end = jnp.abs(angle) > 0.66
        return jnp.where(end, 9.0, body) * 0.9, jnp.where(end, body, 9.0) * 0.9
    if kind == "carrot":
        body = _capsule(p, (-0.42, 0.0, 0.0), (0.66, 0.0, 0.05), 0.2, 0.035)
        leaf = [_capsule(p, (-0.55, 0.0, 0.0), (-0.95, 0.12 * k, 0.16 * (k - 1) + 0.1 * k), 0.03, 0.045) for k in (0, 1, 2)]
        return body, jnp.minimum(jnp.minimum(leaf[0], leaf[1]), leaf[2])
    body = _join(_capsule(p, (-0.5, 0.0, 0.0), (0.3, 0.0, 0.12), 0.13, 0.27), _length(x - 0.4, y, z - 0.14) - 0.28, 0.2)
    cap = jnp.maximum(_length(x + 0.6, y, z) - 0.24 - 0.04 * jnp.cos(5 * jnp.arctan2(z, y)), body - 0.03)
    return body, jnp.minimum(cap * 0.8, _capsule(p, (-0.55, 0.0, 0.0), (-0.86, 0.1, 0.0), 0.05, 0.045))


# height of the middle above the table, colours of body (two to mix) and stem, gloss, mottling
_LOOKS = {
    "apple": (0.37, (0.62, 0.06, 0.07), (0.72, 0.55, 0.12), (0.22, 0.14, 0.07), 0.45, 0.9),
    "aubergine": (0.27, (0.11, 0.03, 0.14), (0.2, 0.06, 0.2), (0.2, 0.34, 0.1), 0.8, 0.2),
    "banana": (0.15, (0.86, 0.66, 0.1), (0.7, 0.62, 0.14), (0.22, 0.15, 0.06), 0.15, 0.6),
    "carrot": (0.19, (0.86, 0.34, 0.06), (0.76, 0.26, 0.05), (0.16, 0.36, 0.08), 0.1, 0.5),
    "lemon": (0.37, (0.88, 0.74, 0.1), (0.78, 0.7, 0.16), (0.4, 0.4, 0.1), 0.3, 0.5),
    "lime": (0.37, (0.3, 0.5, 0.08), (0.5, 0.6, 0.14), (0.3, 0.3, 0.1), 0.3, 0.6),
    "orange": (0.44, (0.88, 0.38, 0.04), (0.84, 0.46, 0.06), (0.2, 0.3, 0.08), 0.25, 0.4),
    "pear": (0.39, (0.62, 0.62, 0.16), (0.66, 0.46, 0.14), (0.26, 0.16, 0.07), 0.2, 0.8),
    "plum": (0.36, (0.2, 0.07, 0.22), (0.3, 0.14, 0.36), (0.24, 0.16, 0.08), 0.15, 0.8),
    "tomato": (0.29, (0.74, 0.08, 0.05), (0.76, 0.2, 0.06), (0.14, 0.34, 0.08), 0.7, 0.4),
}


def _waves(p: Array, r: dict[str, Array], scale: float) -> Array:
    """Smooth noise of about -1..1: a few sines along directions of chance."""
    return jnp.mean(jnp.sin(scale * (p @ r["waves"]) + r["phases"]), -1) * 2


def _turn(angle: Array, tilt: Array) -> Array:
    c, s, u, v = jnp.cos(angle), jnp.sin(angle), jnp.cos(tilt), jnp.sin(tilt)
    return jnp.array([[1, 0, 0], [0, u, -v], [0, v, u]]) @ jnp.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def _table(p: Array, r: dict[str, Array]) -> Array:
    """Boards, a checked cloth or a plain top; colours [..., 3]."""
    u = p[..., 0] * jnp.cos(r["grain"]) + p[..., 2] * jnp.sin(r["grain"])
    v = p[..., 2] * jnp.cos(r["grain"]) - p[..., 0] * jnp.sin(r["grain"])
    boards = 0.25 * jnp.sin(26 * v + 3 * _waves(p * jnp.array([1.0, 1.0, 1.0]), r, 1.0)) - 0.7 * (jnp.abs(v % 0.9 - 0.02) < 0.02)
    checks = 0.5 * (jnp.sin(9 * u) > 0) + 0.5 * (jnp.sin(9 * v) > 0) - 0.5
    plain = 0.2 * _waves(p, r, 5.0)
    pattern = jnp.where(r["top"] < 0.45, boards, jnp.where(r["top"] < 0.7, checks, plain))
    return jnp.clip(r["table"] + pattern[..., None] * 0.22 * r["table_other"], 0.02, 1)


def _render_one(kind: str, r: dict[str, Array]) -> Array:
    height, first, second, stem, gloss, mottled = _LOOKS[kind]
    rotation = _turn(r["yaw"], r["tilt"])

    def local(p: Array) -> Array:
        return (p - jnp.array([0.0, height, 0.0])) / r["size"] @ rotation.T

    def distances(p: Array) -> tuple[Array, Array]:
        body, leaf = _shape(kind, local(p - jnp.array([0.0, (r["size"] - 1) * height, 0.0])), r)
        return body * r["size"], leaf * r["size"]

    def distance(p: Array) -> Array:
        return jnp.minimum(*distances(p))

    eye = r["away"] * jnp.array([0.0, jnp.sin(r["down"]), -jnp.cos(r["down"])]) + jnp.array([0.0, 0.3, 0.0])
    aim = jnp.array([r["aside"], 0.3 + r["above"], 0.0])
    ahead = (aim - eye) / _length(*(aim - eye))
    right = jnp.cross(jnp.array([0.0, 1.0, 0.0]), ahead)
    right = right / _length(*right)
    grid = (jnp.arange(_RAYS) + 0.5) / _RAYS * 2 - 1
    across, up = jnp.meshgrid(grid, -grid)
    ray = ahead * r["lens"] + across[..., None] * right + up[..., None] * jnp.cross(ahead, right)
    ray = ray / _length(*jnp.moveaxis(ray, -1, 0))[..., None]

    # from the ball around the thing, or where the ray is nearest to its middle
    middle = ray @ (jnp.array([0.0, height, 0.0]) - eye)
    past = jnp.sum((jnp.array([0.0, height, 0.0]) - eye) ** 2) - middle**2
    near = middle - jnp.sqrt(jnp.maximum(_REACH**2 - past, 0))
    t = jax.lax.fori_loop(0, _STEPS, lambda _, t: t + distance(eye + t[..., None] * ray) * 0.95, near)
    hit = (distance(eye + t[..., None] * ray) < 0.02) & (t < 9)
    ground = jnp.where(ray[..., 1] < -1e-3, -eye[1] / jnp.minimum(ray[..., 1], -1e-3), 99.0)
    behind = (r["wall_at"] - eye[2]) / jnp.maximum(ray[..., 2], 1e-3)
    is_wall = behind < ground
    place = eye + jnp.where(hit, t, jnp.minimum(ground, behind))[..., None] * ray

    e = 2e-3
    corners = jnp.array([[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, 1.0, 1.0]])
    slope = sum(distance(place + e * corner)[..., None] * corner for corner in corners) / 2
    q = local(place)
    bumps = jnp.stack([jnp.cos(40 * q[..., k] + 7 * jnp.sin(23 * q[..., (k + 1) % 3])) for k in range(3)], -1)
    slope = slope + (0.0006 if kind in ("orange", "lemon", "lime") else 0.00008) * bumps
    body_normal = slope / _length(*jnp.moveaxis(slope, -1, 0))[..., None]
    flat = jnp.where(is_wall[..., None], jnp.array([0.0, 0.0, -1.0]), jnp.array([0.0, 1.0, 0.0]))
    normal = jnp.where(hit[..., None], body_normal, flat)

    body, leaf = distances(place)
    mix = jnp.clip(0.25 + mottled * 0.5 * _waves(q, r, 3.0) + r["ripe"], 0, 1)[..., None]
    skin = (1 - mix) * jnp.array(first) + mix * jnp.array(second)
    if kind == "carrot":
        skin = skin * (1 - 0.25 * (jnp.sin(34 * q[..., :1] + 2 * _waves(q, r, 2.0)[..., None]) > 0.8))
    skin = jnp.clip(skin * r["tint"], 0.01, 1)
    of_thing = jnp.where((leaf < body)[..., None], jnp.array(stem), skin)
    colour = jnp.where(hit[..., None], of_thing, jnp.where(is_wall[..., None], r["wall"] * (1 + 0.1 * _waves(place, r, 1.5)[..., None]), _table(place, r)))

    lamp = r["lamp"] / _length(*r["lamp"])

    def darken(k: int, state: tuple[Array, Array]) -> tuple[Array, Array]:
        s, light = state
        d = distance(place + normal * 0.02 + s[..., None] * lamp)
        return s + jnp.clip(d, 0.03, 0.25), jnp.minimum(light, 0.5 + 0.5 * d / (r["soft"] * s))

    _, light = jax.lax.fori_loop(0, _SHADOW_STEPS, darken, (jnp.full(across.shape, 0.03), jnp.ones(across.shape)))
    light = jnp.clip(light, 0, 1)
    light = light * light * (3 - 2 * light)
    facing = jnp.maximum(normal @ lamp, 0)
    open_air = jnp.clip(distance(place + normal * 0.15) / 0.15, 0, 1)
    ambient = r["ambient"] * (0.6 + 0.4 * normal[..., 1]) * (0.35 + 0.65 * open_air)
    half = lamp - ray
    half = half / _length(*jnp.moveaxis(half, -1, 0))[..., None]
    shine = gloss * jnp.maximum(jnp.sum(normal * half, -1), 0) ** (20 + 60 * gloss) * hit
    rim = 0.12 * gloss * (1 - jnp.maximum(jnp.sum(-normal * ray, -1), 0)) ** 3 * hit
    seen = colour * (ambient[..., None] * r["sky"] + (light * facing)[..., None] * r["bulb"]) + (shine * light + rim)[..., None]
    away = across**2 + up**2
    seen = seen * r["exposure"] * (1 - r["vignette"] * away)[..., None]
    seen = seen / (1 + 0.25 * seen)  # film's shoulder
    return jnp.clip(seen, 0, 1) ** (1 / 2.2)


@partial(jax.jit, static_argnums=0)
def _render(kind: str, r: dict[str, Array]) -> Array:
    return jax.lax.map(partial(_render_one, kind), r)


def _chances(rng: np.random.Generator, kind: str) -> dict[str, np.ndarray]:
    """All that varies from picture to picture."""
    lying = kind in ("pear", "apple", "tomato") and rng.random() < 0.25
    return {name: np.asarray(value, np.float32) for name, value in {
        "yaw": rng.uniform(0, 2 * np.pi), "tilt": rng.uniform(-1.4, 1.4) if lying else rng.normal(0, 0.12),
        "size": rng.uniform(0.72, 1.12), "bend": rng.uniform(-1, 1), "away": rng.uniform(3.6, 5.2),
        "down": rng.uniform(0.25, 0.95), "aside": rng.uniform(-0.3, 0.3), "above": rng.uniform(-0.2, 0.25),
        "grain": rng.uniform(0, np.pi), "top": rng.random(), "table": rng.uniform(0.12, 0.75) * (1 + rng.normal(0, 0.14, 3)),
        "table_other": rng.uniform(-1, 1, 3) + 0.6, "wall": rng.uniform(0.15, 0.8) * (1 + rng.normal(0, 0.16, 3)),
        "wall_at": rng.uniform(0.8, 3.5), "waves": rng.normal(0, 1, (3, 6)), "phases": rng.uniform(0, 6.3, 6),
        "ripe": rng.normal(0, 0.3), "tint": rng.uniform(0.75, 1.2) * (1 + rng.normal(0, 0.07, 3)),
        "lamp": np.array([rng.uniform(-1.2, 1.2), rng.uniform(0.7, 1.8), rng.uniform(-1.4, 0.5)]),
        "soft": rng.uniform(0.1, 0.5), "ambient": rng.uniform(0.25, 0.6), "sky": 1 + rng.normal(0, 0.06, 3),
        "bulb": rng.uniform(0.7, 1.2) * (1 + rng.normal(0, 0.09, 3)), "exposure": rng.uniform(0.55, 1.25),
        "vignette": rng.uniform(0, 0.25), "lens": rng.uniform(3.2, 5.2),
    }.items()}


def _developed(rng: np.random.Generator, seen: np.ndarray) -> bytes:
    """Averaged down, grainy, as the bytes of a JPEG file."""
    image = Image.fromarray(np.rint(seen * 255).astype(np.uint8)).resize((SIZE, SIZE), Image.Resampling.BOX)
    grain = rng.normal(0, rng.uniform(0.5, 7), (SIZE, SIZE, 1))
    pixels = np.clip(np.rint(np.asarray(image, np.float64) + grain), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=QUALITY, optimize=True)
    return file.getvalue()


def labelled(seed: int, part: int, count: int) -> tuple[list[bytes], np.ndarray]:
    """`count` JPEG files and their class numbers, classes evenly used; `part` keeps the sets apart."""
    files: list[bytes] = [b""] * count
    labels = np.arange(count, dtype=np.int32) % len(CLASSES)
    for number, kind in enumerate(CLASSES):
        mine = np.flatnonzero(labels == number)
        for at in range(0, len(mine), _BATCH):
            generators = [np.random.default_rng([seed, part, index]) for index in mine[at : at + _BATCH]]
            chances = [_chances(rng, kind) for rng in generators]
            chances += chances[:1] * (_BATCH - len(chances))  # one compiled size
            seen = np.asarray(_render(kind, jax.tree.map(lambda *a: np.stack(a), *chances)))
            for index, rng, one in zip(mine[at : at + _BATCH], generators, seen):
                files[index] = _developed(rng, one)
    return files, labels
