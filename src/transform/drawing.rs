//! What pipelines draw, in which order, and what they refuse: against a generator that writes down what it is asked.

use super::{
    ColorJitter, Dialect, Fill, Image, Padding, PaddingMode, Parameters, Pipeline, RandomCrop, RandomHorizontalFlip,
    RandomVerticalFlip, Scratch, Strength, adjust_hue, crop, pad,
};
use crate::exit::Exit;
use crate::rng::{Draw, Key, State};

/// Answers every question with its middle, and writes the question down.
#[derive(Default)]
struct Scribe(Vec<String>);

impl Draw for Scribe {
    fn below(&mut self, n: u32) -> u32 {
        self.0.push(format!("below {n}"));
        n / 2
    }

    fn coin(&mut self, p: f64) -> bool {
        self.0.push(format!("coin {p}"));
        p > 0.5
    }

    fn permutation4(&mut self) -> [u8; 4] {
        self.0.push("permutation".to_owned());
        [2, 0, 3, 1]
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0.push(format!("uniform {low} {high}"));
        f64::midpoint(low, high)
    }

    fn state(&self) -> State {
        State { key: Key(0), position: self.0.len() as u64 }
    }
}

fn pipeline(crop: RandomCrop, jitter: ColorJitter, dialect: Dialect) -> Pipeline {
    Pipeline { crop, flip_p: 0.75, jitter, dialect }
}

fn asked(pipeline: &Pipeline, width: u32, height: u32) -> (Parameters, Vec<String>) {
    let mut scribe = Scribe::default();
    let parameters = pipeline.draw(width, height, &mut scribe).expect("a crop that fits");
    (parameters, scribe.0)
}

fn around(brightness: f64, contrast: f64, saturation: f64, hue: f64) -> ColorJitter {
    let [brightness, contrast, saturation, hue] = [brightness, contrast, saturation, hue].map(Strength::Around);
    ColorJitter::new(brightness, contrast, saturation, hue).expect("ranges")
}

// The order of draws is that of torchvision 0.29: RandomCrop.get_params, RandomHorizontalFlip.forward,
// ColorJitter.get_params.

#[test]
fn torchvision_draws_corner_flip_order_and_the_factors_that_there_are() {
    let jitter = around(0.5, 0.0, 0.25, 0.125);
    let (parameters, asked) = asked(&pipeline(RandomCrop::new(4, 6), jitter, Dialect::Torchvision), 10, 9);
    assert_eq!(
        asked,
        [
            "below 6",
            "below 5",
            "coin 0.75",
            "permutation",
            "uniform 0.5 1.5",
            "uniform 0.75 1.25",
            "uniform -0.125 0.125"
        ]
    );
    let factors = [Some(1.0), None, Some(1.0), Some(0.0)];
    let expected = Parameters { top: 3, left: 2, height: 4, width: 6, flipped: true, order: [2, 0, 3, 1], factors };
    assert_eq!(parameters, expected);
}

#[test]
fn torchvision_draws_no_corner_where_crop_and_image_are_equal() {
    let still = ColorJitter::default();
    let (parameters, drawn) = asked(&pipeline(RandomCrop::new(9, 10), still, Dialect::Torchvision), 10, 9);
    assert_eq!(drawn, ["coin 0.75", "permutation"]);
    assert_eq!((parameters.top, parameters.left), (0, 0));
    // One direction with room: both are drawn.
    let (_, drawn) = asked(&pipeline(RandomCrop::new(9, 6), still, Dialect::Torchvision), 10, 9);
    assert_eq!(drawn, ["below 1", "below 5", "coin 0.75", "permutation"]);
}

#[test]
fn a_hand_written_pipeline_draws_everything_every_time() {
    let still = ColorJitter::default();
    let (parameters, asked) = asked(&pipeline(RandomCrop::new(9, 10), still, Dialect::HandWritten), 10, 9);
    let factors = ["uniform 1 1", "uniform 1 1", "uniform 1 1", "uniform 0 0"];
    assert_eq!(asked, [&["below 1", "below 1", "coin 0.75", "permutation"], &factors[..]].concat());
    assert_eq!(parameters.factors, [Some(1.0), Some(1.0), Some(1.0), Some(0.0)]);
}

