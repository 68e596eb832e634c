//! The kernels with AVX2 and FMA, 32 pixels at a time. The tests hold each against the portable one.
//!
//! Bytes are widened and packed within the two halves of a vector, so that order is kept without permutations.
#![allow(unsafe_code, reason = "vector loads and stores, and the step into code that needs AVX2")]

#[expect(clippy::wildcard_imports, reason = "instructions, each with a prefix of its own")]
use std::arch::x86_64::*;

use super::fused::{GROUP, Kernels};
use super::hue::CUT;
use super::portable::Portable;
use super::scale::Scale;

/// Proof that the processor has AVX2 and FMA.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Asks the processor.
    pub fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }
}

// SAFETY of the calls below: an `Avx2` exists only where the processor has the features that the functions need.
impl Kernels for Avx2 {
    fn split(&self, source: &[u8], first: usize, width: usize, flipped: bool, colours: [&mut [u8]; 3]) {
        unsafe { split(source, first, width, flipped, colours) }
    }

    fn blend(&self, bytes: &mut [u8], base: u8, scale: Scale) {
        let (groups, rest) = bytes.as_chunks_mut();
        unsafe { blend(groups, base, scale) }
        Portable.blend(rest, base, scale);
    }

    fn luma_sum(&self, colours: [&[u8]; 3]) -> u64 {
        let [red, green, blue] = colours.map(|colour| colour.as_chunks());
        unsafe { luma_sum([red.0, green.0, blue.0]) + Portable.luma_sum([red.1, green.1, blue.1]) }
    }

    fn saturate(&self, colours: [&mut [u8]; 3], scale: Scale) {
        let [red, green, blue] = colours.map(|colour| colour.as_chunks_mut());
        unsafe { saturate([red.0, green.0, blue.0], scale) }
        Portable.saturate([red.1, green.1, blue.1], scale);
    }

    fn turn(&self, colours: [&mut [u8]; 3], shift: u8) {
        let [red, green, blue] = colours.map(|colour| colour.as_chunks_mut());
        unsafe { turn([red.0, green.0, blue.0], shift) }
        Portable.turn([red.1, green.1, blue.1], shift);
    }

    fn join(&self, colours: [&[u8]; 3], output: &mut [u8]) {
        let (groups, rest) = output.as_chunks_mut();
        let [red, green, blue] = colours.map(|colour| colour.split_at(GROUP * groups.len()));
        unsafe { join([red.0, green.0, blue.0], groups) }
        Portable.join([red.1, green.1, blue.1], rest);
    }
}

/// 32 bytes: a vector of one colour.
type Group = [u8; GROUP];
/// 32 RGB pixels.
type Pixels = [u8; 3 * GROUP];

#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &Group) -> __m256i {
    // SAFETY: 32 bytes are read, at any alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(bytes: &mut Group, vector: __m256i) {
    // SAFETY: 32 bytes are written, at any alignment.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), vector) }
}

