(* The evidence of a certificate about keys, as the proved program takes it. Nothing here is trusted: every distribution,
   every admissible place of the keys and every multiplier gives a bound, and the proved program checks that they are such. *)

open Keys
module Option = Stdlib.Option

type standing = { part : int; about : constraint_; places : Q.t array; own : Q.t; shares : Z.t array; total : Z.t }

let dot_Z x y =
  let sum = ref Z.zero in
  Array.iteri (fun i a -> sum := Z.add !sum (Z.mul a y.(i))) x;
  !sum

let denominators them = Array.fold_left (fun so_far x -> if Z.divisible so_far (Q.den x) then so_far else Z.lcm so_far (Q.den x)) Z.one them

(* A denominator of keys and factors. *)
let of_keys s =
  let most = ref 0 in
  List.iter (fun t -> Float.Array.iter (fun x -> let _, k = dyadic x in if k > !most then most := k) t.numbers) s.tables;
  Z.lcm powers.(!most) (Number.common (List.concat_map (fun w -> List.concat w.factor) s.uncertainty))

(* Scores that keys may be off their places by: intervals of larger exponentials would fill the memory. *)
let near s =
  let size x = List.fold_left (fun sum a -> sum +. Q.to_float a ** 2.) 0. x in
  let dot x y = List.fold_left2 (fun sum a b -> Q.add sum (Q.mul a b)) Q.zero x y in
  List.iter (fun q -> List.iter (fun w ->
    let far = sqrt (size q) *. Q.to_float w.ball +. sqrt (size (List.map (dot q) w.factor)) in
    if not (Float.abs (Q.to_float s.scale) *. far <= 5000.) then Verdict.rejected "keys may be further off their places than is checked") s.uncertainty) s.queries

