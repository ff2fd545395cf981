(* Certificates about keys. What is read here becomes the statement of the theorem, so it is trusted as a parser is. *)

open Json
open Number
module Option = Stdlib.Option

let need holds otherwise = if not holds then raise (Malformed otherwise)

type matrix = { n : int; d : int; numbers : Float.Array.t }

type spread = { who : int list option; low : Q.t; high : Q.t; ball : Q.t; stretch : Q.t; factor : Q.t list list; random : bool }

type statement = {
  claim : string;
  heads : int;
  tables : matrix list;
  scale : Q.t;
  targets : (int * Q.t) list;
  uncertainty : spread list;
  queries : Q.t list list;
  none_shorter : Q.t;
}

type constraint_ = { scenario : int; target : int; multiplier : Q.t; distribution : (int * Q.t) list option }
type part = { query : Q.t list; lifts : Q.t list; moves : Q.t list list; constraints : constraint_ list }
type bound = { among : int list option; scales : (int * Q.t) list; own_scales : (int * Q.t) list; parts : part list }

let different them = List.length (List.sort_uniq compare them) = List.length them

(* Keys, bound by the digest of their numbers as little-endian float64, row after row. *)

let of_bytes n d bytes =
  let numbers = Float.Array.init (n * d) (fun i -> Int64.float_of_bits (String.get_int64_le bytes (8 * i))) in
  need (Float.Array.for_all (fun x -> Float.is_finite x) numbers) "a key holds a number that is not finite";
  { n; d; numbers }

(* A .npy file of float64 rows: its header is trusted as the rest of the statement is, so it is read strictly. Only what NumPy
   writes for rows in C order is one: magic, version, length of the header, and a header of exactly that length. *)

type file = { rows : int; columns : int; digest : string; body : string }

let expected_header = "{'descr': '<f8', 'fortran_order': False, 'shape': ("

let read_npy content =
  let size = String.length content in
  let is_npy holds = need holds "the keys' file is not a .npy file of float64 rows, as NumPy writes it" in
  is_npy (size > 12 && String.sub content 0 6 = "\x93NUMPY" && content.[7] = '\000');
  (* The length of the header has two bytes in version 1, and four in versions 2 and 3. *)
  is_npy ('\001' <= content.[6] && content.[6] <= '\003');
  let first_version = content.[6] = '\001' in
  let start = if first_version then 10 else 12 in
  let length = if first_version then String.get_uint16_le content 8 else Int32.to_int (String.get_int32_le content 8) land 0xffffffff in
  let stop = start + length in
  is_npy (stop <= size);
  let header = String.sub content start length in
  let at = ref 0 in
  let literal text =
    let long = String.length text in
    is_npy (!at + long <= length && String.sub header !at long = text);
    at := !at + long in
  let count () =
    let digits = run header !at 13 is_digit in
    is_npy (digits > 0 && header.[!at] <> '0');
    let number = int_of_string (String.sub header !at digits) in
    at := !at + digits;
    number in
  literal expected_header;
  let rows = count () in
  literal ", ";
  let columns = count () in
  literal "), }";
  at := !at + run header !at length (fun c -> c = ' ');
  literal "\n";
  is_npy (!at = length);
  let body = String.sub content stop (size - stop) in
  (* The first comparison makes sure that the product in the second does not overflow. *)
  need (String.length body / 8 / columns = rows && String.length body = 8 * rows * columns)
    (Printf.sprintf "the keys' file has %d bytes of numbers, which are not %d x %d of float64" (String.length body) rows columns);
  { rows; columns; digest = Sha256.to_hex (Sha256.string body); body }

let float_of given =
  let x = rational given in
  need (has_type float64 x) "a key holds a number that is not a float";
  let size = Q.to_float (Q.abs x) in
  match given with String text when text.[0] = '-' -> -.size | _ -> size

let keys_names = ["n"; "d"; "sha256"; "rows"]

