//! Whether a request to act was sent by the page itself, and not by another site's.
//!
//! A browser sends cookies, passwords and certificates along with what *any* page asks it to
//! send here, and it reaches servers that its user's network alone reaches. So a guard that knows
//! the user doesn't know who wrote the request. These checks do, and each of them alone stops what
//! is usual; together they hold where one of them is missing or was switched off:
//!
//! - `POST` alone acts, on a path of its own. Nothing that a link, an image, a redirect or a
//!   prefetch can make acts; no header or field overrides the method.
//! - `Content-Type: application/json` and the header [`HEADER`]. A form can send neither, and a
//!   script of another site only after asking (a "preflight", `OPTIONS`), which nobody here
//!   answers. This holds in every browser that has `fetch` or `XMLHttpRequest`.
//! - `Origin`, which browsers send with every `POST` and scripts can't write, must be one of the
//!   page's own. So it holds where a layer around the page answers preflights for all the world
//!   (`CorsLayer::permissive`). Without the header there is no browser, or an old one, for which
//!   the last point holds.
//! - `Sec-Fetch-Site`, where it is sent, must be `same-origin`: another port or a sister domain is
//!   somebody else.
//! - `Host` must be a bare IP address, `localhost`, or one of the page's own origins. Against DNS
//!   rebinding: the attacker's own name leads here for a moment, so that their page is of the same
//!   origin as this server, with every header in order. The name remains, since it is theirs.

use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The header that a request to act must have, with any value.
pub(super) const HEADER: &str = "x-breakerbox-action";

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    secure: bool,
    place: Place,
}

/// A host, in lower case, and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// Reads `https://host:port`; `None` where there is more, or less.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (scheme, place) = text.split_once("://")?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let mut place = Place::read(place)?;
        if place.port == Some(if secure { 443 } else { 80 }) {
            place.port = None;
        }
        Some(Self { secure, place })
    }

    /// Whether a `Host` header says this. The port that goes without saying may be said.
    fn is_at(&self, host: &Place) -> bool {
        let usual = if self.secure { 443 } else { 80 };
        let port = |place: &Place| place.port.unwrap_or(usual);
        self.place.host == host.host && port(&self.place) == port(host)
    }
}

impl Place {
    fn read(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        if text.contains('@') || authority.host().is_empty() {
            return None;
        }
        let after_host = text.get(authority.host().len()..)?;
        let port = match after_host.strip_prefix(':') {
            Some(port) => Some(port.parse().ok()?),
            None if after_host.is_empty() => None,
            None => return None,
        };
        Some(Self {
            host: authority.host().to_ascii_lowercase(),
            port,
        })
    }

    /// Nobody can have such a name lead elsewhere.
    fn is_sure(&self) -> bool {
        let v6 = self.host.strip_prefix('[');
        let v6 = v6.and_then(|host| host.strip_suffix(']'));
        self.host == "localhost"
            || self.host.parse::<Ipv4Addr>().is_ok()
            || v6.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok())
    }
}

/// Why a request isn't taken for the page's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Foreign {
    pub(super) status: StatusCode,
    pub(super) error: &'static str,
    pub(super) message: &'static str,
}

const fn foreign(message: &'static str) -> Foreign {
    Foreign {
        status: StatusCode::FORBIDDEN,
        error: "cross_site",
        message,
    }
}

