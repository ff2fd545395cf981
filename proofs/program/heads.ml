(* Certificates about whole heads. The statement is trusted as a parser is; the evidence that is made of the rest is not. *)

open Json
open Number
module Option = Stdlib.Option

let need holds otherwise = if not holds then raise (Verdict.Rejected otherwise)
let most = 4096

type rule = { sequence : int; token : int; head : int option; attend : (int * Q.t) list; at_most : (int * Q.t) list; outputs : bool; seen : int list }
type head = { q : Q.t list list; k : Q.t list list; b_q : Q.t list }

type scene = {
  sequences : Q.t list list list;
  mask : Checked.Whole_heads.mask;
  certain : bool;  (* tokens are at their places *)
  biases : bool;
  bias : Q.t list list list;
  rules : rule list;
}

let width scene = List.length (List.hd (List.hd scene.sequences))

let matrix kind width what given =
  let rows = List.map (vector width what) (listed ~least:1 what given) in
  need (List.for_all (List.for_all (has_type kind)) rows) (what ^ " holds a number that is not of its type");
  rows

let mask_of longest = function
  | String "none" -> Checked.Whole_heads.Everything
  | String "causal" -> Checked.Whole_heads.Causal
  | List rows when List.length rows = longest ->
    Checked.Whole_heads.Written (List.map (function
      | String row when String.length row = longest && String.for_all (fun c -> c = '0' || c = '1') row -> List.init longest (fun j -> row.[j] = '1')
      | _ -> malformed "a row of the mask is not %d digits 0 and 1" longest) rows)
  | _ -> malformed "the mask is not 'none', 'causal' or %d rows of digits" longest

let seen_by mask i size = List.filter (fun j -> match mask with
  | Checked.Whole_heads.Everything -> true
  | Causal -> j <= i
  | Written rows -> List.nth (List.nth rows i) j) (List.init size Fun.id)

let rule_of sequences mask given =
  let r = named "a rule" ["sequence"; "token"; "head"; "attend"; "at_most"; "output"; "tolerance"] given in
  let sequence = whole 0 (List.length sequences - 1) "a sequence" (r "sequence") in
  let size = List.length (List.nth sequences sequence) in
  let token = whole 0 (size - 1) "a token" (r "token") in
  let head = if r "head" = String "sum" then None else Some (whole 0 most "a head" (r "head")) in
  let attend = table size "attend" (r "attend") and at_most = table size "at_most" (r "at_most") in
  let tolerance = rational (r "tolerance") and output = List.map rational (listed "an output" (r "output")) in
  let weights = attend @ at_most and seen = seen_by mask token size in
  need (seen <> []) "a rule is about a token that sees nothing under the mask";
  need (List.for_all (fun (_, p) -> Q.(zero < p && p <= one)) weights && (weights <> [] || output <> []))
    "a rule has a weight that is not above 0 and at most 1, or no target";
  need (Q.sign tolerance >= 0 && (Q.sign tolerance = 0 || output <> [])) "a rule has a tolerance that is below 0, or one without an output";
  need (List.for_all (fun (a, _) -> List.mem a seen) weights && (head <> None || weights = []))
    "a rule is about a token that the mask hides, or about weights in the sum of all heads";
  { sequence; token; head; attend; at_most; outputs = output <> []; seen }

let scene_of s =
  let first = listed ~least:1 "tokens" (List.hd (listed ~least:1 "sequences" (s "sequences"))) in
  let width = List.length (listed ~least:1 "a token" (List.hd first)) in
  let sequences = List.map (matrix float64 width "a token") (listed "sequences" (s "sequences")) in
  let sizes = List.map List.length sequences in
  let longest = List.fold_left max 0 sizes in
  need (List.fold_left (+) 0 sizes <= most && List.length (listed ~least:1 "rules" (s "rules")) <= most) "there are too many tokens or rules";
  let biases = match s "biases" with Bool b -> b | _ -> malformed "biases is not true or false" in
  let bias = List.map (fun table -> List.map (vector longest "a bias") (listed ~least:longest "a bias" table)) (listed "bias" (s "bias")) in
  let mask = mask_of longest (s "mask") in
  let rules = List.map (rule_of sequences mask) (listed "rules" (s "rules")) in
  need (binary_digits (List.concat_map (fun r -> List.map snd (r.attend @ r.at_most)) rules) <= 2000) "weights have more digits than is checked";
  need (bias = [] || List.for_all (fun r -> match r.head with Some h -> h < List.length bias | None -> true) rules)
    "a rule is of a head without biases of places, and others have them";
  let w = named "the uncertainty" ["ball"; "scale"] (s "uncertainty") in
  let ball = rational (w "ball") in
  let low, high = match vector 2 "a scale" (w "scale") with [low; high] -> low, high | _ -> assert false in
  need Q.(ball >= zero && zero < low && low <= one && one <= high) "the uncertainty is not a ball of 0 or more, and a scale above 0 that holds 1";
  { sequences; mask; certain = Q.(equal ball zero && equal low one && equal high one); biases; bias; rules }

