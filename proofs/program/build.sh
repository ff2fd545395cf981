#!/bin/sh
# Builds build/headwright-proved: the checker that Checker.v proves, extracted to OCaml, with its reader of certificates.
set -e
cd "$(dirname "$0")/.."
mkdir -p build
cp program/Extract.v program/*.ml build/
cd build
coqc -q -w none -Q .. Headwright Extract.v
ocamlfind ocamlopt -O3 -inline 100 -w -a -rectypes -thread -linkpkg -package coq-core.kernel,zarith,sha,unix \
  checked.mli checked.ml json.ml number.ml verdict.ml keys.ml bounds.ml heads.ml main.ml -o headwright-proved.new
mv headwright-proved.new headwright-proved
