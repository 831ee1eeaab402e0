//! Scenarios without mistakes say what was meant.

use slowpath_core::scenario::{
    Arrivals, Condition, ConnectionUse, DEFAULT_READY_TIMEOUT_NS, Escape, Load, Metric, Model,
    Part, Places, PoolOpen, PoolReuse, Profiler, Ready, SizeRange, Step, Switch, Telemetry,
    Template, Think, Values,
};

use super::{LEAST, SHOP, read};

fn literal(template: &Template) -> &str {
    template.as_literal().expect("no placeholders")
}

#[test]
fn processes_of_the_shop() {
    let shop = read(SHOP).unwrap();
    let places = Places {
        port: 8080,
        service_ports: vec![5432],
        tmp: "/t".to_owned(),
        ..Places::default()
    };
    let expand = |template: &Template| template.expand(&places);
    let target = &shop.target;
    assert_eq!(shop.folder.to_str(), Some("/shop"));
    assert_eq!(expand(&target.url), "http://127.0.0.1:8080");
    let command: Vec<_> = target
        .command
        .as_ref()
        .unwrap()
        .iter()
        .map(expand)
        .collect();
    assert_eq!(command, ["./server", "--port", "8080", "--db", "5432"]);
    assert_eq!(target.env[0].0, "RUST_LOG");
    assert_eq!(target.cwd.as_ref().map(literal), Some("server"));
    assert!(matches!(&target.ready, Ready::Get(path) if literal(path) == "/health"));
    assert_eq!(target.ready_timeout_ns, 15_000_000_000);
    let db = &shop.services[0];
    assert_eq!((db.name.as_str(), &db.ready), ("db", &Ready::Tcp));
    assert_eq!(db.ready_timeout_ns, DEFAULT_READY_TIMEOUT_NS);
    assert_eq!(
        db.command.iter().map(expand).collect::<Vec<_>>(),
        ["./start-db.sh", "8080", "/t"]
    );
}

#[test]
fn the_load_of_the_shop() {
    let expected = Load {
        model: Model::Open {
            rate_per_s: 500.0,
            arrivals: Arrivals::Uniform,
        },
        connections: 64,
        connection: ConnectionUse::Pool,
        reuse: PoolReuse::Recent,
        open: PoolOpen::OnDemand,
        idle: None,
        duration_ns: 20_000_000_000,
        warmup_ns: 2_000_000_000,
        repeats: 5,
        precision: None,
        fresh: false,
        passes: Vec::new(),
        timeout_ns: 5_000_000_000,
        redirects: 0,
        loops: 1,
        streams: 1,
    };
    assert_eq!(read(SHOP).unwrap().load, expected);
}

