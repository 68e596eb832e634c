//! The README's screens are what the program prints, its table of codes is the crate's.
//!
//! `PIPEAUDIT_BLESS=1 cargo test --test readme` writes the screens anew.

use std::path::Path;
use std::process::Command;

use pipeaudit::finding::Code;

const MARK: &str = "<!-- screen: ";
const FENCE: &str = "```text\n";

fn readme() -> String {
    std::fs::read_to_string(path()).expect("the README is there")
}

fn path() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"))
}

fn prints(arguments: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pipeaudit"))
        .args(arguments.split_whitespace())
        .output()
        .expect("the binary runs");
    String::from_utf8(output.stdout).expect("it prints UTF-8")
}

/// The README with every screen as the program prints it now, and how many there are.
fn renewed(text: &str) -> (String, usize) {
    let mut parts = text.split(MARK);
    let mut renewed = parts.next().unwrap_or_default().to_owned();
    let mut screens = 0;
    for part in parts {
        let (arguments, rest) = part.split_once(" -->").expect("a mark ends");
        let (between, rest) = rest.split_once(FENCE).expect("a text block follows a mark");
        let end = rest.find("```").expect("a block ends");
        renewed.push_str(&format!("{MARK}{arguments} -->{between}{FENCE}{}{}", prints(arguments), &rest[end..]));
        screens += 1;
    }
    (renewed, screens)
}

#[test]
fn every_screen_is_what_the_program_prints() {
    let (renewed, screens) = renewed(&readme());
    assert!(screens >= 2);
    if std::env::var_os("PIPEAUDIT_BLESS").is_some() {
        std::fs::write(path(), &renewed).expect("the README can be written");
    }
    assert_eq!(readme(), renewed);
}

#[test]
fn every_code_stands_in_the_table_with_its_severity_and_summary() {
    let readme = readme();
    for code in Code::ALL {
        let severity = format!("{:?}", code.severity()).to_lowercase();
        let row = format!("| {code} | {severity} | {} |", code.summary());
        assert!(readme.contains(&row), "the README lacks: {row}");
    }
}
