//! Who may ask: a page that listens on this machine is open to every web site that a browser here
//! visits, unless it checks which host a request means.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ALLOW, HOST, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What every answer says of itself. Pictures are placed by style attributes, into which only numbers
/// go; no script but the site's own runs, and nothing is fetched from elsewhere.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    // Runs come and go, and what is judged changes with the version.
    ("cache-control", "no-cache"),
];

/// Which hosts requests may mean.
#[derive(Debug)]
pub(super) struct Guard {
    /// The name of this machine, if it is reached from elsewhere.
    hostname: Option<String>,
}

impl Guard {
    /// For a page that listens on an address.
    pub(super) fn new(listens: IpAddr) -> Self {
        let hostname = || {
            rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned()
        };
        Self {
            hostname: (!listens.is_loopback()).then(hostname),
        }
    }

    /// Whether a `Host` is this machine's. A site that has its own name point here (DNS rebinding)
    /// is recognised by that name; an address cannot be made to point anywhere. Ports are not checked:
    /// they change on the way through a tunnel.
    fn knows(&self, host: &str) -> bool {
        let name = without_port(host);
        let bare = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        if bare.is_some_and(|v6| v6.parse::<Ipv6Addr>().is_ok()) || name.parse::<IpAddr>().is_ok() {
            return true;
        }
        let is = |own: &str| name.eq_ignore_ascii_case(own);
        is("localhost") || self.hostname.as_deref().is_some_and(is)
    }
}

/// `[::1]:80` as `[::1]`, `localhost:80` as `localhost`.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => {
            if name.contains(':') && !name.ends_with(']') {
                host
            } else {
                name
            }
        }
        _ => host,
    }
}

/// Turns away who means another host or wants to change something, and says of every answer what a
/// browser may do with it.
pub(super) async fn pass(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let refused = refused(&guard, request.method(), request.headers());
    let mut response = match refused {
        Some(response) => response,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        let name = HeaderName::from_static(name);
        // A file may be held shorter than a page.
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

fn refused(guard: &Guard, method: &Method, headers: &HeaderMap) -> Option<Response> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(|host| guard.knows(host)) {
        let told = format!(
            "this page is of this machine alone, and was asked for as {:?}; open it by the address \
             that `slowpath serve` printed\n",
            host.unwrap_or("nothing")
        );
        return Some((StatusCode::FORBIDDEN, told).into_response());
    }
    if method != Method::GET && method != Method::HEAD {
        let allowed = [(ALLOW, HeaderValue::from_static("GET, HEAD"))];
        let told = "nothing can be changed here: only GET and HEAD are answered\n";
        return Some((StatusCode::METHOD_NOT_ALLOWED, allowed, told).into_response());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_meant() {
        let local = Guard::new(IpAddr::from([127, 0, 0, 1]));
        for own in [
            "localhost",
            "LOCALHOST:7878",
            "127.0.0.1:7878",
            "127.0.0.1",
            "[::1]:9000",
            "[::1]",
            "192.168.1.5:80",
        ] {
            assert!(local.knows(own), "{own}");
        }
        for other in [
            "evil.example",
            "evil.example:7878",
            "localhost.evil.example",
            "127.0.0.1.evil.example:7878",
            "",
            ":7878",
            "[evil]",
            "localhost:x",
        ] {
            assert!(!local.knows(other), "{other}");
        }
        let reached = Guard {
            hostname: Some("bench-1".to_owned()),
        };
        assert!(reached.knows("bench-1:7878") && !reached.knows("bench-2:7878"));
        assert!(!local.knows("bench-1:7878"));
    }
}
