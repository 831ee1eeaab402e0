//! Each kind of mistake by itself: nothing else is reported with it.

use super::mistakes::with;

/// Below this header, these lines, this one mistake.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "[target]",
        "command = []",
        "2: target.command: it names no program",
    ),
    (
        "[target]",
        "command = [\" \"]",
        "2: target.command: it names no program",
    ),
    (
        "[target]",
        "command = \"./server\"",
        "2: target.command: a string where an array",
    ),
    (
        "[target]",
        "command = [\n\"./s\",\n7]",
        "4: target.command: an integer where a string",
    ),
    (
        "[target]",
        "command = [\"{seq}\"]",
        "2: target.command: {seq}, {uuid}, pools and variables have",
    ),
    (
        "[target]",
        "command = [\"{service.x.port}\"]",
        "there is no service named \"x\"",
    ),
    (
        "[target]",
        "env = { A = \"1\" }",
        "2: target.env: only for what slowpath starts",
    ),
    (
        "[target]",
        "ready = \"udp\"",
        "2: target.ready: \"udp\" is not understood",
    ),
    (
        "[target]",
        "ready = \"GET health\"",
        "the path \"health\" does not start with /",
    ),
    (
        "[target]",
        "ready_timeout = \"0s\"",
        "2: target.ready_timeout: zero",
    ),
    (
        "[target]",
        "command = [\"x\"]\nenv = 3",
        "3: target.env: an integer where a table",
    ),
    (
        "[load]",
        "rate = \"5/s\"\nmodel = \"closed\"",
        "7: load.rate: a closed loop sends",
    ),
    (
        "[load]",
        "rate = \"5/s\"\nusers = 2",
        "8: load.users: an open loop has no users",
    ),
    (
        "[load]",
        "rate = \"5/s\"\nthink = \"1s\"",
        "8: load.think: an open loop has no users",
    ),
    (
        "[load]",
        "rate = \"5 a second\"",
        "7: load.rate: \"5 a second\" has no unit",
    ),
    ("[load]", "rate = \"0/s\"", "7: load.rate: \"0/s\" is zero"),
    (
        "[load]",
        "rate = 5\narrivals = \"uniform\"",
        "7: load.rate: a number without a unit",
    ),
    (
        "[load]",
        "model = \"half\"",
        "7: load.model: \"half\" is none of them",
    ),
    ("[load]", "duration = \"0s\"", "7: load.duration: zero"),
    ("[load]", "repeats = 0", "7: load.repeats: out of range"),
    (
        "[load]",
        "rate = \"5/s\"\nreuse = \"newest\"",
        "8: load.reuse: \"newest\" is none of them",
    ),
    (
        "[load]",
        "rate = \"5/s\"\nopen = true",
        "8: load.open: a boolean where",
    ),
    (
        "[load]",
        "users = 2\nreuse = \"oldest\"",
        "8: load.reuse: it says how a pool",
    ),
    (
        "[load]",
        "rate = \"5/s\"\nconnection = \"per-request\"\nopen = \"at-start\"",
        "9: load.open: it says how a pool",
    ),
    ("[load]", "loops = 0", "7: load.loops: out of range"),
    ("[load]", "streams = 0", "7: load.streams: out of range"),
    (
        "[target]",
        "http = \"3\"",
        "target.http: no version that is spoken here",
    ),
    (
        "[load]",
        "connections = 99999999999",
        "7: load.connections: out of range",
    ),
    (
        "[load]",
        "connections = -1",
        "7: load.connections: out of range",
    ),
    (
        "[load]",
        "think = \"3s..1s\"",
        "7: load.think: the range \"3s..1s\" ends before",
    ),
    (
        "[load]",
        "think = { mean = \"2s\", p90 = \"4s\" }",
        "7: load.think: no distribution of pauses; say { mean",
    ),
    (
        "[load]",
        "think = { median = \"2s\", p90 = \"2s\" }",
        "7: load.think: the p90 is not above the median",
    ),
    (
        "[load]",
        "think = { mean = \"0s\" }",
        "7: load.think.mean: zero",
    ),
    (
        "[load]",
        "model = \"closed\"\n[[endpoint]]\nname = \"b\"\nrequest = \"GET /b\"\nrate = \"5/s\"",
        "11: endpoint.rate: a closed loop sends as fast",
    ),
    (
        "[load]",
        "rate = \"5/s\"\nmodel = \"open\"\n[[user]]\nname = \"u\"\nendpoints = { home = 1 }",
        "9: user: an open loop has no users",
    ),
    (
        "[[user]]",
        "name = \"u\"",
        "6: user.endpoints: missing; add endpoints = { NAME = 1 }, or steps",
    ),
    (
        "[[user]]",
        "name = \"u\"\nendpoints = { home = 1 }\nsteps = [\"home\"]",
        "9: user.steps: users choose among endpoints or go",
    ),
    (
        "[[user]]",
        "name = \"u\"\nsteps = [\"cart\"]",
        "8: user.steps: there is no endpoint named \"cart\"",
    ),
    (
        "[[user]]",
        "name = \"u\"\nsteps = []",
        "8: user.steps: users without steps do nothing",
    ),
    (
        "[[user]]",
        "name = \"u\"\nsteps = [\"home\"]\n[load]\nrate = \"1/s\"",
        "6: user: an open loop has no users",
    ),
    (
        "[load]",
        "users = 1\n[[user]]\nname = \"u\"\nsteps = [\"home\"]\n\
         [[user]]\nname = \"v\"\nsteps = [\"home\"]",
        "7: load.users: there are classes whose share",
    ),
    (
        "[load]",
        "rate = \"100/s\"\nidle = \"5s\"",
        "8: load.idle: so many connections would have to rest",
    ),
    (
        "[load]",
        "fresh = \"no\"",
        "7: load.fresh: a string where true or false",
    ),
    (
        "[load]",
        "users = 4\nconnections = 2",
        "8: load.connections: each user keeps",
    ),
    (
        "[load]",
        "burst = 4",
        "7: load.burst: unknown key; known here: model, rate",
    ),
    ("[pools]", "a = []", "7: pools.a: the pool has no values"),
    (
        "[pools]",
        "a = [1]",
        "7: pools.a: an integer where a string",
    ),
    (
        "[pools]",
        "a = { file = \"empty.txt\" }",
        "7: pools.a: the pool has no values",
    ),
    (
        "[pools]",
        "a = { file = \"no.txt\" }",
        "/shop/no.txt cannot be read: no such file",
    ),
    (
        "[pools]",
        "port = [\"1\"]",
        "7: pools.port: {port} already means something else",
    ),
    (
        "[pools]",
        "\"a b\" = [\"1\"]",
        "7: pools.a b: what stands between braces",
    ),
    (
        "[[endpoint]]",
        "weight = -1.5",
        "4: endpoint.weight: not above 0",
    ),
    (
        "[[endpoint]]",
        "weight = nan",
        "4: endpoint.weight: not above 0",
    ),
    (
        "[[endpoint]]",
        "body = \"a\"\njson = {}",
        "4: endpoint.body: a request has one body",
    ),
    (
        "[[endpoint]]",
        "json = { a = inf }",
        "4: endpoint.json: a number that JSON cannot say",
    ),
    (
        "[[endpoint]]",
        "body = \"{tmp}\"",
        "4: endpoint.body: {port} and {tmp} are those of",
    ),
    (
        "[[endpoint]]",
        "headers = { Connection = \"close\" }",
        "slowpath sets this header itself",
    ),
    (
        "[[endpoint]]",
        "headers = { A = \"1\", a = \"2\" }",
        "there are two of this header",
    ),
    (
        "[[endpoint]]",
        "headers = { A = \"1\\n2\" }",
        "a line break or control character",
    ),
    (
        "[[endpoint]]",
        "headers = { \"A b\" = \"1\" }",
        "no name of a header",
    ),
    (
        "[[endpoint]]",
        "expect = { status = 600 }",
        "4: endpoint.expect.status: no status of HTTP",
    ),
    (
        "[[endpoint]]",
        "expect = { regex = \"(\" }",
        "4: endpoint.expect.regex: unclosed group",
    ),
    (
        "[[endpoint]]",
        "expect = { regex = \"{seq}\" }",
        "{seq}, {uuid}, pools and variables have values",
    ),
    (
        "[[endpoint]]",
        "expect = { size = \"2B..1B\" }",
        "the range \"2B..1B\" ends before",
    ),
    (
        "[[endpoint]]",
        "expect = { events = { min = 3, max = 2 } }",
        "4: endpoint.expect.events: no number is that large and that small",
    ),
    (
        "[[endpoint]]",
        "expect = { events = { least = 3 } }",
        "4: endpoint.expect.events.least: unknown key",
    ),
    (
        "[[endpoint]]",
        "expect = { contains = \"\" }",
        "4: endpoint.expect.contains: empty",
    ),
    ("[toggle.a]", "", "6: toggle.a: it switches nothing"),
    (
        "[toggle.a]",
        "args = [\"x\"]",
        "6: toggle.a: env and args need a target",
    ),
    ("[toggle.a]", "on = [\"./x\"]", "6: toggle.a.off: missing"),
    (
        "[toggle.a]",
        "on = [\"./x\"]\nargs = []",
        "6: toggle.a: env and args restart",
    ),
    (
        "[[gate]]",
        "that = \"home.p99\"",
        "7: gate.that: it compares nothing",
    ),
    (
        "[[gate]]",
        "that = \"cart.p99 < 1ms\"",
        "there is no endpoint named \"cart\"",
    ),
    ("[timers]", "ttl = \"0s\"", "7: timers.ttl: zero"),
    (
        "[gate]",
        "that = \"home.p99 < 1ms\"",
        "6: gate: there may be several; write [[gate]]",
    ),
    (
        "[[service]]",
        "name = \"a\"\ncommand = [\"x\"]\nready = \"tcp\"",
        "9: service.ready: the service is not given its port",
    ),
    (
        "[[service]]",
        "name = \"a b\"\ncommand = [\"x\"]",
        "7: service.name: a service has a plain name",
    ),
    (
        "[[service]]",
        "name = \"a\"\naddress = \"db\"",
        "8: service.address: no HOST:PORT",
    ),
    (
        "[[service]]",
        "name = \"a\"\naddress = \"::1:5432\"",
        "8: service.address: no HOST:PORT",
    ),
    (
        "[[service]]",
        "name = \"a\"\naddress = \"db:5432\"\ncommand = [\"x\"]",
        "9: service.command: only for a service that slowpath starts",
    ),
];

#[test]
fn each_kind_of_mistake_is_found_alone() {
    for (header, lines, expected) in MISTAKES {
        let found = with(header, lines);
        assert_eq!(found.len(), 1, "{header} {lines}: {found:#?}");
        let full = &found[0];
        let after_file = full.strip_prefix("shop.toml:").unwrap();
        let place = expected.starts_with(|c: char| c.is_ascii_digit());
        let matches = if place {
            after_file.starts_with(expected)
        } else {
            after_file.contains(expected)
        };
        assert!(
            matches,
            "{header} {lines}\nexpected {expected}\nfound    {full}"
        );
    }
}
