%% appmod of yaws: /parcels/N packs the items of order N into boxes and signs the answer
-module(parcels).
-export([out/1]).
-include("yaws_api.hrl").

out(#arg{appmoddata = Path}) ->
    [N | _] = string:tokens(Path, "/"),
    Order = list_to_integer(N),
    Items = items(Order, items_of(Order), []),
    Boxes = pack(lists:reverse(lists:sort(Items)), []),
    Key = <<"parcel key">>,
    Body = jiffy:encode({[{order, Order}, {boxes, [{[{used, U}, {items, length(B)}, {first, Name}]} || {U, [{_, Name} | _] = B} <- Boxes]}]}),
    Sig = binary:encode_hex(crypto:mac(hmac, sha256, Key, Body)),
    [{header, ["X-Signature: ", binary_to_list(Sig)]},
     {content, "application/json", Body}].

items_of(Order) -> 1250 + Order rem 100.

items(_, 0, Acc) -> Acc;
items(Seed, N, Acc) ->
    S = (Seed * 1103515245 + 12345) rem 2147483648,
    items(S, N - 1, [{5 + (S div 65536) rem 60, list_to_binary(["item ", integer_to_list(N)])} | Acc]).

%% first fit, largest item first
pack([], Boxes) -> Boxes;
pack([I | Rest], Boxes) -> pack(Rest, put_in(I, Boxes)).

put_in({S, _} = I, []) -> [{S, [I]}];
put_in({S, _} = I, [{Used, B} | T]) when Used + S =< 100 -> [{Used + S, [I | B]} | T];
put_in(I, [H | T]) -> [H | put_in(I, T)].
