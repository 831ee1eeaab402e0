//! Redirects that are followed: where to, with what, and within which bounds.
//!
//! Only within the origin (RFC 9110, section 15.4; RFC 6454): another origin is another system,
//! which the scenario does not load.

use slowpath_core::scenario::{Scheme, Url, is_path_char};

/// Where redirects may lead, and how many of them in a row.
#[derive(Debug)]
pub(crate) struct Redirects {
    /// How many are followed for one request.
    pub(crate) most: u32,
    /// The scheme of the target.
    pub(crate) scheme: Scheme,
    /// Host and port of the target as its `Host` header says them.
    pub(crate) authority: String,
}

/// A redirect that is not followed; says why.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) String);

/// Whether a status says that the answer is elsewhere.
pub(crate) fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

impl Redirects {
    /// Rewrites a rendered request, with what follows its head, so that it asks where the
    /// response points. Says whether the body stays, what is shared and not in `request` included.
    pub(crate) fn follow(
        &self,
        request: &mut Vec<u8>,
        (status, location): (u16, Option<&str>),
    ) -> Result<bool, Refused> {
        let location = location.ok_or_else(|| refused("it says no location"))?;
        let line_len = find(request, b"\r\n");
        let line = str::from_utf8(&request[..line_len]).unwrap_or_default();
        let mut words = line.split(' ');
        let method = words.next().unwrap_or_default();
        let path = self.resolve(words.next().unwrap_or("/"), location)?;
        let to_get = match status {
            303 => method != "HEAD",
            // Not what the RFC would like, but what every user agent does (RFC 9110, 15.4.2).
            301 | 302 => method == "POST",
            _ => false,
        };
        let method = if to_get { "GET" } else { method };
        let line = format!("{method} {path} HTTP/1.1");
        if to_get {
            leave_out_body(request, line_len);
        }
        request.splice(..line_len, line.into_bytes());
        Ok(!to_get)
    }

    /// Path and query that a location means, seen from `base`, if it is of our origin.
    fn resolve(&self, base: &str, location: &str) -> Result<String, Refused> {
        let location = location.split('#').next().unwrap_or_default();
        let elsewhere = || refused(&format!("it leads to another origin, {location}"));
        let scheme = self.scheme.as_str();
        let absolute = match location.strip_prefix("//") {
            Some(rest) => Some(format!("{scheme}://{rest}")),
            None => has_scheme(location).then(|| location.to_owned()),
        };
        let path = if let Some(absolute) = absolute {
            let url = Url::parse(&absolute).map_err(|_| elsewhere())?;
            let is_same_host = url.authority().eq_ignore_ascii_case(&self.authority);
            if url.scheme != self.scheme || !is_same_host {
                return Err(elsewhere());
            }
            url.path
        } else if location.starts_with('/') {
            location.to_owned()
        } else {
            let base_path = base.split('?').next().unwrap_or("/");
            let folder = &base_path[..=base_path.rfind('/').unwrap_or(0)];
            match location {
                "" => base.to_owned(),
                query if query.starts_with('?') => format!("{base_path}{query}"),
                relative => format!("{folder}{relative}"),
            }
        };
        if !path.chars().all(is_path_char) {
            return Err(refused("its location cannot stand in a request line"));
        }
        Ok(without_dots(&path))
    }
}

fn refused(why: &str) -> Refused {
    Refused(format!("a redirect is not followed: {why}"))
}

/// Whether a reference begins with a scheme (RFC 3986, section 3.1).
fn has_scheme(reference: &str) -> bool {
    let before = reference.split([':', '/', '?']).next().unwrap_or_default();
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    reference[before.len()..].starts_with(':') && before.chars().all(is_scheme)
}

/// A path without its `.` and `..` segments (RFC 3986, section 5.2.4); a query stays as it is.
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            other => kept.push(other),
        }
        if is_last && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}{query}", kept.join("/"))
}

/// Takes the body away, and the headers that describe it.
fn leave_out_body(request: &mut Vec<u8>, line_len: usize) {
    let head_len = (find(request, b"\r\n\r\n") + 4).min(request.len());
    let mut head = request[..line_len + 2].to_vec();
    for line in request[line_len + 2..head_len].split_inclusive(|&byte| byte == b'\n') {
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        let of_body = ["content-length", "content-type", "transfer-encoding"];
        if !of_body
            .iter()
            .any(|of| name.eq_ignore_ascii_case(of.as_bytes()))
        {
            head.extend_from_slice(line);
        }
    }
    *request = head;
}

/// Where a text begins; the end if it is not there.
fn find(bytes: &[u8], text: &[u8]) -> usize {
    let found = bytes.windows(text.len()).position(|part| part == text);
    found.unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redirects() -> Redirects {
        Redirects {
            most: 1,
            scheme: Scheme::Http,
            authority: "shop:81".to_owned(),
        }
    }

    #[test]
    fn locations_are_resolved_within_the_origin() {
        for (location, path) in [
            ("/b", "/b"),
            ("/b?x=1#top", "/b?x=1"),
            ("b", "/a/b"),
            ("./b", "/a/b"),
            ("../b/", "/b/"),
            ("../../..", "/"),
            ("/a/../../b/./c", "/b/c"),
            ("?q", "/a/x?q"),
            ("", "/a/x?y=../z"),
            ("b?to=http://else/..", "/a/b?to=http://else/.."),
            ("http://SHOP:81/b", "/b"),
            ("http://shop:81", "/"),
            ("//shop:81/b", "/b"),
        ] {
            let found = redirects().resolve("/a/x?y=../z", location);
            assert_eq!(found, Ok(path.to_owned()), "{location}");
        }
        for location in [
            "https://shop:81/",
            "http://shop/",
            "http://else:81/",
            "//else/",
            "ftp://shop:81/",
            "mailto:a@b",
        ] {
            let Refused(why) = redirects().resolve("/", location).unwrap_err();
            assert!(why.contains("another origin"), "{location}: {why}");
        }
        assert!(redirects().resolve("/", "/a b").is_err());
    }

    #[test]
    fn requests_are_asked_anew_as_user_agents_do() {
        let post = "POST /a HTTP/1.1\r\nHost: shop:81\r\nContent-Type: text/plain\r\n\
                    Content-Length: 2\r\n\r\nhi";
        for (status, body_stays, expected) in [
            (
                302,
                false,
                "GET /b HTTP/1.1\r\nHost: shop:81\r\n\r\n".to_owned(),
            ),
            (
                303,
                false,
                "GET /b HTTP/1.1\r\nHost: shop:81\r\n\r\n".to_owned(),
            ),
            (307, true, post.replace("/a ", "/b ")),
        ] {
            let mut request = post.as_bytes().to_vec();
            let stays = redirects().follow(&mut request, (status, Some("/b")));
            assert_eq!(stays, Ok(body_stays));
            assert_eq!(String::from_utf8(request).unwrap(), expected);
        }
        let mut head = b"HEAD /a HTTP/1.1\r\n\r\n".to_vec();
        assert_eq!(redirects().follow(&mut head, (303, Some("/b"))), Ok(true));
        assert!(head.starts_with(b"HEAD /b "));
        let none = redirects().follow(&mut head, (301, None));
        assert!(none.unwrap_err().0.contains("no location"));
    }
}
