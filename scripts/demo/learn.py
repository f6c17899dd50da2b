# SPDX-License-Identifier: Apache-2.0
"""The training loop of the demos' networks, in JAX; train.py calls it."""

import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax

import network

BATCH = 128
PEAK_RATE = 6e-3
WEIGHT_DECAY = 2e-3
SMOOTHING = 0.05  # of the labels
MOMENTUM = 0.98  # of the running statistics

Tree = dict[str, dict[str, jax.Array]]


def initial(seed: int, layers: list[network.Conv], classes: int) -> tuple[Tree, Tree]:
    """Weights (He normal) and running statistics, by layer name. Convolution weights are [kH, kW, I / groups, O]."""
    rng = np.random.default_rng([seed, 100])
    weights: Tree = {}
    statistics: Tree = {}
    for layer in layers:
        shape = (layer.kernel, layer.kernel, layer.inputs // layer.groups, layer.outputs)
        spread = np.sqrt(2.0 / (shape[0] * shape[1] * shape[2]))
        weights[layer.name] = {
            "kernel": jnp.asarray(rng.normal(0, spread, shape), jnp.float32),
            "scale": jnp.ones(layer.outputs),
            "shift": jnp.zeros(layer.outputs),
        }
        statistics[layer.name] = {"mean": jnp.zeros(layer.outputs), "var": jnp.ones(layer.outputs)}
    features = layers[-1].outputs
    weights["classifier"] = {
        "kernel": jnp.asarray(rng.normal(0, np.sqrt(1.0 / features), (features, classes)), jnp.float32),
        "shift": jnp.zeros(classes),
    }
    return weights, statistics


def _convolve(layer: network.Conv, x: jax.Array, kernel: jax.Array) -> jax.Array:
    """NHWC, padded by half the kernel on every side."""
    if layer.kernel == 1:
        return x @ kernel[0, 0]
    if layer.groups == 1:
        return jax.lax.conv_general_dilated(
            x, kernel, (layer.stride,) * 2, ((1, 1), (1, 1)), dimension_numbers=("NHWC", "HWIO", "NHWC"))
    # Depthwise as nine shifted products: XLA's grouped convolution is many times slower on a CPU.
    padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    height, width, step = x.shape[1], x.shape[2], layer.stride
    return sum(
        padded[:, dy : dy + height : step, dx : dx + width : step] * kernel[dy, dx, 0]
        for dy in range(3)
        for dx in range(3))


def forward(layers: list[network.Conv], weights: Tree, statistics: Tree, x: jax.Array, training: bool) -> tuple[jax.Array, Tree]:
    """Scores [N, classes] of prepared pictures [N, H, W, 3], and the statistics after this batch."""
    updated: Tree = {}
    kept = x
    for layer in layers:
        if layer.opens:
            kept = x
        own = weights[layer.name]
        x = _convolve(layer, x, own["kernel"])
        running = statistics[layer.name]
        if training:
            mean, var = jnp.mean(x, (0, 1, 2)), jnp.var(x, (0, 1, 2))
            updated[layer.name] = {
                "mean": MOMENTUM * running["mean"] + (1 - MOMENTUM) * mean,
                "var": MOMENTUM * running["var"] + (1 - MOMENTUM) * var,
            }
        else:
            mean, var = running["mean"], running["var"]
        x = (x - mean) * (own["scale"] / jnp.sqrt(var + network.EPSILON)) + own["shift"]
        if layer.activation:
            x = jnp.clip(x, 0, 6) if layer.activation == "relu6" else jnp.maximum(x, 0)
        if layer.closes:
            x = x + kept
    last = weights["classifier"]
    return jnp.mean(x, (1, 2)) @ last["kernel"] + last["shift"], updated


def prepare(pixels: np.ndarray) -> np.ndarray:
    """uint8 pictures to -1..1, the preprocessing that demo.json describes."""
    return (pixels.astype(np.float32) / 255.0 - 0.5) / 0.5


def recoloured(rng: np.random.Generator, batch: np.ndarray) -> np.ndarray:
    """Channels exchanged, some pictures inverted, brightness and contrast moved."""
    order = np.argsort(rng.random((len(batch), 3)), axis=1)
    batch = np.take_along_axis(batch, order[:, None, None, :], axis=3)
    sign = np.where(rng.random(len(batch)) < 0.5, -1.0, 1.0)
    gain = sign * rng.uniform(0.8, 1.0, len(batch))
    offset = rng.uniform(-0.1, 0.1, len(batch))
    moved = batch * gain[:, None, None, None] + offset[:, None, None, None]
    return np.clip(moved, -1, 1).astype(np.float32)


def moved(rng: np.random.Generator, batch: np.ndarray) -> np.ndarray:
    """Half of the pictures mirrored, each shifted by up to 6 pixels, its edges repeated."""
    height, width = batch.shape[1:3]
    padded = np.pad(batch, ((0, 0), (6, 6), (6, 6), (0, 0)), mode="edge")
    result = np.empty_like(batch)
    for k, (top, left) in enumerate(rng.integers(0, 13, (len(batch), 2))):
        one = padded[k, top : top + height, left : left + width]
        result[k] = one[:, ::-1] if rng.random() < 0.5 else one
    return result


def _accuracy(scores_of: Callable[[np.ndarray], jax.Array], pixels: np.ndarray, labels: np.ndarray) -> float:
    right = 0
    for at in range(0, len(labels), 200):
        scores = scores_of(prepare(pixels[at : at + 200]))
        right += int(np.sum(np.argmax(np.asarray(scores), 1) == labels[at : at + 200]))
    return right / len(labels)


def train(seed: int, layers: list[network.Conv], epochs: int, vary: Callable, pixels: np.ndarray, labels: np.ndarray,
          classes: int, validation: tuple[np.ndarray, np.ndarray]) -> tuple[Tree, Tree]:
    """Weights and statistics after so many epochs of pictures that `vary` changes; prints the course of it."""
    steps = len(labels) // BATCH
    rate = optax.cosine_onecycle_schedule(epochs * steps, PEAK_RATE, pct_start=0.15)
    optimizer = optax.adamw(rate, weight_decay=WEIGHT_DECAY, mask=lambda tree: jax.tree.map(lambda a: a.ndim > 1, tree))

    def loss(weights: Tree, statistics: Tree, x: jax.Array, y: jax.Array):
        scores, updated = forward(layers, weights, statistics, x, training=True)
        target = optax.smooth_labels(jax.nn.one_hot(y, classes), SMOOTHING)
        return jnp.mean(optax.softmax_cross_entropy(scores, target)), updated

    @jax.jit
    def step(weights: Tree, statistics: Tree, state, x: jax.Array, y: jax.Array):
        (value, statistics), slope = jax.value_and_grad(loss, has_aux=True)(weights, statistics, x, y)
        change, state = optimizer.update(slope, state, weights)
        return optax.apply_updates(weights, change), statistics, state, value

    @jax.jit
    def scores_of(weights: Tree, statistics: Tree, x: jax.Array) -> jax.Array:
        return forward(layers, weights, statistics, x, training=False)[0]

    weights, statistics = initial(seed, layers, classes)
    state = optimizer.init(weights)
    rng = np.random.default_rng([seed, 101])
    for epoch in range(epochs):
        began, total = time.time(), 0.0
        order = rng.permutation(len(labels))
        for k in range(steps):
            chosen = order[k * BATCH : (k + 1) * BATCH]
            x = vary(rng, prepare(pixels[chosen]))
            weights, statistics, state, value = step(weights, statistics, state, x, labels[chosen])
            total += float(value)
        found = _accuracy(lambda x: scores_of(weights, statistics, x), *validation)
        print(f"epoch {epoch + 1}: loss {total / steps:.3f}, validation {100 * found:.1f} %, "
              f"{time.time() - began:.0f} s", flush=True)
    return weights, statistics
