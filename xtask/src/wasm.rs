//! `cargo xtask wasm`: the npm package, in `breaker-wasm/dist`; or any package of the
//! workspace as a module beside JavaScript.

pub(crate) mod bench;
pub(crate) mod bindgen;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use thiserror::Error;

use crate::npm::{self, Unready};
use crate::workspace;
use bindgen::{Glue, Module, Unbuilt};

/// The npm package, and the crate beside it.
pub(crate) const PACKAGE: &str = "breaker-wasm";

/// The module, its own exports in the place of wasm-bindgen's JavaScript.
pub(crate) const MODULE: Module<'static> = Module {
    package: PACKAGE,
    profile: "wasm",
    // `breaker-core` without atomics; and inlined as where it is built for speed: it is
    // larger so, but smaller compressed. What else it takes is in the crate's `build.rs`.
    flags: "--cfg one_thread -Cllvm-args=-inline-threshold=225",
    glue: Glue::Bundler,
    bare: true,
};

const OPTIMISE: [&str; 5] = [
    "-Oz",
    "--converge",
    "--strip-debug",
    "--strip-producers",
    "--strip-target-features",
];

/// Why there is no package.
#[derive(Debug, Error)]
pub(crate) enum Unmade {
    #[error(transparent)]
    Npm(#[from] Unready),
    #[error(transparent)]
    Module(#[from] Unbuilt),
    #[error("wasm-bindgen wrote a line of types that has no meaning here: {0}")]
    Types(String),
    #[error("{0} failed")]
    Step(&'static str),
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
}

pub(crate) fn job(options: &[String]) -> ExitCode {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let made = match options.as_slice() {
        [] => make(),
        [package, glue, folder] => match Glue::ALL.iter().find(|(name, _)| name == glue) {
            Some((_, glue)) => bind(package, *glue, Path::new(folder)),
            None => return usage(),
        },
        _ => return usage(),
    };
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("can't make it: {why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    let glue = Glue::ALL.map(|(name, _)| name).join(" | ");
    eprintln!("usage: cargo xtask wasm [PACKAGE ({glue}) FOLDER]");
    ExitCode::from(2)
}

fn bind(package: &str, glue: Glue, folder: &Path) -> Result<(), Unmade> {
    let module = Module {
        package,
        profile: "release",
        flags: "",
        glue,
        bare: false,
    };
    println!("{}", module.make(folder)?.display());
    Ok(())
}

/// The npm package.
pub(crate) fn make() -> Result<(), Unmade> {
    npm::install()?;
    let package = workspace::root().join(PACKAGE);
    let bound = workspace::target_dir().join("wasm-bindgen").join(PACKAGE);
    let module = MODULE.make(&bound)?;

    let types = read(&module.with_extension("wasm.d.ts"))?;
    let generated = package.join("js/generated");
    write(&generated.join("exports.ts"), &interface(&types)?)?;

    let dist = package.join("dist");
    if dist.exists() {
        fs::remove_dir_all(&dist).map_err(|why| Unmade::Io(dist.clone(), why))?;
    }
    create(&dist)?;
    let mut optimise = npm::tool("wasm-opt");
    optimise.args(OPTIMISE).arg(&module);
    optimise.arg("-o").arg(dist.join("breaker.wasm"));
    step("wasm-opt", &mut optimise)?;
    step("the build of the JavaScript", &mut npm::typescript(BUILD))
}

/// Bundles the shell, makes the types, and looks at what became of it.
const BUILD: &str = "breaker-wasm/scripts/build.ts";

/// The types of a module's exports, as an interface.
///
/// Input: `export const admit: (a: number) => number;`
/// Output: `readonly admit: (a: number) => number;`
fn interface(types: &str) -> Result<String, Unmade> {
    let mut text = String::from(
        "// Made by `cargo xtask wasm`.\n\n/** What the module exports. */\nexport interface Exports {\n",
    );
    for line in types.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("/*") {
            continue;
        }
        let Some(member) = line.strip_prefix("export const ") else {
            return Err(Unmade::Types(line.to_owned()));
        };
        text.push_str(&format!("  readonly {member}\n"));
    }
    text.push_str("}\n");
    Ok(text)
}

fn step(name: &'static str, command: &mut Command) -> Result<(), Unmade> {
    let done = command.status().is_ok_and(|status| status.success());
    done.then_some(()).ok_or(Unmade::Step(name))
}

fn read(path: &Path) -> Result<String, Unmade> {
    fs::read_to_string(path).map_err(|why| Unmade::Io(path.to_owned(), why))
}

fn create(folder: &Path) -> Result<(), Unmade> {
    fs::create_dir_all(folder).map_err(|why| Unmade::Io(folder.to_owned(), why))
}

fn write(path: &Path, text: &str) -> Result<(), Unmade> {
    if let Some(folder) = path.parent() {
        create(folder)?;
    }
    fs::write(path, text).map_err(|why| Unmade::Io(path.to_owned(), why))
}

#[cfg(test)]
mod tests {
    use super::interface;

    #[test]
    fn exports_become_an_interface() {
        let types = "/* tslint:disable */\n/* eslint-disable */\n\
            export const memory: WebAssembly.Memory;\n\
            export const admit: (a: number, b: number) => number;\n";
        let made = interface(types).unwrap();
        assert!(made.ends_with(
            "export interface Exports {\n  readonly memory: WebAssembly.Memory;\n  \
             readonly admit: (a: number, b: number) => number;\n}\n"
        ));
        assert!(interface("export function admit(): void;").is_err());
    }
}
