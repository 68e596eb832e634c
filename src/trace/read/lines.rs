//! Lines of a shard, within limits: a hostile file costs no more memory than its longest allowed line.

use std::io::{BufRead, ErrorKind, Read};

use super::Limits;

/// A line, or why there is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A line that its line break ends.
    Whole(&'a [u8]),
    /// The last line, without a line break: perhaps cut off.
    Last(&'a [u8]),
    /// Nothing follows.
    End,
}

/// Reads lines one by one.
pub(super) struct Lines<R> {
    input: R,
    limits: Limits,
    buffer: Vec<u8>,
    bytes: u64,
    /// Number of the line that was read last, from 1.
    pub(super) number: u64,
    /// Whether a compressed shard ended before its time.
    pub(super) cut: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, limits: Limits) -> Self {
        Self { input, limits, buffer: Vec::new(), bytes: 0, number: 0, cut: false }
    }

    /// The next line without its line break.
    ///
    /// # Errors
    /// What is wrong: the line is too long, there is too much of it all, or the file cannot be read.
    pub(super) fn next(&mut self) -> Result<Line<'_>, String> {
        self.buffer.clear();
        self.number += 1;
        let most = self.limits.line as u64 + 1;
        match (&mut self.input).take(most).read_until(b'\n', &mut self.buffer) {
            Ok(_) => {}
            // What a decoder says of a frame that is not complete; what it gave before stays in the buffer.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => self.cut = true,
            Err(error) => return Err(format!("cannot be read: {error}")),
        }
        self.bytes += self.buffer.len() as u64;
        if self.bytes > self.limits.shard {
            return Err(format!("the shard has more than {} bytes", self.limits.shard));
        }
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
            return Ok(Line::Whole(&self.buffer));
        }
        if self.buffer.len() as u64 == most {
            return Err(format!("the line is longer than {} bytes", self.limits.line));
        }
        Ok(if self.buffer.is_empty() { Line::End } else { Line::Last(&self.buffer) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { line: 4, shard: 12 };

    #[test]
    fn lines_end_in_line_breaks_and_the_last_may_not() {
        let mut lines = Lines::new(&b"one\n\nthre"[..], LIMITS);
        assert_eq!(lines.next(), Ok(Line::Whole(b"one")));
        assert_eq!(lines.next(), Ok(Line::Whole(b"")));
        assert_eq!(lines.next(), Ok(Line::Last(b"thre")));
        assert_eq!(lines.number, 3);
        assert_eq!(lines.next(), Ok(Line::End));
    }

    #[test]
    fn a_line_or_a_shard_past_its_limit_is_refused() {
        assert_eq!(Lines::new(&b"12345\n"[..], LIMITS).next(), Err("the line is longer than 4 bytes".to_owned()));
        assert_eq!(Lines::new(&b"1234\n"[..], LIMITS).next(), Ok(Line::Whole(b"1234")));
        let mut lines = Lines::new(&b"1234\n1234\n1234\n"[..], LIMITS);
        assert!(lines.next().is_ok() && lines.next().is_ok());
        assert_eq!(lines.next(), Err("the shard has more than 12 bytes".to_owned()));
    }
}