#[test]
fn a_corner_is_drawn_in_the_padded_image() {
    let padding = Some(Padding { left: 1, top: 2, right: 3, bottom: 4 });
    let crop = RandomCrop { padding, ..RandomCrop::new(8, 8) };
    assert_eq!(crop.padded(10, 20), (26, 14));
    assert_eq!(crop.room(10, 20).expect("room"), (19, 7));
    // pad_if_needed adds what is missing on both ends, after the padding.
    let crop = RandomCrop { padding, pad_if_needed: true, ..RandomCrop::new(30, 20) };
    assert_eq!(crop.padded(10, 20), (34, 26));
    assert_eq!(crop.room(10, 20).expect("room"), (5, 7));
}

#[test]
fn a_crop_larger_than_the_image_is_refused_before_anything_is_drawn() {
    let crop = RandomCrop { padding: Some(Padding::all(1)), ..RandomCrop::new(224, 225) };
    for dialect in [Dialect::Torchvision, Dialect::HandWritten] {
        let mut scribe = Scribe::default();
        let pipeline = pipeline(crop.clone(), ColorJitter::default(), dialect);
        let error = pipeline.draw(300, 100, &mut scribe).expect_err("a crop that does not fit");
        assert_eq!(error.message, "required crop size (224, 225) is larger than input image size (102, 302)");
        assert!(error.help.as_ref().is_some_and(|help| help.contains("--pipeline crop=102")), "{error:?}");
        assert_eq!(error.exit, Exit::NotAudited);
        assert_eq!(scribe.0, Vec::<String>::new());
    }
}

#[test]
fn sizes_that_no_memory_holds_are_refused() {
    let huge = RandomCrop { pad_if_needed: true, ..RandomCrop::new(u32::MAX, u32::MAX) };
    assert!(huge.room(1, 1).is_err());
    let wide = RandomCrop { padding: Some(Padding::all(u32::MAX)), ..RandomCrop::new(1, 1) };
    assert!(wide.room(u32::MAX, 1).is_err());
    let image = Image::new(1, 1, 3, vec![1, 2, 3]).expect("a pixel");
    assert!(crop(&image, i32::MIN, i32::MAX, u32::MAX, u32::MAX).is_err());
    assert!(pad(&image, Padding::all(u32::MAX), &Fill::default(), PaddingMode::Edge).is_err());
    assert!(pad(&image, Padding::all(30_000), &Fill::default(), PaddingMode::Constant).is_err());
}

#[test]
fn flips_draw_once_whatever_their_probability() {
    for p in [0.0, 0.5, 1.0] {
        let mut scribe = Scribe::default();
        assert_eq!(RandomHorizontalFlip { p }.draw(&mut scribe), p > 0.5);
        assert_eq!(RandomVerticalFlip { p }.draw(&mut scribe), p > 0.5);
        assert_eq!(scribe.0, [format!("coin {p}"), format!("coin {p}")]);
    }
}

#[test]
fn strengths_become_the_ranges_of_torchvision() {
    assert_eq!(around(0.4, 1.5, 0.0, 0.1).ranges(), [Some((0.6, 1.4)), Some((0.0, 2.5)), None, Some((-0.1, 0.1))]);
    let between = Strength::Between;
    let jitter = ColorJitter::new(between(1.0, 1.0), between(0.0, 0.0), between(0.5, 9.0), between(0.0, 0.0));
    assert_eq!(jitter.expect("ranges").ranges(), [None, Some((0.0, 0.0)), Some((0.5, 9.0)), None]);
}

#[test]
fn ranges_that_torchvision_refuses_are_wrong_usage() {
    use Strength::{Around, Between};
    let still = Around(0.0);
    let refused = [
        (ColorJitter::new(Around(-0.1), still, still, still), "brightness is -0.1"),
        (ColorJitter::new(still, Between(-0.1, 1.0), still, still), "contrast ranges from -0.1 to 1"),
        (ColorJitter::new(still, still, Between(1.2, 1.1), still), "saturation ranges from 1.2 to 1.1"),
        (ColorJitter::new(still, still, Around(f64::NAN), still), "saturation ranges"),
        (ColorJitter::new(still, still, still, Around(0.6)), "hue ranges from -0.6 to 0.6"),
        (ColorJitter::new(still, still, still, Between(-0.5, 0.51)), "hue ranges from -0.5 to 0.51"),
    ];
    for (jitter, message) in refused {
        let error = jitter.expect_err(message);
        assert!(error.message.starts_with(message), "{error:?}");
        assert!(error.help.is_some(), "{error:?}");
        assert_eq!(error.exit, Exit::Usage);
    }
}

