//! Texts for people: made harmless, wrapped, counted. Used by every report that a person reads.

/// A name, path or message from outside on one line: no control characters, no terminal escapes, no characters that
/// reorder or hide what is shown.
pub fn clean(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in Harmless::new(text) {
        line.push(if c == '\n' || c == '\t' { ' ' } else { c });
    }
    line
}

/// Likewise over several lines (code to paste): line breaks stay, a tab is four spaces, nothing at the ends of lines.
pub fn clean_block(text: &str) -> Vec<String> {
    let harmless: String = Harmless::new(text).collect();
    harmless.replace('\t', "    ").trim_end().lines().map(|line| line.trim_end().to_owned()).collect()
}

/// The characters of a text without those that could act on a terminal or mislead the eye.
struct Harmless<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl<'a> Harmless<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.chars().peekable() }
    }

    /// Passes by the rest of an escape sequence (ECMA-48: a control sequence ends in `@`..`~`, a string in BEL or ST).
    fn skip_escape(&mut self) {
        match self.rest.peek() {
            Some('[') => {
                self.rest.next();
                self.skip_control_sequence();
            }
            Some(']' | 'P' | 'X' | '^' | '_') => {
                self.rest.next();
                self.skip_string();
            }
            Some(' '..='~') => {
                self.rest.next();
            }
            _ => {}
        }
    }

    fn skip_control_sequence(&mut self) {
        while let Some(c) = self.rest.next_if(|c| (' '..='~').contains(c)) {
            if ('@'..='~').contains(&c) {
                break;
            }
        }
    }

    /// A string that never ends would swallow the text: it ends at a line break as well.
    fn skip_string(&mut self) {
        while let Some(c) = self.rest.next_if(|c| *c != '\n') {
            match c {
                '\u{7}' | '\u{9c}' => break,
                '\u{1b}' => {
                    self.rest.next_if_eq(&'\\');
                    break;
                }
                _ => {}
            }
        }
    }
}

impl Iterator for Harmless<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            match self.rest.next()? {
                '\u{1b}' => self.skip_escape(),
                '\u{9b}' => self.skip_control_sequence(),
                '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.skip_string(),
                c @ ('\n' | '\t') => return Some(c),
                c if c.is_control() || misleads(c) => {}
                c => return Some(c),
            }
        }
    }
}

/// Characters without a width of their own that reorder, join or hide others.
const fn misleads(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Breaks a text into lines of at most `width` characters. A word that is longer stands on a line of its own, so that
/// paths stay whole; groups of digits ("2 048") stay together.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in words(text) {
        let grown = line.chars().count() + usize::from(!line.is_empty()) + word.chars().count();
        if !line.is_empty() && grown > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if last.ends_with(|c: char| c.is_ascii_digit()) && is_group(word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Whether a word can go on a number that was begun: three digits and no more.
fn is_group(word: &str) -> bool {
    let digits = word.chars().take_while(char::is_ascii_digit).count();
    digits == 3 && !word[3..].starts_with(|c: char| c.is_alphanumeric())
}

/// A count with its digits in groups of three: `2 048`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A count with its noun: `1 finding`, `2 findings`.
pub fn plural(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{} {noun}s", count(n)) }
}

/// A worker in words: `worker 3`, or `main process` for -1.
pub fn worker(worker: i32) -> String {
    if worker < 0 { "main process".to_owned() } else { format!("worker {worker}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_what_they_carry_are_taken_out() {
        assert_eq!(clean("\u{1b}[31mred\u{1b}[0m"), "red");
        assert_eq!(clean("a\u{1b}]0;title\u{7}b"), "ab");
        assert_eq!(clean("a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\b"), "alinkb");
        assert_eq!(clean("\u{9b}2Jgone\u{90}q\u{9c}!"), "gone!");
        assert_eq!(clean("\u{1b}cx"), "x");
    }

    #[test]
    fn an_escape_that_never_ends_takes_no_more_than_its_line() {
        assert_eq!(clean("a\u{1b}]0;title\nb"), "a b");
        assert_eq!(clean("a\u{1b}"), "a");
        assert_eq!(clean("a\u{1b}["), "a");
    }

    #[test]
    fn characters_that_reorder_or_hide_are_taken_out() {
        assert_eq!(clean("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{7f}f\u{0}g\r\u{8}h"), "abcdefgh");
        assert_eq!(clean("one\ntwo\tthree"), "one two three");
        assert_eq!(clean("Größe 日本 – é"), "Größe 日本 – é");
    }

    #[test]
    fn code_keeps_its_lines_and_its_indent() {
        assert_eq!(
            clean_block("def f(w):\n\tpass  \n\n    x\u{1b}[1m = 1\n\n"),
            ["def f(w):", "    pass", "", "    x = 1"]
        );
    }

    #[test]
    fn lines_break_between_words_and_never_within_a_path_or_a_number() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("in a/very/long/path.py here", 6), ["in", "a/very/long/path.py", "here"]);
        assert_eq!(wrap("all of 2 048, yes", 8), ["all of", "2 048,", "yes"]);
        assert_eq!(wrap("", 8), [""]);
    }

    #[test]
    fn counts_are_grouped_by_three() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(2048), "2 048");
        assert_eq!(count(u64::MAX), "18 446 744 073 709 551 615");
        assert_eq!(plural(1, "finding"), "1 finding");
        assert_eq!(plural(1200, "sample"), "1 200 samples");
    }
}
