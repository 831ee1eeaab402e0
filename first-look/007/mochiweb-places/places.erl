%% The places of a country: found by number, or listed around one of them.
-module(places).
-export([start/0]).

start() ->
    Port = list_to_integer(os:getenv("PORT")),
    ets:new(places, [named_table, public, set, {read_concurrency, true}]),
    [ets:insert(places, {N, name(N), 47 + (N * 7919 rem 8000) / 1000, 6 + (N * 104729 rem 9000) / 1000}) || N <- lists:seq(1, 20000)],
    {ok, _} = application:ensure_all_started(crypto),
    {ok, _} = mochiweb_http:start([{name, places_http}, {ip, "127.0.0.1"}, {port, Port}, {loop, fun loop/1}]),
    receive stop -> ok end.

name(N) -> list_to_binary("place " ++ integer_to_list(N)).

json({N, Name, Lat, Lon}) -> {struct, [{number, N}, {name, Name}, {lat, Lat}, {lon, Lon}]}.

reply(Req, Term) ->
    mochiweb_request:ok({"application/json", [], mochijson2:encode(Term)}, Req).

loop(Req) ->
    case string:tokens(mochiweb_request:get(path, Req), "/") of
        ["place", N] ->
            [P] = ets:lookup(places, list_to_integer(N)),
            reply(Req, json(P));
        ["around", N] ->
            I = list_to_integer(N),
            {_, _, Lat, Lon} = hd(ets:lookup(places, I)),
            Near = [{math:sqrt((A - Lat) * (A - Lat) + (B - Lon) * (B - Lon)), P}
                    || K <- lists:seq(I, I + 1500), {_, _, A, B} = P <- ets:lookup(places, K)],
            reply(Req, [json(P) || {_, P} <- lists:sublist(lists:sort(Near), 40)]);
        _ ->
            mochiweb_request:ok({"text/plain", [], <<"ok\n">>}, Req)
    end.
