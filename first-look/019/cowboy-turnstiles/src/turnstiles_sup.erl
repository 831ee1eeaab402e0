-module(turnstiles_sup).
-behaviour(supervisor).
-export([start_link/0, init/1]).

start_link() -> supervisor:start_link({local, ?MODULE}, ?MODULE, []).

init([]) ->
    {ok, {#{strategy => one_for_one},
          [#{id => ticket_store, start => {ticket_store, start_link, []}}]}}.
