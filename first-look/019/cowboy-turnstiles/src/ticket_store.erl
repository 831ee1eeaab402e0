%% tickets of the season and what was scanned, in public ETS tables
-module(ticket_store).
-behaviour(gen_server).
-export([start_link/0, init/1, handle_call/3, handle_cast/2]).
-export([admit/2, gate/1, ticket/1]).

start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

init([]) ->
    ets:new(tickets, [named_table, public, set, {read_concurrency, true}]),
    ets:new(gates, [named_table, public, set, {write_concurrency, true}]),
    lists:foreach(fun(N) -> ets:insert(tickets, {N, make_ticket(N)}) end, lists:seq(0, 1999)),
    {ok, nostate}.

handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.

make_ticket(N) ->
    #{id => N,
      holder => iolist_to_binary(io_lib:format("Holder ~4..0b, Station Road ~b", [N, N rem 90])),
      block => N rem 40, row => N rem 33, seat => N rem 28,
      season => <<"2026/27">>,
      barcode => binary:encode_hex(crypto:hash(sha256, integer_to_binary(N))),
      visits => [#{match => M, gate => (N * 7 + M) rem 24,
                   at => iolist_to_binary(io_lib:format("2026-~2..0b-~2..0bT18:~2..0b:~2..0bZ",
                             [1 + M rem 12, 1 + (N + M) rem 28, (N * 3 + M) rem 60, (N + 5 * M) rem 60])),
                   result => <<"admitted">>,
                   device => iolist_to_binary(io_lib:format("reader-~3..0b-fw-2.11.~b", [(N + M) rem 240, M rem 9]))}
                 || M <- lists:seq(1, 58)]}.

ticket(N) -> [{_, T}] = ets:lookup(tickets, N rem 2000), T.

admit(Gate, N) ->
    T = ticket(N),
    Count = ets:update_counter(gates, Gate, 1, {Gate, 0}),
    {ok, T, Count}.

gate(Gate) ->
    case ets:lookup(gates, Gate) of [{_, C}] -> C; [] -> 0 end.
