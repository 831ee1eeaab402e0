-module(turnstiles_app).
-behaviour(application).
-export([start/2, stop/1]).

start(_Type, _Args) ->
    {ok, Pid} = turnstiles_sup:start_link(),
    Port = list_to_integer(os:getenv("PORT", "8080")),
    Dispatch = cowboy_router:compile([{'_', [
        {"/gates/:gate/scans", scans_h, []},
        {"/gates/:gate", gates_h, []},
        {"/matches", matches_h, []}
    ]}]),
    {ok, _} = cowboy:start_clear(http,
        #{socket_opts => [{ip, {127,0,0,1}}, {port, Port}, {nodelay, true}],
          num_acceptors => 10},
        #{env => #{dispatch => Dispatch}, idle_timeout => 60000, max_keepalive => infinity}),
    {ok, Pid}.

stop(_) -> cowboy:stop_listener(http).
