-module(scans_h).
-behaviour(cowboy_handler).
-include_lib("kernel/include/logger.hrl").
-export([init/2]).

init(Req0 = #{method := <<"POST">>}, State) ->
    Gate = cowboy_req:binding(gate, Req0),
    {ok, Body, Req1} = cowboy_req:read_body(Req0),
    #{<<"ticket">> := N} = jsx:decode(Body, [return_maps]),
    {ok, Ticket, Count} = ticket_store:admit(Gate, N),
    T0 = erlang:monotonic_time(microsecond),
    ?LOG_INFO("scan gate=~ts admitted=~b ticket=~ts", [Gate, Count, jsx:encode(Ticket)]),
    trace(T0),
    Req = cowboy_req:reply(200, #{<<"content-type">> => <<"application/json">>},
        jsx:encode(#{gate => Gate, result => <<"admitted">>, admitted => Count,
                     block => maps:get(block, Ticket), row => maps:get(row, Ticket)}), Req1),
    {ok, Req, State};
init(Req0, State) ->
    {ok, cowboy_req:reply(405, Req0), State}.

%% our own check: TRACE_LOG names a file that gets the microseconds of each log call
trace(T0) ->
    case os:getenv("TRACE_LOG") of
        false -> ok;
        F -> file:write_file(F, [integer_to_list(erlang:monotonic_time(microsecond) - T0), "\n"], [append])
    end.
