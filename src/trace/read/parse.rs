//! One line of JSON to one record.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::trace::record::Record;

/// What a line says.
#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    /// A record of a known type.
    Known(Box<Record>),
    /// A type that this version does not know.
    Unknown(String),
}

#[derive(Deserialize)]
struct Typed<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

/// Reads a line.
///
/// # Errors
/// What is wrong with it, with the column.
pub(super) fn parse(line: &[u8]) -> Result<Parsed, String> {
    // An array would be taken for an object whose fields stand in order.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err("not a JSON object".to_owned());
    }
    let kind = match leading_type(line) {
        Some(kind) => Cow::Borrowed(kind),
        None => from_slice::<Typed>(line)?.kind,
    };
    let record = match kind.as_ref() {
        "process" => Record::Process(from_slice(line)?),
        "loader" => Record::Loader(from_slice(line)?),
        "pass" => Record::Pass(from_slice(line)?),
        "stream" => Record::Stream(from_slice(line)?),
        "sample" => Record::Sample(from_slice(line)?),
        "batch" => Record::Batch(from_slice(line)?),
        "delivered" => Record::Delivered(from_slice(line)?),
        "seeding" => Record::Seeding(from_slice(line)?),
        "threads" => Record::Threads(from_slice(line)?),
        "end" => Record::End(from_slice(line)?),
        "fault" => Record::Fault(from_slice(line)?),
        "stopped" => Record::Stopped(from_slice(line)?),
        "exit" => Record::Exit(from_slice(line)?),
        other => {
            from_slice::<IgnoredAny>(line)?;
            return Ok(Parsed::Unknown(other.to_owned()));
        }
    };
    Ok(Parsed::Known(Box::new(record)))
}

/// The type where it stands first, as writers put it: saves reading the line twice.
fn leading_type(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(br#"{"type":""#)?;
    let end = rest.iter().position(|b| *b == b'"')?;
    let kind = std::str::from_utf8(&rest[..end]).ok()?;
    (!kind.contains('\\')).then_some(kind)
}

fn from_slice<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(|error| {
        // Its own words end in the place within this one line, whose number it cannot know.
        let message = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        format!("{} (column {})", message.strip_suffix(&place).unwrap_or(&message), error.column())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::record::{End, Index, Sample};

    fn known(line: &str) -> Record {
        match parse(line.as_bytes()) {
            Ok(Parsed::Known(record)) => *record,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_type_may_stand_anywhere_and_unknown_fields_are_passed_by() {
        let end = End { loader: 1, epoch: 2, worker: 3, samples: 4, whole: true, batches: None };
        let first = r#"{"type":"end","loader":1,"epoch":2,"worker":3,"samples":4}"#;
        let last = r#" {"loader":1,"future":[{"a":null}],"epoch":2,"worker":3,"samples":4,"type":"end"}"#;
        let escaped = r#"{"type":"\u0065nd","loader":1,"epoch":2,"worker":3,"samples":4}"#;
        for line in [first, last, escaped] {
            assert_eq!(known(line), Record::End(end.clone()), "{line}");
        }
    }

    #[test]
    fn an_index_is_an_integer_or_a_text() {
        let sample = |index: &str| {
            parse(format!(r#"{{"type":"sample","loader":0,"epoch":0,"worker":0,"seq":0,"index":{index}}}"#).as_bytes())
        };
        let index = |index: &str| match sample(index) {
            Ok(Parsed::Known(record)) => match *record {
                Record::Sample(Sample { index, .. }) => index,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert_eq!(index("-9223372036854775808"), Some(Index::Number(i64::MIN)));
        assert_eq!(index(r#""a/b.png""#), Some(Index::Text("a/b.png".to_owned())));
        assert_eq!(index("null"), None);
        for bad in ["9223372036854775808", "1.5", "1e308", "[0]", "{}", "true"] {
            assert!(sample(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn types_of_later_versions_are_told_by_their_name() {
        assert_eq!(parse(br#"{"type":"hologram","x":1}"#), Ok(Parsed::Unknown("hologram".to_owned())));
        assert!(parse(br#"{"type":"hologram","x":}"#).is_err());
    }

    #[test]
    fn what_is_no_record_is_an_error_with_its_column() {
        assert_eq!(parse(b""), Err("not a JSON object".to_owned()));
        assert_eq!(parse(br#"["end",1,2,3,4]"#), Err("not a JSON object".to_owned()));
        assert_eq!(parse(br#"{"loader":1}"#), Err("missing field `type` (column 12)".to_owned()));
        let negative = parse(br#"{"type":"delivered","loader":-1,"epoch":0,"batch":0}"#);
        assert_eq!(negative, Err("invalid value: integer `-1`, expected u32 (column 31)".to_owned()));
        assert!(parse(b"{\"type\":\"fault\",\"message\":\"\xff\"}").is_err());
        let nested = format!(
            r#"{{"type":"sample","loader":0,"epoch":0,"worker":0,"seq":0,"transforms":[["t",true,0.5,{{"x":[{}1{},"other",null,null]}}]]}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(parse(nested.as_bytes()).unwrap_err().starts_with("recursion limit exceeded"));
    }
}
