//! Wrong usage and bad images: one clear error that names the thing, its place and the mend.

use std::fs;

use crate::harness::{fails, pipeaudit, text, with};

fn check_images(folder: &std::path::Path, more: &[&str]) -> crate::harness::Outcome {
    let mut arguments = vec!["check", "--images", text(folder)];
    arguments.extend(more);
    with(&arguments)
}

fn scene() -> Vec<u8> {
    fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/images/scene0.png")).unwrap()
}

#[test]
fn values_that_make_no_sense_are_wrong_usage() {
    for (line, names) in [
        ("check --workers 5000", &["--workers", "5000", "1024"][..]),
        ("check --workers -1", &["-1"]),
        ("check --workers four", &["four"]),
        ("check --epochs 0", &["--epochs"]),
        ("check --batch-size 0", &["--batch-size"]),
        ("check --ranks 0", &["--ranks"]),
        ("check --samples 0", &["--samples"]),
        ("check --alpha 0", &["--alpha"]),
        ("check --alpha nan", &["--alpha"]),
        ("check --pipeline flip=1.5", &["flip=1.5", "0 to 1"]),
        ("check --pipeline flip=nan", &["flip=nan"]),
        ("check --pipeline crop=0", &["crop=0"]),
        ("check --pipeline croop=32", &["croop", "crop"]),
        ("check --pipeline crop=32,crop=16", &["crop stands twice"]),
        ("check --pipeline hue=0.7", &["hue"]),
        ("check --pipeline brightness=1.4..0.6", &["brightness"]),
        ("check --pipeline crop", &["crop"]),
        ("check --init base+workers", &["base+workers", "base+worker"]),
        ("check --start-method thread", &["thread", "spawn"]),
        ("check --rng mersenne", &["mersenne", "numpy"]),
        ("check --rng torch --generator held", &["held"]),
        ("check --no-set-epoch", &["--no-set-epoch", "--ranks 2"]),
        ("check --workers 0 --persistent-workers", &["--persistent-workers"]),
        ("check --format yaml", &["yaml"]),
        ("explain PA1O1", &["PA1O1", "PA101"]),
        ("chekc", &["chekc", "check"]),
        ("", &["check --workers 4"]),
    ] {
        fails(&pipeaudit(line), 2, names);
    }
}

#[test]
fn a_folder_that_is_missing_a_file_or_empty_is_said() {
    let folder = tempfile::tempdir().unwrap();
    fails(&check_images(&folder.path().join("nowhere"), &[]), 2, &["no such folder", "nowhere"]);
    let file = folder.path().join("picture.png");
    fs::write(&file, scene()).unwrap();
    fails(&check_images(&file, &[]), 2, &["picture.png", "not a folder"]);
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    fails(&check_images(&empty, &[]), 3, &["no PNG or JPEG image", "empty"]);
}

#[test]
fn a_bad_image_is_an_error_that_names_the_file() {
    for (name, bytes, names) in [
        ("truncated.png", scene()[..scene().len() / 2].to_vec(), &["truncated.png", "damaged or truncated"][..]),
        ("empty.png", Vec::new(), &["empty.png", "is empty"]),
        ("text.jpg", b"this is no picture".to_vec(), &["text.jpg", "does not hold JPG data"]),
        ("renamed.jpg", scene(), &["renamed.jpg", "mislabelled", "PNG"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("good.png"), scene()).unwrap();
        fs::write(folder.path().join(name), bytes).unwrap();
        fails(&check_images(folder.path(), &[]), 3, names);
    }
}

#[test]
fn a_jpeg_that_was_cut_off_is_refused_and_a_whole_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("photo.jpg");
    let picture = image::RgbImage::from_fn(120, 100, |x, y| image::Rgb([(x * 2) as u8, (y * 2) as u8, (x * y) as u8]));
    picture.save(&file).unwrap();
    let whole = fs::read(&file).unwrap();
    assert_eq!(check_images(folder.path(), &["--samples", "8"]).status, 0);
    // Anywhere behind the header, and with the end marker alone missing.
    for length in [whole.len() - 2, whole.len() - 1, whole.len() * 3 / 4, whole.len() / 2, 200] {
        fs::write(&file, &whole[..length]).unwrap();
        fails(&check_images(folder.path(), &[]), 3, &["photo.jpg", "damaged or truncated"]);
    }
}