#[test]
fn parameters_of_another_pipeline_are_refused() {
    let pipeline = pipeline(RandomCrop::new(2, 2), ColorJitter::default(), Dialect::Torchvision);
    let image = Image::new(4, 4, 3, vec![9; 48]).expect("an image");
    let (fits, _) = asked(&pipeline, 4, 4);
    let mut scratch = Scratch::default();
    assert!(pipeline.apply(&image, &fits, &mut scratch).is_ok());
    let hue = [None, None, None, Some(0.6)];
    let wrong = [
        Parameters { top: 3, ..fits.clone() },
        Parameters { left: 3, ..fits.clone() },
        Parameters { order: [0, 1, 1, 3], ..fits.clone() },
        Parameters { order: [0, 1, 2, 4], ..fits.clone() },
        Parameters { factors: hue, ..fits },
    ];
    for parameters in wrong {
        assert!(pipeline.apply(&image, &parameters, &mut scratch).is_err(), "{parameters:?}");
    }
}

#[test]
fn images_whose_bytes_are_not_their_pixels_are_refused() {
    assert!(Image::new(2, 2, 3, vec![0; 11]).is_err());
    assert!(Image::new(2, 2, 2, vec![0; 8]).is_err());
    let broken = Image { width: 9, height: 9, channels: 3, data: vec![0; 9] };
    let pipeline = pipeline(RandomCrop::new(2, 2), ColorJitter::default(), Dialect::Torchvision);
    let (parameters, _) = asked(&pipeline, 9, 9);
    assert!(pipeline.apply(&broken, &parameters, &mut Scratch::default()).is_err());
    assert!(pad(&broken, Padding::all(1), &Fill::default(), PaddingMode::Edge).is_err());
}

#[test]
fn a_fill_for_other_channels_is_refused() {
    let image = Image::new(1, 1, 1, vec![5]).expect("a pixel");
    let fill = Fill::Channels(vec![1, 2, 3]);
    let error = pad(&image, Padding::all(1), &fill, PaddingMode::Constant).expect_err("three values for grey");
    assert_eq!(error.message, "the fill has 3 values, but the image has 1 channels");
    let padded = pad(&image, Padding::all(1), &Fill::Channels(vec![7]), PaddingMode::Constant).expect("one for all");
    assert_eq!(padded.data, [7, 7, 7, 7, 5, 7, 7, 7, 7]);
}

#[test]
fn hue_factors_outside_the_circle_are_refused() {
    let mut image = Image::new(1, 1, 3, vec![1, 2, 3]).expect("a pixel");
    for factor in [0.500_1, -0.6, f64::NAN] {
        assert!(adjust_hue(&mut image, factor).is_err(), "{factor}");
    }
    assert_eq!(image.data, [1, 2, 3]);
}

#[test]
fn the_same_scratch_serves_images_of_any_size_and_kind() {
    let jitter = around(0.4, 0.4, 0.4, 0.1);
    let (mut scratch, mut allocated) = (Scratch::default(), None);
    for (width, height, channels) in [(64, 64, 3), (5, 7, 4), (9, 3, 1), (64, 64, 3), (1, 1, 3)] {
        let pipeline = pipeline(RandomCrop::new(height, width), jitter, Dialect::Torchvision);
        let bytes = width as usize * height as usize * usize::from(channels);
        let image = Image::new(width, height, channels, (0..bytes).map(|at| at as u8).collect()).expect("an image");
        let (parameters, _) = asked(&pipeline, width, height);
        let output = pipeline.apply(&image, &parameters, &mut scratch).expect("pixels");
        assert_eq!((output.width, output.height, output.channels, output.data.len()), (width, height, channels, bytes));
        let place = output.data.as_ptr();
        assert_eq!(*allocated.get_or_insert(place), place, "the output moved");
    }
}
