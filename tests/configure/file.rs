//! Settings from a configuration file.

use crate::line_and_column;
use breakerbox::registry::{FileError, configure_from_file, configure_from_toml, overrides};
use breakerbox::{Breaker, Config, OnCancel, test};
use std::error::Error;
use std::fs;
use std::time::Duration;

#[test]
fn a_real_file_is_read_and_read_again() {
    let _scope = test::scope();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("breakers.toml");
    let pms = Breaker::shared("pms", Config::DEFAULT);

    let error = configure_from_file(&path).unwrap_err();
    assert!(matches!(error, FileError::NotRead { .. }) && error.source().is_some());
    let text = error.to_string();
    assert!(
        text.starts_with("the configuration file ") && text.contains("breakers.toml"),
        "{text}"
    );

    fs::write(&path, "[breakers.pms]\nthreshold = 3\n").unwrap();
    assert_eq!(configure_from_file(&path).unwrap().applied, ["pms"]);
    assert_eq!(pms.config().threshold(), 3);

    for bad in [
        "[breakers.pms]\nthreshold = 0\n",
        "[breakers.pms\n",
        "\u{0}",
        "breakers = 3",
    ] {
        fs::write(&path, bad).unwrap();
        let error = configure_from_file(&path).unwrap_err().to_string();
        let path = path.display().to_string();
        assert!(error.lines().nth(1).unwrap().starts_with(&path), "{error}");
        assert_eq!(pms.config().threshold(), 3, "a bad file changes nothing");
        assert_eq!(overrides("pms").len(), 1);
    }
    fs::write(&path, [0x5b, 0xff]).unwrap();
    assert!(matches!(
        configure_from_file(&path).unwrap_err(),
        FileError::NotRead { .. }
    ));
    assert_eq!(pms.config().threshold(), 3);

    fs::write(&path, "").unwrap();
    assert_eq!(configure_from_file(&path).unwrap().withdrawn, ["pms"]);
    assert_eq!(pms.config(), Config::DEFAULT);
}

/// Opening a pipe that nobody writes to would wait for ever, and a folder or a device is no better.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("breakers.toml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let link = folder.path().join("link.toml");
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    for path in [pipe.as_path(), &link, folder.path(), "/dev/zero".as_ref()] {
        let (sender, told) = std::sync::mpsc::channel();
        let read = path.to_owned();
        std::thread::spawn(move || sender.send(configure_from_file(read)));
        let error = told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(
            error.unwrap_err().to_string(),
            format!(
                "the configuration file {} can't be read: it is no regular file: give the path of one",
                path.display()
            )
        );
    }

    // A path that leads to one, as where a cluster keeps its configuration.
    let (file, link) = (
        folder.path().join("v1.toml"),
        folder.path().join("now.toml"),
    );
    fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let _scope = test::scope();
    configure_from_file(&link).unwrap();
}

#[test]
fn all_ways_to_write_it_are_read() {
    let _scope = test::scope();
    let (pms, long) = (
        Breaker::shared("pms", Config::DEFAULT),
        Breaker::shared("app::pms::inventory", Config::DEFAULT),
    );
    for text in [
        "[breakers.pms]\nthreshold = 3\nreset = '10s'\nbackoff = 2\non_cancel = 'failure'\n[breakers.\"app::pms::inventory\"]\nprobes = 2",
        "\u{feff}[breakers]\npms = { threshold = 0x3, reset = \"10s\", backoff = 2.0, on_cancel = \"failure\" }\n'app::pms::inventory' = { probes = +2 }",
        "breakers.pms.threshold = 3\r\nbreakers.pms.reset = \"10s\" # soon\r\nbreakers.pms.backoff = 2e0\r\nbreakers.pms.on_cancel = \"\"\"failure\"\"\"\r\nbreakers.'app::pms::inventory'.probes = 0b10\r\n",
    ] {
        configure_from_toml("").unwrap();
        let report = configure_from_toml(text).unwrap();
        assert_eq!(report.applied, ["app::pms::inventory", "pms"]);
        let config = pms.config();
        assert_eq!(
            (config.threshold(), config.reset()),
            (3, Duration::from_secs(10))
        );
        assert_eq!(
            (config.on_cancel(), long.config().probes()),
            (OnCancel::Failure, 2)
        );
        assert_eq!(pms.overrides().iter().count(), 4);
    }
}

#[test]
fn lines_and_columns_count_what_is_seen() {
    let _scope = test::scope();
    for (text, at) in [
        ("[breakers.pms]\nthreshold = 0", (2, 13)),
        ("[breakers.pms]\r\n  thresh = 0", (2, 3)),
        ("[breakers.'\u{e9}\u{e9}']\nreset = 7 # \u{e9}", (2, 9)),
        ("[breakers]\n'\u{e9}\u{e9}' = { reset = 7 }", (2, 18)),
        ("# \u{1f980}\n\n[other]", (3, 2)),
        ("\u{feff}other = 1", (1, 1)),
        ("[breakers.pms]\nreset = \"\u{1f980}\" \u{1f980}", (2, 13)),
    ] {
        let mistakes = configure_from_toml(text).unwrap_err();
        let found = line_and_column(&mistakes.iter().next().unwrap().whence);
        assert_eq!(found, Some(at), "{text}: {mistakes}");
    }
}

#[test]
fn what_is_no_file_of_settings_changes_nothing_and_is_given_up_soon() {
    let _scope = test::scope();
    let folder = tempfile::tempdir().unwrap();
    let pms = Breaker::shared("pms", Config::DEFAULT);
    let large = folder.path().join("large.toml");
    let written = fs::File::create(&large).unwrap();
    written.set_len(1 << 40).unwrap(); // more than there is memory: of zeros, on no disk
    let directory = folder.path().to_owned();
    for path in [large, directory] {
        let error = configure_from_file(&path).unwrap_err();
        let said = error.to_string();
        assert!(matches!(error, FileError::NotRead { .. }), "{said}");
        assert!(said.contains(&path.display().to_string()), "{said}");
        let is_large = said.ends_with("it is larger than 16 MiB");
        assert_eq!(is_large, path != folder.path(), "{said}");
    }
    assert_eq!(pms.config(), Config::DEFAULT);
}

#[test]
fn each_of_very_many_mistakes_is_named_at_its_place() {
    let _scope = test::scope();
    let tables = 2_000;
    let text: String = (0..tables)
        .map(|number| {
            format!("[breakers.b{number}]\r\n\"\u{fc}\" = 1 # \u{fc}\r\n  treshold = 3\r\n")
        })
        .collect();
    let mistakes = configure_from_toml(&text).unwrap_err();
    assert_eq!(mistakes.len(), 2 * tables);
    for (number, mistake) in mistakes.iter().enumerate() {
        let (line, column) = (3 * (number / 2) + 2 + number % 2, 1 + 2 * (number % 2));
        let at = format!("{line}:{column}: `b{}`: ", number / 2);
        let said = mistake.to_string();
        assert!(said.starts_with(&at), "{said}, not at {at}");
    }
}
