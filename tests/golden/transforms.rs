//! `transforms.json`: single operations, random transforms and whole domains, from torchvision on PIL images.

use pipeaudit::rng::torch::Torch;
use pipeaudit::transform::{
    ColorJitter, Fill, Image, Padding, PaddingMode, Parameters, RandomCrop, RandomHorizontalFlip, RandomVerticalFlip,
    Scratch, Strength, adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation, crop, hflip, pad, pillow,
    rgb_to_grayscale, vflip,
};
use serde_json::{Value, json};

use crate::pictures::{FACTORS, cropping, difference, first_pixel, images, painted, scratches, sha256, tell};
use crate::rng::{fingerprint, torch_seed};
use crate::vectors::{Account, bits32, cut, float_argument, list, load, sections, text};

const OPERATIONS: [&str; 4] = ["adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue"];

/// The vectors of one list that are made on PIL images; the others are counted as not covered.
fn on_pil<'a>(document: &'a Value, section: &str, account: &mut Account) -> Vec<&'a Value> {
    let (ours, others): (Vec<_>, Vec<_>) =
        list(document, section).iter().partition(|entry| entry["backend"].as_str() == Some("pil"));
    for other in others {
        account.not_covered(format!("{section} of {}", text(other, "backend")));
    }
    ours
}

fn byte(value: &Value) -> u8 {
    value.as_u64().and_then(|value| u8::try_from(value).ok()).unwrap_or_else(|| panic!("not a byte: {value}"))
}

fn side(value: &Value) -> u32 {
    value.as_u64().and_then(|value| u32::try_from(value).ok()).unwrap_or_else(|| panic!("not pixels: {value}"))
}

#[test]
fn single_operations_make_the_pixels_of_pillow() {
    let document = load("transforms.json");
    let (images, names) = images(&document);
    let mut account = Account::new("transforms.json fixed");
    for entry in on_pil(&document, "fixed", &mut account) {
        let (operation, name) = (text(entry, "op"), text(entry, "image"));
        if operation == "to_float_normalize" {
            account.not_covered("to_float_normalize");
            continue;
        }
        let image = &images[names[name]];
        let case = cut(&json!([name, entry["factor"], entry["padding"], entry["box"]]));
        let found = fixed(operation, image, entry);
        tell(&mut account, operation, &case, outcome(&found, entry).as_deref());
        if let (Some(index), Ok(plain)) = (OPERATIONS.iter().position(|name| *name == operation), &found) {
            let mut factors = [None; 4];
            factors[index] = Some(float_argument(entry, "factor"));
            let wrong = jittered(image, [0, 1, 2, 3], factors, &mut scratches(), |output| {
                (output != plain).then(|| first_pixel(output, &plain.data))
            });
            tell(&mut account, &format!("{operation} by every engine"), &case, wrong.as_deref());
        }
    }
    account.close();
}

/// One operation at fixed arguments.
fn fixed(operation: &str, image: &Image, entry: &Value) -> Result<Image, String> {
    let mut output = image.clone();
    let factor = || float_argument(entry, "factor");
    match operation {
        "adjust_brightness" => adjust_brightness(&mut output, factor()),
        "adjust_contrast" => adjust_contrast(&mut output, factor()),
        "adjust_saturation" => adjust_saturation(&mut output, factor()),
        "adjust_hue" => adjust_hue(&mut output, factor()).map_err(|error| error.message)?,
        "hflip" => hflip(&mut output),
        "vflip" => vflip(&mut output),
        "rgb_to_grayscale" => output = rgb_to_grayscale(image),
        "crop" => {
            let corner = |at: usize| entry["box"][at].as_i64().expect("a box") as i32;
            let side = |at: usize| side(&entry["box"][at]);
            output = crop(image, corner(0), corner(1), side(2), side(3)).map_err(|error| error.message)?;
        }
        "pad" => {
            let mode = padding_mode(&entry["padding_mode"]);
            let padding = padding(&entry["padding"]).expect("padding");
            output = pad(image, padding, &fill(&entry["fill"]), mode).map_err(|error| error.message)?;
        }
        _ => panic!("an operation without a test: {operation}"),
    }
    Ok(output)
}