let head_of kind scene given =
  let h = named "a head" ["W_Q"; "W_K"; "W_V"; "b_Q"; "b_V"] given in
  let width = width scene in
  let q = matrix kind width "W_Q" (h "W_Q") and k = matrix kind width "W_K" (h "W_K") and v = matrix kind width "W_V" (h "W_V") in
  need (List.length q = List.length k) "W_Q and W_K do not have as many rows";
  let row size what = List.hd (matrix kind (if scene.biases then size else 0) what (List [h what])) in
  let b_q = row (List.length q) "b_Q" in
  ignore (row (List.length v) "b_V");
  { q; k; b_q }

let demands them = List.map (fun (a, p) -> nat a, proved p) them

let formal scene heads bounds =
  let matrix = List.map (List.map proved) in
  { Checked.Whole_heads.width = nat (width scene);
    sequences = List.map matrix scene.sequences;
    the_mask = scene.mask;
    biases = scene.biases;
    bias = List.map matrix scene.bias;
    rules = List.map (fun r -> { Checked.Whole_heads.sequence = nat r.sequence; place = nat r.token; head = nat (Option.get r.head);
      no_less = demands r.attend; no_more = demands r.at_most }) scene.rules;
    heads = List.map (fun h -> { Checked.Whole_heads.coq_W_K = matrix h.k; coq_W_Q = matrix h.q; b_Q = List.map proved h.b_q }) heads;
    bounds = List.map (fun (h, least) -> nat h, proved least) bounds }

(* The evidence. *)

let weights_of scene = List.concat_map (fun r -> List.map snd (r.attend @ r.at_most)) scene.rules
let digits scene = binary_digits (weights_of scene)

let evidence scene heads shown =
  { Checked.Whole_heads.digits = Z.of_int (120 + digits scene);
    e = common (List.concat (List.concat scene.sequences));
    b = common (List.concat (List.concat scene.bias));
    f = List.map (fun h -> common (h.b_q @ List.concat (h.q @ h.k))) heads;
    shown }

let dot x y = List.fold_left2 (fun sum a b -> Q.add sum (Q.mul a b)) Q.zero x y
let beside rows last = List.map2 (fun row x -> row @ [x]) rows last

(* The scores of what a token sees, for W_K and (W_Q | b_Q). *)
let scores scene rule k q =
  let tokens = Array.of_list (List.nth scene.sequences rule.sequence) in
  let x = if scene.biases then tokens.(rule.token) @ [Q.one] else tokens.(rule.token) in
  let asked = List.map (dot x) q in
  let added j = if scene.bias = [] then Q.zero else List.nth (List.nth (List.nth scene.bias (Option.get rule.head)) rule.token) j in
  Array.of_list (List.map (fun j -> Q.add (dot asked (List.map (dot tokens.(j)) k)) (added j)) rule.seen)

let pattern scene rule k q = rounded (scores scene rule k q) (digits scene)

(* Intervals of exponentials would fill the memory; this may reject what is true, and accepts nothing. *)
let farthest = Q.of_int 20_000
let near scene heads rule =
  match List.nth_opt heads (Option.get rule.head) with
  | None -> ()
  | Some head ->
    let found = scores scene rule head.k (if scene.biases then beside head.q head.b_q else head.q) in
    let low = Array.fold_left Q.min found.(0) found and high = Array.fold_left Q.max found.(0) found in
    need (Q.leq (Q.sub high low) farthest) "scores are further apart than is checked"

let place_of x them =
  let rec go k = function y :: _ when y = x -> k | _ :: rest -> go (k + 1) rest | [] -> assert false in
  go 0 them

(* Rules (by number), targets, multipliers and shares over one denominator, as constraints on the rules of a head. *)
let constraints scene head total lines =
  let mine = List.filter (fun (_, r) -> r.head = Some head) (List.mapi (fun i r -> i, r) scene.rules) in
  let times = common (List.map (fun (_, _, multiplier, _) -> multiplier) lines) in
  { Checked.Whole_heads.common = total;
    entries = List.map (fun (rule, target, multiplier, shares) ->
      let r = List.nth scene.rules rule in
      { Checked.of_rule = nat (place_of rule (List.map fst mine)); of_target = nat (place_of target (List.map fst r.attend));
        counted = over times multiplier; parts = shares }) lines }