(* Which keys an entry of the statement is about: shape and digest. *)
let name_of given =
  let k = named "the keys" keys_names given in
  let n = whole 1 (1 lsl 40) "n" (k "n") and d = whole 1 (1 lsl 40) "d" (k "d") in
  match k "sha256" with
  | String text when String.length text = 64 && String.for_all is_hex text -> n, d, text
  | _ -> malformed "sha256 of keys is not 64 hexadecimal digits"

let name_of_file file = file.rows, file.columns, file.digest

let matrix_of beside given =
  let n, d, digest = name_of given in
  match named "the keys" keys_names given "rows" with
  | Null ->
    (match List.find_opt (fun file -> name_of_file file = (n, d, digest)) beside with
     | Some file -> of_bytes n d file.body
     | None -> malformed "it is about %d x %d keys with sha256 %s..., which it does not hold: give their file" n d (String.sub digest 0 16))
  | rows ->
    let rows = List.map (fun row -> List.map float_of (listed "a key" row)) (listed "rows" rows) in
    need (List.length rows = n && List.for_all (fun row -> List.length row = d) rows) "the rows written out are not of the shape that is named";
    let bytes = Bytes.create (8 * n * d) in
    List.iteri (fun i row -> List.iteri (fun j x -> Bytes.set_int64_le bytes (8 * (i * d + j)) (Int64.bits_of_float x)) row) rows;
    let bytes = Bytes.unsafe_to_string bytes in
    need (Sha256.to_hex (Sha256.string bytes) = digest) "the rows written out are not the keys that are named";
    of_bytes n d bytes

let spread_of n d given =
  let w = named "an entry of the uncertainty" ["keys"; "scale"; "ball"; "stretch"; "factor"; "random"] given in
  let who = if w "keys" = String "*" then None else Some (List.map (whole 0 (n - 1) "a key") (listed "keys" (w "keys"))) in
  need (different (Option.value who ~default:[])) "an entry of the uncertainty names a key twice";
  let low, high = match vector 2 "a scale" (w "scale") with [low; high] -> low, high | _ -> assert false in
  let ball = rational (w "ball") and stretch = rational (w "stretch") in
  let factor = List.map (vector d "a column of a factor") (listed "a factor" (w "factor")) in
  let random = match w "random" with Bool random -> random | _ -> malformed "random is not true or false" in
  need Q.(low <= high && ball >= zero && stretch >= zero) "an entry of the uncertainty is not admissible";
  need (random || not (Q.(stretch <> zero) || (Q.(ball <> zero) && factor <> [])))
    "an entry of the uncertainty that is not random has a stretch, or both a ball and a factor";
  { who; low; high; ball; stretch; factor; random }

let read_statement beside said =
  let names = ["claim"; "heads"; "keys"; "scale"; "targets"; "uncertainty"; "confidence"; "queries"; "none_shorter"] in
  let s = named "the statement" names said in
  let claim = match s "claim" with String ("designed" | "impossible" | "longer" as claim) -> claim | _ -> malformed "the claim is unknown" in
  let heads = whole 1 (1 lsl 20) "the number of heads" (s "heads") in
  let names = List.map name_of (listed ~least:1 "keys" (s "keys")) in
  List.iter (fun file ->
    if not (List.mem (name_of_file file) names) then
      Verdict.rejected "the file given holds %d x %d keys with sha256 %s..., which the statement does not name" file.rows file.columns
        (String.sub file.digest 0 16)) beside;
  let tables = List.map (matrix_of beside) (listed "keys" (s "keys")) in
  let n = (List.hd tables).n and d = (List.hd tables).d in
  need (List.for_all (fun t -> t.n = n && t.d = d) tables) "the scenarios are not key matrices of one shape";
  let targets = table n "the targets" (s "targets") in
  need (targets <> [] && List.for_all (fun (_, p) -> Q.(zero < p && p <= one)) targets)
    "the targets are not a set of targets with least weights above 0 and at most 1";
  let uncertainty = List.map (spread_of n d) (listed "the uncertainty" (s "uncertainty")) in
  need (different (List.concat_map (fun w -> Option.value w.who ~default:[-1]) uncertainty)) "the uncertainty says twice what a key may be";
  need (uncertainty = [] || List.length tables = 1) "there are several scenarios and an uncertainty besides";
  let scale = rational (s "scale") and confidence = rational (s "confidence") and none_shorter = rational (s "none_shorter") in
  need Q.(scale <> zero) "the scale is 0";
  need (if List.exists (fun w -> w.random) uncertainty then Q.(zero < confidence && confidence < one) else Q.(equal confidence one))
    "the confidence is not 1 for certain keys, or not above 0 and below 1 for random ones";
  let queries = List.map (vector d "a query") (listed "queries" (s "queries")) in
  need (List.length queries = (if claim = "designed" then heads else 0)) "there are not as many queries as the claim needs";
  need (List.for_all (List.for_all (has_type float64)) queries) "a query is not made of floats";
  let length = Q.sign none_shorter in
  need (match claim with "designed" -> length >= 0 | "impossible" -> length = 0 | _ -> length > 0)
    "the length that none_shorter names does not fit the claim";
  { claim; heads; tables; scale; targets; uncertainty; queries; none_shorter }