/// What is not as the vector has it: pixels, or an error.
fn outcome(found: &Result<Image, String>, entry: &Value) -> Option<String> {
    match (found, entry.get("error")) {
        (Ok(image), None) => difference(image, &entry["out"]),
        (Err(_), Some(_)) => None,
        (Ok(_), Some(error)) => Some(format!("made pixels where the library says {error}")),
        (Err(error), None) => Some(format!("made an error: {error}")),
    }
}

/// The colour operations alone, by every engine.
fn jittered(
    image: &Image,
    order: [u8; 4],
    factors: [Option<f64>; 4],
    scratches: &mut [Scratch],
    differs: impl Fn(&Image) -> Option<String>,
) -> Option<String> {
    let (width, height) = (image.width, image.height);
    let parameters = Parameters { top: 0, left: 0, height, width, flipped: false, order, factors };
    painted(&cropping(RandomCrop::new(height, width)), image, &parameters, scratches, differs)
}

fn padding(value: &Value) -> Option<Padding> {
    let sides: Vec<u32> = match value {
        Value::Null => return None,
        Value::Array(sides) => sides.iter().map(side).collect(),
        all => vec![side(all)],
    };
    Some(match sides[..] {
        [all] => Padding::all(all),
        [x, y] => Padding { left: x, top: y, right: x, bottom: y },
        [left, top, right, bottom] => Padding { left, top, right, bottom },
        _ => panic!("not a padding: {value}"),
    })
}

fn fill(value: &Value) -> Fill {
    match value {
        Value::Null => Fill::default(),
        Value::Array(values) => Fill::Channels(values.iter().map(byte).collect()),
        value => Fill::Value(byte(value)),
    }
}

fn padding_mode(value: &Value) -> PaddingMode {
    match value.as_str() {
        None | Some("constant") => PaddingMode::Constant,
        Some("edge") => PaddingMode::Edge,
        Some("reflect") => PaddingMode::Reflect,
        Some("symmetric") => PaddingMode::Symmetric,
        Some(other) => panic!("not a padding mode: {other}"),
    }
}

#[test]
fn random_transforms_draw_and_paint_as_torchvision() {
    let document = load("transforms.json");
    let (images, names) = images(&document);
    let mut account = Account::new("transforms.json random");
    for entry in on_pil(&document, "random", &mut account) {
        let (operation, name) = (text(entry, "op"), text(entry, "image"));
        let image = &images[names[name]];
        let case = cut(&json!([name, entry["seed"], entry["args"]]));
        let mut generator = Torch::new(torch_seed(entry, "seed"));
        let difference = match operation {
            "RandomCrop" => random_crop(image, entry, &mut generator),
            "RandomHorizontalFlip" | "RandomVerticalFlip" => random_flip(operation, image, entry, &mut generator),
            "ColorJitter" => color_jitter(image, entry, &mut generator),
            _ => panic!("a transform without a test: {operation}"),
        };
        tell(&mut account, operation, &case, difference.as_deref());
        account.compare("generator", || case, &fingerprint(generator.words()), &entry["after"]);
    }
    account.close();
}

fn random_crop(image: &Image, entry: &Value, generator: &mut Torch) -> Option<String> {
    let arguments = &entry["args"];
    let size = match &arguments["size"] {
        Value::Array(sides) => (side(&sides[0]), side(sides.last().expect("a side"))),
        both => (side(both), side(both)),
    };
    let crop = RandomCrop {
        size,
        padding: padding(&arguments["padding"]),
        pad_if_needed: arguments["pad_if_needed"].as_bool().unwrap_or(false),
        fill: fill(&arguments["fill"]),
        padding_mode: padding_mode(&arguments["padding_mode"]),
    };
    let (top, left) = match crop.draw(image.width, image.height, generator) {
        Ok(corner) => corner,
        Err(error) => return outcome(&Err(error.message), entry),
    };
    let (height, width) = size;
    let found = json!({"top": top, "left": left, "height": height, "width": width});
    if found != entry["params"] {
        return Some(format!("{found} instead of {}", entry["params"]));
    }
    let parameters = Parameters { top, left, height, width, flipped: false, order: [0, 1, 2, 3], factors: [None; 4] };
    painted(&cropping(crop), image, &parameters, &mut scratches(), |output| outcome(&Ok(output.clone()), entry))
}

