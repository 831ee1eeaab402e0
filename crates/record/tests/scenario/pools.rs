//! Values in files, and what is extracted from answers.

use slowpath_core::scenario::{Escape, Extraction, Part, Pick, Pool, Template};
use slowpath_record::scenario::read_file;

use super::mistakes::mistakes;
use super::{LEAST, read};

/// Pools beside an endpoint that asks for this path.
fn with(pools: &str, path: &str) -> String {
    format!("{}[pools]\n{pools}\n", LEAST.replace("GET /", path))
}

fn pools(pools: &str, path: &str) -> Vec<Pool> {
    let text = with(pools, path);
    read(&text)
        .unwrap_or_else(|found| panic!("{found:#?}"))
        .pools
}

#[test]
fn columns_of_a_table_share_their_row() {
    let found = pools(
        "users = { file = \"users.csv\", pick = \"unique\" }",
        "GET /{users.name}/{users.password}",
    );
    let [name, password] = found.as_slice() else {
        panic!("two columns: {found:?}")
    };
    assert_eq!(
        (name.name.as_str(), &name.values),
        ("users.name", &["ann", "b, ob", "q\"t"].into())
    );
    assert_eq!(name.same_row_as, None);
    assert_eq!(password.values, ["1", "2", "3"]);
    assert_eq!(
        (password.same_row_as, password.pick),
        (Some(0), Pick::Unique)
    );
}

#[test]
fn a_column_may_be_the_pool_and_another_weigh_it() {
    let found = pools(
        "who = { file = \"users.csv\", column = \"name\", weight = \"hits\" }",
        "GET /{who}/{who.password}",
    );
    let names: Vec<_> = found.iter().map(|pool| pool.name.as_str()).collect();
    assert_eq!(names, ["who", "who.password"]);
    assert_eq!(found[0].weights.as_deref(), Some(&[5.0, 0.5, 0.0][..]));
    let listed = pools(
        "p = { values = [\"a\", \"b\"], weights = [3, 1.5] }\nq = { file = \"one.csv\" }",
        "GET /{p}{q}",
    );
    assert_eq!(listed[0].weights.as_deref(), Some(&[3.0, 1.5][..]));
    assert_eq!((listed[1].name.as_str(), listed[1].values.len()), ("q", 2));
}

#[test]
fn fields_of_json_lines_are_names_paths_and_pointers() {
    let found = pools(
        "docs = { file = \"docs.jsonl\" }",
        "GET /{docs.title}/{docs.author.name}/{docs.tags.0}/{docs./n}",
    );
    let of = |name: &str| {
        let found = found.iter().find(|pool| pool.name == name);
        found.unwrap_or_else(|| panic!("{name}")).values.clone()
    };
    assert_eq!(of("docs.title"), ["T1", "T2"]);
    assert_eq!(of("docs.author.name"), ["x", "y"]);
    assert_eq!(of("docs.tags.0"), ["u", "v"]);
    assert_eq!(of("docs./n"), ["1", "2.5"]);
}

/// One mistake by its file, line and beginning.
#[test]
fn mistakes_in_files_have_their_lines() {
    for (pool, path, expected) in [
        (
            "u = { file = \"broken.csv\" }",
            "GET /{u.b}",
            "/shop/broken.csv:3: pools.u.file: 1 fields where the header has 2; quote",
        ),
        (
            "u = { file = \"users.csv\" }",
            "GET /{u.nmae}",
            "/shop/users.csv:1: pools.u.file: there is no column \"nmae\" among name, password, hits",
        ),
        (
            "u = { file = \"users.csv\", column = \"password\", weight = \"name\" }",
            "GET /{u}",
            "/shop/users.csv:2: pools.u.file: \"ann\" is no weight",
        ),
        (
            "u = { file = \"broken.jsonl\" }",
            "GET /{u.a}",
            "/shop/broken.jsonl:2: pools.u.file: it has no \"a\"",
        ),
        (
            "u = { file = \"users.csv\" }",
            "GET /{u}",
            "shop.toml:5: endpoint.request: the pool u has columns, and {u} says none",
        ),
        (
            "u = { file = \"queries.txt\", column = \"a\" }",
            "GET /{u}",
            "shop.toml:7: pools.u.column: only a .csv or .jsonl file",
        ),
        (
            "u = { values = [\"a\"], weights = [1, 2] }",
            "GET /{u}",
            "shop.toml:7: pools.u.weights: 2 weights for 1 values",
        ),
        (
            "u = { values = [\"a\"], weights = [0] }",
            "GET /{u}",
            "shop.toml:7: pools.u.weights: no value would ever be drawn",
        ),
        (
            "u = { values = [\"a\"], pick = \"unique\", weights = [1] }",
            "GET /{u}",
            "shop.toml:7: pools.u.weights: values that are given out in order",
        ),
        (
            "u = { values = [\"a\"], pick = \"any\" }",
            "GET /{u}",
            "shop.toml:7: pools.u.pick: \"any\" is none of them",
        ),
    ] {
        let text = with(pool, path);
        let found = mistakes(&text);
        let rows = if expected.contains("no weight") { 3 } else { 1 };
        assert_eq!(found.len(), rows, "{pool}: {found:#?}");
        assert!(found[0].starts_with(expected), "{}\n{expected}", found[0]);
    }
    let many = mistakes(&with("u = { file = \"many.jsonl\" }", "GET /{u.a}"));
    assert_eq!(many.len(), 6, "{many:#?}");
    assert!(
        many[0].contains("/shop/many.jsonl has 3 more mistakes"),
        "{many:#?}"
    );
}