#[cfg(unix)]
#[test]
fn a_file_name_cannot_send_escapes_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a\n\u{1b}[31mred.png"), "no picture").unwrap();
    let outcome = check_images(folder.path(), &[]);
    fails(&outcome, 3, &["red.png"]);
    assert!(!outcome.stderr.contains('\u{1b}'));
    assert_eq!(outcome.stderr.lines().filter(|line| line.starts_with("error: ")).count(), 1);
    assert_eq!(outcome.stderr.lines().count(), 2, "a message and its help, a line each: {}", outcome.stderr);
}

#[test]
fn one_stream_alone_is_no_pass() {
    for line in ["check --epochs 1 --workers 1 --init none", "check --samples 1 --epochs 1"] {
        let outcome = pipeaudit(line);
        assert_eq!(outcome.status, 3, "{line}: {}", outcome.stdout);
        assert!(outcome.stdout.contains("nothing to compare"), "{}", outcome.stdout);
    }
}

#[test]
fn a_kept_audit_is_not_mixed_with_another() {
    let folder = tempfile::tempdir().unwrap();
    let keep = folder.path().join("kept");
    assert_eq!(with(&["check", "-q", "--keep", text(&keep)]).status, 0);
    assert_eq!(with(&["check", "-q", "--keep", text(&keep)]).status, 0, "the same audit replaces its runs");
    fails(&with(&["check", "-q", "--keep", text(&keep), "--init", "none"]), 2, &["with-init-a", "another audit"]);
}

#[test]
fn an_image_smaller_than_the_crop_is_refused_as_torchvision_does() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.png"), scene()).unwrap();
    let outcome = check_images(folder.path(), &["--pipeline", "crop=97"]);
    fails(&outcome, 3, &["small.png", "(97, 97)", "(96, 96)", "--pipeline crop="]);
    assert_eq!(check_images(folder.path(), &["--pipeline", "crop=96"]).status, 0);
}

#[test]
fn an_image_over_the_limit_is_refused_before_it_is_decoded() {
    // A PNG header that claims 60000 x 60000 pixels, with nothing behind it.
    let mut bytes = scene()[..33].to_vec();
    bytes[16..24].copy_from_slice(&[0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60]);
    let crc = crc32(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&crc.to_be_bytes());
    bytes.extend_from_slice(&scene()[33..]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bomb.png"), bytes).unwrap();
    fails(&check_images(folder.path(), &[]), 3, &["bomb.png", "60000x60000", "--max-pixels"]);
}

/// CRC-32 as PNG chunks carry it, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

#[test]
fn the_limit_can_be_raised_and_lowered() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("scene.png"), scene()).unwrap();
    fails(&check_images(folder.path(), &["--max-pixels", "9215"]), 3, &["scene.png", "9216"]);
    assert_eq!(check_images(folder.path(), &["--max-pixels", "9216"]).status, 0);
}

#[test]
fn a_report_that_cannot_be_written_is_said_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    fails(&with(&["check", "-o", text(&folder.path().join("no/such/file.json"))]), 2, &["file.json", "cannot write"]);
    fails(&with(&["check", "-o", text(folder.path())]), 2, &["is a folder"]);
}

#[cfg(unix)]
#[test]
fn a_file_name_that_is_not_utf_8_is_read_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"sc\xffne.png")), scene()).unwrap();
    assert_eq!(check_images(folder.path(), &[]).status, 0);
}
