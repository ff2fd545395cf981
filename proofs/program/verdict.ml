(* What is said of a certificate, beside "unreadable" (Json.Malformed). *)

exception Rejected of string
exception Not_covered of string

let rejected format = Printf.ksprintf (fun why -> raise (Rejected why)) format
let not_covered format = Printf.ksprintf (fun why -> raise (Not_covered why)) format
