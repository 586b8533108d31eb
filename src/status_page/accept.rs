//! Which of its two forms a client wants: the page or the JSON.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use headers_accept::Accept;
use mediatype::names::{APPLICATION, CHARSET, HTML, JSON, TEXT};
use mediatype::{MediaType, Name, Value, values};
use std::str::FromStr;

/// A form of what is at the page's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Html,
    Json,
}

/// What clients ask for, some with a parameter that says what goes without saying.
static OFFERED: [MediaType<'static>; 4] = [
    MediaType::new(TEXT, HTML),
    MediaType::new(APPLICATION, JSON),
    MediaType::from_parts(TEXT, HTML, None, UTF_8),
    MediaType::from_parts(APPLICATION, JSON, None, UTF_8),
];

const UTF_8: &[(Name<'static>, Value<'static>)] = &[(CHARSET, values::UTF_8)];

/// The form that `Accept` asks for (RFC 9110, 12.5.1): the page, where both are as good; `None`,
/// where neither will do. What isn't such a header says nothing, and neither is none.
pub(super) fn form(headers: &HeaderMap) -> Option<Form> {
    let mut said = String::new();
    for value in headers.get_all(ACCEPT) {
        let Ok(value) = value.to_str() else {
            return Some(Form::Html);
        };
        if !said.is_empty() {
            said.push(',');
        }
        said.push_str(value);
    }
    if said.trim().is_empty() {
        return Some(Form::Html);
    }
    // Values of parameters are compared as they are written; this one is written in either way.
    let said = said.replace("charset=utf-8", "charset=UTF-8");
    let Ok(accept) = Accept::from_str(&said) else {
        return Some(Form::Html);
    };
    let found = accept.negotiate(OFFERED.iter())?;
    Some(if found.subty == JSON {
        Form::Json
    } else {
        Form::Html
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn asked(values: &[&str]) -> Option<Form> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(ACCEPT, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        form(&headers)
    }

    #[test]
    fn the_form_that_is_rather_wanted() {
        const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,\
                               image/avif,image/webp,*/*;q=0.8";
        for (form, values) in [
            (Some(Form::Html), &[][..]),
            (Some(Form::Html), &[""]),
            (Some(Form::Html), &["*/*"]),
            (Some(Form::Html), &[BROWSER]),
            (Some(Form::Html), &["text/*"]),
            (Some(Form::Json), &["application/json"]),
            (Some(Form::Json), &["APPLICATION/JSON"]),
            (Some(Form::Json), &["application/json; charset=utf-8"]),
            (
                Some(Form::Html),
                &["text/html; charset=utf-8, application/json;q=0.9"],
            ),
            (None, &["application/json; charset=utf-16"]),
            (Some(Form::Json), &["application/*"]),
            (Some(Form::Json), &["text/html;q=0.1, application/json"]),
            (Some(Form::Json), &["text/html;q=0.4, */*;q=0.5"]),
            (Some(Form::Json), &["text/html;q=0, */*"]),
            (Some(Form::Json), &["application/json, text/plain, */*"]),
            (Some(Form::Json), &["text/plain", "application/json;q=0.3"]),
            (
                Some(Form::Html),
                &["application/json;q=0.3", "text/html;q=0.4"],
            ),
            (None, &["image/png"]),
            (None, &["application/json;q=0"]),
            (None, &["*/*;q=0"]),
            (None, &["text/html;q=0.0, application/json;q=0.000"]),
            // Not such a header.
            (Some(Form::Html), &["json"]),
            (Some(Form::Html), &["\u{e4}"]),
            (Some(Form::Html), &[",,,"]),
        ] {
            assert_eq!(asked(values), form, "{values:?}");
        }
    }
}
