-module(gates_h).
-behaviour(cowboy_handler).
-export([init/2]).

init(Req0, State) ->
    Gate = cowboy_req:binding(gate, Req0),
    Req = cowboy_req:reply(200, #{<<"content-type">> => <<"application/json">>},
        jsx:encode(#{gate => Gate, admitted => ticket_store:gate(Gate)}), Req0),
    {ok, Req, State}.