(* The statement without the rows of keys, of which it has the digests. *)
let unheld said =
  let without given = match given with
    | Object all -> Object (List.map (fun (name, x) -> name, if name = "rows" then Null else x) all)
    | other -> other in
  match said with
  | Object all -> Object (List.map (fun (name, x) -> name, match name, x with "keys", List keys -> List (List.map without keys) | _ -> x) all)
  | other -> other

let constraint_of s given =
  let c = named "a constraint" ["scenario"; "target"; "multiplier"; "distribution"] given in
  let n = (List.hd s.tables).n in
  let scenario = whole 0 (List.length s.tables - 1) "a scenario" (c "scenario") and target = whole 0 (n - 1) "a target" (c "target") in
  let multiplier = rational (c "multiplier") in
  let distribution = match c "distribution" with Null -> None | shares -> Some (table n "a distribution" shares) in
  need (List.mem_assoc target s.targets && Q.sign multiplier >= 0 && List.for_all (fun (_, x) -> Q.sign x >= 0) (Option.value distribution ~default:[]))
    "a constraint is about a key that is no target, or has a negative multiplier or share";
  { scenario; target; multiplier; distribution }

let part_of s given =
  let p = named "a part" ["query"; "lifts"; "moves"; "push"; "constraints"] given in
  let d = (List.hd s.tables).d and moves = listed "moves" (p "moves") in
  need (List.length moves = List.length s.uncertainty) "a part does not have a move for each entry of the uncertainty";
  let moves = List.map2 (fun w u -> vector (if w.random then 0 else List.length w.factor) "a move" u) s.uncertainty moves in
  let constraints = List.map (constraint_of s) (listed ~least:1 "constraints" (p "constraints")) in
  need (different (List.map (fun c -> c.scenario, c.target) constraints)) "a constraint is used twice";
  need (List.length (List.sort_uniq compare (List.map (fun c -> c.distribution = None) constraints)) = 1)
    "some constraints of a part have a distribution, and some have none";
  let query = vector d "the query of a part" (p "query") and lifts = vector (List.length s.uncertainty) "lifts" (p "lifts") in
  (match p "push" with Null -> () | push -> ignore (vector d "a push" push));
  { query; lifts; moves; constraints }

let bound_of s given =
  let b = named "the bound" ["among"; "deviations"; "scales"; "own_scales"; "parts"] given in
  let n = (List.hd s.tables).n in
  let among = match b "among" with Null -> None | them -> Some (List.map (whole 0 (n - 1) "among") (listed ~least:1 "among" them)) in
  let parts = List.map (part_of s) (listed ~least:1 "parts" (b "parts")) in
  need ((among = None) = (s.heads = 1)) "with several heads a bound is among targets, and only then";
  let used = List.concat_map (fun p -> List.map (fun c -> c.scenario, c.target) p.constraints) parts in
  need (match among with None -> true | Some them -> different them && List.length parts = List.length them && used = List.map (fun a -> fst (List.hd used), a) them)
    "with several heads each part has one constraint, for its target, all in one scenario";
  let deviations = rational (b "deviations") and random = List.exists (fun w -> w.random) s.uncertainty in
  need (Q.sign deviations = 0 || (random && Q.sign deviations > 0)) "the bound's deviations are below 0, or not 0 for certain keys";
  { among; scales = table n "scales" (b "scales"); own_scales = table n "own_scales" (b "own_scales"); parts }

