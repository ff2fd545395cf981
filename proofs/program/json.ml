(* JSON, read strictly: no floats, no comments, no NaN, no name twice, nothing after the document; and written canonically.
   Debian's libraries read more than that (Yojson: comments, names without quotes, NaN), or make 1.0 and 1 the same. *)

exception Malformed of string

let malformed format = Printf.ksprintf (fun why -> raise (Malformed why)) format

type t = Null | Bool of bool | Int of int | String of string | List of t list | Object of (string * t) list

let deepest = 100

(* A code point in UTF-8; halves of pairs as well, which are then refused as all that is not ASCII is. *)
let add_code buffer code =
  let byte shift mark mask = Buffer.add_char buffer (Char.chr (mark lor ((code lsr shift) land mask))) in
  if code < 0x80 then byte 0 0 0x7f
  else if code < 0x800 then (byte 6 0xc0 0x1f; byte 0 0x80 0x3f)
  else if code < 0x10000 then (byte 12 0xe0 0x0f; byte 6 0x80 0x3f; byte 0 0x80 0x3f)
  else (byte 18 0xf0 0x07; byte 12 0x80 0x3f; byte 6 0x80 0x3f; byte 0 0x80 0x3f)

let read text =
  let at = ref 0 and size = String.length text in
  let fail what = malformed "the document is not JSON: %s at byte %d" what !at in
  let peek () = if !at < size then text.[!at] else '\000' in
  let rec space () = match peek () with ' ' | '\t' | '\n' | '\r' -> incr at; space () | _ -> () in
  let expect c = if peek () = c && !at < size then incr at else fail (Printf.sprintf "expected %C" c) in
  let word letters value =
    let long = String.length letters in
    if !at + long <= size && String.sub text !at long = letters then (at := !at + long; value) else fail "an unknown word" in
  let hex () =
    if !at + 4 > size then fail "a cut escape";
    let digits = String.sub text !at 4 in
    String.iter (function '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' -> () | _ -> fail "a bad escape") digits;
    at := !at + 4; int_of_string ("0x" ^ digits) in
  let quoted () =
    expect '"';
    let buffer = Buffer.create 24 in
    let rec go () =
      if !at >= size then fail "a string without an end";
      let c = text.[!at] in
      incr at;
      match c with
      | '"' -> Buffer.contents buffer
      | '\\' ->
        let escape = peek () in
        incr at;
        (match escape with
         | '"' | '\\' | '/' -> Buffer.add_char buffer escape
         | 'b' -> Buffer.add_char buffer '\b' | 'f' -> Buffer.add_char buffer '\012'
         | 'n' -> Buffer.add_char buffer '\n' | 'r' -> Buffer.add_char buffer '\r' | 't' -> Buffer.add_char buffer '\t'
         | 'u' ->
           let code = hex () in
           let pair = code land 0xfc00 = 0xd800 && !at + 1 < size && text.[!at] = '\\' && text.[!at + 1] = 'u' in
           let before = !at in
           if pair then at := !at + 2;
           let low = if pair then hex () else 0 in
           if pair && low land 0xfc00 = 0xdc00 then add_code buffer (0x10000 + ((code land 0x3ff) lsl 10) + (low land 0x3ff))
           else (at := before; add_code buffer code)
         | _ -> fail "a bad escape");
        go ()
      | c when c < ' ' -> fail "a control character"
      | c -> Buffer.add_char buffer c; go () in
    go () in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    let digits = !at in
    while (match peek () with '0' .. '9' -> true | _ -> false) do incr at done;
    if !at = digits || (text.[digits] = '0' && !at > digits + 1) then fail "a bad number";
    (match peek () with '.' | 'e' | 'E' -> fail "a bare number that is not whole" | _ -> ());
    if !at - start > 18 then fail "a whole number beyond all sizes";
    Int (int_of_string (String.sub text start (!at - start))) in
  let rec value depth =
    if depth > deepest then fail "brackets within brackets, too deep";
    space ();
    match peek () with
    | '{' -> incr at; space (); if peek () = '}' then (incr at; Object []) else Object (entries depth (Hashtbl.create 8) [])
    | '[' -> incr at; space (); if peek () = ']' then (incr at; List []) else List (items depth [])
    | '"' -> String (quoted ())
    | 't' -> word "true" (Bool true) | 'f' -> word "false" (Bool false) | 'n' -> word "null" Null
    | _ -> number ()
  and items depth before =
    let all = value (depth + 1) :: before in
    space ();
    if peek () = ',' then (incr at; items depth all) else (expect ']'; List.rev all)
  and entries depth known before =
    space ();
    let name = quoted () in
    if Hashtbl.mem known name then malformed "a name is given twice";
    Hashtbl.add known name ();
    space (); expect ':';
    let all = (name, value (depth + 1)) :: before in
    space ();
    if peek () = ',' then (incr at; entries depth known all) else (expect '}'; List.rev all) in
  let document = value 0 in
  space ();
  if !at < size then fail "something after the document";
  document

(* As Python's json.dumps(..., sort_keys=True, separators=(",", ":")) writes it. *)
let write document =
  let buffer = Buffer.create 4096 in
  let add = Buffer.add_string buffer in
  let quoted text =
    add "\"";
    let at = ref 0 in
    let more count first =
      let code = ref first in
      for k = 1 to count do
        if !at + k >= String.length text then malformed "a string is not UTF-8";
        code := (!code lsl 6) lor (Char.code text.[!at + k] land 0x3f)
      done;
      at := !at + count; !code in
    while !at < String.length text do
      (match text.[!at] with
       | '"' -> add "\\\"" | '\\' -> add "\\\\" | '\n' -> add "\\n" | '\r' -> add "\\r" | '\t' -> add "\\t"
       | '\b' -> add "\\b" | '\012' -> add "\\f"
       | ' ' .. '~' as c -> Buffer.add_char buffer c
       | c ->
         let byte = Char.code c in
         let code = if byte < 0x80 then byte else if byte < 0xe0 then more 1 (byte land 0x1f)
           else if byte < 0xf0 then more 2 (byte land 0x0f) else more 3 (byte land 0x07) in
         if code < 0x10000 then add (Printf.sprintf "\\u%04x" code)
         else let rest = code - 0x10000 in
           add (Printf.sprintf "\\u%04x\\u%04x" (0xd800 lor (rest lsr 10)) (0xdc00 lor (rest land 0x3ff))));
      incr at
    done;
    add "\"" in
  let rec go = function
    | Null -> add "null" | Bool true -> add "true" | Bool false -> add "false"
    | Int whole -> add (string_of_int whole)
    | String text -> quoted text
    | List all -> between "[" "]" go all
    | Object all -> between "{" "}" (fun (name, one) -> quoted name; add ":"; go one) (List.sort (fun (a, _) (b, _) -> compare a b) all)
  and between : 'a. string -> string -> ('a -> unit) -> 'a list -> unit = fun start stop one all ->
    add start; List.iteri (fun i x -> if i > 0 then add ","; one x) all; add stop in
  go document;
  Buffer.contents buffer

let digest document = Sha256.to_hex (Sha256.string (write document))

(* Objects with exactly these names, lists, and whole numbers in a range. *)
let named what names = function
  | Object all when List.sort compare (List.map fst all) = List.sort compare names -> fun name -> List.assoc name all
  | _ -> malformed "%s does not have exactly the names %s" what (String.concat ", " (List.sort compare names))

let listed ?(least = 0) what = function
  | List all when List.compare_length_with all least >= 0 -> all
  | _ -> malformed "%s: expected a list%s" what (if least > 0 then " that is not empty" else "")

let whole least most what = function
  | Int x when least <= x && x <= most -> x
  | _ -> malformed "%s: expected a whole number from %d to %d" what least most
