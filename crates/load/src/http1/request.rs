//! The bytes of requests: what is the same for all requests of an endpoint is laid out once.

use std::sync::Arc;

use slowpath_core::scenario::{Endpoint, Places, Template, Values};

/// How slowpath names itself to servers.
pub(crate) const USER_AGENT: &str = concat!("slowpath/", env!("CARGO_PKG_VERSION"));

/// A piece of a request's head or body.
#[derive(Debug)]
enum Piece {
    /// The same for every request.
    Fixed(Vec<u8>),
    /// Differs from request to request.
    Text(Template),
    /// The value of `traceparent`.
    Trace,
    /// The length of the body in digits.
    BodyLength,
    /// The body.
    Body,
}

/// The requests of one endpoint.
#[derive(Debug)]
pub struct Request {
    pieces: Vec<Piece>,
    /// A body that differs from request to request: rendered first, for its length.
    body: Option<Template>,
    /// A body that follows what is rendered, and is the same for all requests.
    file: Option<Arc<[u8]>>,
    /// Whether it is a `HEAD`, whose response has no body.
    pub(crate) is_head: bool,
}

impl Request {
    /// Lays out the requests of `endpoint`. Headers of the user replace ours of the same name.
    /// `file` is the body, where that is a file.
    pub fn new(endpoint: &Endpoint, host: &str, places: &Places, file: Option<Arc<[u8]>>) -> Self {
        let mut layout = Layout {
            pieces: Vec::new(),
            places,
        };
        layout.fixed(&format!("{} ", endpoint.method));
        layout.text(&endpoint.path);
        layout.fixed(" HTTP/1.1\r\n");
        let is_set = |name: &str| {
            let mut names = endpoint.headers.iter();
            names.any(|(set, _)| set.eq_ignore_ascii_case(name))
        };
        for (name, value) in [
            ("Host", host),
            ("User-Agent", USER_AGENT),
            ("Accept", "*/*"),
        ] {
            if !is_set(name) {
                layout.fixed(&format!("{name}: {value}\r\n"));
            }
        }
        if !is_set("traceparent") {
            layout.fixed("traceparent: ");
            layout.pieces.push(Piece::Trace);
            layout.fixed("\r\n");
        }
        for (name, value) in &endpoint.headers {
            layout.fixed(&format!("{name}: "));
            layout.text(value);
            layout.fixed("\r\n");
        }
        let varying = endpoint.body.as_ref().filter(|body| body.is_of_request());
        if !is_set("Content-Length") && !is_set("Transfer-Encoding") {
            match &file {
                Some(file) => layout.fixed(&format!("Content-Length: {}\r\n", file.len())),
                None => layout.length(endpoint, varying.is_some()),
            }
        }
        layout.fixed("\r\n");
        match (&endpoint.body, varying) {
            (_, Some(_)) => layout.pieces.push(Piece::Body),
            (Some(body), None) => layout.text(body),
            (None, None) => {}
        }
        Self {
            pieces: layout.pieces,
            body: varying.cloned(),
            file,
            is_head: endpoint.method == "HEAD",
        }
    }

    /// What follows each rendered request.
    pub(crate) fn tail(&self) -> &[u8] {
        self.file.as_deref().unwrap_or_default()
    }

    /// Writes one request over what is in `out`. `scratch` is memory for its body.
    pub fn render(
        &self,
        out: &mut Vec<u8>,
        scratch: &mut Vec<u8>,
        values: &Values<'_>,
        trace_id: u128,
    ) {
        out.clear();
        scratch.clear();
        if let Some(body) = &self.body {
            body.render(scratch, values);
        }
        for piece in &self.pieces {
            match piece {
                Piece::Fixed(bytes) => out.extend_from_slice(bytes),
                Piece::Text(template) => template.render(out, values),
                Piece::Trace => trace_parent(out, trace_id),
                Piece::BodyLength => decimal(out, scratch.len()),
                Piece::Body => out.extend_from_slice(scratch),
            }
        }
    }
}

/// Collects pieces; neighbours that are fixed become one.
struct Layout<'a> {
    pieces: Vec<Piece>,
    places: &'a Places,
}

