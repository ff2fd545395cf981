(* headwright-proved CERTIFICATE.json [KEYS.npy ...]: prints what the proved program says of a certificate, as JSON. *)

let content path =
  let channel = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in channel) (fun () -> really_input_string channel (in_channel_length channel))

let about_keys beside said shown =
  let s = Keys.read_statement beside said in
  let bound = Keys.read_evidence s shown in
  if List.exists (fun (w : Keys.spread) -> w.random) s.uncertainty then Verdict.not_covered "keys are random";
  Checked.About_keys (Keys.formal s), Checked.Of_keys (Bounds.evidence s bound)

(* The statement and the evidence in the theorem's terms. *)
let read beside said shown =
  match said with
  | Json.Object all ->
    let heads = List.mem (List.assoc_opt "claim" all) [Some (String "heads"); Some (String "no heads"); Some (String "circuit")] in
    if heads && beside <> [] then Verdict.rejected "it is about whole heads, and names no keys";
    (match List.assoc_opt "claim" all with
     | Some (String "heads") -> Heads.some_heads said shown
     | Some (String "no heads") -> Heads.no_heads said shown
     | Some (String "circuit") -> Verdict.not_covered "it is about a circuit"
     | _ -> about_keys beside said shown)
  | _ -> Json.malformed "the statement is not an object"

let answer word reason digest =
  let shown = function None -> Json.Null | Some text -> Json.String text in
  print_endline (Json.write (Json.Object ["verdict", String word; "reason", shown reason; "digest", shown digest]))

let verify certificate files =
  let digest = ref None in
  try
    let document = Json.named "the document" ["format"; "version"; "statement"; "evidence"] (Json.read (content certificate)) in
    if document "format" <> String "headwright certificate" || document "version" <> Int 3 then
      Json.malformed "the document is not a headwright certificate of version 3";
    let beside = List.map (fun path -> Keys.read_npy (content path)) files in
    let said = document "statement" and shown = document "evidence" in
    digest := Some (Json.digest (Keys.unheld said));
    let statement, evidence = read beside said shown in
    if not (Checked.check statement evidence) then Verdict.rejected "what is claimed does not follow from this evidence";
    answer "accepted" None !digest; 0
  with
  | Json.Malformed why -> answer "unreadable" (Some why) None; 2
  | Verdict.Rejected why -> answer "rejected" (Some why) !digest; 1
  | Verdict.Not_covered why -> answer "not covered" (Some why) !digest; 3
  | Stack_overflow | Out_of_memory -> answer "undecided" (Some "there is not enough memory or stack") !digest; 4

(* Lists of many keys are walked by recursion: a stack without a limit, set once; and 16 GB of memory, lest a hostile
   certificate take all there is. *)
let () =
  let again = "HEADWRIGHT_PROVED_STACK" in
  if Sys.getenv_opt again = None then begin
    Unix.putenv again "unlimited";
    let script = "ulimit -v 16777216 2>/dev/null; ulimit -s unlimited 2>/dev/null || ulimit -s \"$(ulimit -H -s)\" 2>/dev/null; exec \"$0\" \"$@\"" in
    try Unix.execv "/bin/sh" (Array.append [| "/bin/sh"; "-c"; script; Sys.executable_name |] (Array.sub Sys.argv 1 (Array.length Sys.argv - 1)))
    with Unix.Unix_error _ -> ()
  end;
  match Array.to_list Sys.argv with
  | _ :: certificate :: files -> exit (verify certificate files)
  | _ -> prerr_endline "usage: headwright-proved CERTIFICATE.json [KEYS.npy ...]"; exit 64
