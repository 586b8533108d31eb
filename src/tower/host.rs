//! The host that a request goes to, as a key.

use http::HeaderMap;
use http::header::HOST;
use http::uri::{Scheme, Uri};
use std::borrow::Cow;

/// `host`, or `host:port` where the port is not the scheme's own: in lower case, without a
/// user's name. A request that names no host in its URI goes by its `Host`, and by
/// the empty text where it has none.
///
/// ```
/// use breakerbox::tower::host;
/// use http::{HeaderMap, Uri};
///
/// let none = HeaderMap::new();
/// let host_of = |uri| host(&Uri::from_static(uri), &none).into_owned();
/// assert_eq!(host_of("https://PMS.example/rooms"), "pms.example");
/// assert_eq!(host_of("https://pms.example:443/"), "pms.example");
/// assert_eq!(host_of("https://pms.example:8443/"), "pms.example:8443");
/// assert_eq!(host_of("/rooms"), "");
/// ```
#[must_use]
pub fn of_request<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Cow<'a, str> {
    let named = match uri.authority() {
        Some(authority) => authority.as_str(),
        None => headers
            .get(HOST)
            .and_then(|host| host.to_str().ok())
            .unwrap_or_default(),
    };
    let host = without_user(named);
    let own_port = match uri.scheme() {
        Some(scheme) if *scheme == Scheme::HTTP => ":80",
        Some(scheme) if *scheme == Scheme::HTTPS => ":443",
        _ => "",
    };
    // A port may also be left empty.
    let host = host
        .strip_suffix(own_port)
        .or_else(|| host.strip_suffix(':'))
        .unwrap_or(host);
    if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(host.to_ascii_lowercase())
    } else {
        Cow::Borrowed(host)
    }
}

/// The same of a request of reqwest's: an address is in lower case, and its port none
/// where it is the scheme's own.
#[cfg(feature = "reqwest")]
pub(super) fn of_url(url: &reqwest::Url) -> &str {
    without_user(url.authority())
}

fn without_user(authority: &str) -> &str {
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}
