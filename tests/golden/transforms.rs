//! `transforms.json`: single operations, random transforms and whole domains, from torchvision on PIL images.

use pipeaudit::rng::torch::Torch;
use pipeaudit::transform::{
    ColorJitter, Dialect, Engine, Fill, Image, Padding, PaddingMode, Parameters, Pipeline, RandomCrop,
    RandomHorizontalFlip, RandomVerticalFlip, Scratch, Strength, adjust_brightness, adjust_contrast, adjust_hue,
    adjust_saturation, crop, hflip, pad, pillow, rgb_to_grayscale, vflip,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::pictures::{
    Tally, difference, document, f64_bits, first_pixel, hex, images, list, number, sha256, text, torch_seed,
};

const OPERATIONS: [&str; 4] = ["adjust_brightness", "adjust_contrast", "adjust_saturation", "adjust_hue"];

/// The vectors of one list that are made on PIL images; the others are counted as left out.
fn on_pil<'a>(document: &'a Value, key: &str, tally: &mut Tally) -> Vec<&'a Value> {
    let (ours, tensors): (Vec<_>, Vec<_>) =
        list(document, key).iter().partition(|entry| entry["backend"].as_str() == Some("pil"));
    tally.leave_out(&format!("{key} on tensors"), tensors.len());
    ours
}

#[test]
fn single_operations_make_the_pixels_of_pillow() {
    let document = document("transforms.json");
    let (images, names) = images(&document);
    let mut tally = Tally::default();
    for entry in on_pil(&document, "fixed", &mut tally) {
        let (operation, name) = (text(entry, "op"), text(entry, "image"));
        if operation == "to_float_normalize" {
            tally.leave_out("to_float_normalize", 1);
            continue;
        }
        let image = &images[names[name]];
        let case = format!("{name} {} {} {}", entry["factor"], entry["padding"], entry["box"]);
        let found = fixed(operation, image, entry);
        tally.count(operation, &case, outcome(&found, entry));
        if let (Some(index), Ok(plain)) = (OPERATIONS.iter().position(|name| *name == operation), &found) {
            let factor = f64_bits(&entry["factor_f64"]);
            for engine in Engine::available() {
                let mut factors = [None; 4];
                factors[index] = Some(factor);
                let fast = jittered(image, [0, 1, 2, 3], factors, engine);
                tally.count(&format!("{operation} {engine:?}"), &case, against(&fast, plain));
            }
        }
    }
    tally.finish();
}

