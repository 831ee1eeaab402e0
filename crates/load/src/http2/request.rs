//! The requests of one endpoint as header fields and bodies.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, HOST, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use slowpath_core::scenario::{Endpoint, Places, Template, Values};

use crate::drive::LoadError;
use crate::http1;

/// A request and its body.
pub(crate) type Rendered = (http::Request<()>, Bytes);

/// Fields of HTTP/1.1 that say how a connection is used; HTTP/2 has none (RFC 9113, 8.2.2).
const OF_CONNECTIONS: [&str; 6] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// The name of the field that carries our trace.
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// A value of a header field that differs from request to request.
#[derive(Debug)]
enum Varying {
    Text(Template),
    Trace,
    BodyLength,
}

/// A text that is the same for every request, or differs.
#[derive(Debug)]
enum Text<T> {
    Fixed(T),
    Varying(Template),
}

/// The requests of one endpoint.
#[derive(Debug)]
pub(crate) struct Request {
    method: Method,
    scheme: Scheme,
    authority: Text<Authority>,
    path: Text<PathAndQuery>,
    /// The fields that are the same for every request.
    fields: HeaderMap,
    varying: Vec<(HeaderName, Varying)>,
    body: Option<Text<Bytes>>,
}

impl Request {
    /// Lays out the requests of `endpoint`. Headers of the user replace ours of the same name, and
    /// `Host` becomes the authority. `file` is the body, where that is a file.
    ///
    /// # Errors
    /// When it says something that HTTP/2 has no room for.
    pub(crate) fn new(
        endpoint: &Endpoint,
        (host, is_secured): (&str, bool),
        places: &Places,
        file: Option<Arc<[u8]>>,
    ) -> Result<Self, LoadError> {
        let fault = |what: String| LoadError::Http2 {
            endpoint: endpoint.name.clone(),
            what,
        };
        let mut set_host = endpoint.headers.iter();
        let set_host = set_host.rfind(|(name, _)| name.eq_ignore_ascii_case("host"));
        let authority = match set_host {
            Some((_, value)) if value.is_of_request() => Text::Varying(value.clone()),
            Some((_, value)) => Text::Fixed(authority(&value.expand(places)).map_err(fault)?),
            None => Text::Fixed(authority(host).map_err(fault)?),
        };
        let mut request = Self {
            method: Method::from_bytes(endpoint.method.as_bytes())
                .map_err(|error| fault(format!("{}: {error}", endpoint.method)))?,
            scheme: if is_secured {
                Scheme::HTTPS
            } else {
                Scheme::HTTP
            },
            authority,
            path: if endpoint.path.is_of_request() {
                Text::Varying(endpoint.path.clone())
            } else {
                let path = endpoint.path.expand(places);
                let parsed = PathAndQuery::try_from(path.as_str());
                Text::Fixed(parsed.map_err(|error| fault(format!("{path}: {error}")))?)
            },
            fields: HeaderMap::new(),
            varying: Vec::new(),
            body: match (file, &endpoint.body) {
                (Some(file), _) => Some(Text::Fixed(Bytes::from_owner(file))),
                (None, Some(body)) if body.is_of_request() => Some(Text::Varying(body.clone())),
                (None, Some(body)) => Some(Text::Fixed(Bytes::from(body.expand(places)))),
                (None, None) => None,
            },
        };
        for (name, value) in &endpoint.headers {
            request.set(name, value, places).map_err(fault)?;
        }
        request.complete();
        Ok(request)
    }

    /// Takes over a header of the user.
    fn set(&mut self, name: &str, value: &Template, places: &Places) -> Result<(), String> {
        let known = HeaderName::from_bytes(name.as_bytes());
        let field = known.map_err(|_| format!("the header {name} has no valid name"))?;
        if OF_CONNECTIONS.contains(&field.as_str()) {
            return Err(format!("the header {name} is one of HTTP/1.1 alone"));
        }
        if field == HOST {
            return Ok(());
        }
        if value.is_of_request() {
            let value = Varying::Text(value.clone());
            self.varying.push((field, value));
            return Ok(());
        }
        let value = HeaderValue::from_str(&value.expand(places));
        let value = value.map_err(|_| format!("the header {name} has no valid value"))?;
        self.fields.append(field, value);
        Ok(())
    }

    /// Adds the fields that the user has not set: who asks, the trace, and a length where there is
    /// a body, or where servers expect one (RFC 9110, 8.6).
    fn complete(&mut self) {
        let ours = [
            (USER_AGENT, HeaderValue::from_static(http1::USER_AGENT)),
            (ACCEPT, HeaderValue::from_static("*/*")),
        ];
        for (name, value) in ours {
            if !self.is_set(&name) {
                self.fields.insert(name, value);
            }
        }
        if !self.is_set(&TRACE_PARENT) {
            self.varying.push((TRACE_PARENT, Varying::Trace));
        }
        if self.is_set(&CONTENT_LENGTH) {
            return;
        }
        let wants_body = matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        match &self.body {
            Some(Text::Varying(_)) => self.varying.push((CONTENT_LENGTH, Varying::BodyLength)),
            Some(Text::Fixed(body)) => {
                let length = HeaderValue::from(body.len());
                self.fields.insert(CONTENT_LENGTH, length);
            }
            None if wants_body => {
                self.fields.insert(CONTENT_LENGTH, HeaderValue::from(0));
            }
            None => {}
        }
    }

    fn is_set(&self, name: &HeaderName) -> bool {
        self.fields.contains_key(name) || self.varying.iter().any(|(set, _)| set == name)
    }

    /// Makes one request; `None` if its values leave what a header field may hold. `scratch` is
    /// memory for texts.
    pub(crate) fn render(
        &self,
        scratch: &mut Vec<u8>,
        values: &Values<'_>,
        trace_id: u128,
    ) -> Option<Rendered> {
        let mut text = |template: &Template| {
            scratch.clear();
            template.render(scratch, values);
            Bytes::copy_from_slice(scratch)
        };
        let body = match &self.body {
            None => Bytes::new(),
            Some(Text::Fixed(body)) => body.clone(),
            Some(Text::Varying(body)) => text(body),
        };
        let mut uri = http::uri::Parts::default();
        uri.scheme = Some(self.scheme.clone());
        uri.authority = Some(match &self.authority {
            Text::Fixed(authority) => authority.clone(),
            Text::Varying(template) => Authority::from_maybe_shared(text(template)).ok()?,
        });
        uri.path_and_query = Some(match &self.path {
            Text::Fixed(path) => path.clone(),
            Text::Varying(template) => PathAndQuery::from_maybe_shared(text(template)).ok()?,
        });
        let mut request = http::Request::new(());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = Uri::from_parts(uri).ok()?;
        let mut fields = self.fields.clone();
        for (name, value) in &self.varying {
            let value = match value {
                Varying::Text(template) => HeaderValue::from_maybe_shared(text(template)).ok()?,
                Varying::Trace => {
                    let mut trace = Vec::with_capacity(http1::TRACE_PARENT_BYTES);
                    http1::trace_parent(&mut trace, trace_id);
                    HeaderValue::from_maybe_shared(Bytes::from(trace)).ok()?
                }
                Varying::BodyLength => HeaderValue::from(body.len()),
            };
            fields.append(name, value);
        }
        *request.headers_mut() = fields;
        Some((request, body))
    }
}

fn authority(text: &str) -> Result<Authority, String> {
    Authority::try_from(text).map_err(|error| format!("the host {text}: {error}"))
}
