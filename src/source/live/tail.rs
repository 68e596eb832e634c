//! The end of what a program printed, in bounded memory: a ring of bytes, shown without the terminal's escapes.

use std::collections::VecDeque;

/// The last bytes of a stream.
#[derive(Clone, Debug)]
pub struct Tail {
    limit: usize,
    seen: u64,
    bytes: VecDeque<u8>,
}

impl Tail {
    /// An empty tail that keeps at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { limit, seen: 0, bytes: VecDeque::with_capacity(limit) }
    }

    /// Adds what was printed next.
    pub fn push(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(self.limit)..];
        let overflow = (self.bytes.len() + kept.len()).saturating_sub(self.limit);
        self.bytes.drain(..overflow);
        self.bytes.extend(kept);
    }

    /// Number of bytes that were printed in all.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The last lines, at most `lines`, as text that is safe to show: bytes that are not UTF-8 are replaced, control
    /// characters and escape sequences left out, and of a line that a progress bar wrote over, the last state stays.
    /// A first line of which the beginning is lost is left out too, unless it is the only one.
    pub fn last_lines(&self, lines: usize) -> String {
        let (head, rest) = self.bytes.as_slices();
        let text = String::from_utf8_lossy(&[head, rest].concat()).into_owned();
        let mut shown: Vec<String> = text.split('\n').map(plain_line).collect();
        while shown.last().is_some_and(String::is_empty) {
            shown.pop();
        }
        let torn = self.seen > self.bytes.len() as u64 && shown.len() > 1;
        let first = shown.len().saturating_sub(lines).max(usize::from(torn));
        shown[first..].join("\n")
    }
}

/// A line as a terminal would leave it, without anything that could steer a terminal.
fn plain_line(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let last = line.rsplit('\r').next().unwrap_or(line);
    let mut plain = String::with_capacity(last.len());
    let mut chars = last.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\t' => plain.push('\t'),
            char if char.is_control() || is_bidirectional(char) => {}
            char => plain.push(char),
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

/// Skips what follows an ESC: a control sequence, a string (title, link) up to its end, or one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => skip_control_sequence(chars),
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(char) = chars.next() {
                match char {
                    '\u{7}' | '\u{9c}' => break,
                    '\u{1b}' => {
                        chars.next_if_eq(&'\\');
                        break;
                    }
                    _ => {}
                }
            }
        }
        Some('\u{20}'..='\u{2f}') => {
            chars.next();
        }
        _ => {}
    }
}

/// Skips parameters up to the final character of a control sequence.
fn skip_control_sequence(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while let Some(char) = chars.next_if(|char| matches!(char, '\u{20}'..='\u{7e}')) {
        if matches!(char, '\u{40}'..='\u{7e}') {
            break;
        }
    }
}

/// Characters that reorder the text after them.
fn is_bidirectional(char: char) -> bool {
    matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(limit: usize, bytes: &[u8]) -> Tail {
        let mut tail = Tail::new(limit);
        for chunk in bytes.chunks(3) {
            tail.push(chunk);
        }
        tail
    }

    #[test]
    fn the_last_bytes_stay_and_a_torn_first_line_goes() {
        let tail = tail(12, b"first line\nsecond\nthird\n");
        assert_eq!(tail.seen(), 24);
        assert_eq!(tail.last_lines(10), "third");
    }

    #[test]
    fn one_push_larger_than_the_limit_keeps_its_end() {
        let mut tail = Tail::new(4);
        tail.push(b"ab");
        tail.push(b"0123456789");
        assert_eq!(tail.last_lines(10), "6789");
    }

    #[test]
    fn only_so_many_lines_are_shown() {
        assert_eq!(tail(100, b"a\nb\nc\nd\n").last_lines(2), "c\nd");
    }

    #[test]
    fn a_progress_bar_leaves_its_last_state() {
        assert_eq!(tail(100, b"  0%\r 50%\r100%\r\ndone\r\n").last_lines(5), "100%\ndone");
    }

    #[test]
    fn nothing_that_steers_a_terminal_is_shown() {
        let hostile = b"\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x07 \x1b]8;;http://x\x1b\\link \xc2\x9b2Jcsi \x1b(Bset \xe2\x80\xaeabc\0";
        assert_eq!(tail(200, hostile).last_lines(5), "red bell link csi set abc");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        assert_eq!(tail(100, b"a\xff\xfeb").last_lines(5), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn nothing_printed_is_an_empty_text() {
        assert_eq!(Tail::new(10).last_lines(5), "");
    }
}
