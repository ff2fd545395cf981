"""Verdicts for people and scripts: pages, text, JSON."""
