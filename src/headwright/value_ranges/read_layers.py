"""Read the layers of a model, one at a time, as the numbers that its ranges depend on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from headwright.errors import InputError
from headwright.value_ranges.description import ModelDescription
from headwright.value_ranges.families import ModelFamily, ProjectionLayout
from headwright.value_ranges.layer import HeadWeights, LayerWeights, NormWeights
from headwright.value_ranges.tensors import WeightReader

Matrix = Float[np.ndarray, "out width"]
Vector = Float[np.ndarray, " out"]


def read_layers(
    description: ModelDescription, reader: WeightReader
) -> Iterator[LayerWeights]:
    """Each layer in turn: no more than one is held."""
    prefix = find_prefix(description.family, reader)
    reader.note(description.numbers)
    for index in range(description.layers):
        yield LayerReader(description, reader, prefix, index).read()


def find_prefix(family: ModelFamily, reader: WeightReader) -> str:
    """What stands before the names of layers: nothing, 'model.' or something else, but one of these."""
    probe = f"{family.stem.format(layer=0)}{family.attention}{family.projections[0]}"
    probe = f"{probe}.weight"
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


def attention_names(
    description: ModelDescription, reader: WeightReader
) -> tuple[str, ...]:
    """What runtimes call the attention of each layer: its module, with the prefix of the checkpoint."""
    prefix = find_prefix(description.family, reader)
    names = []
    for index in range(description.layers):
        stem = description.family.stem.format(layer=index)
        names.append(f"{prefix}{stem}{description.family.attention}".rstrip("."))
    return tuple(names)


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
        width = self.description.width
        if self.index == 0:
            width = self.description.embedding_width
        norm = self._read_norm(self._norm_name(), width, self.family.norm_kind)
        mapping = self._read_mapping()
        matrices, biases = self._read_projections()
        query_norm, key_norm = self._read_head_norms()
        counts = self.description.heads, self.description.key_heads
        return LayerWeights(
            index=self.index,
            norm=norm,
            query=self._by_head(matrices[0], biases[0], counts[0], query_norm),
            key=self._by_head(matrices[1], biases[1], counts[1], key_norm),
            value=self._by_head(matrices[2], biases[2], counts[1], None),
            mapping=mapping,
            rotary=self.description.rotary,
            scale=self.description.scales[self.index],
        )

    def _norm_name(self) -> str:
        """The norm that the attention reads from: its own, or that at the end of the layer before."""
        if self.family.first_norm is None:
            return f"{self.stem}{self.family.norm}"
        if self.index == 0:
            return f"{self.prefix}{self.family.first_norm}"
        before = self.family.stem.format(layer=self.index - 1)
        return f"{self.prefix}{before}{self.family.norm}"

    def _refuse_unknown(self) -> None:
        """A parameter that is not known here may change what the attention reads or projects."""
        known = set(self.family.others)
        for name in (
            *self.family.projections,
            self.family.query_norm,
            self.family.key_norm,
        ):
            known |= {f"{name}.weight", f"{name}.bias"}
        for name in self.family.others:
            known |= {f"{name}.weight", f"{name}.bias"}
        for name in sorted(self.reader.source.names):
            inner = name.removeprefix(self.attention)
            if inner != name and inner not in known:
                raise InputError(
                    f"its attention has a parameter {name}, which its family has not: not covered"
                )

    def _read_norm(self, name: str, width: int, kind: str) -> NormWeights:
        gain = self.reader.read(f"{name}.weight", (width,))
        bias = None
        if kind == "layer":
            bias = self.reader.read_if_there(f"{name}.bias", (width,))
        gain = gain + self.family.gain_offset
        return NormWeights("layer" if kind == "layer" else "rms", gain, bias)

    def _read_mapping(self) -> HeadWeights | None:
        if self.family.first_mapping is None or self.index > 0:
            return None
        name = f"{self.prefix}{self.family.first_mapping}"
        width = self.description.width
        shape = (width, self.description.embedding_width)
        weight = self.reader.read(f"{name}.weight", shape)
        bias = self.reader.read(f"{name}.bias", (width,))
        return HeadWeights(weight[None], bias[None])

    def _read_head_norms(self) -> tuple[NormWeights | None, NormWeights | None]:
        norms: list[NormWeights | None] = []
        for name in (self.family.query_norm, self.family.key_norm):
            if name is None or not self.description.has_head_norms:
                norms.append(None)
                continue
            whole = f"{self.attention}{name}"
            kind = self.family.head_norm_kind
            norms.append(self._read_norm(whole, self.description.head_dim, kind))
        return norms[0], norms[1]

    def _read_projections(self) -> tuple[list[Matrix], list[Vector | None]]:
        """The matrices of queries, keys and values, one row a channel, and their biases."""
        head_dim = self.description.head_dim
        heads = self.description.heads
        key_heads = self.description.key_heads
        sizes = [heads * head_dim, key_heads * head_dim, key_heads * head_dim]
        if self.family.layout is ProjectionLayout.SEPARATE:
            matrices = []
            biases = []
            for name, size in zip(self.family.projections, sizes, strict=True):
                matrix, bias = self._read_matrix(name, size)
                matrices.append(matrix)
                biases.append(bias)
            return matrices, biases
        matrix, bias = self._read_matrix(self.family.projections[0], sum(sizes))
        if self.family.layout is ProjectionLayout.STACKED:
            ends = np.cumsum(sizes)[:-1]
            parts = np.split(matrix, ends)
            if bias is None:
                return parts, [None] * 3
            return parts, list(np.split(bias, ends))
        by_head = matrix.reshape(heads, 3, head_dim, -1)
        parts = [by_head[:, part].reshape(heads * head_dim, -1) for part in range(3)]
        if bias is None:
            return parts, [None] * 3
        bias_by_head = bias.reshape(heads, 3, head_dim)
        return parts, [bias_by_head[:, part].reshape(-1) for part in range(3)]

    def _read_matrix(self, name: str, size: int) -> tuple[Matrix, Vector | None]:
        whole = f"{self.attention}{name}"
        width = self.description.width
        if self.family.is_transposed:
            matrix = self.reader.read(f"{whole}.weight", (width, size)).T
        else:
            matrix = self.reader.read(f"{whole}.weight", (size, width))
        return matrix, self.reader.read_if_there(f"{whole}.bias", (size,))

    def _by_head(
        self, matrix: Matrix, bias: Vector | None, heads: int, norm: NormWeights | None
    ) -> HeadWeights:
        head_dim = self.description.head_dim
        weight = matrix.reshape(heads, head_dim, -1)
        if bias is None:
            return HeadWeights(weight, None, norm)
        return HeadWeights(weight, bias.reshape(heads, head_dim), norm)