/// One operation at fixed arguments.
fn fixed(operation: &str, image: &Image, entry: &Value) -> Result<Image, String> {
    let mut output = image.clone();
    let factor = || f64_bits(&entry["factor_f64"]);
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
            let side = |at: usize| number(&entry["box"][at]);
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

/// What a fast engine made otherwise than the plain operation.
fn against(fast: &Image, plain: &Image) -> Option<String> {
    (fast != plain).then(|| first_pixel(fast, &plain.data))
}

/// The colour operations alone, through the pipeline and so through `engine`.
fn jittered(image: &Image, order: [u8; 4], factors: [Option<f64>; 4], engine: Engine) -> Image {
    let (width, height) = (image.width, image.height);
    let pipeline = Pipeline {
        crop: RandomCrop::new(height, width),
        flip_p: 0.0,
        jitter: ColorJitter::default(),
        dialect: Dialect::Torchvision,
    };
    let parameters = Parameters { top: 0, left: 0, height, width, flipped: false, order, factors };
    let mut scratch = Scratch::new(engine);
    pipeline.apply(image, &parameters, &mut scratch).expect("a box that is the image").clone()
}

fn padding(value: &Value) -> Option<Padding> {
    let sides: Vec<u32> = match value {
        Value::Null => return None,
        Value::Array(sides) => sides.iter().map(number).collect(),
        side => vec![number(side)],
    };
    Some(match sides[..] {
        [all] => Padding::all(all),
        [x, y] => Padding { left: x, top: y, right: x, bottom: y },
        [left, top, right, bottom] => Padding { left, top, right, bottom },
        _ => panic!("not a padding: {value}"),
    })
}

fn fill(value: &Value) -> Fill {
    let byte = |value: &Value| u8::try_from(number(value)).expect("a byte");
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
    let document = document("transforms.json");
    let (images, names) = images(&document);
    let mut tally = Tally::default();
    for entry in on_pil(&document, "random", &mut tally) {
        let (operation, name) = (text(entry, "op"), text(entry, "image"));
        let image = &images[names[name]];
        let case = format!("{name} seed {} {}", text(entry, "seed"), entry["args"]);
        let mut generator = Torch::new(torch_seed(entry, "seed"));
        let difference = match operation {
            "RandomCrop" => random_crop(image, entry, &mut generator),
            "RandomHorizontalFlip" | "RandomVerticalFlip" => random_flip(operation, image, entry, &mut generator),
            "ColorJitter" => color_jitter(image, entry, &mut generator),
            _ => panic!("a transform without a test: {operation}"),
        };
        tally.count(operation, &case, difference);
        let after = (text(&entry["after"], "sha256"), u64::from(number(&entry["after"]["pos"])));
        let words = generator.words();
        let found = (words.fingerprint(), words.position() as u64);
        let moved = (found != (after.0.to_owned(), after.1)).then(|| format!("{found:?} instead of {after:?}"));
        tally.count(&format!("{operation} generator"), &case, moved);
    }
    tally.finish();
}

fn random_crop(image: &Image, entry: &Value, generator: &mut Torch) -> Option<String> {
    let arguments = &entry["args"];
    let size = match &arguments["size"] {
        Value::Array(sides) => (number(&sides[0]), number(sides.last().expect("a side"))),
        side => (number(side), number(side)),
    };
    let crop = RandomCrop {
        size,
        padding: padding(&arguments["padding"]),
        pad_if_needed: arguments["pad_if_needed"].as_bool().unwrap_or(false),
        fill: fill(&arguments["fill"]),
        padding_mode: padding_mode(&arguments["padding_mode"]),
    };
    let pipeline = Pipeline { crop, flip_p: 0.0, jitter: ColorJitter::default(), dialect: Dialect::Torchvision };
    let (top, left) = match pipeline.crop.draw(image.width, image.height, generator) {
        Ok(corner) => corner,
        Err(error) => return outcome(&Err(error.message), entry),
    };
    let wanted = ["top", "left", "height", "width"].map(|key| entry["params"][key].as_u64());
    let found = [top, left, size.0, size.1].map(|side| Some(u64::from(side)));
    if wanted != found && entry.get("error").is_none() {
        return Some(format!("box {found:?} instead of {wanted:?}"));
    }
    let (height, width) = size;
    let parameters = Parameters { top, left, height, width, flipped: false, order: [0, 1, 2, 3], factors: [None; 4] };
    let mut scratch = Scratch::default();
    let output = pipeline.apply(image, &parameters, &mut scratch).map(Clone::clone);
    outcome(&output.map_err(|error| error.message), entry)
}

fn random_flip(operation: &str, image: &Image, entry: &Value, generator: &mut Torch) -> Option<String> {
    let p = entry["args"]["p"].as_f64().expect("a probability");
    let drawn = hex(&generator.clone().rand().to_be_bytes());
    if drawn != text(&entry["params"], "draw_f32") {
        return Some(format!("drew {drawn} instead of {}", text(&entry["params"], "draw_f32")));
    }
    let mut output = image.clone();
    let horizontal = operation == "RandomHorizontalFlip";
    let flipped =
        if horizontal { RandomHorizontalFlip { p }.draw(generator) } else { RandomVerticalFlip { p }.draw(generator) };
    if entry["params"]["flipped"].as_bool() != Some(flipped) {
        return Some(format!("flipped is {flipped}"));
    }
    match (flipped, horizontal) {
        (true, true) => hflip(&mut output),
        (true, false) => vflip(&mut output),
        (false, _) => {}
    }
    outcome(&Ok(output), entry)
}

fn color_jitter(image: &Image, entry: &Value, generator: &mut Torch) -> Option<String> {
    let [brightness, contrast, saturation, hue] =
        ["brightness", "contrast", "saturation", "hue"].map(|name| strength(&entry["args"][name]));
    let jitter = ColorJitter::new(brightness, contrast, saturation, hue).expect("ranges that torchvision took");
    let (order, factors) = jitter.draw(generator);
    let wanted: Vec<u32> = list(&entry["params"], "order").iter().map(number).collect();
    if wanted != order.map(u32::from) {
        return Some(format!("order {order:?} instead of {wanted:?}"));
    }
    for (factor, name) in factors.iter().zip(["brightness", "contrast", "saturation", "hue"]) {
        let found = factor.map(|factor| hex(&(factor as f32).to_be_bytes()));
        let wanted = entry["params"][format!("{name}_f32")].as_str();
        if found.as_deref() != wanted {
            return Some(format!("{name} {found:?} instead of {wanted:?}"));
        }
    }
    let plain = jittered(image, order, factors, Engine::Plain);
    outcome(&Ok(plain.clone()), entry).or_else(|| {
        let mut engines = Engine::available().into_iter();
        engines.find_map(|engine| against(&jittered(image, order, factors, engine), &plain))
    })
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
    let document = document("transforms.json");
    let mut tally = Tally::default();
    for other in ["resized_crop_params", "sums", "compare"] {
        tally.leave_out(other, list(&document, other).len());
    }
    let all = every_colour();
    for entry in on_pil(&document, "exhaustive", &mut tally) {
        let operation = text(entry, "op");
        let factor = || f64_bits(&entry["factor_f64"]);
        let plain = match operation {
            "blend" => pairs(factor() as f32),
            "rgb_to_hsv" => mapped(&all, |pixel, out| out.extend(pillow::rgb_to_hsv(pixel))),
            "hsv_to_rgb" => mapped(&all, |pixel, out| out.extend(pillow::hsv_to_rgb(pixel))),
            "rgb_to_grayscale" => mapped(&all, |[red, green, blue], out| out.push(pillow::luma(red, green, blue))),
            _ => {
                let mut factors = [None; 4];
                let index = OPERATIONS.iter().position(|name| *name == operation).expect("a known operation");
                factors[index] = Some(factor());
                for engine in Engine::available() {
                    let output = jittered(&all, [0, 1, 2, 3], factors, engine);
                    let wrong = differs(&sha256(&output.data), entry);
                    tally.count(&format!("{operation} {engine:?}"), &entry["factor"].to_string(), wrong);
                }
                jittered(&all, [0, 1, 2, 3], factors, Engine::Plain).data
            }
        };
        tally.count(operation, &entry["factor"].to_string(), differs(&hex(&Sha256::digest(&plain)), entry));
    }
    tally.finish();
}

fn differs(digest: &str, entry: &Value) -> Option<String> {
    (digest != text(entry, "sha256")).then(|| format!("digest {digest} instead of {}", text(entry, "sha256")))
}

/// Pixel n has the bytes n >> 16, n >> 8 & 255, n & 255.
fn every_colour() -> Image {
    let data = (0..1_u32 << 24).flat_map(|n| [(n >> 16) as u8, (n >> 8) as u8, n as u8]).collect();
    Image::new(4096, 4096, 3, data).expect("all colours")
}

fn mapped(image: &Image, operation: impl Fn([u8; 3], &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(image.data.len());
    image.data.as_chunks().0.iter().for_each(|pixel| operation(*pixel, &mut out));
    out
}

/// Row: what is blended in; column: the image's byte.
fn pairs(factor: f32) -> Vec<u8> {
    let bytes = || 0..=255_u8;
    bytes().flat_map(|base| bytes().map(move |value| pillow::blend(base, value, factor))).collect()
}
