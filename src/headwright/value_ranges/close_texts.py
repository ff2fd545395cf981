"""Texts that come close to a bound: a search by gradients, so that a reader sees how loose the bound is.

Three numbers stand beside the bound of the largest key: what a text that was searched for shows; what embeddings
reach that belong to no text; and what an input of the norm reaches, which no text may be able to make.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from headwright.errors import ContradictionError, InputError
from headwright.models import load_model
from headwright.value_ranges.affine import row_lengths
from headwright.value_ranges.arithmetic import arithmetic_of
from headwright.value_ranges.bounds import (
    AffineHead,
    affine_head,
    mapped_head,
    multiplied_head,
)
from headwright.value_ranges.layer import LayerWeights, NormWeights
from headwright.value_ranges.open_model import OpenedModel
from headwright.value_ranges.read_layers import read_layers
from headwright.value_ranges.result import CloseText, Ranges

LENGTH = 12  # tokens of a text, beside those that the model puts before it
DRAWN = 64  # texts at random, of which the best are climbed from
STARTS = 2
STEPS = 16
TRIED = (
    8  # changes of one token in a step: so many by the gradient, and as many at random
)
CLIMBS = 40  # steps of embeddings
SEED = 0

Progress = Callable[[float], None]
Rows = Float[np.ndarray, "inputs channels"]


def find_close_text(
    proved: Ranges, opened: OpenedModel, model: Any, progress: Progress | None = None
) -> CloseText:
    """For the head with the largest bound on a key: a text, embeddings and an input of the norm that come close."""
    target = _largest_key_head(proved)
    weights = next(
        layer
        for layer in read_layers(opened.description, opened.reader(proved.number_type))
        if layer.index == target.layer
    )
    climber = _TextClimber(_climbed(model, proved), target, proved.model)
    tokens, by_text = climber.climb_texts(progress)
    by_embeddings = climber.climb_embeddings(tokens, by_text)
    for number, what in ((by_text, "a text"), (by_embeddings, "embeddings")):
        if not number <= target.bound:
            raise ContradictionError(
                f"layer {target.layer}, key head {target.head}: at most {target.bound:.6g} was proved, and {what} "
                f"gives {number:.6g}"
            )
    return CloseText(
        layer=target.layer,
        head=target.head,
        bound=target.bound,
        by_text=by_text,
        by_embeddings=by_embeddings,
        by_input=reached_by_input(weights, target.head),
        tokens=tuple(int(token) for token in tokens),
    )


@dataclass(frozen=True)
class _Target:
    layer: int
    head: int
    bound: float


def _largest_key_head(proved: Ranges) -> _Target:
    heads = []
    for layer in proved.layers:
        for number, head in enumerate(layer.keys):
            heads.append(_Target(layer.index, number, head.after.largest))
    return max(heads, key=lambda target: target.bound)


def _climbed(model: Any, proved: Ranges) -> Any:
    """The model with its layers, running in the arithmetic of the statement."""
    if hasattr(model, "visit_layers"):
        return model
    if hasattr(model, "named_parameters"):
        return load_model(model)
    return load_model(str(model), dtype=proved.number_type)


def reached_by_input(layer: LayerWeights, head: int) -> float:
    """The largest number of a key, at position 0, for inputs of the norm that are chosen for each channel."""
    key_norm = layer.key.norm_of(head)
    if layer.norm is None:
        # Whatever is projected, the norm of keys reads it: a channel alone makes itself largest.
        if key_norm is None:
            return 0.0
        return _largest_size(key_norm.gain * math.sqrt(key_norm.width))
    if layer.latent is not None:
        from_latent = replace(layer, norm=layer.latent.key.norm, latent=None)
        rotated = replace(layer, key=layer.latent.rotated_key, latent=None)
        return max(reached_by_input(from_latent, head), reached_by_input(rotated, 0))
    affine = _affine_key(layer, head, layer.norm)
    # Towards a channel, or where a norm follows, towards inputs whose projection points along the channel.
    directions = affine.matrix
    if key_norm is not None:
        directions = np.linalg.pinv(affine.matrix).T
    lengths = row_lengths(directions)
    directions = directions[lengths > 0] / lengths[lengths > 0][:, None]
    largest = 0.0
    for sign in (1.0, -1.0):
        inputs = sign * affine.radius * directions
        keys = inputs @ affine.matrix.T + affine.centre
        if key_norm is not None:
            others = []
            for other in range(len(layer.key.weight)):
                projected = _affine_key(layer, other, layer.norm)
                others.append(inputs @ projected.matrix.T + projected.centre)
            keys = _normed_keys(key_norm, keys, np.concatenate(others, axis=1))
        largest = max(largest, _largest_size(keys))
    return largest


def _affine_key(layer: LayerWeights, head: int, norm: NormWeights) -> AffineHead:
    """What a key is of what the norm returns."""
    arithmetic = arithmetic_of("float32")
    weight, bias = layer.key.of_head(head)
    if layer.mapping is not None:
        inner = affine_head(norm, *layer.mapping.of_head(0), arithmetic)
        return mapped_head(inner, weight, bias, arithmetic)
    affine = affine_head(norm, weight, bias, arithmetic)
    return multiplied_head(affine, layer.key.factor, arithmetic)


def _normed_keys(norm: NormWeights, keys: Rows, all_keys: Rows) -> Rows:
    """Keys of a head after the norm of that head, or of all heads together."""
    normed_together = keys if norm.together is None else all_keys
    if norm.kind == "layer":
        keys = keys - keys.mean(axis=1, keepdims=True)
        normed_together = keys
    sizes = np.sqrt((normed_together**2).mean(axis=1, keepdims=True))
    normed: Rows = norm.gain * keys / np.where(sizes > 0, sizes, 1.0)
    return normed if norm.bias is None else normed + norm.bias


def _largest_size(numbers: np.ndarray) -> float:
    return float(np.abs(numbers).max(initial=0.0))


class _TextClimber:
    """Changes one token at a time for the one that raises the key most, to first order, and keeps what is better."""

    def __init__(self, model: Any, target: _Target, name: str) -> None:
        """Of one head of a model."""
        try:
            from headwright.models.key_gradients import KeyGradients
        except ModuleNotFoundError as error:
            raise InputError(f"{name}: a search for texts needs torch") from error
        self.gradients = KeyGradients(model, target.layer, target.head)
        self.allowed = np.asarray(model.regular_tokens())
        self.opening = np.asarray(model.bos_tokens(), dtype=np.int64)
        most = model.max_length or LENGTH + len(self.opening)
        self.length = max(1, min(LENGTH, most - len(self.opening)))
        self.rng = np.random.default_rng(SEED)

    def climb_texts(self, progress: Progress | None) -> tuple[np.ndarray, float]:
        """The best text of several starts."""
        drawn = [self._draw() for _ in range(DRAWN)]
        drawn.sort(key=self.gradients.largest_at, reverse=True)
        best = drawn[0]
        size = self.gradients.largest_at(best)
        for start, tokens in enumerate(drawn[:STARTS]):
            reached = self.gradients.largest_at(tokens)
            for step in range(STEPS):
                if progress is not None:
                    progress((start + step / STEPS) / STARTS)
                candidates = self._candidates(tokens)
                sizes = [self.gradients.largest_at(text) for text in candidates]
                if max(sizes) <= reached:
                    break
                reached = max(sizes)
                tokens = candidates[sizes.index(reached)]
            if reached > size:
                best, size = tokens, reached
        return best, size

    def climb_embeddings(self, tokens: np.ndarray, by_text: float) -> float:
        """From the embeddings of a text along the gradient: none is longer than the longest of the text."""
        current = self.gradients.at_tokens(tokens)
        longest = float(np.linalg.norm(current.embeddings, axis=1).max())
        best = by_text
        step = 0.5 * longest
        for _ in range(CLIMBS):
            size = float(np.linalg.norm(current.gradient))
            if not size > 0:
                break
            moved = current.embeddings + step * current.gradient / size
            lengths = np.linalg.norm(moved, axis=1, keepdims=True)
            moved = moved * np.minimum(1.0, longest / np.maximum(lengths, 1e-30))
            there = self.gradients.at_embeddings(moved, tokens)
            if there.largest > current.largest:
                current = there
                best = max(best, there.largest)
            else:
                step /= 2
        return best

    def _draw(self) -> np.ndarray:
        body = self.rng.choice(self.allowed, self.length)
        return np.concatenate([self.opening, body])

    def _candidates(self, tokens: np.ndarray) -> list[np.ndarray]:
        at = self.gradients.at_tokens(tokens)
        scores = self.gradients.score_tokens(at, self.allowed)
        # Of each place the best two, and of these the best; the tokens that the model puts before a text stay.
        places = np.arange(len(self.opening), len(tokens))
        ranked = []
        for place in places:
            for token in np.argsort(-scores[place])[:2]:
                ranked.append((scores[place, token], place, self.allowed[token]))
        ranked.sort(key=lambda change: -change[0])
        changes = [(place, token) for _, place, token in ranked[:TRIED]]
        changes += zip(
            self.rng.choice(places, TRIED),
            self.rng.choice(self.allowed, TRIED),
            strict=True,
        )
        texts = []
        for place, token in changes:
            changed = tokens.copy()
            changed[place] = token
            texts.append(changed)
        return texts
