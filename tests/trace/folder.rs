//! Runs as folders: what is written, what is refused, compression, and files that are not what they seem.

use std::fs;
use std::io::Write;
use std::path::Path;

use pipeaudit::exit::Exit;
use pipeaudit::trace::read::{About, Limits, read, read_within};
use pipeaudit::trace::write::Folder;
use pipeaudit::trace::{Lane, Run, record, run};

use super::view::view;

const SHARD: &str = r#"{"type":"process","format":1}
{"type":"loader","loader":0,"where":"a.py:1"}
{"type":"sample","loader":0,"epoch":0,"worker":-1,"seq":0,"index":1}
{"type":"sample","loader":0,"epoch":0,"worker":-1,"seq":1,"index":2}
{"type":"end","loader":0,"epoch":0,"worker":-1,"samples":2}
"#;

fn two_ranks() -> Run {
    let mut built = Run { name: "a".to_owned(), world_size: 2, ..Run::default() };
    built.loaders.push(record::Loader { num_workers: 1, kind: "map".to_owned(), ..record::Loader::default() });
    for rank in 0..2 {
        let mut lane = Lane::new(0, 0, rank, run::Worker(0));
        lane.push(Some(0), run::Index::Number(i64::from(rank)), None);
        lane.ended = Some(1);
        built.lanes.push(lane);
        built.passes.push(run::Pass { loader: 0, epoch: 0, rank, delivered: None, whole: true });
    }
    built
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn compressed(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 3).expect("memory takes everything")
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn a_run_is_a_folder_with_one_shard_a_rank() {
    let at = temporary();
    let path = at.path().join("made/for/it");
    let folder = Folder::create(&path).expect("folders are made");
    folder.write(&two_ranks()).expect("written");
    assert_eq!(names(&path), ["rank0.jsonl", "rank1.jsonl", "run.json"]);
    let loaded = read(&[&path]).expect("read");
    assert_eq!(view(&loaded.run), view(&two_ranks()));
    let about = loaded.about.expect("run.json");
    assert_eq!((about.format, about.name.as_deref()), (1, Some("a")));
    assert_eq!(about.versions.get("pipeaudit").map(String::as_str), Some(env!("CARGO_PKG_VERSION")));
}

#[test]
fn run_json_says_what_was_run() {
    let at = temporary();
    let about = About {
        arm: Some("as is".to_owned()),
        command: vec!["python".to_owned(), "train.py".to_owned()],
        held: vec!["clock".to_owned()],
        ..About::default()
    };
    Folder::create(at.path()).expect("it is empty").about(about.clone()).write(&two_ranks()).expect("written");
    let read = read(&[at.path()]).expect("read").about.expect("run.json");
    assert_eq!((read.arm, read.command, read.held), (about.arm, about.command, about.held));
}

#[test]
fn shards_and_folders_are_read_together_each_once() {
    let at = temporary();
    Folder::create(at.path()).expect("it is empty").write(&two_ranks()).expect("written");
    let (one, two) = (at.path().join("rank0.jsonl"), at.path().join("rank1.jsonl"));
    let whole = view(&read(&[at.path()]).expect("a folder").run);
    assert_eq!(view(&read(&[&two, &one]).expect("two shards").run)[1..], whole[1..]);
    assert_eq!(view(&read(&[at.path(), &one]).expect("one of them again").run), whole);
    let half = read(&[&one]).expect("one shard").run;
    assert_eq!(half.faults[0].message, "no shard of rank 1 of 2 ranks");
}

#[test]
fn names_of_files_do_not_matter() {
    let text = |rank: u32, pid: u32, source: &str| {
        let state = format!("x:{}:{rank}", "0".repeat(32));
        format!(
            "{{\"type\":\"process\",\"format\":1,\"rank\":{rank},\"world_size\":2,\"pid\":{pid}}}\n\
             {{\"type\":\"loader\",\"loader\":0}}\n\
             {{\"type\":\"stream\",\"loader\":0,\"epoch\":0,\"worker\":-1,\"source\":\"{source}\",\"algorithm\":\"x\",\"state\":\"{state}\"}}\n"
        )
    };
    let sources = |names: [&str; 2], pids: [u32; 2]| {
        let at = temporary();
        fs::write(at.path().join(names[0]), text(0, pids[0], "first")).expect("written");
        fs::write(at.path().join(names[1]), text(1, pids[1], "second")).expect("written");
        read(&[at.path()]).expect("read").run.names.sources
    };
    assert_eq!(sources(["a.jsonl", "b.jsonl"], [7, 8]), sources(["9.jsonl", "10.jsonl"], [8, 7]));
}

#[test]
fn a_folder_that_holds_something_else_is_left_alone() {
    let at = temporary();
    fs::write(at.path().join("thesis.tex"), "all of it").expect("written");
    let error = Folder::create(at.path()).expect_err("it is not empty");
    assert_eq!(error.exit, Exit::Usage);
    assert_eq!(error.message, format!("{} is not empty and holds no run of pipeaudit", at.path().display()));
    assert!(error.help.is_some());
    assert_eq!(names(at.path()), ["thesis.tex"]);
    // A file of this name is no run either.
    fs::write(at.path().join("run.json"), "{\"speed\":\"5 km/h\"}").expect("written");
    assert!(Folder::create(at.path()).is_err());
}

#[test]
fn a_run_is_replaced_and_what_lies_beside_it_is_kept() {
    let at = temporary();
    Folder::create(at.path()).expect("it is empty").write(&two_ranks()).expect("written");
    fs::write(at.path().join("notes.txt"), "mine").expect("written");
    let folder = Folder::create(at.path()).expect("a run of pipeaudit");
    assert_eq!(names(at.path()), ["notes.txt", "rank0.jsonl", "rank1.jsonl", "run.json"], "nothing happens before");
    let mut one = two_ranks();
    one.world_size = 1;
    one.lanes.truncate(1);
    one.passes.truncate(1);
    folder.write(&one).expect("written");
    assert_eq!(names(at.path()), ["notes.txt", "rank0.jsonl", "run.json"]);
    assert_eq!(view(&read(&[at.path()]).expect("read").run), view(&one));
}

#[test]
fn a_path_that_cannot_be_a_folder_fails_at_once() {
    let at = temporary();
    let file = at.path().join("file");
    fs::write(&file, "").expect("written");
    let error = Folder::create(&file).expect_err("a file");
    assert_eq!((error.exit, error.message), (Exit::Usage, format!("{} is a file", file.display())));
    let below = file.join("run");
    let error = Folder::create(&below).expect_err("below a file");
    assert_eq!(error.exit, Exit::Usage);
    assert!(error.message.contains(&below.display().to_string()), "{}", error.message);
    assert!(Folder::create_parent(&file).is_err());
    assert_eq!(Folder::create_parent(&at.path().join("new")).expect("made"), at.path().join("new"));
}

#[test]
fn compressed_shards_are_read() {
    let at = temporary();
    fs::write(at.path().join("rank0.jsonl.zst"), compressed(SHARD.as_bytes())).expect("written");
    let run = read(&[at.path()]).expect("read").run;
    assert_eq!((run.lanes[0].len(), run.faults.len()), (2, 0));
}

#[test]
fn a_compressed_shard_that_is_cut_off_is_read_up_to_there() {
    let at = temporary();
    let path = at.path().join("rank0.jsonl.zst");
    // Two frames, the second without its end: what the first holds is whole.
    let (first, second) = SHARD.split_at(SHARD.find("{\"type\":\"end\"").expect("an end"));
    let mut bytes = compressed(first.as_bytes());
    let second = compressed(second.as_bytes());
    bytes.extend(&second[..second.len() / 2]);
    fs::write(&path, bytes).expect("written");
    let run = read(&[at.path()]).expect("read up to there").run;
    assert_eq!((run.lanes[0].len(), run.lanes[0].ended), (2, None));
    assert_eq!(run.faults.len(), 1, "{:?}", run.faults);
    assert_eq!(run.faults[0].message, "the compressed data is cut off: read up to there");
    assert_eq!(run.faults[0].location, path.display().to_string());
}

#[test]
fn compressed_data_that_is_none_is_damage() {
    let at = temporary();
    fs::write(at.path().join("rank0.jsonl.zst"), SHARD).expect("written");
    let error = read(&[at.path()]).expect_err("not compressed");
    assert_eq!(error.exit, Exit::NotAudited);
    assert!(error.message.contains("rank0.jsonl.zst:1: cannot be read: "), "{}", error.message);
}

#[test]
fn a_decompression_bomb_ends_at_its_limit() {
    let at = temporary();
    // 64 MiB of blank lines in a few kilobytes, and one line of 64 MiB.
    let lines = compressed(&vec![b'\n'; 64 << 20]);
    let line = compressed(&vec![b' '; 64 << 20]);
    assert!(lines.len() < 100_000 && line.len() < 100_000);
    let limits = Limits { line: 1 << 20, shard: 8 << 20 };
    for (bytes, expected) in
        [(lines, "the shard has more than 8388608 bytes"), (line, "the line is longer than 1048576 bytes")]
    {
        fs::write(at.path().join("rank0.jsonl.zst"), bytes).expect("written");
        let error = read_within(&[at.path()], limits).expect_err("a bomb");
        assert_eq!(error.exit, Exit::NotAudited);
        assert!(error.message.contains(expected), "{}", error.message);
    }
}

#[cfg(unix)]
#[test]
fn links_and_pipes_in_a_run_are_not_followed() {
    let at = temporary();
    let elsewhere = temporary();
    fs::write(elsewhere.path().join("secret.jsonl"), SHARD).expect("written");
    fs::write(at.path().join("rank0.jsonl"), SHARD).expect("written");
    std::os::unix::fs::symlink(elsewhere.path().join("secret.jsonl"), at.path().join("rank1.jsonl")).expect("linked");
    std::os::unix::fs::symlink("/dev/zero", at.path().join("rank2.jsonl")).expect("linked");
    let run = read(&[at.path()]).expect("read").run;
    assert_eq!(run.lanes.len(), 1);
    let messages: Vec<&str> = run.faults.iter().map(|fault| fault.message.as_str()).collect();
    assert_eq!(messages, ["is no regular file: left out"; 2]);
}

#[test]
fn what_is_not_there_is_told_with_its_path() {
    let at = temporary();
    let missing = at.path().join("missing");
    let error = read(&[&missing]).expect_err("not there");
    assert_eq!(error.exit, Exit::Usage);
    assert!(error.message.starts_with(&format!("cannot read {}: ", missing.display())), "{}", error.message);
    let error = read(&[at.path()]).expect_err("empty");
    assert_eq!(error.exit, Exit::NotAudited);
    assert_eq!(error.message, format!("no shard (*.jsonl, *.jsonl.zst) in {}", at.path().display()));
}

#[test]
fn a_folder_of_runs_names_them() {
    let at = temporary();
    for name in ["with-init-a", "with-init-b"] {
        Folder::create(&at.path().join(name)).expect("new").write(&two_ranks()).expect("written");
    }
    let error = read(&[at.path()]).expect_err("no shards in it");
    let (a, b) = (at.path().join("with-init-a"), at.path().join("with-init-b"));
    assert_eq!(error.help, Some(format!("it holds runs: {}, {}", a.display(), b.display())));
}

#[test]
fn a_description_that_is_none_is_damage() {
    let at = temporary();
    fs::write(at.path().join("rank0.jsonl"), SHARD).expect("written");
    for text in ["", "[]", "{}", "{\"format\":\"one\"}", "{\"format\":2}", "\u{0}"] {
        fs::write(at.path().join("run.json"), text).expect("written");
        let error = read(&[at.path()]).expect_err(text);
        assert_eq!(error.exit, Exit::NotAudited, "{text}");
        assert!(error.message.contains("run.json"), "{}", error.message);
    }
}

#[test]
fn an_unknown_file_between_the_shards_is_left_alone() {
    let at = temporary();
    fs::write(at.path().join("rank0.jsonl"), SHARD).expect("written");
    fs::File::create(at.path().join("4711.attached")).and_then(|mut file| file.write_all(b"{}")).expect("written");
    fs::create_dir(at.path().join("sub")).expect("made");
    assert_eq!(read(&[at.path()]).expect("read").notes.shards, 1);
}