#[test]
fn requests_of_the_shop() {
    let shop = read(SHOP).unwrap();
    assert_eq!(shop.pools[1].values, ["red shoes", "blue \"hat\""]);
    let places = Places::default();
    let values = Values {
        pools: &shop.pools,
        picks: &[1, 1],
        variables: &[],
        seq: 3,
        uuid: 0,
        places: &places,
    };
    let render = |template: &Template| {
        let mut out = Vec::new();
        template.render(&mut out, &values);
        String::from_utf8(out).unwrap()
    };
    let [search, order] = shop.endpoints.as_slice() else {
        panic!("two endpoints")
    };
    assert_eq!((search.weight, order.weight), (4.0, 1.0));
    assert_eq!(render(&search.path), "/search?q=oxygen");
    assert_eq!(search.headers[1].0, "X-Request-Id");
    assert_eq!(search.key.as_ref().map(render).as_deref(), Some("oxygen"));
    assert_eq!(search.expect.status, Some(200));
    assert_eq!(
        search.expect.contains.as_ref().map(render).as_deref(),
        Some("oxygen")
    );
    assert_eq!(
        search.expect.size,
        Some(SizeRange {
            min_bytes: 1,
            max_bytes: 65_536
        })
    );
    assert_eq!(order.method, "POST");
    assert_eq!(render(&order.path), "/orders/blue%20%22hat%22");
    assert_eq!(
        order.body.as_ref().map(render).as_deref(),
        Some(r#"{"item":"oxygen","count":2,"note":"{topics} {nope}","tags":[1.5,true]}"#)
    );
    assert_eq!(order.headers[0].0, "Content-Type");
    assert_eq!(literal(&order.headers[0].1), "application/json");
    assert_eq!(
        order.key.as_ref().map(render).as_deref(),
        Some("blue \"hat\"/oxygen")
    );
    assert_eq!(
        order.expect.regex.as_ref().map(literal),
        Some(r"^\{.{2,}\}$")
    );
    let json: Vec<_> = order
        .expect
        .json
        .iter()
        .map(|(at, value)| (at.as_str(), render(value)))
        .collect();
    assert_eq!(
        json,
        [
            ("/order/items/0", "\"oxygen\"".into()),
            ("/order/total", "2".into())
        ]
    );
}

#[test]
fn what_experiments_and_gates_of_the_shop_need() {
    let shop = read(SHOP).unwrap();
    assert_eq!(shop.timers[0].period_ns, 60_000_000_000);
    assert!(
        matches!(&shop.toggles[0].switch, Switch::Restart { env, args }
        if env[0].0 == "OTEL_SDK_DISABLED" && args.is_empty())
    );
    let Switch::Live { on, off } = &shop.toggles[1].switch else {
        panic!("switched live")
    };
    assert!(matches!(on.as_slice(), [Step::Command(words)] if literal(&words[1]) == "on"));
    assert!(
        matches!(off.as_slice(), [Step::Request { method, .. }, Step::Command(_)]
        if method == "POST")
    );
    let gate = &shop.gates[0];
    assert_eq!(
        gate.line,
        1 + SHOP.lines().position(|line| line == "[[gate]]").unwrap() + 1
    );
    let test = gate.test.bounded().unwrap();
    assert_eq!(test.measure.metric, Metric::Quantile(99.0));
    assert_eq!(test.condition, Condition::Below(5e7));
    assert!(
        shop.gates[1]
            .test
            .bounded()
            .and_then(|test| test.over.as_ref())
            .is_some_and(|over| over.of_baseline)
    );
}

#[test]
fn little_is_needed() {
    let least = read(LEAST).unwrap();
    assert_eq!(least.name, "shop");
    assert_eq!(least.load, Load::default());
    assert_eq!(least.target.ready, Ready::Tcp);
    assert_eq!(
        least.endpoints[0].key,
        Some(Template::literal("", Escape::None))
    );
}

fn endpoint(lines: &str) -> slowpath_core::scenario::Endpoint {
    let text = LEAST.replace("request = \"GET /\"", lines) + "[pools]\na = [\"1\"]\nb = [\"2\"]\n";
    read(&text).expect("no mistakes").endpoints.remove(0)
}

#[test]
fn keys_are_pool_values_unless_the_request_is_unique() {
    let key = endpoint("request = \"GET /{b}/{a}/{b}\"").key.unwrap();
    let slash = Part::Literal("/".to_owned());
    assert_eq!(key.parts, [Part::Pool(1), slash, Part::Pool(0)]);
    let unique = endpoint("request = \"GET /{b}/{seq}\"");
    assert_eq!(unique.key, None);
    // What it may be slow by all the same.
    assert_eq!(unique.factor.unwrap().parts, [Part::Pool(1)]);
    assert_eq!(endpoint("request = \"GET /{seq}\"").factor, None);
    assert_eq!(endpoint("request = \"GET /{b}\"").factor, None);
    assert_eq!(
        endpoint("request = \"GET /{b}\"\nheaders = { Id = \"{uuid}\" }").key,
        None
    );
    let key = endpoint("request = \"GET /{b}/{seq}\"\nkey = \"{b}\"")
        .key
        .unwrap();
    assert_eq!(key.parts, [Part::Pool(1)]);
}

#[test]
fn a_content_type_of_the_users_own_stays() {
    let lines = "request = \"PUT /\"\njson = {}\nheaders = { content-type = \"a/b\" }";
    let endpoint = endpoint(lines);
    assert_eq!(endpoint.headers.len(), 1);
    assert_eq!(literal(endpoint.body.as_ref().unwrap()), "{}");
}

#[test]
fn a_service_without_a_port_is_ready_once_started() {
    let text = LEAST.to_owned() + "[[service]]\nname = \"job\"\ncommand = [\"./job\"]\n";
    assert_eq!(read(&text).unwrap().services[0].ready, Ready::Started);
}

#[test]
fn a_service_that_runs_already_has_an_address() {
    let text = LEAST.to_owned() + "[[service]]\nname = \"db\"\naddress = \"[::1]:5432\"\n";
    let service = read(&text).unwrap().services.remove(0);
    let address = service.address.unwrap();
    assert_eq!((address.host.as_str(), address.port), ("[::1]", 5432));
    assert!(service.command.is_empty());
}

#[test]
fn a_rate_says_that_the_loop_is_open() {
    let text = LEAST.to_owned() + "[load]\nrate = \"30/m\"\n";
    assert!(matches!(
        read(&text).unwrap().load.model,
        Model::Open {
            rate_per_s: 0.5,
            ..
        }
    ));
}

#[test]
fn telemetry_is_asked_for_with_and_without_a_port() {
    let text = |said: &str| {
        format!(
            "[target]\nurl = \"http://127.0.0.1:1\"\n{said}\n\
             [[endpoint]]\nname = \"e\"\nrequest = \"GET /\"\n"
        )
    };
    for (said, port) in [("otlp", None), ("otlp:4317", Some(4317))] {
        let target = read(&text(&format!("telemetry = \"{said}\"")))
            .unwrap()
            .target;
        assert_eq!(target.telemetry, Some(Telemetry { port }));
    }
    assert_eq!(read(&text("")).unwrap().target.telemetry, None);
    for wrong in ["otlp:0", "otlp:70000", "otlp:", "otlp4317", "zipkin"] {
        let found = read(&text(&format!("telemetry = \"{wrong}\""))).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0].remedy,
            "say \"otlp\", or with a port \"otlp:4317\""
        );
    }
}

