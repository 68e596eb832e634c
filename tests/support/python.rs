//! The Python that live tests run: `PIPEAUDIT_PYTHON`, or `python3` where it has torch.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An interpreter with torch, or why there is none.
pub fn with_torch() -> Result<PathBuf, String> {
    let named = std::env::var_os("PIPEAUDIT_PYTHON").filter(|value| !value.is_empty()).map(PathBuf::from);
    let candidate = named.clone().unwrap_or_else(|| PathBuf::from("python3"));
    let outcome = Command::new(&candidate)
        .args(["-c", "import torch, torchvision, numpy"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match outcome {
        Ok(status) if status.success() => Ok(candidate),
        _ if named.is_some() => Err(format!("PIPEAUDIT_PYTHON={} has no torch", candidate.display())),
        _ => Err("python3 has no torch: name one that has in PIPEAUDIT_PYTHON".to_owned()),
    }
}

/// Whether a missing interpreter is a failure (CI) and no reason to ignore a test.
pub fn required() -> bool {
    std::env::var_os("PIPEAUDIT_REQUIRE_LIVE").is_some_and(|value| value == "1")
}