/// Whether the page itself sent it, at one of its origins or an address that is sure.
pub(super) fn check(request: &Parts, origins: &[Origin]) -> Result<(), Foreign> {
    let headers = &request.headers;
    if !is_json(headers) {
        return Err(Foreign {
            status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
            error: "media_type",
            message: "the request must have `content-type: application/json`",
        });
    }
    if !headers.contains_key(HEADER) {
        return Err(foreign(
            "the request must have the header `x-breakerbox-action`",
        ));
    }
    if let Some(site) = headers.get("sec-fetch-site")
        && site != "same-origin"
    {
        return Err(foreign("another site's page sent the request"));
    }
    let host = host(request).ok_or(foreign("the request must have one `host`"))?;
    let own = |place: &Place| origins.iter().any(|origin| origin.is_at(place));
    let sent_by = match one(headers, ORIGIN.as_str()) {
        Some(Ok(origin)) => Some(Origin::read(origin).ok_or(foreign(
            "another site's page sent the request, or one without an origin",
        ))?),
        Some(Err(())) => return Err(foreign("the request must have one `origin`")),
        None => None,
    };
    let known = match &sent_by {
        Some(origin) if origins.contains(origin) => return Ok(()),
        Some(origin) if !origin.is_at(&host) => {
            return Err(foreign(
                "another site's page sent the request; if it is this page, behind a proxy, \
                 name its origin to `Actions::at`",
            ));
        }
        _ => host.is_sure() || own(&host),
    };
    if known {
        return Ok(());
    }
    Err(Foreign {
        status: StatusCode::FORBIDDEN,
        error: "unknown_host",
        message: "the page is open under a name that it doesn't know: name its origin to \
                  `Actions::at`",
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(Ok(value)) = one(headers, CONTENT_TYPE.as_str()) else {
        return false;
    };
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

/// Where the request was sent: `Host`, or what HTTP/2 has for it. Where the address names a host,
/// too, both must be the same.
fn host(request: &Parts) -> Option<Place> {
    let named = match request.uri.authority() {
        Some(authority) => Some(Place::read(authority.as_str())?),
        None => None,
    };
    let Some(host) = one(&request.headers, HOST.as_str()) else {
        return named;
    };
    let host = Place::read(host.ok()?)?;
    named.is_none_or(|named| named == host).then_some(host)
}

/// The value of a header that must not come twice, as text.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Option<Result<&'a str, ()>> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() {
        return Some(Err(()));
    }
    Some(value.to_str().map_err(drop))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;

    const OURS: &str = "https://ops.example.com";

    /// A request as the page sends it, with these headers changed; an empty value takes one away.
    fn request(changed: &[(&str, &str)]) -> Parts {
        let mut headers = vec![
            ("host", "127.0.0.1:8080"),
            ("origin", "http://127.0.0.1:8080"),
            ("content-type", "application/json"),
            (HEADER, "1"),
            ("sec-fetch-site", "same-origin"),
        ];
        for &(name, value) in changed {
            headers.retain(|(other, _)| *other != name);
            if !value.is_empty() {
                headers.push((name, value));
            }
        }
        let mut request = Request::post("/actions");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn told(changed: &[(&str, &str)]) -> Result<(), &'static str> {
        let origins = [Origin::read(OURS).unwrap()];
        check(&request(changed), &origins).map_err(|foreign| foreign.error)
    }

    #[test]
    fn what_the_page_sends_is_its_own() {
        for changed in [
            &[][..],
            &[("sec-fetch-site", "")],
            &[("sec-fetch-site", ""), ("origin", "")],
            &[("content-type", "Application/JSON; charset=utf-8")],
            &[("host", "localhost:1"), ("origin", "http://localhost:1")],
            &[("host", "[::1]:80"), ("origin", "http://[::1]")],
            &[("host", "10.0.0.7"), ("origin", "https://10.0.0.7")],
            &[("host", "ops.example.com"), ("origin", OURS)],
            &[
                ("host", "OPS.example.com:443"),
                ("origin", "https://ops.example.com:443"),
            ],
            &[("host", "ops.example.com"), ("origin", "")],
            // Behind a proxy that changes `Host`.
            &[("host", "10.0.0.7:3000"), ("origin", OURS)],
            &[("host", "backend.internal"), ("origin", OURS)],
        ] {
            assert_eq!(told(changed), Ok(()), "{changed:?}");
        }
    }

    #[test]
    fn what_another_site_can_send_is_not() {
        for (error, changed) in [
            ("media_type", &[("content-type", "")][..]),
            ("media_type", &[("content-type", "text/plain")]),
            (
                "media_type",
                &[("content-type", "application/x-www-form-urlencoded")],
            ),
            (
                "media_type",
                &[(
                    "content-type",
                    "multipart/form-data; boundary=application/json",
                )],
            ),
            (
                "media_type",
                &[("content-type", "text/plain; application/json")],
            ),
            ("media_type", &[("content-type", "application/jsonp")]),
            ("cross_site", &[(HEADER, "")]),
            ("cross_site", &[("sec-fetch-site", "cross-site")]),
            ("cross_site", &[("sec-fetch-site", "same-site")]),
            ("cross_site", &[("sec-fetch-site", "none")]),
            ("cross_site", &[("origin", "http://evil.example")]),
            (
                "cross_site",
                &[("origin", "http://evil.example"), ("sec-fetch-site", "")],
            ),
            ("cross_site", &[("origin", "null")]),
            ("cross_site", &[("origin", "file://")]),
            ("cross_site", &[("origin", "http://127.0.0.1:8081")]),
            ("cross_site", &[("origin", "http://127.0.0.1")]),
            (
                "cross_site",
                &[("origin", "http://127.0.0.1:8080@evil.example")],
            ),
            (
                "cross_site",
                &[("origin", "http://127.0.0.1:8080.evil.example")],
            ),
            (
                "cross_site",
                &[("origin", "http://ops.example.com"), ("host", "x.example")],
            ),
            (
                "cross_site",
                &[("origin", "https://ops.example.com.evil.example")],
            ),
            ("cross_site", &[("origin", "https://ops.example.com:444")]),
            ("cross_site", &[("host", "")]),
            ("cross_site", &[("host", "a b")]),
            ("cross_site", &[("host", "user@127.0.0.1:8080")]),
            // DNS rebinding: everything fits together, but the name is theirs.
            (
                "unknown_host",
                &[("host", "evil.example"), ("origin", "http://evil.example")],
            ),
            (
                "unknown_host",
                &[
                    ("host", "evil.example"),
                    ("origin", ""),
                    ("sec-fetch-site", ""),
                ],
            ),
            (
                "unknown_host",
                &[
                    ("host", "127.0.0.1.evil.example"),
                    ("origin", "http://127.0.0.1.evil.example"),
                ],
            ),
            (
                "unknown_host",
                &[
                    ("host", "localhost.evil.example"),
                    ("origin", "http://localhost.evil.example"),
                ],
            ),
            (
                "unknown_host",
                &[
                    ("host", "ops.example.com:444"),
                    ("origin", "https://ops.example.com:444"),
                ],
            ),
        ] {
            assert_eq!(told(changed), Err(error), "{changed:?}");
        }
    }

    #[test]
    fn a_header_that_comes_twice_is_nobodys() {
        for name in ["host", "origin", "content-type"] {
            let mut request = request(&[]);
            let value = request.headers[name].clone();
            request.headers.append(name, value);
            assert!(check(&request, &[]).is_err(), "{name}");
        }
    }

    #[test]
    fn http_2_has_its_host_in_the_address() {
        let mut request = request(&[("host", "")]);
        request.uri = "http://127.0.0.1:8080/actions".parse().unwrap();
        assert_eq!(check(&request, &[]), Ok(()));
        request.uri = "http://evil.example/actions".parse().unwrap();
        assert!(check(&request, &[]).is_err());
    }

    #[test]
    fn an_address_that_names_another_host_is_nobodys() {
        let mut request = request(&[]);
        for (address, is_same) in [
            ("http://127.0.0.1:8080/actions", true),
            ("http://evil.example/actions", false),
            ("http://127.0.0.1/actions", false),
            ("http://user@127.0.0.1:8080/actions", false),
        ] {
            request.uri = address.parse().unwrap();
            assert_eq!(check(&request, &[]).is_ok(), is_same, "{address}");
        }
    }

    #[test]
    fn only_an_origin_is_an_origin() {
        for text in [
            "",
            "ops.example.com",
            "https://",
            "https://a/",
            "https://a/b",
            "https://a?b",
            "ftp://a",
            "https://a:",
            "https://a:99999",
            "https://u@a",
            "https://a b",
            "null",
        ] {
            assert_eq!(Origin::read(text), None, "{text}");
        }
        assert_eq!(Origin::read("HTTPS://A:443"), Origin::read("https://a"));
        assert_ne!(Origin::read("http://a:443"), Origin::read("https://a"));
    }
}
