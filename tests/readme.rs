//! The README shows the example that is run.

#[test]
fn readme_shows_the_quickstart_word_for_word() {
    let readme = include_str!("../README.md");
    let shown = format!(
        "```rust\n{}```\n",
        include_str!("../examples/quickstart.rs")
    );
    assert!(
        readme.contains(&shown),
        "copy examples/quickstart.rs into README.md"
    );
}

#[test]
fn readme_names_every_feature() {
    let manifest = include_str!("../Cargo.toml");
    let features = manifest
        .split_once("[features]")
        .and_then(|(_, rest)| rest.split_once("\n["))
        .map(|(section, _)| section)
        .expect("the manifest has features");
    for line in features.lines() {
        if let Some((name, _)) = line.split_once(" = ") {
            let row = format!("| `{name}` |");
            assert!(
                name == "default" || include_str!("../README.md").contains(&row),
                "README.md has no row for the feature {name}"
            );
        }
    }
}
