//! The pages that `pipeaudit explain` shows.

use pipeaudit::finding::{Code, Severity};

const HEADINGS: [&str; 5] = ["Why it hurts", "Example", "Fix", "When it is fine", "How it is decided"];

/// A page's title, its first part, and what stands under each heading.
fn parts(page: &str) -> (&str, &str, Vec<(&str, &str)>) {
    let (title, rest) = page.split_once('\n').expect("a title and more");
    let mut sections = rest.split("\n## ");
    let meaning = sections.next().unwrap_or_default();
    (title, meaning, sections.map(|section| section.split_once('\n').expect("a heading and more")).collect())
}

#[test]
fn every_code_has_a_page_with_all_headings() {
    for code in Code::ALL {
        let (title, _, sections) = parts(code.page());
        let severity = match code.severity() {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        assert_eq!(title, format!("# {code} {} ({severity})", code.name()));
        let headings: Vec<&str> = sections.iter().map(|(heading, _)| *heading).collect();
        assert_eq!(headings, HEADINGS, "{code}");
    }
}

#[test]
fn no_page_is_a_stub() {
    for code in Code::ALL {
        let (_, meaning, sections) = parts(code.page());
        assert!(meaning.split_whitespace().count() >= 8, "{code} says nothing: {meaning}");
        for (heading, text) in sections {
            assert!(text.split_whitespace().count() >= 15, "{code}, {heading}: {text}");
            let code_lines = text.lines().filter(|line| line.starts_with("    ")).count();
            let shows_code = ["Example", "Fix"].contains(&heading);
            assert_eq!(code_lines > 0, shows_code, "{code}, {heading}: {text}");
        }
        let lines = code.page().lines().count();
        assert!((30..=60).contains(&lines), "{code} has {lines} lines");
    }
}

#[test]
fn pages_fit_a_terminal_of_80_columns() {
    for code in Code::ALL {
        for line in code.page().lines() {
            assert!(line.chars().count() <= 80, "{code}: {line}");
            assert!(!line.contains('\t') && line == line.trim_end(), "{code}: {line}");
        }
    }
}

#[test]
fn pages_refer_to_codes_that_there_are() {
    let known = |word: &str| Code::ALL.iter().any(|code| code.as_str() == word);
    for code in Code::ALL {
        let words = code.page().split(|c: char| !c.is_ascii_alphanumeric());
        let codes = words.filter(|word| word.len() == 5 && word.starts_with("PA"));
        for word in codes {
            assert!(known(word), "{code} refers to {word}");
        }
    }
}