let read_evidence s shown =
  let e = named "the evidence" ["guard"; "bound"] shown in
  let random = List.exists (fun w -> w.random) s.uncertainty in
  need ((e "guard" <> Null) = (random && s.claim = "designed")) "a guard belongs where keys are random and queries claimed, and only there";
  (match e "guard" with
   | Null -> ()
   | guard ->
     let g = named "the guard" ["kind"; "deviations"] guard in
     need (List.mem (g "kind") [String "keys"; String "pairs"] && Q.sign (rational (g "deviations")) >= 0)
       "the guard is not of keys or pairs, with deviations from 0");
  need ((e "bound" <> Null) = (s.claim = "impossible" || Q.sign s.none_shorter > 0)) "a bound belongs where a length or impossibility is claimed, and only there";
  match e "bound" with Null -> None | bound -> Some (bound_of s bound)

(* The statement as the theorem has it. *)

let powers = Array.init 1100 (fun k -> Z.shift_left Z.one k)

(* A float as m 2^-k or as a whole number, k = 0; m has no factor of 2 unless k = 0. *)
let dyadic x =
  if x = 0. then Z.zero, 0
  else begin
    let mantissa, exponent = Float.frexp x in
    let whole = int_of_float (ldexp mantissa 53) in
    let twos = Z.trailing_zeros (Z.of_int whole) in
    let k = 53 - exponent - twos in
    if k >= 0 then Z.of_int (whole asr twos), k else Z.shift_left (Z.of_int (whole asr twos)) (-k), 0
  end

let rows_of t one = Array.init t.n (fun i -> Array.init t.d (fun j -> one (Float.Array.get t.numbers (i * t.d + j))))
let lists rows = Array.to_list (Array.map Array.to_list rows)
let proved_float x = let m, k = dyadic x in { Checked.qnum = m; qden = powers.(k) }

let certain = { who = Some []; low = Q.one; high = Q.one; ball = Q.zero; stretch = Q.zero; factor = []; random = false }

(* For each key the number of its entry of the uncertainty; certain keys have the entry after the last. *)
let entries s =
  let others = List.length s.uncertainty in
  let rec star k = function [] -> others | { who = None; _ } :: _ -> k | _ :: rest -> star (k + 1) rest in
  let which = Array.make (List.hd s.tables).n (star 0 s.uncertainty) in
  List.iteri (fun k w -> List.iter (fun key -> which.(key) <- k) (Option.value w.who ~default:[])) s.uncertainty;
  which

let formal s =
  let first = List.hd s.tables and spreads = s.uncertainty @ [certain] in
  let names = Array.init (List.length spreads) nat in
  { Checked.Keys.the_claim = (match s.claim with "designed" -> Checked.Designed | "impossible" -> Checked.Impossible | _ -> Checked.Longer);
    heads = nat s.heads;
    count = nat first.n;
    dimension = nat first.d;
    scenarios = List.map (fun t -> lists (rows_of t proved_float)) s.tables;
    scale = proved s.scale;
    targets = List.map (fun (a, p) -> nat a, proved p) s.targets;
    spreads = List.map (fun w ->
      { Checked.Keys.from = proved w.low; up_to = proved w.high; within = proved w.ball; axes = List.map (List.map proved) w.factor }) spreads;
    which = Array.to_list (Array.map (fun k -> names.(k)) (entries s));
    queries = List.map (List.map proved) s.queries;
    none_shorter = proved s.none_shorter }
