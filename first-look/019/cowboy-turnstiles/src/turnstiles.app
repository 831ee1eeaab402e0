{application, turnstiles,
 [{description, "ticket checks at the turnstiles of a stadium"},
  {vsn, "1.4.0"},
  {modules, [turnstiles_app, turnstiles_sup, ticket_store, scans_h, gates_h, matches_h]},
  {registered, [turnstiles_sup, ticket_store]},
  {applications, [kernel, stdlib, crypto, asn1, public_key, ssl, cowlib, ranch, cowboy, jsx]},
  {mod, {turnstiles_app, []}},
  {env, []}]}.
