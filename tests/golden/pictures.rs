//! The pictures that vectors are about: reading them, and saying where one differs.

use std::collections::BTreeMap;

use pipeaudit::transform::{ColorJitter, Dialect, Engine, Image, Parameters, Pipeline, RandomCrop, Scratch};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::vectors::{Account, count, folder, hex, list, text};

/// The names of the four colour operations in the order of their numbers.
pub const FACTORS: [&str; 4] = ["brightness", "contrast", "saturation", "hue"];

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The plain engine and those that this machine can run beside it.
pub fn scratches() -> Vec<Scratch> {
    Engine::available().into_iter().map(Scratch::new).collect()
}

/// A pipeline that crops and does nothing else by itself.
pub fn cropping(crop: RandomCrop) -> Pipeline {
    Pipeline { crop, flip_p: 0.0, jitter: ColorJitter::default(), dialect: Dialect::Torchvision }
}

/// Counts one vector of `kind`: reproduced where nothing differs.
pub fn tell(account: &mut Account, kind: &str, case: &str, difference: Option<&str>) {
    account.compare(kind, || case.to_owned(), &json!(difference), &Value::Null);
}

/// The first difference between what the engines make of `image`: from the plain one's pixels, and the plain one's
/// from `differs`.
pub fn painted(
    pipeline: &Pipeline,
    image: &Image,
    parameters: &Parameters,
    scratches: &mut [Scratch],
    differs: impl Fn(&Image) -> Option<String>,
) -> Option<String> {
    let mut plain: Option<Image> = None;
    for scratch in scratches {
        let engine = scratch.engine();
        let output = match pipeline.apply(image, parameters, scratch) {
            Ok(output) => output,
            Err(error) => return Some(format!("{engine:?}: {error}")),
        };
        let difference = match &plain {
            None => differs(output),
            Some(plain) => (output != plain).then(|| first_pixel(output, &plain.data)),
        };
        if let Some(difference) = difference {
            return Some(format!("{engine:?}: {difference}"));
        }
        plain.get_or_insert_with(|| output.clone());
    }
    None
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
    let (width, height) = (count(expected, "w"), count(expected, "h"));
    let mode = match image.channels {
        1 => "L",
        3 => "RGB",
        _ => "RGBA",
    };
    if (image.width as usize, image.height as usize, mode) != (width, height, text(expected, "mode")) {
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
