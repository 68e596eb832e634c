//! Damaged and malicious shards: one clear error or a counted fault, never a panic.

use pipeaudit::exit::Exit;
use pipeaudit::trace::read::from_lines;
use pipeaudit::trace::write::to_lines;
use proptest::prelude::*;

use super::round_trip::shards;
use super::runs;

const PROCESS: &str = r#"{"type":"process","format":1}"#;
const LOADER: &str = r#"{"type":"loader","loader":0}"#;

fn error_of(shard: &[u8]) -> String {
    let error = from_lines([("rank0.jsonl", shard)]).err().unwrap_or_else(|| {
        panic!("{} was read", String::from_utf8_lossy(&shard[..shard.len().min(200)]));
    });
    assert_eq!(error.exit, Exit::NotAudited);
    assert!(error.help.is_some());
    error.message
}

fn after_process(line: &str) -> String {
    error_of(format!("{PROCESS}\n{LOADER}\n{line}\n").as_bytes())
}

fn sample(fields: &str) -> String {
    format!(r#"{{"type":"sample","loader":0,"epoch":0,"worker":0,"seq":0{fields}}}"#)
}

#[test]
fn damage_is_told_with_file_line_and_what_is_wrong() {
    let cases = [
        ("{", "rank0.jsonl:3: EOF while parsing an object (column 1)"),
        ("nonsense", "rank0.jsonl:3: not a JSON object"),
        (r#"{"type":"sample"}"#, "rank0.jsonl:3: missing field `loader` (column 17)"),
        (
            r#"{"type":"end","loader":0,"epoch":0,"worker":"one","samples":0}"#,
            "invalid type: string \"one\", expected i32",
        ),
        (r#"{"type":"delivered","loader":-1,"epoch":0,"batch":0}"#, "integer `-1`, expected u32"),
        (r#"{"type":"delivered","loader":1e308,"epoch":0,"batch":0}"#, "floating point `1e+308`, expected u32"),
        (r#"{"type":"delivered","loader":1e999,"epoch":0,"batch":0}"#, "number out of range"),
        (r#"{"type":"loader","loader":0,"num_workers":4000000000}"#, "4000000000 workers are more than 65535"),
        (r#"{"type":"end","loader":0,"epoch":0,"worker":-2,"samples":0}"#, "worker -2 is not between -1 and 65535"),
        (r#"{"type":"process","format":1,"rank":4,"world_size":4}"#, "rank 4 is not among 4 ranks, which count from 0"),
        (r#"{"type":"process","format":1,"world_size":4294967295}"#, "4294967295 ranks are more than 1048576"),
        (r#"{"type":"process","format":2}"#, "format 2, of a newer version: this one reads up to 1"),
    ];
    for (line, expected) in cases {
        let message = after_process(line);
        assert!(message.contains(expected) && message.starts_with("rank0.jsonl:3: "), "{line}: {message}");
    }
}

#[test]
fn samples_that_cannot_be_are_damage() {
    let cases = [
        (r#","output":"xyz""#, r#""xyz" is no digest of 32 hexadecimal digits"#),
        (r#","states":{"s":"x:12:0"}"#, r#""x:12:0" is no state: algorithm:key:position"#),
        (r#","before":{"s":""}"#, r#""" is no state"#),
        (r#","index":[0]"#, "expected a 64-bit integer or a text"),
        (r#","batch":4294967295"#, "there is no batch 4294967295"),
        (r#","transforms":[["t",true,1e308,{}]]"#, "is no probability (transform t)"),
        (r#","transforms":[["t",true]]"#, "invalid length 2"),
        (r#","transforms":[{"name":"t"}]"#, "invalid type: map"),
    ];
    for (fields, expected) in cases {
        let message = after_process(&sample(fields));
        assert!(message.contains(expected), "{fields}: {message}");
    }
}

#[test]
fn a_sample_twice_or_out_of_turn_is_damage() {
    let first = sample("");
    let twice = format!("{PROCESS}\n{LOADER}\n{first}\n{first}\n");
    assert!(error_of(twice.as_bytes()).contains(":4: sample 0 of this worker and epoch a second time"));
    let gap = format!("{PROCESS}\n{first}\n{}\n", first.replace(r#""seq":0"#, r#""seq":4294967295"#));
    let message = error_of(gap.as_bytes());
    assert!(message.contains(":3: sample 4294967295 of this worker and epoch, where sample 1 was due"), "{message}");
}

#[test]
fn a_shard_that_does_not_begin_with_its_process_is_damage() {
    let message = error_of(format!("{LOADER}\n{PROCESS}\n").as_bytes());
    assert_eq!(message, "rank0.jsonl:1: a shard begins with a record of its process");
    // Nor does it go on with the process of the shard before.
    let (first, second) = (format!("{PROCESS}\n"), format!("{LOADER}\n"));
    let error = from_lines([("a", first.as_bytes()), ("b", second.as_bytes())]).expect_err("no process");
    assert_eq!(error.message, "b:1: a shard begins with a record of its process");
}

#[test]
fn texts_that_are_not_utf8_are_damage() {
    let mut shard = format!("{PROCESS}\n").into_bytes();
    shard.extend_from_slice(b"{\"type\":\"fault\",\"message\":\"\xc3\x28\"}\n");
    assert!(error_of(&shard).contains(":2: invalid unicode code point"));
    let mut shard = format!("{PROCESS}\n").into_bytes();
    shard.extend_from_slice(b"\xff\xfe\n");
    assert!(error_of(&shard).contains(":2: not a JSON object"));
}

#[test]
fn deep_nesting_ends_in_an_error_or_is_passed_by() {
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let value = sample(&format!(r#","transforms":[["t",true,null,{{"x":[{deep},"other",null,null]}}]]"#));
    assert!(after_process(&value).contains("recursion limit exceeded"));
    // In a field that nobody reads it costs nothing.
    let shard = format!("{PROCESS}\n{LOADER}\n{}\n", sample(&format!(r#","future":{deep}"#)));
    assert_eq!(from_lines([("s", shard.as_bytes())]).expect("passed by").run.lanes[0].len(), 1);
}

#[test]
fn more_sources_than_have_numbers_are_refused() {
    let key = "0".repeat(32);
    let mut shard = format!("{PROCESS}\n{LOADER}\n");
    for n in 0..65_536 {
        let line = format!(
            r#"{{"type":"stream","loader":0,"epoch":0,"worker":0,"source":"s{n}","algorithm":"x","state":"x:{key}:0"}}"#
        );
        shard.push_str(&line);
        shard.push('\n');
    }
    assert_eq!(error_of(shard.as_bytes()), "rank0.jsonl:65538: more than 65535 sources");
}

#[test]
fn many_ranges_of_one_transform_are_read_in_time() {
    // Each line declares another range: a search through all kinds for each would take minutes.
    let mut shard = format!("{PROCESS}\n{LOADER}\n");
    for n in 0..50_000 {
        let line = sample(&format!(r#","transforms":[["t",true,0.5,{{"x":[0,"uniform",0,{n}]}}]]"#));
        shard.push_str(&line.replace(r#""seq":0"#, &format!(r#""seq":{n}"#)));
        shard.push('\n');
    }
    let run = from_lines([("s", shard.as_bytes())]).expect("read").run;
    assert_eq!(run.names.kinds.len(), 50_000);
}

#[test]
fn a_torn_last_line_is_read_up_to_there() {
    let shard = format!("{PROCESS}\n{LOADER}\n{}\n{}", sample(""), r#"{"type":"sample","loader":0,"ep"#);
    let run = from_lines([("rank0.jsonl", shard.as_bytes())]).expect("read up to there").run;
    assert_eq!(run.lanes[0].len(), 1);
    let fault = &run.faults[0];
    assert_eq!(
        (fault.location.as_str(), fault.message.as_str()),
        ("rank0.jsonl", "line 4 is cut off: read up to there")
    );
    assert_eq!(run.faults.len(), 1);
}

#[test]
fn a_last_line_that_only_lacks_its_line_break_is_whole() {
    let shard = format!("{PROCESS}\n{LOADER}\n{}", sample(""));
    let run = from_lines([("s", shard.as_bytes())]).expect("whole").run;
    assert_eq!((run.lanes[0].len(), run.faults.len()), (1, 0));
}

#[test]
fn shards_without_a_record_are_no_run() {
    for shard in ["", "\n\n", "{\"ty"] {
        let error = from_lines([("s", shard.as_bytes())]).expect_err("nothing there");
        assert_eq!(
            (error.exit, error.message.as_str()),
            (Exit::NotAudited, "no process left a record: every shard is empty")
        );
    }
    let whole = format!("{PROCESS}\n");
    let run = from_lines([("a", whole.as_bytes()), ("b", &b""[..])]).expect("one has a process").run;
    assert_eq!(run.faults[0].message, "the shard is empty");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Bytes changed, cut out and put in, lines doubled and swapped: whatever is read can be written.
    #[test]
    fn no_damage_makes_it_panic(run in runs::run(), wounds in prop::collection::vec((0..5_u8, any::<u32>(), any::<u8>()), 1..4)) {
        let mut bytes: Vec<u8> = shards(&run).into_iter().flat_map(|(_, lines)| lines).collect();
        for (kind, at, byte) in wounds {
            wound(&mut bytes, kind, at as usize, byte);
        }
        match from_lines([("s", bytes.as_slice())]) {
            Ok(loaded) => {
                for rank in 0..loaded.run.world_size.min(4) {
                    to_lines(&loaded.run, rank, &mut std::io::sink()).expect("a sink takes everything");
                }
            }
            Err(error) => prop_assert_eq!(error.exit, Exit::NotAudited),
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut shard = format!("{PROCESS}\n{LOADER}\n").into_bytes();
        shard.extend(bytes);
        let _ = from_lines([("s", shard.as_slice())]);
    }
}

fn wound(bytes: &mut Vec<u8>, kind: u8, at: usize, byte: u8) {
    let at = at % bytes.len().max(1);
    match kind {
        0 if at < bytes.len() => bytes[at] = byte,
        1 => bytes.insert(at, byte),
        2 => bytes.truncate(at),
        3 => {
            let line: Vec<u8> = bytes[at..].split_inclusive(|b| *b == b'\n').nth(1).unwrap_or_default().to_vec();
            bytes.extend(line);
        }
        _ => {
            // A digit becomes another: numbers that are well formed and wrong.
            if let Some(digit) = bytes[at..].iter_mut().find(|b| b.is_ascii_digit()) {
                *digit = b'0' + byte % 10;
            }
        }
    }
}
