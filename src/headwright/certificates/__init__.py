"""Certificates: statements with evidence, and the checkers that verify them.

exact           the exact checker: standard library only; the one to read and to trust
floating        a second checker for certificates about keys, in floating point with proven errors
proved_checker  the checker that is proved in Rocq, where it is built
formats         the formats of certificates, and the writer of those that the exact checker reads
checkers        which checkers look at a certificate, and how their verdicts are combined
"""
