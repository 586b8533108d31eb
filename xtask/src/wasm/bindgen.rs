//! A package of the workspace as WebAssembly, with the JavaScript that belongs to it.

use std::path::{Path, PathBuf};

use thiserror::Error;
use wasm_bindgen_cli_support::Bindgen;

use crate::target::{Build, STD, Source, WASM};
use crate::workspace;

/// For whom the JavaScript beside a module is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glue {
    /// Bundlers, and workers: it imports the module.
    Bundler,
    /// Node's `require()`: it reads the file.
    Node,
    /// A script without `import`: who starts it brings the module.
    Script,
    /// Pages: it fetches the file.
    Web,
}

impl Glue {
    /// All, by their names on the command line.
    pub(crate) const ALL: [(&str, Self); 4] = [
        ("bundler", Self::Bundler),
        ("node", Self::Node),
        ("script", Self::Script),
        ("web", Self::Web),
    ];
}

/// A package to be built as a module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Module<'a> {
    pub(crate) package: &'a str,
    /// The profile of cargo: `release`, `wasm`.
    pub(crate) profile: &'a str,
    /// Flags for rustc.
    pub(crate) flags: &'a str,
    pub(crate) glue: Glue,
    /// What wasm-bindgen's JavaScript alone looks at (`__` before the name) is left out.
    pub(crate) bare: bool,
}

/// Why there is no module.
#[derive(Debug, Error)]
pub(crate) enum Unbuilt {
    #[error("{}", Source::NONE)]
    NoSource,
    #[error("`{0}` doesn't build for {WASM}")]
    Build(String),
    #[error("wasm-bindgen: {0}")]
    Bindgen(String),
}

impl Module<'_> {
    /// Writes `NAME_bg.wasm` and its JavaScript into a folder, and says where the module is.
    pub(crate) fn make(&self, folder: &Path) -> Result<PathBuf, Unbuilt> {
        let linked = self.link()?;
        let mut bindgen = Bindgen::new();
        bindgen.input_path(&linked).typescript(true);
        match self.glue {
            Glue::Bundler => bindgen.bundler(true),
            Glue::Node => bindgen.nodejs(true),
            Glue::Script => bindgen.no_modules(true),
            Glue::Web => bindgen.web(true),
        }
        .and_then(|bindgen| {
            let mut output = bindgen.generate_output()?;
            if self.bare {
                let exports = &mut output.wasm_mut().exports;
                let inner = exports
                    .iter()
                    .filter(|export| export.name.starts_with("__"));
                for id in inner.map(|export| export.id()).collect::<Vec<_>>() {
                    exports.delete(id);
                }
            }
            output.emit(folder)
        })
        .map_err(|why| Unbuilt::Bindgen(format!("{why:#}")))?;
        Ok(folder.join(format!("{}_bg.wasm", self.name())))
    }

    /// The package's name, as rustc has it.
    pub(crate) fn name(&self) -> String {
        self.package.replace('-', "_")
    }

    fn link(&self) -> Result<PathBuf, Unbuilt> {
        let source = Source::find().ok_or(Unbuilt::NoSource)?;
        let build = Build {
            package: self.package,
            target: WASM,
            library: STD,
            arguments: &["--lib", "--quiet"],
        };
        let mut command = build.command_as(&source, self.profile, self.flags);
        let target = workspace::target_dir();
        command.arg("--target-dir").arg(&target);
        if !command.status().is_ok_and(|status| status.success()) {
            return Err(Unbuilt::Build(self.package.to_owned()));
        }
        let folder = target.join(WASM).join(self.profile);
        Ok(folder.join(format!("{}.wasm", self.name())))
    }
}
