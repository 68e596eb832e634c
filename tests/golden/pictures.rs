//! Reading vectors with pictures in them, and saying where a picture differs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use pipeaudit::transform::Image;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The folder of the vectors.
pub fn folder() -> PathBuf {
    std::env::var_os("PIPEAUDIT_VECTORS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/vectors")), PathBuf::from)
}

/// One file of it.
pub fn document(name: &str) -> Value {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The elements of the list `key`.
pub fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key} in {value}"))
}

pub fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("no text {key} in {value}"))
}

pub fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or_else(|| panic!("not a u32: {value}"))
}

/// A float from the hex of its bits.
pub fn f64_bits(value: &Value) -> f64 {
    let hex = value.as_str().unwrap_or_else(|| panic!("no bits in {value}"));
    f64::from_bits(u64::from_str_radix(hex, 16).unwrap_or_else(|_| panic!("not 64 bits: {hex}")))
}

/// A seed of torch: negative ones are taken modulo 2^64.
pub fn torch_seed(value: &Value, key: &str) -> u64 {
    text(value, key).parse::<i128>().expect("a whole number") as u64
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The pictures of a document, each checked against its digest, in the document's order and by name.
pub fn images(document: &Value) -> (Vec<Image>, BTreeMap<String, usize>) {
    let mut images = Vec::new();
    let mut names = BTreeMap::new();
    for entry in list(document, "images") {
        let path = folder().join(text(entry, "file"));
        let decoded = image::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (width, height) = (decoded.width(), decoded.height());
        let channels = decoded.color().channel_count();
        let image = Image::new(width, height, channels, decoded.into_bytes()).expect("8-bit grey, RGB or RGBA");
        if let Some(difference) = difference(&image, entry) {
            panic!("{}: {difference}", path.display());
        }
        names.insert(text(entry, "id").to_owned(), images.len());
        images.push(image);
    }
    (images, names)
}

/// What is not as `expected` says (`w`, `h`, `mode`, `sha256`, and the bytes `b64` of small pictures).
pub fn difference(image: &Image, expected: &Value) -> Option<String> {
    let (width, height) = (number(&expected["w"]), number(&expected["h"]));
    let mode = match image.channels {
        1 => "L",
        3 => "RGB",
        _ => "RGBA",
    };
    if (image.width, image.height, mode) != (width, height, text(expected, "mode")) {
        let wanted = text(expected, "mode");
        return Some(format!("{}x{} {mode} instead of {width}x{height} {wanted}", image.width, image.height));
    }
    let digest = sha256(&image.data);
    if digest == text(expected, "sha256") {
        return None;
    }
    Some(match expected["b64"].as_str() {
        Some(bytes) => first_pixel(image, &base64(bytes)),
        None => format!("digest {digest} instead of {}; the vector holds no bytes", text(expected, "sha256")),
    })
}

/// Names the first pixel of `image` that is not as in `expected`.
pub fn first_pixel(image: &Image, expected: &[u8]) -> String {
    let channels = usize::from(image.channels);
    let pixels = image.data.chunks(channels).zip(expected.chunks(channels)).enumerate();
    let Some((at, (found, wanted))) = pixels.into_iter().find(|(_, (found, wanted))| found != wanted) else {
        return format!("{} bytes instead of {}", image.data.len(), expected.len());
    };
    let (row, column) = (at / image.width as usize, at % image.width as usize);
    format!("pixel at row {row}, column {column} is {found:?} instead of {wanted:?}")
}

/// Standard base64 with padding.
fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for symbol in text.bytes().filter(|symbol| *symbol != b'=') {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => panic!("not base64: {}", char::from(symbol)),
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// Counts what agrees and tells what does not.
#[derive(Default)]
pub struct Tally {
    agreed: BTreeMap<String, usize>,
    left_out: BTreeMap<String, usize>,
    differences: Vec<String>,
}

impl Tally {
    /// One vector of `kind`, with what differs.
    pub fn count(&mut self, kind: &str, case: &str, difference: Option<String>) {
        match difference {
            None => *self.agreed.entry(kind.to_owned()).or_default() += 1,
            Some(difference) => self.differences.push(format!("{kind} {case}: {difference}")),
        }
    }

    /// Vectors that are not of what pipeaudit does.
    pub fn leave_out(&mut self, kind: &str, number: usize) {
        *self.left_out.entry(kind.to_owned()).or_default() += number;
    }

    /// Prints the counts, and fails where anything differs.
    pub fn finish(self) {
        self.agreed.iter().for_each(|(kind, number)| println!("{kind}: {number} reproduced"));
        self.left_out.iter().for_each(|(kind, number)| println!("{kind}: {number} left out"));
        let (wrong, shown) = (self.differences.len(), self.differences.iter().take(20));
        let shown: Vec<_> = shown.map(String::as_str).collect();
        assert!(wrong == 0, "{wrong} vectors differ; the first of them:\n{}", shown.join("\n"));
        assert!(!self.agreed.is_empty(), "no vectors at all");
    }
}