let evidence s bound =
  near s;
  let first = List.hd s.tables in
  let n = first.n and d = first.d in
  let spreads = Array.of_list (s.uncertainty @ [certain]) and which = entries s in
  let e = of_keys s in
  let g = Number.common (List.concat_map (fun w -> [w.low; w.high; w.ball]) s.uncertainty) in
  let f = Number.common (List.concat s.queries) in
  let fine = Number.binary_digits (List.map snd s.targets) in
  let most what digits limit = if digits > limit then Verdict.rejected "%s more digits than is checked" what in
  most "least weights have" fine 2000;
  let made r moves the_bound = { Checked.Keys.digits = Z.of_int (120 + fine); e; g; f; r; moves; the_bound } in
  match bound with
  | None -> made Z.one [] Checked.Keys.Nothing
  | Some b ->
    let one_realization = b.among <> None in
    if one_realization && (b.own_scales <> [] || List.exists (fun p -> List.exists (List.exists (fun x -> Q.sign x <> 0)) p.moves) b.parts) then
      Verdict.rejected "the bound is about one realization, but targets have scales of their own or keys are moved";
    if List.exists (fun p -> List.for_all (fun c -> Q.sign c.multiplier = 0) p.constraints) b.parts then
      Verdict.rejected "a part of the bound has no positive multiplier";
    let rows = Array.of_list (List.map (fun t ->
      rows_of t (fun x -> let m, k = dyadic x in Z.mul m (Z.divexact e powers.(k)))) s.tables) in
    let listed = Hashtbl.create 16 and listed_own = Hashtbl.create 16 in
    List.iter (fun (key, c) -> Hashtbl.replace listed key c) b.scales;
    List.iter (fun (key, c) -> Hashtbl.replace listed_own key c) b.own_scales;
    let scale key above own =
      let w = spreads.(which.(key)) in
      let usual = if one_realization then Q.min (Q.max Q.one w.low) w.high else if above <> own then w.high else w.low in
      Option.value (Hashtbl.find_opt (if own && not one_realization then listed_own else listed) key) ~default:usual in
    let stand number part about =
      let here = rows.(about.scenario) in
      let fq = Number.common part.query in
      let q = Array.of_list (List.map (Number.over fq) part.query) in
      let unit = Z.mul (Q.den s.scale) (Z.mul fq e) in
      let places = Array.map (fun row -> Z.mul (Q.num s.scale) (dot_Z q row)) here in
      let scales = Array.mapi (fun key place -> scale key (Z.sign place > 0) false) places in
      let own = scale about.target (Z.sign places.(about.target) > 0) true in
      let shares, total = match about.distribution with
        | Some table ->
          let common = List.fold_left (fun so_far (_, x) -> let all = Z.lcm so_far (Q.den x) in most "shares have" (Z.numbits all) 50_000; all) Z.one table in
          let shares = Array.make n Z.zero in
          List.iter (fun (key, x) -> shares.(key) <- Number.over common x) table;
          let total = Array.fold_left Z.add Z.zero shares in
          if Z.sign total = 0 then Verdict.rejected "a distribution has no mass";
          shares, total
        | None ->
          let lifts = Array.of_list (part.lifts @ [Q.zero]) in
          let score key c sign = Q.add (Q.mul (Q.make places.(key) unit) c) (Q.mul (Q.of_int sign) lifts.(which.(key))) in
          let scores = Array.mapi (fun key c -> score key c 1) scales in
          scores.(about.target) <- score about.target own (-1);
          let here = match b.among with
            | None -> Array.init n Fun.id
            | Some them -> Array.of_list (List.filter (fun key -> key = about.target || not (List.mem key them)) (List.init n Fun.id)) in
          let counts = Number.rounded (Array.map (fun key -> scores.(key)) here) fine in
          let shares = Array.make n Z.zero in
          Array.iteri (fun i key -> shares.(key) <- counts.(i)) here;
          shares, Z.shift_left Z.one (80 + fine) in
      { part = number; about; places = scales; own; shares; total } in
    let standings = List.concat (List.mapi (fun number part -> List.map (stand number part) part.constraints) b.parts) in
    let common = List.fold_left (fun so_far x -> let all = Z.lcm so_far x.total in most "shares have" (Z.numbits all) 50_000; all) Z.one standings in
    let standings = List.map (fun x ->
      let times = Z.divexact common x.total in
      { x with shares = (if Z.equal times Z.one then x.shares else Array.map (Z.mul times) x.shares); total = common }) standings in
    let below = Number.common (List.map (fun x -> x.about.multiplier) standings) in
    let multiplier x = Number.over below x.about.multiplier in
    let turns = Array.of_list (List.map (fun p -> Array.of_list (p.moves @ [[]])) b.parts) in
    let r = List.fold_left (fun so_far x -> Z.lcm so_far (Z.lcm (denominators x.places) (Q.den x.own))) Z.one standings in
    let r = Z.lcm r (Number.common (List.concat_map (fun p -> List.concat p.moves) b.parts)) in
    (* The direction in which keys in balls are moved: along what is pulled, as far as shortens it. *)
    let direction =
      if one_realization || Array.for_all (fun w -> Q.sign w.ball = 0) spreads then List.init d (fun _ -> Q.zero)
      else begin
        let pull = Array.make d Z.zero and room = ref Q.zero in
        List.iter (fun x ->
          let count = Array.length spreads in
          let signed = Array.make (2 * count) Z.zero and times = multiplier x in
          let add key w c sign =
            let entry = which.(key) in
            signed.(2 * entry + sign) <- Z.add signed.(2 * entry + sign) w;
            let c = Z.mul w (Number.over r c) in
            Array.iteri (fun j k -> pull.(j) <- Z.add pull.(j) (Z.mul c k)) rows.(x.about.scenario).(key) in
          Array.iteri (fun key share ->
            if key <> x.about.target && Z.sign share <> 0 then add key (Z.neg (Z.mul times share)) x.places.(key) 0) x.shares;
          add x.about.target (Z.mul times (Z.sub common x.shares.(x.about.target))) x.own 1;
          Array.iteri (fun k w ->
            let entry = k / 2 and sign = if k mod 2 = 0 then Z.one else Z.minus_one in
            room := Q.add !room (Q.mul (Q.make (Z.abs w) common) spreads.(entry).ball);
            List.iter2 (fun u column ->
              let c = Z.mul (Z.mul sign w) (Number.over r u) in
              List.iteri (fun j x -> pull.(j) <- Z.add pull.(j) (Z.mul c (Number.over e x))) column) turns.(x.part).(entry) spreads.(entry).factor) signed) standings;
        let pull = Array.to_list (Array.map (fun p -> Q.make p (Z.mul common (Z.mul r e))) pull) in
        let square = List.fold_left (fun sum p -> Q.add sum (Q.mul p p)) Q.zero pull in
        if Q.leq square (Q.mul !room !room) then (if Q.sign !room = 0 then pull else List.map (fun p -> Q.div p !room) pull)
        else begin
          let fine = Z.shift_left Z.one 160 in
          let length = Z.succ (Z.sqrt (Z.cdiv (Z.mul (Q.num square) (Z.mul fine fine)) (Q.den square))) in
          List.map (fun p -> Q.make (Z.div (Z.mul (Q.num p) (Z.mul fine fine)) (Z.mul (Q.den p) length)) fine) pull
        end
      end in
    let shifts = Array.map (fun w -> if one_realization then List.map (fun _ -> Q.zero) direction else List.map (Q.mul w.ball) direction) spreads in
    let r = Array.fold_left (fun so_far shift -> Z.lcm so_far (Number.common shift)) r shifts in
    let er = Z.mul e r in
    let moves = List.concat (List.concat_map (fun part -> List.mapi (fun entry turn -> List.map (fun sign ->
        { Checked.of0 = Number.nat entry;
          shift = List.map (fun x -> Number.over er (Q.mul sign x)) shifts.(entry);
          turn = List.map (fun x -> Number.over r (Q.mul sign x)) turn }) [Q.one; Q.minus_one]) (Array.to_list part)) (Array.to_list turns)) in
    let names = Array.init (2 * Array.length spreads * Array.length turns) Number.nat in
    let place part key c own = Number.over r c, names.(2 * (part * Array.length spreads + which.(key)) + if own then 1 else 0) in
    let stands = List.mapi (fun number _ ->
      let x = List.find (fun x -> x.part = number) standings in
      Array.to_list (Array.mapi (fun key c -> place number key c false) x.places)) b.parts in
    let position target =
      let rec go k = function (a, _) :: _ when a = target -> k | _ :: rest -> go (k + 1) rest | [] -> assert false in
      Number.nat (go 0 s.targets) in
    made r moves (match b.among with
      | None -> Checked.Keys.Alone (common, List.map (fun x ->
          { Checked.scenario = Number.nat x.about.scenario; demanded = position x.about.target; multiplier = multiplier x;
            stands = List.nth stands x.part; own_stand = place x.part x.about.target x.own true;
            weights = Array.to_list x.shares }) standings)
      | Some _ -> Checked.Keys.Together (common, Number.nat (List.hd standings).about.scenario, List.hd stands,
          List.map (fun x -> position x.about.target, Array.to_list x.shares) standings))
