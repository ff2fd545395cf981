r"""Turns of phrase put into the plainer words that the rest of the reading knows.

'In no case is $a > b$' denies $a > b$; 'suppose, for contradiction, that $a > b$' supposes it; 'the mean of $a$ and
$b$' is a term. A turn is a pattern over a whole sentence in which `F` stands for a formula, `T` for a term and `E` for
either; what fits none of them stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from headwright.check.reading.cases import looks_like_a_case
from headwright.check.reading.lexicon import lexicon
from headwright.check.reading.sentences import Loose, Token

F, T, E = r"§\d+F", r"§\d+T", r"§\d+[FT]"  # places: a formula, a term, either
VERB = r"(?:is|are|does|do|can|could|will|would|has|have)"
CASES = r"(?:cases?|circumstances?|situation|event|point|time|of (?:the|these)(?: two)? cases)"
ASSUMED = r"(?:assumptions?|hypothesis|premise|supposition|condition|exercise|question|setup)"
WANTED = (
    r"(?:what (?:was|is|we|i|you)(?: are| were)? (?:needed?|wanted?|asked(?: for)?|required|claimed|looking for|after)"
    r"(?: to show| to prove)?|(?:enough|sufficient|as required|fine|good enough)(?! (?:to|for|as|only|if|when)))"
)
MOVING = (
    r"(?:permuting|exchanging|shuffling|reordering) (?:the )?(?:words|tokens|rows(?: of §\d+T)?)"
    r" (?:gives|yields) the input"
)
STEPS = r"(?:subtract|divide|multiply|cancel|rearrange|square|expand|simplify|substitute|insert|factor)"
COMBINED = {
    "mean": r"\frac{{({}) + ({})}}{{2}}", "average": r"\frac{{({}) + ({})}}{{2}}", "sum": "({}) + ({})",
    "product": "({}) ({})", "difference": "({}) - ({})", "ratio": r"\frac{{{}}}{{{}}}",
}  # fmt: skip
# Names that every statement is judged for all values of; the answer's own, and those that grow, are not.
RANGING = frozenset({"n", "m", "d", "T", "epsilon", "delta"})
COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4}


def paraphrased(tokens: Sequence[Token], names: Collection[str] = ()) -> tuple[Token, ...]:
    r"""The tokens of a sentence in plainer words; `names` are those that the exercise gives.

    >>> said = [*(Token("word", w, 1) for w in "in no case is".split()), Token("formula", "a > b", 1)]
    >>> " ".join(token.text for token in paraphrased(said))
    'in any case it cannot happen that a > b'
    """
    return _Sentence(tokens, names).plain()


class _Sentence:
    """A sentence as a row of words and places; new terms are kept beside the old ones."""

    def __init__(self, tokens: Sequence[Token], names: Collection[str]) -> None:
        self.tokens = list(tokens)
        self.names = names
        marks = {"formula": "F", "term": "T"}
        row = [f"§{at}{marks[one.kind]}" if one.kind in marks else one.text for at, one in enumerate(tokens)]
        self.row = " ".join(row)

    def plain(self) -> tuple[Token, ...]:
        before = self.row
        for pattern, put in _TURNS:
            self.row = pattern.sub(lambda found, put=put: self._put(found, put), self.row)  # type: ignore[misc]
        return tuple(self.tokens) if self.row == before else self._read_back(before)

    def _put(self, found: re.Match[str], put: str | Callable[[_Sentence, re.Match[str]], str]) -> str:
        return found.expand(put) if isinstance(put, str) else put(self, found)

    def _read_back(self, before: str) -> tuple[Token, ...]:
        old = before.split()
        found: list[Token] = []
        line, at = self.tokens[0].line, 0
        for part in self.row.split():
            place = re.fullmatch(r"§(\d+)[FT]", part)
            if place is not None:
                token = self.tokens[int(place[1])]
            else:
                at = next((number for number in range(at, len(old)) if old[number] == part), at)
                line = self.tokens[at].line if at < len(old) else line
                token = Token("mark" if re.fullmatch(r"\W", part) else "word", part, line)
            line = token.line
            found.append(token)
        return tuple(found)

    def text(self, place: str) -> str:
        """What stands at a place."""
        return self.tokens[int(place[1:-1])].text.strip()

    def new(self, kind: str, text: str, like: str, loose: Loose = "nearly") -> str:
        """A place for a term or a formula that was put together."""
        line = self.tokens[int(like[1:-1])].line if like else self.tokens[0].line
        made = Token("term", text, line) if kind == "T" else Token("formula", text, line, loose=loose)
        self.tokens.append(made)
        return f"§{len(self.tokens) - 1}{kind}"

    def given(self, place: str) -> bool:
        """Whether a term is an index, or a name that every statement is judged for all values of."""
        name = self.text(place).lstrip("\\")
        return name in ("i", "j") or (name in RANGING and name in self.names)


def _for_none(sentence: _Sentence, found: re.Match[str]) -> str:
    """'for no $n$ is $a > b$'."""
    if not sentence.given(found["name"]):
        return found[0]
    return f"for all {found['name']} , it cannot happen that "


def _combined(sentence: _Sentence, found: re.Match[str]) -> str:
    """'the mean of $a$ and $b$' is a term."""
    parts = [sentence.text(found["one"]), sentence.text(found["other"])]
    if any(_COMMA.search(part) for part in parts):
        return found[0]
    term = COMBINED[found["noun"]].format(*parts)
    if found["value"] is None:
        return sentence.new("T", term, found["one"])
    return sentence.new("F", f"{term} = {sentence.text(found['value'])}", found["one"])


def _of_two(sentence: _Sentence, found: re.Match[str]) -> str:
    """'the sum of $a$ and $b$ is $x$', 'the ratio of $a$ to $b$ equals $x$'; 'is' may mean 'is nearly'."""
    if (found["noun"] == "ratio") != (found["joint"] == "to"):
        return found[0]
    term = COMBINED[found["noun"]].format(sentence.text(found["one"]), sentence.text(found["other"]))
    loose: Loose = "nearly" if found["verb"] == "is" else ""
    return sentence.new("F", f"{term} = {sentence.text(found['value'])}", found["one"], loose)


def _with_bound(sentence: _Sentence, found: re.Match[str]) -> str:
    """'any temperature with $tau <= x$', 'any $t$ with $t >= x$'."""
    named = found["named"]
    if named.startswith("§"):
        name = sentence.text(named)
        if not re.search(rf"(?<![a-zA-Z\\]){re.escape(name)}(?![a-zA-Z])", sentence.text(found["bound"])):
            return found[0]
    elif named not in lexicon().nouns:
        return found[0]
    return f"{found['any']} {found['bound']}"


def _counted(sentence: _Sentence, found: re.Match[str]) -> str:
    """'there are at least two keys'."""
    if "n" not in sentence.names:
        return found[0]
    sign = {"at least": r"\ge", "more than": ">"}[found["how"]]
    return sentence.new("F", f"n {sign} {COUNTS[found['many']]}", "")


def _rational(sentence: _Sentence, found: re.Match[str]) -> str:
    r"""'$\pi = (t - t')/(2 k)$ would be rational': a quotient of integers is."""
    last = re.split(r"=|\\neq?", sentence.text(found["quotient"]))[-1]
    return f"{found['quotient']} " if _INTEGERS.fullmatch(last) else found[0]


