(* Numbers of a certificate, read exactly: decimals, ratios, floats and ratios in hexadecimal digits. *)

open Json

let is_digit c = '0' <= c && c <= '9'
let is_hex c = is_digit c || ('a' <= c && c <= 'f')

(* How many characters from a place on are so, at most so many. *)
let run text start most holds =
  let stop = min (String.length text) (start + most) in
  let at = ref start in
  while !at < stop && holds text.[!at] do incr at done;
  !at - start

let power base exponent = if exponent >= 0 then Q.of_bigint (Z.pow base exponent) else Q.make Z.one (Z.pow base (-exponent))

let of_text text =
  let size = String.length text in
  let bad () = malformed "%S is not a number of the format" (String.sub text 0 (min size 40)) in
  let char at = if at < size then text.[at] else '\000' in
  let ends at value = if at = size then value () else bad () in
  let sub start long = Z.of_string (String.sub text start long) in
  let hexadecimal start long = Z.of_string_base 16 (String.sub text start long) in
  let start = if char 0 = '-' then 1 else 0 in
  let signed q = if start = 1 then Q.neg q else q in
  if size > 50_000 then bad ();
  if char start = '0' && char (start + 1) = 'x' then begin
    let first = start + 2 in
    let digits = run text first 20_000 is_hex in
    let next = first + digits in
    if digits > 0 && char next = '/' then begin
      if not (char (next + 1) = '0' && char (next + 2) = 'x' && char (next + 3) <> '0') then bad ();
      let below = run text (next + 3) 20_001 is_hex in
      if below = 0 then bad ();
      ends (next + 3 + below) (fun () -> signed (Q.make (hexadecimal first digits) (hexadecimal (next + 3) below)))
    end
    else begin
      if not (char first = '0' || char first = '1') then bad ();
      let dot = if char (first + 1) = '.' then 1 else 0 in
      let digits = run text (first + 1 + dot) 13 is_hex in
      let next = first + 1 + dot + digits in
      if char next <> 'p' then bad ();
      let sign = if char (next + 1) = '+' || char (next + 1) = '-' then 1 else 0 in
      let long = run text (next + 1 + sign) 4 is_digit in
      if long = 0 then bad ();
      let whole = hexadecimal first 1 in
      let mantissa = if digits = 0 then whole else Z.add (Z.shift_left whole (4 * digits)) (hexadecimal (first + 1 + dot) digits) in
      let exponent = int_of_string (String.sub text (next + 1 + sign) long) in
      let exponent = (if char (next + 1) = '-' then -exponent else exponent) - (if dot = 1 then 4 * digits else 0) in
      ends (next + 1 + sign + long) (fun () -> signed (Q.mul (Q.of_bigint mantissa) (power (Z.of_int 2) exponent)))
    end
  end
  else begin
    let digits = run text start 400 is_digit in
    if digits = 0 then bad ();
    let whole = sub start digits in
    let next = start + digits in
    if char next = '/' then begin
      let below = run text (next + 1) 401 is_digit in
      if below = 0 || char (next + 1) = '0' then bad ();
      ends (next + 1 + below) (fun () -> signed (Q.make whole (sub (next + 1) below)))
    end
    else begin
      let after = if char next = '.' then run text (next + 1) 400 is_digit else 0 in
      if char next = '.' && after = 0 then bad ();
      let mantissa = if after = 0 then whole else Z.add (Z.mul whole (Z.pow (Z.of_int 10) after)) (sub (next + 1) after) in
      let next = if after = 0 then next else next + 1 + after in
      let exponent, stop =
        if char next <> 'e' then 0, next
        else begin
          let sign = if char (next + 1) = '-' then 1 else 0 in
          let long = run text (next + 1 + sign) 3 is_digit in
          if long = 0 then bad ();
          let size = sub (next + 1 + sign) long |> Z.to_int in
          (if sign = 1 then -size else size), next + 1 + sign + long
        end in
      ends stop (fun () -> signed (Q.mul (Q.of_bigint mantissa) (power (Z.of_int 10) (exponent - after))))
    end
  end

let rational = function String text -> of_text text | _ -> malformed "a number is not a string that is read exactly"

let vector size what given =
  let all = listed what given in
  if List.compare_length_with all size <> 0 then malformed "%s does not have %d numbers" what size;
  List.map rational all

(* Numbers by index, in the order in which they are written. *)
let table count what = function
  | Object all ->
    List.map (fun (name, given) ->
      let index = String.length name < 16 && name <> "" && String.for_all is_digit name && (name = "0" || name.[0] <> '0') in
      if not (index && int_of_string name < count) then malformed "%s: %S is not an index from 0 to %d" what name (count - 1);
      int_of_string name, rational given) all
  | _ -> malformed "%s: expected indices and numbers" what

(* Whether x is a whole multiple of 2^lowest below 2^highest with so many binary digits. *)
let has_type (digits, lowest, highest) x =
  let below = Q.den x and above = Z.abs (Q.num x) in
  Z.equal above Z.zero ||
  let down = Z.trailing_zeros below in
  Z.equal below (Z.shift_left Z.one down) &&
  let up = Z.trailing_zeros above in
  Z.numbits above - up <= digits && up - down >= lowest && Z.numbits above - down <= highest

let float64 = (53, -1074, 1024)
let types = ["float64", float64; "float32", (24, -149, 128); "bfloat16", (8, -133, 128)]

let common = List.fold_left (fun so_far x -> Z.lcm so_far (Q.den x)) Z.one
let over e x = Z.mul (Q.num x) (Z.divexact e (Q.den x))
let binary_digits them = List.fold_left (fun most p -> max most (Z.numbits (Q.den p))) 0 them

(* What the proved program takes. *)
let proved x = { Checked.qnum = Q.num x; qden = Q.den x }
let rec nat_above k from = if k = 0 then from else nat_above (k - 1) (Checked.S from)
let nat k = nat_above k Checked.O

(* The pattern of scores as counts over 2^(80 + fine), near enough: whatever it is, the proved program only uses it if it is
   right. Doubles are near enough where least weights have few digits. *)
let rounded scores fine =
  let bits = 80 + fine in
  let top = Array.fold_left (fun a b -> if Q.compare a b < 0 then b else a) scores.(0) scores in
  let unit = bits + 64 in
  let weight =
    if fine <= 40 then fun off ->
      let off = Q.to_float off in
      if off < -700. then Z.zero
      else let mantissa, exponent = Float.frexp (exp off) in
        let whole = Z.of_float (ldexp mantissa 53) and shift = unit + exponent - 53 in
        if shift >= 0 then Z.shift_left whole shift else Z.shift_right whole (-shift)
    else begin
      let halvings = 80 + fine in
      let m = nat halvings and power = Z.shift_left Z.one halvings and wide = Z.shift_left Z.one (unit + halvings) in
      fun off -> Z.shift_right (Checked.exp_by m power wide (Q.num off) (Q.den off)) halvings
    end in
  let weights = Array.map (fun x -> weight (Q.sub x top)) scores in
  let total = Array.fold_left Z.add Z.zero weights in
  let counts = Array.map (fun w -> Z.div (Z.shift_left w bits) total) weights in
  let best = ref 0 in
  Array.iteri (fun i w -> if Z.gt w weights.(!best) then best := i) weights;
  let sum = Array.fold_left Z.add Z.zero counts in
  counts.(!best) <- Z.add counts.(!best) (Z.sub (Z.shift_left Z.one bits) sum);
  counts
