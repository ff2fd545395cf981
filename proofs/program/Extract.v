(** The checker as an OCaml program. What each directive is trusted for is in docs/explanation/trust.md.

    sig_forall_dec is an axiom of the real numbers; nothing that runs calls it, but a definition of the library that is
    extracted along names it. *)

From Headwright Require Import Checker.
Require Import Extraction ExtrOcamlBasic ExtrOCamlInt63 ExtrOcamlZBigInt.
Extract Constant ClassicalDedekindReals.sig_forall_dec => "(fun _ -> assert false)".
Extraction "checked.ml" check.
