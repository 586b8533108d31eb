//! The files that the page is made of, as they are: there is nothing to be built.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// A file.
pub(super) struct Asset {
    pub(super) name: &'static str,
    pub(super) media_type: &'static str,
    pub(super) text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! assets {
    ($($name:literal: $media_type:expr,)*) => {
        &[$(Asset {
            name: $name,
            media_type: $media_type,
            text: include_str!(concat!("page/", $name)),
        }),*]
    };
}

pub(super) const ASSETS: &[Asset] = assets! {
    "actions.js": SCRIPT,
    "arrange.js": SCRIPT,
    "circuits.js": SCRIPT,
    "details.js": SCRIPT,
    "dom.js": SCRIPT,
    "feed.js": SCRIPT,
    "icon.svg": "image/svg+xml",
    "list.js": SCRIPT,
    "main.js": SCRIPT,
    "page.css": "text/css; charset=utf-8",
    "rows.js": SCRIPT,
    "timeline.js": SCRIPT,
    "words.js": SCRIPT,
};

/// The document, with places for what differs from mount to mount.
const PAGE: &str = include_str!("page/page.html");

/// Whichever file is asked for, what a browser has of it is good as long as all are the same:
/// so modules of two versions never meet.
pub(super) fn tag() -> &'static str {
    static TAG: LazyLock<String> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        PAGE.hash(&mut hasher);
        for asset in ASSETS {
            (asset.name, asset.text).hash(&mut hasher);
        }
        format!("\"{:016x}\"", hasher.finish())
    });
    &TAG
}

/// The document for a page of this title, at this path as the server was asked.
pub(super) fn page(title: &str, path: &str) -> String {
    PAGE.replace("{base}", &escaped(&base(path)))
        .replace("{title}", &escaped(title))
}

/// What the page's own files are below, relative to the page: whatever is in front of the server,
/// it must only leave the last part of the path as it is.
fn base(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or_default();
    if last.is_empty() {
        "./".to_owned()
    } else {
        format!("./{last}/")
    }
}

/// Text that means itself, in HTML and in its attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '{' => escaped.push_str("&#123;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_below_the_page_wherever_it_is() {
        for (path, expected) in [
            ("/", "./"),
            ("/circuits", "./circuits/"),
            ("/circuits/", "./"),
            ("/a/b/circuits", "./circuits/"),
            ("/a%20b", "./a%20b/"),
            ("", "./"),
        ] {
            assert_eq!(base(path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_put_into_the_document_is_text() {
        let page = page("<script>&\"'{base}", "/\"><img>");
        assert!(
            page.contains("&lt;script&gt;&amp;&quot;&#39;&#123;base}"),
            "{page}"
        );
        assert!(!page.contains("<img>"));
        assert!(!page.contains("{title}") && !page.contains("{base}"));
    }

    #[test]
    fn every_file_of_the_page_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/status_page/page");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let known = ASSETS.iter().any(|asset| asset.name == name);
            assert!(
                known || ["page.html", "tsconfig.json"].contains(&&*name),
                "{name}"
            );
        }
    }

    #[test]
    fn the_document_names_no_other_place_and_nothing_inline() {
        for forbidden in [
            "http://",
            "https://",
            "//",
            "style=",
            "<style",
            "onclick",
            "javascript:",
        ] {
            assert!(!PAGE.contains(forbidden), "{forbidden}");
        }
        for script in PAGE.split("<script").skip(1) {
            assert!(script.contains("src=") && script.contains("></script>"));
        }
    }
}
