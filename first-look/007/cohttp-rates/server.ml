(* The exchange rates of a shop: kept in a table, fetched again from the rate service when they are old. *)
open Lwt.Infix
open Cohttp_lwt_unix

let port = int_of_string Sys.argv.(1)
let rates = Uri.of_string Sys.argv.(2)
let lifetime = float_of_string Sys.argv.(3)

type entry = { value : float; until : float }
let table : (string, entry) Hashtbl.t = Hashtbl.create 64
let guard = Lwt_mutex.create ()

let fetch currency =
  Client.get (Uri.with_path rates ("/rate/" ^ currency)) >>= fun (_, body) ->
  Cohttp_lwt.Body.to_string body >|= fun s -> float_of_string (String.trim s)

(* two requests must not write the table at once *)
let rate currency =
  Lwt_mutex.with_lock guard (fun () ->
      match Hashtbl.find_opt table currency with
      | Some e when e.until > Unix.gettimeofday () -> Lwt.return e.value
      | _ ->
          fetch currency >|= fun value ->
          Hashtbl.replace table currency { value; until = Unix.gettimeofday () +. lifetime };
          value)

let callback _conn req _body =
  match String.split_on_char '/' (Uri.path (Request.uri req)) with
  | [ ""; "health" ] -> Server.respond_string ~status:`OK ~body:"ok\n" ()
  | [ ""; "price"; currency; cents ] ->
      rate currency >>= fun r ->
      Server.respond_string ~status:`OK
        ~body:(Printf.sprintf "%s %.2f\n" currency (r *. float_of_string cents /. 100.)) ()
  | [ ""; "list"; currency ] ->
      rate currency >>= fun r ->
      let b = Buffer.create 65536 in
      for n = 1 to 1500 do
        Buffer.add_string b
          (Printf.sprintf "article %d: %s %.2f\n" n currency (r *. float_of_int (n * 7919 mod 90000) /. 100.))
      done;
      Server.respond_string ~status:`OK ~body:(Buffer.contents b) ()
  | _ -> Server.respond_not_found ()

let () =
  Lwt_main.run
    (Conduit_lwt_unix.init ~src:"127.0.0.1" () >>= fun ctx ->
     Server.create ~ctx:(Net.init ~ctx ()) ~mode:(`TCP (`Port port)) (Server.make ~callback ()))
