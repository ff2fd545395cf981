"""From rules to weights: whole heads, W_Q, W_K and W_V, of the smallest size, with a certificate.

head         a head and a layer of heads: the weights, and what they do with tokens
rules        what tokens should attend to or output; toml reads it from a file, expression reads vectors
assign       which token attends where, so that one W_V serves all
plan         how little each token may leave to others; tune adjusts it to the tolerances, by measure
smallest     the smallest matrix of scores (untrusted); nuclear: of the smallest nuclear norm, or of a given rank;
             multipliers: the method of both
planning     one head, from all of these
deploy       in numbers of a type
certify      evidence in the form that the checker reads; bounds: for 'none smaller';
             dimension: for 'of no smaller dimension'
proven       proven numbers about deployed weights; impossible: proofs that no head keeps the rules
shares       an output that all heads make together, shared out among them
builder      all of it, behind one function; circuit: layers one after the other
values       W_V; projections; an OV matrix cut in two
drawing      a head as a picture; geometry: its queries and keys in a plane
published    another construction of the same heads, to compare with
export       files that other libraries load
"""

from headwright.weights.builder import Built, build
from headwright.weights.circuit import Circuit, CircuitRules, build_circuit, heads, parse_circuit, read_circuit
from headwright.weights.head import Head, HeadLayer, outputs, patterns
from headwright.weights.rules import Rule, Rules
from headwright.weights.toml import parse_rules, read_rules
from headwright.weights.values import cut_values, take_apart

__all__ = [
    "Built",
    "Circuit",
    "CircuitRules",
    "Head",
    "HeadLayer",
    "Rule",
    "Rules",
    "build",
    "build_circuit",
    "cut_values",
    "heads",
    "outputs",
    "parse_circuit",
    "parse_rules",
    "patterns",
    "read_circuit",
    "read_rules",
    "take_apart",
]