let shown_bound scene heads (number, least) given =
  let e = named "a bound's evidence" ["W_Q"; "W_K"; "constraints"] given in
  need (Q.sign least > 0) "a bound is not above 0";
  let head = List.nth heads number and width = width scene in
  let k, q = match e "W_K", e "W_Q" with
    | Null, Null -> head.k, if scene.biases then beside head.q head.b_q else head.q
    | k, q -> matrix float64 width "W_K" k, matrix float64 (width + if scene.biases then 1 else 0) "W_Q" q in
  need (List.length k = List.length q) "a witness has not as many rows in W_Q and W_K";
  let patterns = Hashtbl.create 16 and used = Hashtbl.create 16 in
  constraints scene number (Z.shift_left Z.one (80 + digits scene)) (List.map (fun one ->
    let c = named "a constraint" ["rule"; "target"; "multiplier"] one in
    let rule = whole 0 (List.length scene.rules - 1) "a rule" (c "rule") and target = whole 0 most "a target" (c "target") in
    let multiplier = rational (c "multiplier") in
    let r = List.nth scene.rules rule in
    need (r.head = Some number && List.mem_assoc target r.attend && not (Hashtbl.mem used (rule, target)) && Q.sign multiplier >= 0)
      "a constraint is of another head or no rule, or used twice, or has a negative multiplier";
    Hashtbl.add used (rule, target) ();
    if not (Hashtbl.mem patterns rule) then Hashtbl.add patterns rule (Array.to_list (pattern scene r k q));
    rule, target, multiplier, Hashtbl.find patterns rule) (listed ~least:1 "constraints" (e "constraints")))

let about = ["claim"; "mask"; "sequences"; "uncertainty"; "biases"; "bias"; "rules"]

let some_heads said shown =
  let s = named "the statement" (about @ ["dtype"; "heads"; "bounds"]) said in
  let scene = scene_of s in
  let kind = match s "dtype" with
    | String name when List.mem_assoc name types -> List.assoc name types
    | _ -> Verdict.rejected "the type of the weights is unknown" in
  let heads = List.map (head_of kind scene) (listed ~least:1 "heads" (s "heads")) in
  need (scene.bias = [] || List.length scene.bias = List.length heads) "there are no biases of places for each head";
  let claims = listed "bounds" (s "bounds") and shown = listed "bounds" (named "the evidence" ["bounds"] shown "bounds") in
  need (List.length claims = List.length shown) "there is not evidence for each bound";
  let bounds = List.map (fun claim ->
    let b = named "a bound" ["head"; "norm"; "least"] claim in
    whole 0 (List.length heads - 1) "a head" (b "head"), rational (b "least"), b "norm") claims in
  if List.exists (fun r -> r.outputs || r.head = None) scene.rules then Verdict.not_covered "rules are about outputs";
  if not scene.certain then Verdict.not_covered "tokens lie in an uncertainty";
  List.iter (fun (_, _, norm) -> if norm <> String "frobenius" then Verdict.not_covered "a bound is not of a Frobenius norm") bounds;
  List.iter (near scene heads) scene.rules;
  let bounds = List.map (fun (h, least, _) -> h, least) bounds in
  let evidence = evidence scene heads (List.map2 (shown_bound scene heads) bounds shown) in
  Checked.About_heads (formal scene heads bounds), Checked.Of_heads evidence

let no_heads said shown =
  let scene = scene_of (named "the statement" about said) in
  let e = named "the evidence" ["attend"; "output"] shown in
  let head = match (List.hd scene.rules).head with Some head -> head | None -> Verdict.rejected "the rules are not of one head" in
  need (List.for_all (fun r -> r.head = Some head) scene.rules) "the rules are not of one head";
  if e "output" <> List [] then Verdict.not_covered "there are no heads because of outputs";
  let lines = List.concat_map (fun one ->
    let c = named "an entry" ["rule"; "multipliers"; "distribution"] one in
    let rule = whole 0 (List.length scene.rules - 1) "a rule" (c "rule") in
    let r = List.nth scene.rules rule in
    let multipliers = table most "multipliers" (c "multipliers") and shares = table most "a distribution" (c "distribution") in
    need (List.for_all (fun (j, _) -> List.mem j r.seen) shares && List.for_all (fun (a, _) -> List.mem_assoc a r.attend) multipliers)
      "a distribution is over tokens that are not seen, or a multiplier has no target";
    need (List.for_all (fun (_, x) -> Q.sign x >= 0) (shares @ multipliers)
      && Q.equal Q.one (List.fold_left (fun sum (_, x) -> Q.add sum x) Q.zero shares)) "a multiplier or a share is below 0, or shares do not sum to 1";
    let full = List.map (fun j -> Option.value (List.assoc_opt j shares) ~default:Q.zero) r.seen in
    List.map (fun (a, multiplier) -> rule, a, multiplier, full) multipliers) (listed ~least:1 "attend" (e "attend")) in
  let total = common (List.concat_map (fun (_, _, _, shares) -> shares) lines) in
  let lines = List.map (fun (rule, a, multiplier, shares) -> rule, a, multiplier, List.map (over total) shares) lines in
  let evidence = evidence scene [] [constraints scene head total lines] in
  Checked.About_no_heads (formal scene [] [], nat head), Checked.Of_heads evidence
