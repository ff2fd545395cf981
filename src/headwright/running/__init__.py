"""Processes with bounded time and memory, which exchange JSON: for checks, and for the lab."""
