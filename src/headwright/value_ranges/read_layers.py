"""Read the layers of a model, one at a time, as the numbers that its ranges depend on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.value_ranges.description import LatentSizes, ModelDescription
from headwright.value_ranges.families import HeadNormScope, ProjectionLayout
from headwright.value_ranges.layer import (
    HeadWeights,
    LatentVector,
    LatentWeights,
    LayerWeights,
    NormWeights,
)
from headwright.value_ranges.tensors import WeightReader

Matrix = Float[np.ndarray, "out width"]
Vector = Float[np.ndarray, " out"]
# In latent attention: queries without a latent vector; or the map to it, its norm, and the map from it.
LATENT_QUERY_NAMES = ["q_proj", "q_a_proj", "q_a_layernorm", "q_b_proj"]
LATENT_NORM = "kv_a_layernorm"
Norms = tuple[NormWeights, ...] | None


def read_layers(
    description: ModelDescription, reader: WeightReader
) -> Iterator[LayerWeights]:
    """Each layer with attention in turn: no more than one is held."""
    prefix = find_prefix(description, reader)
    reader.note(description.numbers)
    for index in description.attention_layers:
        yield LayerReader(description, reader, prefix, index).read()


def find_prefix(description: ModelDescription, reader: WeightReader) -> str:
    """What stands before the names of layers: nothing, 'model.' or something else, but one of these."""
    probe = first_projection(description)
    prefixes = []
    for name in sorted(reader.source.names):
        prefix = name.removesuffix(probe)
        if prefix != name and (not prefix or prefix.endswith(".")):
            prefixes.append(prefix)
    if not prefixes:
        raise InputError(
            f"there is no tensor {probe}: the weights are not those of this family, or are held in another form"
        )
    if len(prefixes) > 1:
        raise InputError(
            f"there are several models in it ({', '.join(prefixes)}): expected one"
        )
    return prefixes[0]


def first_projection(description: ModelDescription) -> str:
    """The name of a matrix that every model of the family has, without the prefix."""
    family = description.family
    stem = family.stem.format(layer=description.attention_layers[0])
    return f"{stem}{family.attention}{family.projections[0]}.weight"


def attention_names(
    description: ModelDescription, reader: WeightReader
) -> tuple[str, ...]:
    """What runtimes call the attention of each layer: its module, with the prefix of the checkpoint."""
    prefix = find_prefix(description, reader)
    names = []
    for index in description.attention_layers:
        stem = description.family.stem.format(layer=index)
        names.append(f"{prefix}{stem}{description.family.attention}".rstrip("."))
    return tuple(names)


@dataclass(frozen=True, eq=False)
class ProjectionRows:
    """A matrix of one row a channel, and a bias."""

    matrix: Matrix
    bias: Vector | None

    def rows(self, start: int, end: int) -> ProjectionRows:
        """Some of its channels."""
        bias = None if self.bias is None else self.bias[start:end]
        return ProjectionRows(self.matrix[start:end], bias)

    def by_head(self, heads: int, norms: Norms = None) -> HeadWeights:
        """The same, head by head."""
        channels = len(self.matrix) // heads
        weight = self.matrix.reshape(heads, channels, -1)
        if self.bias is None:
            return HeadWeights(weight, None, norms)
        return HeadWeights(weight, self.bias.reshape(heads, channels), norms)


class LayerReader:
    """Reads one layer."""

    def __init__(
        self,
        description: ModelDescription,
        reader: WeightReader,
        prefix: str,
        index: int,
    ) -> None:
        """A layer of a model whose tensors have this prefix."""
        self.description = description
        self.family = description.family
        self.reader = reader
        self.prefix = prefix
        self.index = index
        self.stem = f"{prefix}{self.family.stem.format(layer=index)}"
        self.attention = f"{self.stem}{self.family.attention}"

    def read(self) -> LayerWeights:
        """All of the layer."""
        self._refuse_unknown()
        norm = self._read_input_norm()
        if self.description.latent is not None:
            return self._read_latent(norm, self.description.latent)
        mapping = self._read_mapping()
        query, key, value = self._read_projections()
        query_norms, key_norms = self._read_head_norms()
        heads, key_heads = self.description.heads, self.description.key_heads
        factors = self.description.factors
        return LayerWeights(
            index=self.index,
            norm=norm,
            query=query.by_head(heads, query_norms),
            key=replace(key.by_head(key_heads, key_norms), factor=factors.keys),
            value=replace(value.by_head(key_heads), factor=factors.values),
            mapping=mapping,
            rotary=self.description.rotary,
            scale=self.description.scales[self.index],
            input_factor=factors.reads,
        )

    def _read_input_norm(self) -> NormWeights | None:
        """The norm that the attention reads from: its own, or that at the end of the layer before."""
        width = self.description.width
        if self.family.norm is None:
            return None
        if self.family.first_norm is None:
            name = f"{self.stem}{self.family.norm}"
        elif self.index == 0:
            name = f"{self.prefix}{self.family.first_norm}"
            width = self.description.embedding_width
        else:
            before = self.family.stem.format(layer=self.index - 1)
            name = f"{self.prefix}{before}{self.family.norm}"
        norm = self._read_norm(name, width, self.family.norm_kind)
        factor = self.description.factors.reads
        return norm if factor == 1 else replace(norm, gain=norm.gain * factor)

    def _refuse_unknown(self) -> None:
        """A parameter that is not known here may change what the attention reads or projects."""
        names = [*self.family.projections, *self.family.others]
        names += [self.family.query_norm or "", self.family.key_norm or ""]
        if self.description.latent is not None:
            names += LATENT_QUERY_NAMES
            names.append(LATENT_NORM)
        known = set(names)
        for name in names:
            known |= {f"{name}.weight", f"{name}.bias"}
        for name in sorted(self.reader.source.names):
            inner = name.removeprefix(self.attention)
            if inner == name or inner in known:
                continue
            raise InputError(
                f"its attention has a parameter {name}, which its family has not: not covered"
            )

    def _read_norm(self, name: str, width: int, kind: str) -> NormWeights:
        is_layer_norm = kind == "layer"
        bias = None
        if self.family.norms_have_gains:
            gain = self.reader.read(f"{name}.weight", (width,))
            if is_layer_norm:
                bias = self.reader.read_if_there(f"{name}.bias", (width,))
            gain = gain + self.family.gain_offset
        else:
            gain = np.ones(width)
        return NormWeights("layer" if is_layer_norm else "rms", gain, bias)

    def _read_mapping(self) -> HeadWeights | None:
        if self.family.first_mapping is None or self.index > 0:
            return None
        widths = self.description.width, self.description.embedding_width
        if widths[0] == widths[1] and not self.family.maps_equal_widths:
            return None
        name = f"{self.prefix}{self.family.first_mapping}"
        weight = self.reader.read(f"{name}.weight", widths)
        bias = self.reader.read(f"{name}.bias", widths[:1])
        return HeadWeights(weight[None], bias[None])

    def _read_head_norms(self) -> tuple[Norms, Norms]:
        heads, key_heads = self.description.heads, self.description.key_heads
        query_norms = self._read_norms_of(self.family.query_norm, heads)
        return query_norms, self._read_norms_of(self.family.key_norm, key_heads)

    def _read_norms_of(self, name: str | None, heads: int) -> Norms:
        """The norm of each head."""
        if name is None or not self.description.has_head_norms:
            return None
        whole = f"{self.attention}{name}"
        head_dim = self.description.head_dim
        kind = self.family.head_norm_kind
        scope = self.family.head_norm_scope
        if scope is HeadNormScope.ONE_GAIN:
            return (self._read_norm(whole, head_dim, kind),) * heads
        if scope is HeadNormScope.OWN_GAINS:
            gains = self.reader.read(f"{whole}.weight", (heads, head_dim))
            return tuple(
                NormWeights("layer" if kind == "layer" else "rms", gain)
                for gain in gains
            )
        width = heads * head_dim
        norm = self._read_norm(whole, width, kind)
        gains = norm.gain.reshape(heads, head_dim)
        return tuple(NormWeights("rms", gain, together=width) for gain in gains)

    def _read_projections(
        self,
    ) -> tuple[ProjectionRows, ProjectionRows, ProjectionRows]:
        """The matrices of queries, keys and values, one row a channel, and their biases."""
        heads = self.description.heads
        head_dim = self.description.head_dim
        query_size = heads * head_dim
        key_size = self.description.key_heads * head_dim
        if self.family.layout is ProjectionLayout.SEPARATE:
            names = self.family.projections
            return (
                self._read_queries(names[0], query_size),
                self._read_matrix(names[1], key_size),
                self._read_matrix(names[2], key_size),
            )
        whole = self._read_matrix(self.family.projections[0], query_size + 2 * key_size)
        if self.family.layout is ProjectionLayout.STACKED:
            return (
                whole.rows(0, query_size),
                whole.rows(query_size, query_size + key_size),
                whole.rows(query_size + key_size, query_size + 2 * key_size),
            )
        by_head = whole.by_head(heads)
        query, key, value = (
            _rows_of_heads(by_head, part * head_dim, (part + 1) * head_dim)
            for part in range(3)
        )
        return query, key, value

    def _read_queries(self, name: str, size: int) -> ProjectionRows:
        """Of each head, the queries; perhaps as many rows after them, for a gate of what attention returns."""
        if not self.family.has_gated_queries:
            return self._read_matrix(name, size)
        both = self._read_matrix(name, 2 * size).by_head(self.description.heads)
        return _rows_of_heads(both, 0, self.description.head_dim)

    def _read_matrix(
        self, name: str, size: int, width: int | None = None
    ) -> ProjectionRows:
        whole = f"{self.attention}{name}"
        if width is None:
            width = self.description.width
        if self.family.is_transposed:
            matrix = self.reader.read(f"{whole}.weight", (width, size)).T
        else:
            matrix = self.reader.read(f"{whole}.weight", (size, width))
        return ProjectionRows(
            matrix, self.reader.read_if_there(f"{whole}.bias", (size,))
        )

    def _read_latent(
        self, norm: NormWeights | None, sizes: LatentSizes
    ) -> LayerWeights:
        """Latent attention."""
        heads = self.description.heads
        head_dim, value_dim = self.description.head_dim, self.description.value_dim
        rank = sizes.key_rank
        kind = self.family.norm_kind

        # What is kept: the latent vector, normed, and the part of keys that is rotated.
        first_name, second_name = self.family.projections
        first = self._read_matrix(first_name, rank + sizes.rotated)
        latent_norm = self._read_norm(f"{self.attention}{LATENT_NORM}", rank, kind)
        key_latent = LatentVector(first.rows(0, rank).by_head(1), latent_norm)
        rotated_key = first.rows(rank, rank + sizes.rotated).by_head(1)

        # Keys and values of each head, from the latent vector.
        expanded_size = heads * (sizes.unrotated + value_dim)
        expanded = self._read_matrix(second_name, expanded_size, rank).by_head(heads)
        key = _rows_of_heads(expanded, 0, sizes.unrotated)
        value = _rows_of_heads(expanded, sizes.unrotated, sizes.unrotated + value_dim)

        plain_name, down_name, norm_name, up_name = LATENT_QUERY_NAMES
        query_latent = None
        if sizes.query_rank is None:
            query = self._read_matrix(plain_name, heads * head_dim)
        else:
            query_norm = self._read_norm(
                f"{self.attention}{norm_name}", sizes.query_rank, kind
            )
            down = self._read_matrix(down_name, sizes.query_rank)
            query_latent = LatentVector(down.by_head(1), query_norm)
            query = self._read_matrix(up_name, heads * head_dim, sizes.query_rank)
        return LayerWeights(
            index=self.index,
            norm=norm,
            query=query.by_head(heads),
            key=key.by_head(heads),
            value=value.by_head(heads),
            mapping=None,
            rotary=replace(sizes.rotary, start=sizes.unrotated),
            scale=self.description.scales[self.index],
            latent=LatentWeights(key_latent, query_latent, rotated_key, sizes.rotary),
        )


def _rows_of_heads(heads: HeadWeights, start: int, end: int) -> ProjectionRows:
    """Of each head some channels, one head after the other."""
    width = heads.weight.shape[-1]
    matrix = heads.weight[:, start:end].reshape(-1, width)
    if heads.bias is None:
        return ProjectionRows(matrix, None)
    return ProjectionRows(matrix, heads.bias[:, start:end].reshape(-1))
