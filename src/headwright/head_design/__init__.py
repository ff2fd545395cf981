"""Weights of whole heads, W_Q, W_K and W_V, that keep given rules: of the smallest size, with a certificate.

head                   a head and a layer of heads: the weights, and what they do with tokens
rules                  what tokens should attend to or output; rules_file reads rules from a TOML file
builder                from rules to a verdict; circuit: layers one after the other
result                 the verdict, with the weights and what is proved of them, as data; heads_result: with its methods
rendering              the same as lines of text, a card, a picture, JSON
assignment             which tokens each token attends to; what each head outputs of a sum
attention_plan         a plan for one head: targets, and what weights do with tokens, in floating point
slack                  how much each token may leave to others
smallest_matrix        the smallest matrix of scores (untrusted)
factored_matrix        the same as two factors: of a given rank, or of the smallest nuclear norm
matrix_program         constraints on a matrix, for the solvers of `optimisation`
head_design            one head, from all of these, with a lower bound on its norm
round_weights          weights in numbers of a type
certify                evidence in the form that the checker reads; dimension: for 'of no smaller dimension'
exact_bounds           proven numbers about rounded weights; impossible: proofs that no head keeps the rules
picture                a head as a picture
export                 files that other libraries load
"""

from headwright.head_design.builder import build
from headwright.head_design.certify import certificate
from headwright.head_design.circuit import (
    Circuit,
    CircuitRules,
    build_circuit,
    heads,
    parse_circuit,
    read_circuit,
)
from headwright.head_design.head import Head, HeadLayer, outputs, patterns
from headwright.head_design.heads_result import HeadsResult
from headwright.head_design.rules import Rule, Rules
from headwright.head_design.rules_file import parse_rules, read_rules

__all__ = [
    "Circuit",
    "CircuitRules",
    "Head",
    "HeadLayer",
    "HeadsResult",
    "Rule",
    "Rules",
    "build",
    "build_circuit",
    "certificate",
    "heads",
    "outputs",
    "parse_circuit",
    "parse_rules",
    "patterns",
    "read_circuit",
    "read_rules",
]
