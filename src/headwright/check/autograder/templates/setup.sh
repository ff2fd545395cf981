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
# A wheel that lies in wheels/ is used before anything is downloaded.
"$base/venv/bin/pip" install --no-cache-dir --find-links "$base/source/wheels" 'headwright==@VERSION@'
"$base/venv/bin/headwright" --version