#[test]
fn a_file_has_a_million_rows_at_most() {
    let text = with("u = { file = \"million.txt\" }", "GET /{u}");
    assert_eq!(read(&text).unwrap().pools[0].values.len(), 1_000_000);
    let found = mistakes(&with("u = { file = \"huge.txt\" }", "GET /{u}"));
    let what =
        "/shop/huge.txt:1000000: pools.u.file: it has 1000001 rows, and 1000000 are the most";
    assert!(found[0].starts_with(what), "{found:#?}");
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(64 * 1024 * 1024 + 1).unwrap();
    let error = read_file(file.path()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
    file.as_file().set_len(3).unwrap();
    assert_eq!(read_file(file.path()).unwrap(), "\0\0\0");
}

#[test]
fn what_is_extracted_is_a_variable_of_later_requests() {
    let text = format!(
        "{LEAST}extract = {{ token = {{ json = \"$.a.b\" }}, id = {{ regex = \"id=(\\\\d+)\" }} }}\n\
         [[endpoint]]\nname = \"next\"\nrequest = \"GET /{{id}}\"\n\
         headers = {{ Authorization = \"Bearer {{token}}\" }}\n\
         [endpoint.extract.token]\nheader = \"X-Next\"\n"
    );
    let scenario = read(&text).unwrap_or_else(|found| panic!("{found:#?}"));
    assert_eq!(scenario.variables, ["token", "id"]);
    let [home, next] = scenario.endpoints.as_slice() else {
        panic!("two endpoints")
    };
    let from: Vec<_> = home.extract.iter().map(|one| &one.from).collect();
    let (json, regex) = ("$.a.b".to_owned(), r"id=(\d+)".to_owned());
    assert_eq!(from, [&Extraction::Json(json), &Extraction::Regex(regex)]);
    assert_eq!(next.extract[0].from, Extraction::Header("x-next".into()));
    assert_eq!(next.path.parts[1], Part::Variable(1));
    assert_eq!(next.key, Some(Template::literal("", Escape::None)));
}

#[test]
fn mistakes_in_extractions_are_told() {
    for (extract, expected) in [
        ("{ t = { json = \"a.b\" } }", "endpoint.extract.t.json: "),
        (
            "{ t = { regex = \"id=\" } }",
            "endpoint.extract.t.regex: the pattern has no group",
        ),
        (
            "{ t = { regex = \"(\" } }",
            "endpoint.extract.t.regex: unclosed group",
        ),
        (
            "{ t = { header = \"a b\" } }",
            "endpoint.extract.t.header: no name of a header",
        ),
        ("{ t = {} }", "endpoint.extract.t: it does not say where"),
        (
            "{ t = { header = \"a\", regex = \"(a)\" } }",
            "endpoint.extract.t: it does not say where",
        ),
        (
            "{ seq = { header = \"a\" } }",
            "endpoint.extract.seq: {seq} already means",
        ),
        (
            "{ p = { header = \"a\" } }",
            "endpoint.extract.p: a pool has that name",
        ),
        (
            "{ \"a.b\" = { header = \"a\" } }",
            "endpoint.extract.a.b: what stands between",
        ),
    ] {
        let text = format!("{LEAST}extract = {extract}\n[pools]\np = [\"x\"]\n");
        let found = mistakes(&text);
        assert_eq!(found.len(), 1, "{extract}: {found:#?}");
        assert!(
            found[0].starts_with(&format!("shop.toml:6: {expected}")),
            "{found:#?}"
        );
    }
    let needs = LEAST.replace("GET /", "GET /{t}");
    let found = mistakes(&format!(
        "{needs}extract = {{ t = {{ header = \"a\" }} }}\n"
    ));
    assert!(
        found[0].contains("users can send nothing at first"),
        "{found:#?}"
    );
    let open = format!("{LEAST}extract = {{ t = {{ header = \"a\" }} }}\n[load]\nrate = \"1/s\"\n");
    let found = mistakes(&open);
    assert!(
        found[0].starts_with("shop.toml:6: endpoint.extract: an open loop"),
        "{found:#?}"
    );
}
