//! How the target is reached: the way that a scenario describes, for the load and for the
//! questions that are asked before it.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use slowpath_core::scenario::{Escape, Http, Places, Scenario, Scheme, Target, Template, Url};
use slowpath_load::{Address, Blocking, GreetError, Route, Tls, TlsError, TlsTerms};
use slowpath_observe::target::{Dial, Wire};

use crate::cli::ReachArgs;
use crate::exit::Problem;

/// How long a target may take to take a connection before a load: longer than two repeated SYNs.
const PATIENCE: Duration = Duration::from_secs(4);
/// How long an answer in TLS is waited for where plain text was expected: it comes at once or never.
const DOUBT: Duration = Duration::from_secs(1);
/// What may be tried where a certificate is not trusted.
const TRUST: &str = "give its authority: target.tls = { ca = \"ca.pem\" } or --cacert FILE; or \
                     trust any certificate: target.tls = { insecure = true } or --insecure";

/// Puts what the command line says in place of what the scenario says.
pub(crate) fn over(target: &mut Target, args: &ReachArgs) -> Result<(), Problem> {
    // On the command line a path starts from where one is, in a scenario from its folder.
    let absolute = |path: &Path| -> Result<Template, Problem> {
        let path = std::path::absolute(path);
        let path = path.map_err(|e| Problem::usage(e, "give a path to a file"))?;
        Ok(Template::literal(&path.to_string_lossy(), Escape::None))
    };
    let file = |path: &Option<PathBuf>| path.as_deref().map(absolute).transpose();
    if let Some(socket) = file(&args.unix_socket)? {
        target.unix_socket = Some(socket);
    }
    if args.http2 {
        target.http = Http::Two;
    }
    if args.insecure || args.cacert.is_some() || args.cert.is_some() {
        let tls = target.tls.get_or_insert_default();
        tls.insecure |= args.insecure;
        tls.ca = file(&args.cacert)?.or(tls.ca.take());
        tls.cert = file(&args.cert)?.or(tls.cert.take());
        tls.key = file(&args.key)?.or(tls.key.take());
    }
    Ok(())
}

/// The way to the target of a scenario whose URL is known by now.
pub(crate) fn route(scenario: &Scenario, places: &Places, url: &Url) -> Result<Route, Problem> {
    let file = |template: &Template| scenario.folder.join(template.expand(places));
    let addresses = match &scenario.target.unix_socket {
        Some(path) => vec![Address::Unix(file(path))],
        None => slowpath_load::resolve(&url.host, url.port)
            .map_err(|e| Problem::unreachable(e, "check the host name in the URL"))?
            .into_iter()
            .map(Address::Tcp)
            .collect(),
    };
    let route = Route {
        addresses,
        tls: None,
    };
    if url.scheme == Scheme::Http {
        return Ok(route);
    }
    Ok(route.secured(tls(scenario, places, &url.host)?))
}

/// Refuses files of TLS that cannot be used before anything else is done, where it is known by now
/// which they are.
pub(crate) fn check_terms(scenario: &Scenario) -> Result<(), Problem> {
    let Some(said) = &scenario.target.tls else {
        return Ok(());
    };
    let files = [&said.ca, &said.cert, &said.key];
    let mut known = files.into_iter().flatten().map(Template::as_literal);
    if known.all(|literal| literal.is_some()) {
        tls(scenario, &Places::default(), "localhost")?;
    }
    Ok(())
}

fn tls(scenario: &Scenario, places: &Places, host: &str) -> Result<Tls, Problem> {
    let file = |template: &Template| scenario.folder.join(template.expand(places));
    let said = scenario.target.tls.as_ref();
    let path = |of: fn(&slowpath_core::scenario::Tls) -> &Option<Template>| -> Option<PathBuf> {
        said.and_then(|tls| of(tls).as_ref()).map(file)
    };
    let terms = TlsTerms {
        insecure: said.is_some_and(|tls| tls.insecure),
        ca: path(|tls| &tls.ca),
        cert: path(|tls| &tls.cert),
        key: path(|tls| &tls.key),
        resume: said.is_none_or(|tls| tls.resume),
        protocols: vec![b"http/1.1".to_vec()],
    };
    Tls::new(&terms, host).map_err(|error| {
        let remedy = match &error {
            TlsError::File { .. } => "files under target.tls are relative to the scenario's folder",
            TlsError::Client(_) => "cert and key must belong together",
            TlsError::NoRoots(_) => TRUST,
            TlsError::Name(_) => "check the host in target.url",
        };
        Problem::usage(error, remedy)
    })
}

