//! How a command and what it said are shown in messages.

use std::ffi::OsString;

use super::command::Ended;

/// Characters of a command line that messages show.
const LONGEST: usize = 80;

/// Lines of the program's last words that messages show.
const LINES: usize = 12;

/// A command as it could be typed, cut to one readable line.
pub fn command_line(argv: &[OsString]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let line: String = words.join(" ").chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 3).chain("...".chars()).collect()
}

fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "-_./=:,+@%^".contains(char);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

/// What a program printed last, as the end of a message: what it wrote to standard error, or else to standard output.
pub fn last_words(ended: &Ended) -> String {
    let words =
        [&ended.stderr, &ended.stdout].into_iter().map(|tail| tail.last_lines(LINES)).find(|words| !words.is_empty());
    words.map_or_else(String::new, |words| {
        words.lines().fold("; its last words:".to_owned(), |text, line| text + "\n  " + line)
    })
}
