#!/bin/sh
# Builds the theorems, and fails if anything is assumed in the sources or in what the kernel prints.
set -e
cd "$(dirname "$0")"
if grep -nwE 'Admitted|admit|give_up|Axioms?|Parameters?|Conjectures?|Hypotheses' -- *.v | grep -v '^Assumptions.v'; then
  echo "Something is assumed in the sources."; exit 1
fi
coq_makefile -f _CoqProject -o Makefile.coq 2>/dev/null
make -s -f Makefile.coq $(sed -n 's/^\(.*\)\.v$/\1.vo/p' _CoqProject | grep -v '^Assumptions')
coqc -Q . Headwright Assumptions.v > assumed.txt
allowed='ClassicalDedekindReals\.sig_(forall|not)_dec|FunctionalExtensionality\.functional_extensionality_dep|Classical_Prop\.classic|(PrimInt63|Uint63)\.[A-Za-z0-9_]+'
names=$(grep -oE '^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)+' assumed.txt | sort -u)
if echo "$names" | grep -vxE "$allowed"; then echo "The theorems rest on that as well."; exit 1; fi
echo "The kernel accepts the theorems. They rest on:"
echo "$names" | grep -vE '^(PrimInt63|Uint63)' | sed 's/^/  /'
echo "  and the kernel's whole numbers of 63 bits (PrimInt63, Uint63), no floating point"
