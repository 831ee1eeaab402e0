-module(matches_h).
-behaviour(cowboy_handler).
-export([init/2]).

init(Req0, State) ->
    Matches = [#{match => M, opponent => iolist_to_binary(["FC Town ", integer_to_list(M)]),
                 kickoff => <<"18:30">>} || M <- lists:seq(1, 17)],
    Req = cowboy_req:reply(200, #{<<"content-type">> => <<"application/json">>}, jsx:encode(Matches), Req0),
    {ok, Req, State}.