/// Two times 16 bytes, side by side.
#[inline]
#[target_feature(enable = "avx2")]
fn load_halves(low: &[u8; 16], high: &[u8; 16]) -> __m256i {
    // SAFETY: 16 bytes are read from each, at any alignment.
    unsafe { _mm256_loadu2_m128i(high.as_ptr().cast(), low.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store_halves(low: &mut [u8; 16], high: &mut [u8; 16], vector: __m256i) {
    // SAFETY: 16 bytes are written to each, at any alignment.
    unsafe { _mm256_storeu2_m128i(high.as_mut_ptr().cast(), low.as_mut_ptr().cast(), vector) }
}

/// A shuffle or mask of 16 bytes, for both halves.
const fn both(half: [u8; 16]) -> Group {
    let mut group = [0; GROUP];
    let mut at = 0;
    while at < GROUP {
        group[at] = half[at % 16];
        at += 1;
    }
    group
}

/// The bytes whose place is `rest` modulo 3. 16 interleaved pixels are three vectors, and the byte at place p of
/// vector v is of colour (v + p) modulo 3: of each colour, the three vectors together hold every place once.
const fn places(rest: usize) -> Group {
    let mut half = [0; 16];
    let mut at = 0;
    while at < 16 {
        half[at] = if at % 3 == rest { 0xff } else { 0 };
        at += 1;
    }
    both(half)
}

static PLACES: [Group; 3] = [places(0), places(1), places(2)];

/// Where pixel k's byte of `colour` stands once the three vectors are laid over each other; `mirrored` counts pixels
/// from the end.
const fn gather(colour: usize, mirrored: bool) -> Group {
    let mut half = [0; 16];
    let mut pixel = 0;
    while pixel < 16 {
        let at = if mirrored { 15 - pixel } else { pixel };
        half[pixel] = ((3 * at + colour) % 16) as u8;
        pixel += 1;
    }
    both(half)
}

/// The inverse of [`gather`].
const fn scatter(colour: usize) -> Group {
    let mut half = [0; 16];
    let mut pixel = 0;
    while pixel < 16 {
        half[(3 * pixel + colour) % 16] = pixel as u8;
        pixel += 1;
    }
    both(half)
}

static GATHER: [[Group; 3]; 2] =
    [[gather(0, false), gather(1, false), gather(2, false)], [gather(0, true), gather(1, true), gather(2, true)]];
static SCATTER: [Group; 3] = [scatter(0), scatter(1), scatter(2)];

#[target_feature(enable = "avx2,fma")]
fn split(source: &[u8], first: usize, width: usize, flipped: bool, colours: [&mut [u8]; 3]) {
    let [red, green, blue] = colours.map(|colour| colour.as_chunks_mut().0);
    let end = first + 3 * width;
    for (group, ((red, green), blue)) in red.iter_mut().zip(green).zip(blue).take(width.div_ceil(GROUP)).enumerate() {
        let done = size_of::<Pixels>() * group;
        // A mirrored row is read from its end; its last group may start before the image, others end behind it.
        let bytes = if flipped {
            let end = end - done;
            &source[end.saturating_sub(size_of::<Pixels>())..end]
        } else {
            let start = first + done;
            &source[start..source.len().min(start + size_of::<Pixels>())]
        };
        if let Some(pixels) = bytes.as_array() {
            split_group(pixels, flipped, red, green, blue);
        } else {
            let mut pixels: Pixels = [0; size_of::<Pixels>()];
            let start = if flipped { pixels.len() - bytes.len() } else { 0 };
            pixels[start..start + bytes.len()].copy_from_slice(bytes);
            split_group(&pixels, flipped, red, green, blue);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn split_group(pixels: &Pixels, flipped: bool, red: &mut Group, green: &mut Group, blue: &mut Group) {
    let [a, b, c, d, e, f] = pixels.as_chunks::<16>().0 else { unreachable!("96 bytes") };
    let [[a, d], [b, e], [c, f]] = if flipped { [[d, a], [e, b], [f, c]] } else { [[a, d], [b, e], [c, f]] };
    let vectors = [load_halves(a, d), load_halves(b, e), load_halves(c, f)];
    let gather = &GATHER[usize::from(flipped)];
    store(red, _mm256_shuffle_epi8(overlay(vectors, 0), load(&gather[0])));
    store(green, _mm256_shuffle_epi8(overlay(vectors, 1), load(&gather[1])));
    store(blue, _mm256_shuffle_epi8(overlay(vectors, 2), load(&gather[2])));
}

#[target_feature(enable = "avx2,fma")]
fn join(colours: [&[u8]; 3], output: &mut [Pixels]) {
    let [red, green, blue] = colours.map(|colour| colour.as_chunks().0);
    for (pixels, ((red, green), blue)) in output.iter_mut().zip(red.iter().zip(green).zip(blue)) {
        let red = _mm256_shuffle_epi8(load(red), load(&SCATTER[0]));
        let green = _mm256_shuffle_epi8(load(green), load(&SCATTER[1]));
        let blue = _mm256_shuffle_epi8(load(blue), load(&SCATTER[2]));
        let [a, b, c, d, e, f] = pixels.as_chunks_mut::<16>().0 else { unreachable!("96 bytes") };
        // The same overlay the other way round, which swaps the second and the third.
        store_halves(a, d, overlay([red, blue, green], 0));
        store_halves(b, e, overlay([red, blue, green], 2));
        store_halves(c, f, overlay([red, blue, green], 1));
    }
}

/// Of vector v the places whose number is `wanted` - v modulo 3.
#[inline]
#[target_feature(enable = "avx2")]
fn overlay(vectors: [__m256i; 3], wanted: usize) -> __m256i {
    let over = _mm256_blendv_epi8(vectors[0], vectors[1], load(&PLACES[(wanted + 2) % 3]));
    _mm256_blendv_epi8(over, vectors[2], load(&PLACES[(wanted + 1) % 3]))
}

/// The low and the high eight bytes of each half as 16-bit numbers; [`narrow`] is the inverse.
#[inline]
#[target_feature(enable = "avx2")]
fn widen(bytes: __m256i) -> [__m256i; 2] {
    let zero = _mm256_setzero_si256();
    [_mm256_unpacklo_epi8(bytes, zero), _mm256_unpackhi_epi8(bytes, zero)]
}

/// Limits signed 16-bit numbers to bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow([low, high]: [__m256i; 2]) -> __m256i {
    _mm256_packus_epi16(low, high)
}

/// [`Scale`] in vectors.
#[derive(Clone, Copy)]
struct Scaling {
    multiplier: __m256i,
    shift: __m128i,
    bias: __m256i,
}

impl Scaling {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(scale: Scale) -> Self {
        Self {
            multiplier: _mm256_set1_epi16(scale.multiplier),
            shift: _mm_cvtsi32_si128(scale.shift.into()),
            bias: _mm256_set1_epi16(scale.bias),
        }
    }

    /// The part that depends on the base alone.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of_base(self, base: __m256i) -> __m256i {
        _mm256_sub_epi16(_mm256_slli_epi16(base, 7), self.bias)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn blend(self, of_base: __m256i, value: __m256i) -> __m256i {
        let difference = _mm256_sub_epi16(_mm256_slli_epi16(value, 7), of_base);
        let product = _mm256_mulhi_epi16(difference, self.multiplier);
        _mm256_add_epi16(value, _mm256_sra_epi16(product, self.shift))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn blend_bytes(self, of_base: [__m256i; 2], values: [__m256i; 2]) -> __m256i {
        narrow([self.blend(of_base[0], values[0]), self.blend(of_base[1], values[1])])
    }
}

#[target_feature(enable = "avx2,fma")]
fn blend(groups: &mut [Group], base: u8, scale: Scale) {
    let scaling = Scaling::new(scale);
    let of_base = scaling.of_base(_mm256_set1_epi16(base.into()));
    for group in groups {
        store(group, scaling.blend_bytes([of_base; 2], widen(load(group))));
    }
}

/// 65 536 times the luma, rounding included, of the low and high four pixels of each half.
#[inline]
#[target_feature(enable = "avx2")]
fn luma([red, green, blue]: [__m256i; 3]) -> [__m256i; 2] {
    // Green's weight takes 16 bits, so half of it meets twice the value; 2 * 16384 rounds.
    let (weights, others) = (_mm256_set1_epi32(19235 << 16 | 19595), _mm256_set1_epi32(16384 << 16 | 7471));
    let (green, two) = (_mm256_slli_epi16(green, 1), _mm256_set1_epi16(2));
    let low = _mm256_add_epi32(
        _mm256_madd_epi16(_mm256_unpacklo_epi16(red, green), weights),
        _mm256_madd_epi16(_mm256_unpacklo_epi16(blue, two), others),
    );
    let high = _mm256_add_epi32(
        _mm256_madd_epi16(_mm256_unpackhi_epi16(red, green), weights),
        _mm256_madd_epi16(_mm256_unpackhi_epi16(blue, two), others),
    );
    [low, high]
}

#[target_feature(enable = "avx2,fma")]
fn luma_sum([red, green, blue]: [&[Group]; 3]) -> u64 {
    let mut sum = _mm256_setzero_si256();
    for ((red, green), blue) in red.iter().zip(green).zip(blue) {
        let (red, green, blue) = (widen(load(red)), widen(load(green)), widen(load(blue)));
        let mut lumas = [sum; 2];
        for half in 0..2 {
            let [low, high] = luma([red[half], green[half], blue[half]]);
            // A sum needs no order: the upper 16 bits of both.
            lumas[half] = _mm256_blend_epi16(_mm256_srli_epi32(low, 16), high, 0b1010_1010);
        }
        let bytes = _mm256_or_si256(lumas[0], _mm256_slli_epi16(lumas[1], 8));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
    }
    let mut lanes = [0; GROUP];
    store(&mut lanes, sum);
    lanes.as_chunks().0.iter().map(|lane| u64::from_le_bytes(*lane)).sum()
}

#[target_feature(enable = "avx2,fma")]
fn saturate([red, green, blue]: [&mut [Group]; 3], scale: Scale) {
    let scaling = Scaling::new(scale);
    for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
        let (reds, greens, blues) = (widen(load(red)), widen(load(green)), widen(load(blue)));
        let mut of_base = reds;
        for half in 0..2 {
            let [low, high] = luma([reds[half], greens[half], blues[half]]);
            let grey = _mm256_packus_epi32(_mm256_srli_epi32(low, 16), _mm256_srli_epi32(high, 16));
            of_base[half] = scaling.of_base(grey);
        }
        store(red, scaling.blend_bytes(of_base, reds));
        store(green, scaling.blend_bytes(of_base, greens));
        store(blue, scaling.blend_bytes(of_base, blues));
    }
}

#[target_feature(enable = "avx2,fma")]
fn turn([red, green, blue]: [&mut [Group]; 3], shift: u8) {
    let shift = _mm256_set1_epi8(shift as i8);
    for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
        let hsv = to_hsv([&*red, &*green, &*blue].map(|group| load(group)));
        let hue = _mm256_add_epi8(hsv.hue, shift);
        let turned = to_rgb(&Hsv { hue, ..hsv });
        for (group, colour) in [red, green, blue].into_iter().zip(turned) {
            store(group, colour);
        }
    }
}

/// 32 pixels; see [`super::hue`] for the arithmetic.
struct Hsv {
    /// Bytes.
    hue: __m256i,
    /// Bytes.
    value: __m256i,
    /// Saturation times value, 16 bits each.
    strength: [__m256i; 2],
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn to_hsv([red, green, blue]: [__m256i; 3]) -> Hsv {
    let value = _mm256_max_epu8(_mm256_max_epu8(red, green), blue);
    let least = _mm256_min_epu8(_mm256_min_epu8(red, green), blue);
    let range = widen(_mm256_sub_epi8(value, least));
    let value16 = widen(value);

    let blue_least = _mm256_cmpeq_epi8(blue, least);
    let red_least = _mm256_andnot_si256(blue_least, _mm256_cmpeq_epi8(red, least));
    let pick = |blue, red, green| _mm256_blendv_epi8(_mm256_blendv_epi8(green, red, red_least), blue, blue_least);
    let plus = pick(green, blue, red);
    let minus = pick(red, green, blue);
    let whole = widen(pick(_mm256_set1_epi8(1), _mm256_set1_epi8(3), _mm256_set1_epi8(5)));
    let signs = _mm256_set1_epi16(0xff01_u16 as i16);
    let difference = [
        _mm256_maddubs_epi16(_mm256_unpacklo_epi8(plus, minus), signs),
        _mm256_maddubs_epi16(_mm256_unpackhi_epi8(plus, minus), signs),
    ];

    let (mut hue, mut exact, mut strength) = ([value; 2], [value; 2], [value; 2]);
    for half in 0..2 {
        let turned = _mm256_add_epi16(_mm256_mullo_epi16(range[half], whole[half]), difference[half]);
        let (hue16, saturation) = quotients(turned, range[half], value16[half]);
        let twice = _mm256_add_epi16(range[half], range[half]);
        let product = _mm256_mullo_epi16(turned, _mm256_set1_epi16(85));
        exact[half] = _mm256_cmpeq_epi16(product, _mm256_mullo_epi16(twice, hue16));
        hue[half] = hue16;
        strength[half] = _mm256_mullo_epi16(value16[half], saturation);
    }
    let hue = narrow(hue);
    let cut = _mm256_and_si256(_mm256_packs_epi16(exact[0], exact[1]), is_cut(hue));
    Hsv { hue: _mm256_add_epi8(hue, cut), value, strength }
}

/// `85 * turned / (2 * range)` and `255 * range / value`, cut, of 16-bit numbers. Without a range (then `turned` is 0
/// as well) and without a value the quotient is no number, and what becomes of it meets only zeros.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn quotients(turned: __m256i, range: __m256i, value: __m256i) -> (__m256i, __m256i) {
    let zero = _mm256_setzero_si256();
    let low = |numbers| _mm256_cvtepi32_ps(_mm256_unpacklo_epi16(numbers, zero));
    let high = |numbers| _mm256_cvtepi32_ps(_mm256_unpackhi_epi16(numbers, zero));
    let [low, high] = [[low(turned), low(range), low(value)], [high(turned), high(range), high(value)]];
    let [low, high] = [low, high].map(|[turned, range, value]| {
        // A quotient that is not whole is at least 1/510 away from the next whole number, and the reciprocals are right
        // to 2^-22, so that a little more makes the cut exact.
        let more = _mm256_set1_ps(1.0 / 1024.0);
        let hue = _mm256_mul_ps(turned, reciprocal(range));
        let saturation = _mm256_mul_ps(range, reciprocal(value));
        [
            _mm256_cvttps_epi32(_mm256_fmadd_ps(hue, _mm256_set1_ps(42.5), more)),
            _mm256_cvttps_epi32(_mm256_fmadd_ps(saturation, _mm256_set1_ps(255.0), more)),
        ]
    });
    (_mm256_packs_epi32(low[0], high[0]), _mm256_packs_epi32(low[1], high[1]))
}

/// The processor's estimate, right to 1.5 * 2^-12, and one Newton step.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn reciprocal(number: __m256) -> __m256 {
    let estimate = _mm256_rcp_ps(number);
    _mm256_mul_ps(estimate, _mm256_fnmadd_ps(number, estimate, _mm256_set1_ps(2.0)))
}

/// All ones for those hue bytes that are cut to one less when exact.
#[inline]
#[target_feature(enable = "avx2")]
fn is_cut(hue: __m256i) -> __m256i {
    let [first, second] = CUT.as_chunks::<16>().0 else { unreachable!("32 bytes") };
    let powers = both([1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0]);
    let row = _mm256_and_si256(_mm256_srli_epi16(hue, 3), _mm256_set1_epi8(15));
    let lower = _mm256_shuffle_epi8(load_halves(first, first), row);
    let upper = _mm256_shuffle_epi8(load_halves(second, second), row);
    // A hue of 128 and more has its upper bit set, and that chooses the upper table.
    let bits = _mm256_blendv_epi8(lower, upper, hue);
    let bit = _mm256_shuffle_epi8(load(&powers), _mm256_and_si256(hue, _mm256_set1_epi8(7)));
    _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn to_rgb(hsv: &Hsv) -> [__m256i; 3] {
    let Hsv { hue, value, strength } = hsv;
    let least = _mm256_sub_epi8(*value, narrow([byte_share(strength[0]), byte_share(strength[1])]));
    let middle = _mm256_sub_epi8(*value, middle_loss(*hue, *strength));

    // A sextant is 42.5 wide. Where a hue lies on a boundary, the middle is the least or the most already.
    let (at_least, at_most) = (
        |bound: u8| _mm256_cmpeq_epi8(_mm256_max_epu8(*hue, _mm256_set1_epi8(bound as i8)), *hue),
        |bound: u8| _mm256_cmpeq_epi8(_mm256_min_epu8(*hue, _mm256_set1_epi8(bound as i8)), *hue),
    );
    let (first, sixth, third_on, fifth_on) = (at_most(42), at_least(213), at_least(85), at_least(170));
    let lower_half = _mm256_cmpgt_epi8(*hue, _mm256_set1_epi8(-1));
    let ones = _mm256_set1_epi8(-1);
    let red_most = _mm256_or_si256(first, sixth);
    let green_most = _mm256_andnot_si256(first, lower_half);
    let blue_most = _mm256_andnot_si256(_mm256_or_si256(lower_half, sixth), ones);
    let channel = |most, not_least| {
        let upper = _mm256_min_epu8(_mm256_or_si256(middle, most), *value);
        _mm256_max_epu8(_mm256_and_si256(upper, not_least), least)
    };
    [
        channel(red_most, _mm256_or_si256(fifth_on, _mm256_andnot_si256(third_on, ones))),
        channel(green_most, _mm256_andnot_si256(fifth_on, ones)),
        channel(blue_most, third_on),
    ]
}

/// 16-bit numbers up to 65025 divided by 255, rounded.
#[inline]
#[target_feature(enable = "avx2")]
fn byte_share(numbers: __m256i) -> __m256i {
    _mm256_mulhi_epu16(_mm256_add_epi16(numbers, _mm256_set1_epi16(128)), _mm256_set1_epi16(257))
}

/// What the middle channel has less than the most.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn middle_loss(hue: __m256i, strength: [__m256i; 2]) -> __m256i {
    // The remainder modulo 85: a byte that falls below 0 becomes large, and the smaller one is kept.
    let sextants = _mm256_set1_epi8(85);
    let mut rest = hue;
    for _ in 0..3 {
        rest = _mm256_min_epu8(rest, _mm256_sub_epi8(rest, sextants));
    }
    let away = widen(_mm256_abs_epi8(_mm256_sub_epi8(_mm256_add_epi8(rest, rest), sextants)));
    let share = |numbers| {
        // The product of whole numbers is exact, and 1 / 21675 right enough for every one of them.
        let share = _mm256_mul_ps(_mm256_cvtepi32_ps(numbers), _mm256_set1_ps(1.0 / 21_675.0));
        _mm256_cvtps_epi32(share)
    };
    narrow([0, 1].map(|half| {
        let low = _mm256_mullo_epi16(strength[half], away[half]);
        let high = _mm256_mulhi_epu16(strength[half], away[half]);
        _mm256_packs_epi32(share(_mm256_unpacklo_epi16(low, high)), share(_mm256_unpackhi_epi16(low, high)))
    }))
}