#[test]
fn profiles_are_fetched_from_a_url_without_tls() {
    let text = |said: &str| {
        format!(
            "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = [\"./s\"]\npprof = \"{said}\"\n\
             [[endpoint]]\nname = \"e\"\nrequest = \"GET /\"\n"
        )
    };
    let target = read(&text("http://127.0.0.1:{port}/own/pprof"))
        .unwrap()
        .target;
    let places = Places {
        port: 81,
        ..Places::default()
    };
    let url = target.pprof.unwrap().expand(&places);
    assert_eq!(url, "http://127.0.0.1:81/own/pprof");
    for (wrong, why) in [
        ("6060", "does not start with http:// or https://"),
        ("https://127.0.0.1:6060", "without TLS"),
    ] {
        let found = read(&text(wrong)).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].to_string().contains(why), "{found:?}");
        assert_eq!(found[0].remedy, "try \"http://127.0.0.1:6060\"");
    }
}

#[test]
fn tls_and_a_unix_socket_are_read() {
    let target = "[target]\ncommand = [\"./s\"]\nurl = \"https://shop.test\"\nunix_socket = \"{tmp}/shop.sock\"\n\
        tls = { ca = \"ca.pem\", cert = \"me.pem\", key = \"me.key\", resume = false }\n\
        [[endpoint]]\nname = \"e\"\nrequest = \"GET /\"\n";
    let target = read(target).unwrap().target;
    let tls = target.tls.unwrap();
    assert!(!tls.insecure && !tls.resume);
    for (path, said) in [
        (tls.ca, "ca.pem"),
        (tls.cert, "me.pem"),
        (tls.key, "me.key"),
    ] {
        assert_eq!(path.unwrap().as_literal(), Some(said));
    }
    let socket = target.unix_socket.unwrap();
    let places = Places {
        tmp: "/tmp/x".into(),
        ..Places::default()
    };
    assert_eq!(socket.expand(&places), "/tmp/x/shop.sock");
}

#[test]
fn pauses_have_distributions() {
    let think = |lines: &str| {
        let text = format!("{LEAST}[load]\n{lines}\n");
        match read(&text).expect("no mistakes").load.model {
            Model::Closed { think, .. } => think,
            Model::Open { .. } => panic!("closed"),
        }
    };
    let (min_ns, max_ns) = (1_000_000_000, 3_000_000_000);
    assert_eq!(
        think("think = \"1s..3s\""),
        Think::Uniform { min_ns, max_ns }
    );
    assert_eq!(
        think("think = { mean = \"1s\" }"),
        Think::Exponential { mean_ns: min_ns }
    );
    assert_eq!(
        think("think = { median = \"1s\", p90 = \"3s\" }"),
        Think::LogNormal {
            median_ns: min_ns,
            p90_ns: max_ns
        }
    );
}

