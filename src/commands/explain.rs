//! `pipeaudit explain`: the page of a code, or the list of all.

use crate::commands::sink::Sink;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::finding::Code;

/// Shows it.
///
/// # Errors
/// Where there is no such code.
pub fn run(asked: Option<&str>) -> Result<Exit> {
    let text = match asked {
        None => list(),
        Some(asked) => find(asked)?.page().to_owned(),
    };
    Sink::Standard.write(&text)?;
    Ok(Exit::Clean)
}

fn list() -> String {
    let widest = Code::ALL.iter().map(|code| code.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for code in Code::ALL {
        let severity = format!("{:?}", code.severity()).to_lowercase();
        text.push_str(&format!("{code}  {:widest$}  {severity:7}  {}\n", code.name(), code.summary()));
    }
    text.push_str("\npipeaudit explain CODE shows what one means, how to fix it, and when it is fine.\n");
    text
}

fn find(asked: &str) -> Result<Code> {
    let wanted = asked.trim();
    let same = |code: &&Code| code.as_str().eq_ignore_ascii_case(wanted) || code.name().eq_ignore_ascii_case(wanted);
    if let Some(code) = Code::ALL.iter().find(same) {
        return Ok(*code);
    }
    let distance = |code: &&Code| {
        let upper = wanted.to_uppercase();
        let by_code = strsim::levenshtein(code.as_str(), &upper);
        by_code.min(strsim::levenshtein(code.name(), &wanted.to_lowercase()))
    };
    let nearest = Code::ALL.iter().min_by_key(distance).expect("there are codes");
    Err(Error::usage(format!("no code '{}'", asked.escape_debug()))
        .help(format!("the nearest is {nearest} ({}); pipeaudit explain lists all", nearest.name())))
}
