//! The kernels with AVX2 and FMA, 32 pixels at a time. The tests hold each against the portable one.
//!
//! Bytes are widened and packed within the two halves of a vector, so that order is kept without permutations.
#![allow(unsafe_code, reason = "vector loads and stores, and the step into code that needs AVX2")]

use std::arch::x86_64::{
    __m128i, __m256, __m256i, _MM_HINT_T0, _mm_cvtsi32_si128, _mm_prefetch, _mm256_abs_epi8, _mm256_add_epi8,
    _mm256_add_epi16, _mm256_add_epi32, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256, _mm256_blend_epi16,
    _mm256_blendv_epi8, _mm256_cmpeq_epi8, _mm256_cmpeq_epi16, _mm256_cmpgt_epi8, _mm256_cvtepi32_ps,
    _mm256_cvtps_epi32, _mm256_cvttps_epi32, _mm256_div_ps, _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_loadu_si256,
    _mm256_loadu2_m128i, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_max_epu8, _mm256_min_epu8, _mm256_mul_ps,
    _mm256_mulhi_epi16, _mm256_mulhi_epu16, _mm256_mullo_epi16, _mm256_or_si256, _mm256_packs_epi16,
    _mm256_packs_epi32, _mm256_packus_epi16, _mm256_packus_epi32, _mm256_rcp_ps, _mm256_sad_epu8, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_ps, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_sra_epi16,
    _mm256_srli_epi16, _mm256_srli_epi32, _mm256_storeu_si256, _mm256_storeu2_m128i, _mm256_sub_epi8, _mm256_sub_epi16,
    _mm256_unpackhi_epi8, _mm256_unpackhi_epi16, _mm256_unpacklo_epi8, _mm256_unpacklo_epi16, _mm256_xor_si256,
};

use super::fused::{GROUP, Kernels};
use super::hue::CUT;
use super::portable::Portable;
use super::scale::Scale;
use super::shuffles::{GATHER, Group, PLACES, POWERS, SCATTER};

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

/// Bytes that are asked of memory before they are split: what is split while memory answers.
const AHEAD: usize = 3072;

/// Asks memory for the cache line of one byte.
#[inline]
#[target_feature(enable = "avx2")]
fn fetch(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at) {
        // SAFETY: a hint about an address; nothing is read.
        #[allow(unused_unsafe, reason = "newer compilers take it as safe, older ones do not")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(byte).cast());
        }
    }
}