_COMMA = re.compile(r",(?![^({\[]*[)}\]])|=|<|>")
_INTEGERS = re.compile(r"(?:[tskmnlpj](?:_\d|_\{\d\})?'*|\d+|\\[td]?frac|\\left|\\right|\\,|\\cdot|[-+/(){}*]|\s)+")
_OPENED = r"(?:^|(?<=[,:(] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bthen )|(?<=\bhence )|(?<=\bthus )|(?<=\bthat ))"
_CONTRADICTION = r"(?:for|by way of|towards?|for the sake of|to get|arguing by)(?: a)? contradiction"


def _turn(*parts: str) -> re.Pattern[str]:
    """Words one behind the other, from the start of a word to the end of one."""
    return re.compile(rf"(?<!\S){' '.join(parts)}(?!\S)")


def _opening(*parts: str) -> re.Pattern[str]:
    """The same where a clause may begin, with a formula or a term behind it."""
    return re.compile(rf"{_OPENED}{' '.join(parts)} (?=§)")


def _a_case(sentence: _Sentence, found: re.Match[str]) -> str:
    """'in the worst case $c = 1/2$ the score is ...'."""
    return f"for {found['case']} ," if looks_like_a_case(sentence.text(found["case"])) else found[0]


def _gloss(sentence: _Sentence, found: re.Match[str]) -> str:
    """'when $g > 1$ the key is longer, so ...' says in words what the case is."""
    case = "".join(sentence.text(found["case"]).split())
    long = re.fullmatch(r"[gc](?:>1|=3/2|=\\frac\{?3\}?\{?2\}?)", case) is not None
    short = re.fullmatch(r"[gc](?:<1|=1/2|=\\frac\{?1\}?\{?2\}?)", case) is not None
    return f"{found['case']} ," if (long, short)[found["how"] == "short"] else found[0]