/// What the observing side opens connections with.
pub(crate) fn dial(route: &Route, address: &Address) -> Dial {
    let (route, address) = (route.clone(), address.clone());
    Dial::new(name(&address), move |limit| {
        Ok(Box::new(Asked(route.open(&address, limit)?)))
    })
}

fn name(address: &Address) -> String {
    match address {
        Address::Tcp(address) => address.to_string(),
        Address::Unix(path) => path.display().to_string(),
    }
}

/// A connection that can be asked something before the load.
struct Asked(Blocking);

impl Wire for Asked {
    fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.0.set_patience(patience)
    }
}

impl Read for Asked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Asked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Connects once to the first address that can be connected to, and hears whether it speaks what
/// the load will speak, as far as that can be known without a request.
pub(crate) fn check(route: &Route, url: &str, http: Http) -> Result<(), Problem> {
    let mut last = None;
    for address in &route.addresses {
        match route.greet(address, http, PATIENCE) {
            Ok(()) => return Ok(()),
            Err(GreetError::Connect(error)) => last = Some((address, error)),
            // Some servers answer in plain text that they speak TLS.
            Err(GreetError::NotHttp2(_)) if speaks_tls(route) => {
                return Err(misunderstood(&GreetError::SpeaksTls, url));
            }
            // What accepted the connection is the target, and does not speak as agreed.
            Err(error) => return Err(misunderstood(&error, url)),
        }
    }
    let why = last.map_or_else(
        || "it has no address".to_owned(),
        |(address, error)| match address {
            Address::Tcp(_) => error.to_string(),
            Address::Unix(path) => format!("{}: {error}", path.display()),
        },
    );
    let what = format!("cannot connect to {url}: {why}");
    Err(Problem::unreachable(
        what,
        "start the server, or give target.command",
    ))
}

/// What to do about a target that speaks otherwise.
fn misunderstood(error: &GreetError, url: &str) -> Problem {
    let remedy = match error {
        GreetError::Untrusted(_) => TRUST,
        GreetError::OtherName(_) => {
            "a name in the certificate as the host of the URL; or trust any certificate: target.tls = \
             { insecure = true } or --insecure"
        }
        GreetError::OtherTime(_) => {
            "a new certificate in the server, or the time of this machine; or trust any certificate: \
             target.tls = { insecure = true } or --insecure"
        }
        GreetError::ClientRefused(_) => {
            "say who we are: target.tls = { cert = \"our.pem\", key = \"our.key\" } or --cert FILE \
             --key FILE, signed by an authority that the server trusts"
        }
        GreetError::NotTls => "http:// in place of https:// if plain HTTP is spoken on this port",
        GreetError::SpeaksTls => "https:// in place of http://",
        GreetError::NotHttp2(_) => {
            "HTTP/1.1: leave out target.http = \"2\" and --http2; or switch HTTP/2 on in the server"
        }
        GreetError::Closed | GreetError::Silent => {
            "check scheme and port of the URL (plain HTTP may be spoken there: http://); the \
             server's log may say why"
        }
        GreetError::Connect(_) | GreetError::Tls(_) => "check scheme and port of the URL",
    };
    let with = match error {
        GreetError::NotHttp2(_) | GreetError::SpeaksTls => "HTTP/2",
        _ => "TLS",
    };
    Problem::unreachable(format!("{with} with {url} fails: {error}"), remedy)
}

/// Why no request at all came to anything, if it is that TLS is spoken where plain text was.
pub(crate) fn explain_nothing(route: &Route, url: &str) -> Option<Problem> {
    speaks_tls(route).then(|| {
        let what = format!("no request came to anything: the server at {url} speaks TLS");
        Problem::unreachable(what, "https:// in place of http://")
    })
}

/// Whether TLS is spoken where the route has none.
fn speaks_tls(route: &Route) -> bool {
    // For an answer in TLS it matters neither who gives it nor under what name.
    let terms = TlsTerms {
        insecure: true,
        ..TlsTerms::default()
    };
    let Ok(tls) = Tls::new(&terms, "localhost") else {
        return false;
    };
    let mut addresses = route.addresses.iter();
    route.tls.is_none() && addresses.any(|address| route.speaks_tls(address, tls.clone(), DOUBT))
}