#[test]
fn classes_choose_or_go_through_steps() {
    let text = format!(
        "{LEAST}[load]\nusers = 20\nspawn = \"2/s\"\nidle = \"1s\"\n\
         [[user]]\nname = \"one\"\nshare = 3\nthink = \"1s\"\nendpoints = {{ home = 2 }}\n\
         [[user]]\nname = \"two\"\nsteps = [\"home\", \"home\"]\n"
    );
    let scenario = read(&text).unwrap();
    let [one, two] = scenario.users.as_slice() else {
        panic!("two classes")
    };
    assert_eq!(
        (one.share, one.endpoints.as_slice()),
        (3.0, &[("home".into(), 2.0)][..])
    );
    assert_eq!((two.share, two.steps.len(), two.think), (1.0, 2, None));
}

#[test]
fn endpoints_with_rates_need_none_of_the_load() {
    let text = LEAST.to_owned() + "rate = \"5/s\"\n";
    let scenario = read(&text).unwrap();
    assert_eq!(scenario.offered_per_s(), Some(5.0));
    let text = text + "[[endpoint]]\nname = \"b\"\nrequest = \"GET /b\"\n[load]\nrate = \"10/s\"\n";
    assert_eq!(read(&text).unwrap().offered_per_s(), Some(15.0));
}

#[test]
fn a_form_is_encoded_and_says_its_type() {
    let text = LEAST.to_owned() + "form = { q = \"a b&c=d\", \"n+\" = \"{seq}x\" }\n";
    let endpoint = &read(&text).unwrap().endpoints[0];
    let places = Places::default();
    let values = Values {
        pools: &[],
        picks: &[],
        seq: 7,
        uuid: 0,
        variables: &[],
        places: &places,
    };
    let mut body = Vec::new();
    endpoint.body.as_ref().unwrap().render(&mut body, &values);
    assert_eq!(str::from_utf8(&body).unwrap(), "q=a%20b%26c%3Dd&n%2B=7x");
    let (name, value) = &endpoint.headers[0];
    assert_eq!(name, "Content-Type");
    assert_eq!(
        value.as_literal(),
        Some("application/x-www-form-urlencoded")
    );
    assert_eq!(endpoint.key, None, "each request is its own");
}

#[test]
fn slow_clients_files_and_counts_are_read() {
    let text = LEAST.to_owned()
        + "read_rate = \"64KiB/s\"\nsend_rate = \"1B/s\"\nbody_file = \"b.bin\"\n\
           expect = { count = { of = \"token\", is = 200 } }\n";
    let endpoint = &read(&text).unwrap().endpoints[0];
    assert_eq!(endpoint.read_bytes_per_s, Some(65_536.0));
    assert_eq!(endpoint.send_bytes_per_s, Some(1.0));
    assert_eq!(
        endpoint.body_file.as_ref().unwrap().as_literal(),
        Some("b.bin")
    );
    assert_eq!(endpoint.expect.count.as_ref().unwrap().is, 200);
}

#[test]
fn a_scenario_asks_for_a_profiling_pass() {
    let text = |said: &str| {
        format!(
            "[target]\nurl = \"http://127.0.0.1:{{port}}\"\ncommand = [\"./s\"]\n{said}\n\
             [[endpoint]]\nname = \"a\"\nrequest = \"GET /\"\n"
        )
    };
    for profiler in Profiler::ALL {
        let said = format!(
            "pprof = \"http://127.0.0.1:1\"\nprofile = {:?}",
            profiler.name()
        );
        let target = read(&text(&said)).unwrap().target;
        assert_eq!(target.profile, Some(profiler));
    }
    assert_eq!(read(&text("")).unwrap().target.profile, None);
    for (said, why) in [
        ("profile = \"cpu\"", "takes no samples"),
        ("profile = \"pprof\"", "serves its profiles"),
        ("profile = true", "profile"),
    ] {
        let mistakes = read(&text(said)).unwrap_err();
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert!(mistakes[0].to_string().contains(why), "{}", mistakes[0]);
    }
}
