//! The Python that runs the programs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Modules that programs may need.
const MODULES: [&str; 9] =
    ["torch", "torchvision", "numpy", "albumentations", "lightning", "monai", "timm", "torchdata", "webdataset"];

/// A Python with torch.
#[derive(Clone, Debug)]
pub struct Interpreter {
    /// Its path.
    pub path: PathBuf,
    modules: BTreeSet<String>,
}

impl Interpreter {
    /// The one that `PIPEAUDIT_PYTHON` names, else `python3`; or why there is none.
    pub fn find() -> Result<Self, String> {
        let named = std::env::var_os("PIPEAUDIT_PYTHON");
        let python = named.clone().unwrap_or_else(|| "python3".into());
        let script = format!(
            "import importlib.util, sys\nprint(sys.executable)\nfor name in {MODULES:?}:\n    \
             if importlib.util.find_spec(name): print(name)"
        );
        let output = Command::new(&python).args(["-c", &script]).output();
        let shown = Path::new(&python).display().to_string();
        let output = match output {
            Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
            Ok(_) | Err(_) => return Err(format!("{shown} does not run: set PIPEAUDIT_PYTHON")),
        };
        let mut lines = output.lines().map(str::to_owned);
        let path = PathBuf::from(lines.next().ok_or_else(|| format!("{shown} says nothing"))?);
        let found = Self { path, modules: lines.collect() };
        match found.missing(&["torch".to_owned()]) {
            Some(_) if named.is_none() => Err("no torch in python3: set PIPEAUDIT_PYTHON".to_owned()),
            Some(reason) => Err(reason),
            None => Ok(found),
        }
    }

    /// Why it cannot run a program that needs these modules.
    pub fn missing(&self, needs: &[String]) -> Option<String> {
        needs.iter().find(|module| !self.modules.contains(*module)).map(|module| format!("no {module}"))
    }
}
