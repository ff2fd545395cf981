"""Verdicts for people and scripts.

text       as text, for terminals and graders, and as JSON, for scripts
page       verdicts and exercises as pages
typeset    formulas for the eye: as MathML, and in plain spelling for terminals
"""
