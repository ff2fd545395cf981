"""One module for each view; `lab/calls.py` lists them. A view is importable without the others."""
