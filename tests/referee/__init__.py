"""A referee for the checkers: it says whether a statement is true, and tries to get false ones accepted.

    numbers      numbers as docs/reference/certificate.md writes them, read exactly and written in any spelling
    answer       true, false or unknown, and why
    queries      is a statement about keys true?
    search       queries that meet targets: one that is shorter than any is said to be makes a statement false
    heads        is a statement about whole heads true?
    weights      weights that keep rules: smaller ones, ones of fewer rows, or any
    texts        is a statement about every text true?
    seeds        certificates to begin with: the corpus, and fresh designs
    mutate_*     changes of a certificate that know its structure
    attack       mutants, the checkers' verdicts, the referee's answers, and the record

It is written from docs/reference/certificate.md and shares no code with any checker.
"""
