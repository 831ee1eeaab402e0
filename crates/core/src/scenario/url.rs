//! The URL of a target: scheme, host, port, path. Nothing else is meaningful for one.

use serde::{Deserialize, Serialize};

/// An absolute `http` or `https` URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Url {
    /// The scheme.
    pub scheme: Scheme,
    /// A name or an address; an IPv6 address without its brackets.
    pub host: String,
    /// The port, the scheme's own when none was written; never 0.
    pub port: u16,
    /// Path and query, `/` when none was written.
    pub path: String,
}

/// The schemes a target can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Plain TCP, port 80.
    Http,
    /// TLS over TCP, port 443.
    Https,
}

impl Scheme {
    /// The scheme as written before `://`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port of a URL that says none.
    pub fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// Why a text is no URL of a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// It does not start with a scheme we speak.
    #[error("{0:?} does not start with http:// or https://")]
    Scheme(String),
    /// There is no host, or it holds characters that no host has.
    #[error("{0:?} has no valid host")]
    Host(String),
    /// The port is no number from 1 to 65535.
    #[error("the port {0:?} is no number from 1 to 65535")]
    Port(String),
    /// User names and passwords are not part of a target.
    #[error("credentials in a URL are not sent")]
    Credentials,
    /// A character that must be percent-encoded.
    #[error("{0:?} must be percent-encoded in a path")]
    Path(char),
}

impl Url {
    /// Reads an absolute URL. A fragment is dropped, as it never goes on the wire.
    ///
    /// # Errors
    /// When the text is not such a URL.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = [Scheme::Http, Scheme::Https]
            .into_iter()
            .find_map(|scheme| {
                let (found, rest) = text.split_once("://")?;
                found
                    .eq_ignore_ascii_case(scheme.as_str())
                    .then_some((scheme, rest))
            })
            .ok_or_else(|| UrlError::Scheme(text.to_owned()))?;
        let rest = rest.split('#').next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(UrlError::Credentials);
        }
        let (host, port) = host_and_port(authority)?;
        if let Some(bad) = path.chars().find(|&c| !is_path_char(c)) {
            return Err(UrlError::Path(bad));
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self {
            scheme,
            host: host.to_owned(),
            port: port.unwrap_or(scheme.default_port()),
            path: format!("{slash}{path}"),
        })
    }

    /// Host and port as a `Host` header says them: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.clone()
        };
        if *port == self.scheme.default_port() {
            host
        } else {
            format!("{host}:{port}")
        }
    }

    /// Scheme and authority: the URL without its path.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme.as_str(), self.authority())
    }
}

/// Whether a character may stand in the request target of a request line as it is.
pub fn is_path_char(c: char) -> bool {
    c.is_ascii_graphic() && c != '#'
}

fn host_and_port(authority: &str) -> Result<(&str, Option<u16>), UrlError> {
    let no_host = || UrlError::Host(authority.to_owned());
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, port) = rest.split_once(']').ok_or_else(no_host)?;
        host.parse::<std::net::Ipv6Addr>().map_err(|_| no_host())?;
        (host, port)
    } else {
        let (host, port) = authority.split_at(authority.find(':').unwrap_or(authority.len()));
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
        if host.is_empty() || !host.bytes().all(fits) {
            return Err(no_host());
        }
        (host, port)
    };
    if port.is_empty() {
        return Ok((host, None));
    }
    let digits = port.strip_prefix(':').ok_or_else(no_host)?;
    let number = digits
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then(|| digits.parse().ok())
        .flatten();
    match number {
        Some(number) if number > 0 => Ok((host, Some(number))),
        _ => Err(UrlError::Port(digits.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_url() {
        let url = Url::parse("http://127.0.0.1:8080/a/b?q=1#top").unwrap();
        assert_eq!(
            (url.host.as_str(), url.port, url.path.as_str()),
            ("127.0.0.1", 8080, "/a/b?q=1")
        );
        let url = Url::parse("HTTPS://Example.org?q").unwrap();
        assert_eq!(
            (url.scheme, url.port, url.path.as_str()),
            (Scheme::Https, 443, "/?q")
        );
        assert_eq!(url.origin(), "https://Example.org");
        let url = Url::parse("http://[::1]:81").unwrap();
        assert_eq!(
            (url.host.as_str(), url.authority().as_str()),
            ("::1", "[::1]:81")
        );
    }

    #[test]
    fn what_is_no_url_says_why() {
        for (text, message) in [
            (
                "localhost:80",
                "\"localhost:80\" does not start with http:// or https://",
            ),
            (
                "ftp://a",
                "\"ftp://a\" does not start with http:// or https://",
            ),
            ("http://", "\"\" has no valid host"),
            ("http://a b/", "\"a b\" has no valid host"),
            ("http://[::1/", "\"[::1\" has no valid host"),
            ("http://[::1]80/", "\"[::1]80\" has no valid host"),
            ("http://a:0/", "the port \"0\" is no number from 1 to 65535"),
            (
                "http://a:65536",
                "the port \"65536\" is no number from 1 to 65535",
            ),
            (
                "http://a:+8",
                "the port \"+8\" is no number from 1 to 65535",
            ),
            ("http://a:", "the port \"\" is no number from 1 to 65535"),
            ("http://me@a/", "credentials in a URL are not sent"),
            ("http://a/b c", "' ' must be percent-encoded in a path"),
        ] {
            assert_eq!(Url::parse(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}