impl Layout<'_> {
    fn fixed(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Fixed(bytes)) => bytes.extend_from_slice(text.as_bytes()),
            _ => self.pieces.push(Piece::Fixed(text.as_bytes().to_vec())),
        }
    }

    fn text(&mut self, template: &Template) {
        if template.is_of_request() {
            self.pieces.push(Piece::Text(template.clone()));
        } else {
            self.fixed(&template.expand(self.places));
        }
    }

    /// A length where there is a body, and a zero where servers expect one (RFC 9110, 8.6).
    fn length(&mut self, endpoint: &Endpoint, varies: bool) {
        let wants_body = matches!(endpoint.method.as_str(), "POST" | "PUT" | "PATCH");
        match &endpoint.body {
            Some(_) if varies => {
                self.fixed("Content-Length: ");
                self.pieces.push(Piece::BodyLength);
                self.fixed("\r\n");
            }
            Some(body) => {
                let length = body.expand(self.places).len();
                self.fixed(&format!("Content-Length: {length}\r\n"));
            }
            None if wants_body => self.fixed("Content-Length: 0\r\n"),
            None => {}
        }
    }
}

/// Length of a value of `traceparent`.
pub(crate) const TRACE_PARENT_BYTES: usize = 55;

/// Version 00, the trace id, its low half as the id of our span, sampled (W3C Trace Context 3.2).
pub(crate) fn trace_parent(out: &mut Vec<u8>, trace_id: u128) {
    out.extend_from_slice(b"00-");
    hex(out, trace_id, 32);
    out.push(b'-');
    hex(out, trace_id & u128::from(u64::MAX), 16);
    out.extend_from_slice(b"-01");
}

/// The lowest `digits` hexadecimal digits of `number`.
fn hex(out: &mut Vec<u8>, number: u128, digits: u32) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend(
        (0..digits)
            .rev()
            .map(|place| DIGITS[(number >> (4 * place)) as usize & 15]),
    );
}

fn decimal(out: &mut Vec<u8>, number: usize) {
    use std::io::Write as _;
    write!(out, "{number}").expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use slowpath_core::sample::Sample;
    use slowpath_core::scenario::{Escape, Part, Pool};

    use super::*;

    fn rendered(endpoint: &Endpoint) -> String {
        let places = Places::default();
        let pools = [Pool::plain("p", ["a b"])];
        let values = Values {
            pools: &pools,
            picks: &[0],
            variables: &[],
            seq: 3,
            uuid: 0,
            places: &places,
        };
        let (mut out, mut scratch) = (b"old".to_vec(), b"old".to_vec());
        let request = Request::new(endpoint, "host:80", &places, None);
        request.render(&mut out, &mut scratch, &values, Sample::trace_id(1, 2, 3));
        String::from_utf8(out).unwrap()
    }

    fn template(parts: Vec<Part>, escape: Escape) -> Template {
        Template { parts, escape }
    }

    #[test]
    fn a_get_says_who_asks_and_its_trace() {
        let path = template(
            vec![Part::Literal("/q=".into()), Part::Pool(0)],
            Escape::Url,
        );
        let text = rendered(&Endpoint::get("x".into(), path));
        let expected = format!(
            "GET /q=a%20b HTTP/1.1\r\nHost: host:80\r\nUser-Agent: {USER_AGENT}\r\n\
             Accept: */*\r\ntraceparent: 00-00000000000000018000000200000003-8000000200000003-01\
             \r\n\r\n"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn headers_of_the_user_replace_ours() {
        let mut endpoint = Endpoint::get("x".into(), Template::literal("/", Escape::Url));
        for name in ["host", "ACCEPT", "User-Agent", "traceparent"] {
            let value = Template::literal("mine", Escape::None);
            endpoint.headers.push((name.into(), value));
        }
        let text = rendered(&endpoint);
        assert_eq!(
            text,
            "GET / HTTP/1.1\r\nhost: mine\r\nACCEPT: mine\r\nUser-Agent: mine\r\n\
             traceparent: mine\r\n\r\n"
        );
    }

    #[test]
    fn bodies_carry_their_length() {
        let mut endpoint = Endpoint::get("x".into(), Template::literal("/", Escape::Url));
        endpoint.method = "POST".into();
        assert!(rendered(&endpoint).ends_with("Content-Length: 0\r\n\r\n"));
        endpoint.body = Some(Template::literal("four", Escape::None));
        assert!(rendered(&endpoint).ends_with("Content-Length: 4\r\n\r\nfour"));
        let parts = vec![Part::Literal("n=".into()), Part::Seq, Part::Pool(0)];
        endpoint.body = Some(template(parts, Escape::None));
        assert!(rendered(&endpoint).ends_with("Content-Length: 6\r\n\r\nn=3a b"));
    }
}
