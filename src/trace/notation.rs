//! How states and digests are written in traces: `algorithm:key:position`, and 32 hexadecimal digits.

use super::run::Digest;
use crate::rng::{Key, State};

/// Writes a state.
pub fn state(algorithm: &str, state: State) -> String {
    format!("{algorithm}:{}:{}", state.key, state.position)
}

/// Reads a state: its algorithm, key and position. An algorithm's name may itself hold colons.
pub fn parse_state(text: &str) -> Option<(&str, State)> {
    let (rest, position) = text.rsplit_once(':')?;
    let (algorithm, key) = rest.rsplit_once(':')?;
    let digits = !position.is_empty() && position.bytes().all(|b| b.is_ascii_digit());
    if algorithm.is_empty() || !digits {
        return None;
    }
    Some((algorithm, State { key: Key(parse_hex(key)?), position: position.parse().ok()? }))
}

/// Reads a digest.
pub fn parse_digest(text: &str) -> Option<Digest> {
    parse_hex(text).map(Digest)
}

/// 32 hexadecimal digits and nothing else: the standard parser alone would take a sign and fewer digits.
fn parse_hex(text: &str) -> Option<u128> {
    let all = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    all.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "000102030405060708090a0b0c0d0e0f";

    #[test]
    fn a_state_is_an_algorithm_a_key_and_a_position() {
        let key = Key(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f);
        let at = State { key, position: 624 };
        assert_eq!(parse_state(&format!("mt19937:{KEY}:624")), Some(("mt19937", at)));
        assert_eq!(parse_state(&format!("a:b:{KEY}:624")), Some(("a:b", at)));
        assert_eq!(state("mt19937", at), format!("mt19937:{KEY}:624"));
        assert!(parse_state(&format!("x:{KEY}:18446744073709551615")).is_some());
    }

    #[test]
    fn what_is_no_state_is_none() {
        let bad = [
            String::new(),
            KEY.to_owned(),
            format!("{KEY}:1"),
            format!(":{KEY}:1"),
            format!("x:{KEY}:"),
            format!("x:{KEY}:-1"),
            format!("x:{KEY}:+1"),
            format!("x:{KEY}:1.0"),
            format!("x:{KEY}:18446744073709551616"),
            format!("x:{}:1", &KEY[1..]),
            format!("x:+{}:1", &KEY[1..]),
            format!("x:{}g:1", &KEY[1..]),
            format!("x:{}é:1", &KEY[2..]),
        ];
        for text in bad {
            assert_eq!(parse_state(&text), None, "{text}");
        }
    }

    #[test]
    fn a_digest_is_32_digits() {
        assert_eq!(parse_digest("000000000000000000000000000000ff"), Some(Digest(255)));
        assert_eq!(parse_digest("000000000000000000000000000000FF"), Some(Digest(255)));
        assert_eq!(parse_digest("ff"), None);
        assert_eq!(parse_digest("+00000000000000000000000000000ff"), None);
    }
}
