#!/usr/bin/env bash
# Gradescope runs this once, when it builds the assignment: Headwright and what it needs, in an environment of its own.
set -euo pipefail
base="${HEADWRIGHT_AUTOGRADER:-/autograder}"

good() { command -v "$1" >/dev/null 2>&1 && "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
find_python() { for name in python3 python3.13 python3.12 python3.11; do if good "$name"; then echo "$name"; return; fi; done; }

python="$(find_python)"
if [ -z "$python" ]; then
  apt-get update
  apt-get install -y python3.12 python3.12-venv || apt-get install -y python3.11 python3.11-venv
  python="$(find_python)"
fi
if [ -z "$python" ]; then
  echo "Headwright needs Python 3.11 or newer: choose a newer base image for this assignment." >&2
  exit 1
fi

"$python" -m venv "$base/venv"
pip() { "$base/venv/bin/python" -m pip --disable-pip-version-check "$@"; }
# Headwright is the wheel of this zip and nothing else: its name is never looked up in an index.
pip install --no-cache-dir --no-index --no-deps --find-links "$base/source/wheels" 'headwright==@VERSION@'
# What it needs is looked for in wheels/ too, for places without an index.
pip install --no-cache-dir --find-links "$base/source/wheels" -r "$base/source/requirements.txt"
"$base/venv/bin/headwright" --version