#[target_feature(enable = "avx2,fma")]
fn split(source: &[u8], first: usize, width: usize, flipped: bool, colours: [&mut [u8]; 3]) {
    let [red, green, blue] = colours.map(|colour| colour.as_chunks_mut().0);
    let end = first + 3 * width;
    for (group, ((red, green), blue)) in red.iter_mut().zip(green).zip(blue).take(width.div_ceil(GROUP)).enumerate() {
        let done = size_of::<Pixels>() * group;
        fetch(source, first + done + AHEAD);
        fetch(source, first + done + AHEAD + 64);
        // A mirrored row is read from its end; its last group may start before the image, others end behind it.
        let bytes = if flipped {
            let end = end - done;
            &source[end.saturating_sub(size_of::<Pixels>())..end]
        } else {
            let start = first + done;
            &source[start..source.len().min(start + size_of::<Pixels>())]
        };
        if let Ok(pixels) = bytes.try_into() {
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

/// Two 16-bit numbers, over and over.
#[inline]
#[target_feature(enable = "avx2")]
fn pair(first: i16, second: i16) -> __m256i {
    _mm256_unpacklo_epi16(_mm256_set1_epi16(first), _mm256_set1_epi16(second))
}

/// 65 536 times the luma, rounding included, of the low and high four pixels of each half.
#[inline]
#[target_feature(enable = "avx2")]
fn luma([red, green, blue]: [__m256i; 3]) -> [__m256i; 2] {
    // Green's weight takes 16 bits, so half of it meets twice the value; 2 * 16384 rounds.
    let (weights, others) = (pair(19_595, 19_235), pair(7_471, 16_384));
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
    let red_least = _mm256_cmpeq_epi8(red, least);
    let pick = |blue, red, green| _mm256_blendv_epi8(_mm256_blendv_epi8(green, red, red_least), blue, blue_least);
    let plus = pick(green, blue, red);
    let minus = pick(red, green, blue);
    let start = pick(_mm256_setzero_si256(), _mm256_set1_epi8(85), _mm256_set1_epi8(170_u8 as i8));
    let signs = _mm256_set1_epi16(0xff01_u16 as i16);
    let difference = [
        _mm256_maddubs_epi16(_mm256_unpacklo_epi8(plus, minus), signs),
        _mm256_maddubs_epi16(_mm256_unpackhi_epi8(plus, minus), signs),
    ];

    let (mut hue, mut exact, mut strength) = ([value; 2], [value; 2], [value; 2]);
    for half in 0..2 {
        let turned = _mm256_add_epi16(range[half], difference[half]);
        let turned = _mm256_mullo_epi16(turned, _mm256_set1_epi16(85));
        let (twice_hue, saturation) = quotients(turned, range[half], value16[half]);
        let hue16 = _mm256_srli_epi16(twice_hue, 1);
        let twice_range = _mm256_add_epi16(range[half], range[half]);
        exact[half] = _mm256_cmpeq_epi16(turned, _mm256_mullo_epi16(twice_range, hue16));
        hue[half] = hue16;
        strength[half] = _mm256_mullo_epi16(value16[half], saturation);
    }
    let hue = _mm256_add_epi8(narrow(hue), start);
    let cut = _mm256_and_si256(_mm256_packs_epi16(exact[0], exact[1]), is_cut(hue));
    Hsv { hue: _mm256_add_epi8(hue, cut), value, strength }
}

/// `turned / range` and `255 * range / value`, cut, of 16-bit numbers. Grey pixels have no range and black ones no value:
/// what becomes of their quotients, which are no numbers, is multiplied by zero.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn quotients(turned: __m256i, range: __m256i, value: __m256i) -> (__m256i, __m256i) {
    let zero = _mm256_setzero_si256();
    let low = |numbers| _mm256_cvtepi32_ps(_mm256_unpacklo_epi16(numbers, zero));
    let high = |numbers| _mm256_cvtepi32_ps(_mm256_unpackhi_epi16(numbers, zero));
    let [low, high] = [[low(turned), low(range), low(value)], [high(turned), high(range), high(value)]];
    let [low, high] = [low, high].map(|[turned, range, value]| {
        // A quotient that is not whole is at least 1/255 away from the next whole number, and the reciprocal is right
        // to 2^-22, so that a little more makes the cut exact.
        let more = _mm256_set1_ps(1.0 / 512.0);
        let saturation = _mm256_div_ps(range, value);
        [
            _mm256_cvttps_epi32(_mm256_fmadd_ps(turned, reciprocal(range), more)),
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
    let [below, above] = CUT.as_chunks::<16>().0 else { unreachable!("32 bytes") };
    // A shuffle gives 0 for a place whose upper bit is set: one table answers below 128, the other above.
    let upper = _mm256_xor_si256(hue, _mm256_set1_epi8(i8::MIN));
    let bits = _mm256_or_si256(
        _mm256_shuffle_epi8(load_halves(below, below), hue),
        _mm256_shuffle_epi8(load_halves(above, above), upper),
    );
    let row = _mm256_and_si256(_mm256_srli_epi16(hue, 4), _mm256_set1_epi8(15));
    let bit = _mm256_shuffle_epi8(load(&POWERS), row);
    _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit)
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn to_rgb(hsv: &Hsv) -> [__m256i; 3] {
    let Hsv { hue, value, strength } = hsv;
    let least = _mm256_sub_epi8(*value, narrow([byte_share(strength[0]), byte_share(strength[1])]));
    let middle = _mm256_sub_epi8(*value, middle_loss(*hue, *strength));

    // A sextant is 42.5 wide. Where a hue lies on a boundary, the middle is the least or the most already.
    let at_least = |bound: u8| _mm256_cmpeq_epi8(_mm256_max_epu8(*hue, _mm256_set1_epi8(bound as i8)), *hue);
    let (second, third, fifth, sixth) = (at_least(43), at_least(85), at_least(170), at_least(213));
    let lower = _mm256_cmpgt_epi8(*hue, _mm256_set1_epi8(-1));
    let red_less = _mm256_andnot_si256(sixth, second);
    let green_most = _mm256_and_si256(second, lower);
    let blue_less = _mm256_or_si256(lower, sixth);
    let red = _mm256_max_epu8(middle, _mm256_andnot_si256(red_less, *value));
    let green = _mm256_max_epu8(middle, _mm256_and_si256(green_most, *value));
    let blue = _mm256_max_epu8(middle, _mm256_andnot_si256(blue_less, *value));
    [
        _mm256_max_epu8(_mm256_andnot_si256(_mm256_andnot_si256(fifth, third), red), least),
        _mm256_max_epu8(_mm256_andnot_si256(fifth, green), least),
        _mm256_max_epu8(_mm256_and_si256(third, blue), least),
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
    // The remainder modulo 85: a byte that falls below 0 becomes large, and the smaller one is kept. 255 leaves 85,
    // which is as far from 42.5 as 0 is.
    let sextants = _mm256_set1_epi8(85);
    let rest = _mm256_min_epu8(hue, _mm256_sub_epi8(hue, sextants));
    let rest = _mm256_min_epu8(rest, _mm256_sub_epi8(rest, sextants));
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