def _between(sentence: _Sentence, found: re.Match[str]) -> str:
    """'$a$ lies between $0$ and $1$'."""
    ends = [{"zero": "0", "one": "1"}.get(end) or sentence.text(end) for end in (found["low"], found["high"])]
    return sentence.new("F", rf"{ends[0]} \le {sentence.text(found['one'])} \le {ends[1]}", found["one"])


_SEEN = re.compile(r"PX\+\\?Phi|\\?Phi\+PX")


def _contrasted(sentence: _Sentence, found: re.Match[str]) -> str:
    r"""'the layer sees $PX + \Phi$, not $b$' says that they differ, if the first is what it sees."""
    if not _SEEN.fullmatch(re.sub(r"[\s{}]", "", sentence.text(found["one"]))):
        return found[0]
    return sentence.new(
        "F", rf"{sentence.text(found['one'])} \ne {sentence.text(found['other'])}", found["one"], "room"
    )


def _of_its_space(sentence: _Sentence, found: re.Match[str]) -> str:
    """'... for every $v_b$ in the second subspace', where it is."""
    name = re.sub(r"[\s{}]", "", sentence.text(found["one"]))
    return "" if name == {"first": "v_a", "second": "v_b"}[found["which"]] else found[0]


_TURNS: tuple[tuple[re.Pattern[str], str | Callable[[_Sentence, re.Match[str]], str]], ...] = (
    (_turn(rf"(?:suppose|assume)(?: that)?(?: ,)? {_CONTRADICTION}(?: ,)?(?: that)?"), "suppose that"),
    (_turn(rf"{_CONTRADICTION}(?: ,)?(?: let us| we)? (?:suppose|assume)(?: that)?"), "suppose that"),
    (_turn(r"(?:suppose|assume)(?: ,)? (?:on|to) the contrary(?: ,)? that"), "suppose that"),
    (_turn(r"(?:suppose|assume) the (?:contrary|opposite) [,:] (?:that is|i.e.|namely|so|that)"), "suppose not , so"),
    (
        _turn(r"(?:, |and )?(?:which|what|this|that|it) (?:contradicts|would contradict|is (?:a|in) contradiction",
              rf"(?:to|with)) (?:the|our|this|that|my) {ASSUMED}"),
        ", a contradiction",
    ),
    (
        _turn(rf"(?:, |and )?(?:which|what|this|that|it) (?:contradicts|would contradict) (?P<given>{F})"),
        r", a contradiction , since \g<given>",
    ),
    (_turn(rf"(a contradiction) (?:to|with) (?:the|our|this|that|my) {ASSUMED}"), r"\1"),
    (_turn(rf"(?:we|one|you|i) (?:could|can|may|might) ({STEPS})"), r"we \1"),
    (_opening(rf"(?:in|under|at|on) (?:no|neither|none) {CASES} {VERB}"), "in any case it cannot happen that "),
    (_opening(rf"never {VERB}"), "in any case it cannot happen that "),
    (_opening(rf"(?:for|with) (?:no|neither) (?:value of |choice of |index )?(?P<name>{T}) {VERB}"), _for_none),
    (
        _opening(rf"(?P<all>(?:for|in|at|under|with) (?:all|each|every|any|large|small) {E}) (?:is|are|does|do)"),
        r"\g<all> , ",
    ),
    (
        re.compile(rf"^only (?:if|for|when) (?P<case>{F}) (?:is|are|does|do) (?P<what>{E}[^,:()]*)$"),
        r"\g<what> only if \g<case>",
    ),
    (
        _turn(rf"(?P<any>any|every|each|all) (?P<named>{T}|[a-z]+)",
              rf"(?:with|such that|satisfying|for which|that satisfies) (?P<bound>{F})"),
        _with_bound,
    ),
    (_turn(r"(that|it|this|what)'s"), r"\1 is"),
    (_turn(rf"(?P<case>{F}) (?:the|this) key is (?:too |very )?(?P<how>long|short)(?:er)?(?: ,)?(?: so)?"), _gloss),
    (_turn(rf"(?:this|that|which) is (?:only possible|possible only|only true) (?:for|if|when) (?P<so>{F})"),
     r"so \g<so>"),
    (_turn(rf"(?:, )?(?:and )?(?:which|this|that)(?: is| was)?(?: exactly| just| precisely)? {WANTED}"), ""),
    (
        re.compile(
            r"(?<!\S)(?:equivalently |then )?(?:(?:we|i)(?: can| may| will| would)?|(?:one|you)(?: can| may))"
            r"(?: simply| just)?"
            rf" (?:take|choose|set|use|pick|put|define|write) (?={E}|the query|as (?:the )?query)"
        ),
        "take ",
    ),
    (_turn(rf"(?:in the )?(?:worst|worse|best|better|bad|good|short|long) case (?P<case>{F})"), _a_case),
    (
        _turn(rf"(?P<one>{T}) (?:lies|lie|is|are|stays)(?: strictly| always)? between",
              rf"(?P<low>{T}|zero) and (?P<high>{T}|one)"),
        _between,
    ),
    (_turn(r"(they|these|we)'re"), r"\1 are"),
    (_turn(r"(because|since|for) then"), r"\1"),
    (_turn(rf"for (?:every|all|each|any) (?P<one>{T}) in the (?P<which>first|second) (?:sub)?space"), _of_its_space),
    (_opening(rf"we want to (?:construct|find|choose|build) {E}(?:(?: ,)? and {E}| , {E})* such that",
              r"(?:the following(?: equalities| equations)? holds?(?: :)?)"), "we want "),
    (_turn(rf"(?P<so>{F}) , which is (?:impossible|not possible)(?: for integers)? unless (?P<case>{F})"),
     r"\g<so> only if \g<case>"),
    (_turn(rf"(?P<what>(?:not|never) {T}) either"), r"\g<what>"),
    (_turn(rf", for which (?P<claim>{F})"), r", with \g<claim>"),
    (
        _turn(rf"(?:(?:the|our) (?:layer|model|network) (?:now )?(?:sees|gets|receives|is fed)|{MOVING})",
              rf"(?P<one>{T})(?: ,)? (?:and not|not|instead of|rather than) (?P<other>{E})"),
        _contrasted,
    ),
    (_turn(r"there are (?P<how>at least|more than) (?P<many>one|two|three|four) keys?"), _counted),
    (
        _turn(r"(?:the|an|their)(?: plain| simple| equal| exact| arithmetic| ordinary)? (?P<noun>mean|average) of",
              rf"(?P<one>{T}) and (?P<other>{T})(?: (?:is|equals)(?: then| thus| now| just)? (?P<value>{T}))?"),
        _combined,
    ),
    (
        _turn(r"the (?P<noun>sum|difference|product|ratio) (?:of|between)",
              rf"(?P<one>{T}) (?P<joint>and|to) (?P<other>{T}) (?P<verb>is|equals) (?P<value>{E})"),
        _of_two,
    ),
    (_turn(rf"(?P<quotient>{F}) (?:would be|is|was|were)(?: a)? rational(?: number)?"), _rational),
)  # fmt: skip