fn random_flip(operation: &str, image: &Image, entry: &Value, generator: &mut Torch) -> Option<String> {
    let p = entry["args"]["p"].as_f64().expect("a probability");
    let drawn = bits32(generator.clone().rand());
    let horizontal = operation == "RandomHorizontalFlip";
    let flipped =
        if horizontal { RandomHorizontalFlip { p }.draw(generator) } else { RandomVerticalFlip { p }.draw(generator) };
    let found = json!({"draw_f32": drawn, "flipped": flipped});
    if found != entry["params"] {
        return Some(format!("{found} instead of {}", entry["params"]));
    }
    let mut output = image.clone();
    match (flipped, horizontal) {
        (true, true) => hflip(&mut output),
        (true, false) => vflip(&mut output),
        (false, _) => {}
    }
    outcome(&Ok(output), entry)
}

fn color_jitter(image: &Image, entry: &Value, generator: &mut Torch) -> Option<String> {
    let [brightness, contrast, saturation, hue] = FACTORS.map(|name| strength(&entry["args"][name]));
    let jitter = ColorJitter::new(brightness, contrast, saturation, hue).expect("ranges that torchvision took");
    let (order, factors) = jitter.draw(generator);
    let found: Vec<_> = factors.iter().map(|factor| factor.map(|factor| bits32(factor as f32))).collect();
    let wanted: Vec<_> = FACTORS.iter().map(|name| entry["params"][format!("{name}_f32")].clone()).collect();
    let (found, wanted) = (json!([order, found]), json!([entry["params"]["order"], wanted]));
    if found != wanted {
        return Some(format!("{found} instead of {wanted}"));
    }
    jittered(image, order, factors, &mut scratches(), |output| outcome(&Ok(output.clone()), entry))
}

fn strength(value: &Value) -> Strength {
    let float = |value: &Value| value.as_f64().expect("a float");
    match value {
        Value::Null => Strength::Around(0.0),
        Value::Array(ends) => Strength::Between(float(&ends[0]), float(&ends[1])),
        value => Strength::Around(float(value)),
    }
}

#[test]
fn whole_domains_have_the_digests_of_pillow() {
    let document = load("transforms.json");
    let mut account = Account::new("transforms.json exhaustive");
    for other in ["resized_crop_params", "sums", "compare"] {
        for _ in list(&document, other) {
            account.not_covered(other);
        }
    }
    let all = every_colour();
    for entry in on_pil(&document, "exhaustive", &mut account) {
        let (operation, case) = (text(entry, "op"), entry["factor"].to_string());
        let wrong = match operation {
            "blend" => differs(&pairs(float_argument(entry, "factor") as f32), entry),
            "rgb_to_hsv" => differs(mapped(&all, pillow::rgb_to_hsv).as_flattened(), entry),
            "hsv_to_rgb" => differs(mapped(&all, pillow::hsv_to_rgb).as_flattened(), entry),
            "rgb_to_grayscale" => differs(&rgb_to_grayscale(&all).data, entry),
            _ => {
                let mut factors = [None; 4];
                let index = OPERATIONS.iter().position(|name| *name == operation).expect("a known operation");
                factors[index] = Some(float_argument(entry, "factor"));
                jittered(&all, [0, 1, 2, 3], factors, &mut scratches(), |output| differs(&output.data, entry))
            }
        };
        tell(&mut account, operation, &case, wrong.as_deref());
    }
    account.close();
}

fn differs(bytes: &[u8], entry: &Value) -> Option<String> {
    let digest = sha256(bytes);
    (digest != text(entry, "sha256")).then(|| format!("digest {digest} instead of {}", text(entry, "sha256")))
}

/// Pixel n has the bytes n >> 16, n >> 8 & 255, n & 255.
fn every_colour() -> Image {
    let data = (0..1_u32 << 24).flat_map(|n| [(n >> 16) as u8, (n >> 8) as u8, n as u8]).collect();
    Image::new(4096, 4096, 3, data).expect("all colours")
}

fn mapped(image: &Image, operation: impl Fn([u8; 3]) -> [u8; 3]) -> Vec<[u8; 3]> {
    image.data.as_chunks().0.iter().map(|pixel| operation(*pixel)).collect()
}

/// Row: what is blended in; column: the image's byte.
fn pairs(factor: f32) -> Vec<u8> {
    let bytes = || 0..=255_u8;
    bytes().flat_map(|base| bytes().map(move |value| pillow::blend(base, value, factor))).collect()
}

#[test]
fn every_section_of_the_file_is_read_or_listed() {
    sections(&load("transforms.json"), "transforms.json sections", &["images", "fixed", "exhaustive", "random"]);
}
