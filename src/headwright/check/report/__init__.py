"""Verdicts for people and scripts: text, JSON, pages."""
