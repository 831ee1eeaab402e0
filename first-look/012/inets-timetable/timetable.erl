-module(timetable).
-export([start/0, health/3, stop/3, line/3]).

%% A timetable of buses, served by inets httpd through mod_esi: /t/timetable:stop?17
start() ->
    {ok, _} = application:ensure_all_started(inets),
    Me = self(),
    spawn(fun() ->   % owns the table
              ets:new(times, [named_table, public, ordered_set, {read_concurrency, true}]),
              [ets:insert(times, {{S, M}, (S * 7 + M) rem 24}) || S <- lists:seq(0, 199), M <- lists:seq(S rem 6, 1439, 24)],
              Me ! filled,
              receive stop -> ok end
          end),
    receive filled -> ok end,
    Port = list_to_integer(os:getenv("PORT")),
    Dir = os:getenv("ROOT"),
    {ok, _} = inets:start(httpd, [{port, Port}, {bind_address, {127, 0, 0, 1}}, {socket_type, ip_comm},
                                  {server_name, "timetable"}, {server_root, Dir}, {document_root, Dir},
                                  {modules, [mod_esi]}, {erl_script_alias, {"/t", [timetable]}},
                                  {keep_alive, true}, {max_keep_alive_request, 100000}]),
    ok.

health(Sid, _Env, _In) ->
    mod_esi:deliver(Sid, "content-type: text/plain\r\n\r\n"),
    mod_esi:deliver(Sid, "ok\n").

%% the next departures of one stop
stop(Sid, _Env, In) ->
    S = list_to_integer(In) rem 200,
    reply(Sid, S, 12).

%% the whole day of one stop
line(Sid, _Env, In) ->
    S = list_to_integer(In) rem 200,
    reply(Sid, S, 60).

reply(Sid, S, N) ->
    mod_esi:deliver(Sid, "content-type: text/plain\r\n\r\n"),
    mod_esi:deliver(Sid, io_lib:format("stop ~b~n", [S])),
    Rows = lists:sublist(ets:match(times, {{S, '$1'}, '$2'}), N),
    mod_esi:deliver(Sid, [io_lib:format("~2..0b:~2..0b bus ~b~n", [M div 60, M rem 60, B]) || [M, B] <- Rows]).
