//! Photographs of the user's.

use std::fs;

use image::{DynamicImage, ImageBuffer, Luma, LumaA, Rgb, Rgba};

use crate::harness::{codes, report, set, text};

fn value(x: u32, y: u32, k: u32) -> u32 {
    (x * 7 + y * 13 + k * 41 + (x * y) % 31) % 256
}

/// A folder of images in several modes and sizes, in folders below folders.
fn pictures() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("a/b");
    fs::create_dir_all(&below).unwrap();
    let save = |name: &str, image: DynamicImage| image.save(below.join(name)).unwrap();
    let rgb = |k| ImageBuffer::from_fn(80 + k, 70, |x, y| Rgb([value(x, y, k) as u8, value(y, x, k) as u8, 90]));
    for k in 0..6 {
        save(&format!("rgb{k}.png"), rgb(k).into());
    }
    save("photo.jpg", rgb(9).into());
    save("grey.png", ImageBuffer::from_fn(70, 90, |x, y| Luma([value(x, y, 0) as u8])).into());
    save("grey16.png", ImageBuffer::from_fn(70, 90, |x, y| Luma([value(x, y, 0) as u16 * 257])).into());
    save("grey_alpha.png", ImageBuffer::from_fn(70, 90, |x, y| LumaA([value(x, y, 0) as u8, 200])).into());
    save(
        "rgba.png",
        ImageBuffer::from_fn(70, 90, |x, y| Rgba([value(x, y, 1) as u8, 3, 200, value(y, x, 2) as u8])).into(),
    );
    fs::write(below.join("labels.txt"), "no image").unwrap();
    folder
}

#[test]
fn photographs_are_audited_like_the_embedded_images() {
    let folder = pictures();
    let images = format!("--images {}", text(folder.path()));
    let (status, sound) = report(&images);
    assert_eq!((status, codes(&sound)), (0, set("")), "{sound:#}");
    assert_eq!(sound["arms"][1]["numbers"][0]["delivered"], 22, "11 images in each of 2 epochs");
    let (status, faulty) = report(&format!("{images} --init none"));
    assert_eq!((status, codes(&faulty)), (1, set("PA101 PA103")), "{faulty:#}");
}

#[test]
fn a_mode_that_is_converted_is_said_once() {
    let folder = pictures();
    let (_, report) = report(&format!("--images {}", text(folder.path())));
    let remarks = report["remarks"].to_string();
    for said in ["1 image is converted from 16-bit to 8-bit grey", "1 image is converted from grey with alpha to RGBA"]
    {
        assert_eq!(remarks.matches(said).count(), 1, "{remarks}");
    }
}
