#!/bin/sh
# Runs the built checker over the corpus of certificates: what is true is accepted or not covered, what is false is not accepted.
cd "$(dirname "$0")/../.."
program=proofs/build/headwright-proved
accepted=0; uncovered=0; wrong=0
for file in tests/certificates/corpus/*/*.json; do
  word=$(timeout 60 $program "$file" | sed 's/.*"verdict":"\([a-z ]*\)".*/\1/')
  case "$file:$word" in
    */accept/*:accepted | */head-accept/*:accepted) accepted=$((accepted + 1)) ;;
    *"accept/"*":not covered") uncovered=$((uncovered + 1)) ;;
    */accept/* | */head-accept/* | *:accepted) wrong=$((wrong + 1)); echo "$file: $word" ;;
  esac
done
[ $wrong = 0 ] && [ $accepted -ge 60 ] || { echo "The checker does not do what the corpus says."; exit 1; }
echo "The checker accepts $accepted certificates of the corpus; $uncovered true ones it does not cover; it accepts no false one."
