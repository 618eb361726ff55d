//! How far two elements of one type are apart, and what that comes to over many.

use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;

use super::DiffOptions;
use super::arrays::{Distance, ElementsDiff, Place};
use crate::ra::ElementType;

/// What two elements are to each other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pair {
    /// The same number, or both no number.
    Same,
    /// So far apart; the second has this magnitude, and the larger of both that one.
    Apart { distance: f64, magnitude: f64, larger: f64 },
    /// One is no number.
    Nan,
    /// Other bytes, of which nothing more is known.
    Other,
}

type Judge = fn(&[u8], &[u8]) -> Pair;
type Show = fn(&[u8]) -> String;

/// What was found so far.
pub(super) struct Tally {
    elbyte: usize,
    judge: Judge,
    show: Show,
    is_number: bool,
    tolerance: f64,
    relative: f64,
    found: ElementsDiff,
    l1: f64,
    squares: f64,
    max: f64,
    part: f64,
    /// Number, and both elements as text.
    first: Option<(u64, String, String)>,
    furthest: Option<(u64, String, String)>,
}

impl Tally {
    pub(super) fn new(element: ElementType, options: &DiffOptions) -> Self {
        let (judge, show, is_number) = how(element);
        Self {
            elbyte: usize::try_from(element.elbyte()).unwrap_or(usize::MAX),
            judge,
            show,
            is_number,
            tolerance: options.tolerance,
            relative: options.relative,
            found: ElementsDiff::default(),
            l1: 0.0,
            squares: 0.0,
            max: 0.0,
            part: 0.0,
            first: None,
            furthest: None,
        }
    }

    /// Compares the next elements of both.
    pub(super) fn add(&mut self, a: &[u8], b: &[u8]) {
        let mut number = self.found.count;
        let elements = a.chunks_exact(self.elbyte.max(1));
        self.found.count = number.saturating_add(elements.len() as u64);
        if a == b {
            return;
        }
        for (a, b) in elements.zip(b.chunks_exact(self.elbyte.max(1))) {
            if a != b {
                self.add_pair(number, a, b);
            }
            number = number.saturating_add(1);
        }
    }

    fn add_pair(&mut self, number: u64, a: &[u8], b: &[u8]) {
        let differs = match (self.judge)(a, b) {
            Pair::Same => return,
            Pair::Other => true,
            Pair::Nan => {
                self.found.nan = self.found.nan.saturating_add(1);
                true
            }
            Pair::Apart { distance, magnitude, larger } => {
                self.l1 += distance;
                // Nothing is further from an infinity than that is large.
                let part = if larger.is_finite() { distance / larger } else { 1.0 };
                self.part = self.part.max(part);
                self.squares += distance * distance;
                if distance > self.max {
                    self.max = distance;
                    self.furthest = Some((number, (self.show)(a), (self.show)(b)));
                }
                // An infinite magnitude would tolerate everything.
                let relative = if magnitude.is_finite() { self.relative * magnitude } else { 0.0 };
                distance > self.tolerance.max(relative)
            }
        };
        if differs {
            self.found.differing = self.found.differing.saturating_add(1);
            if self.first.is_none() {
                self.first = Some((number, (self.show)(a), (self.show)(b)));
            }
        }
    }

    /// What was found; `index` gives the index of an element by its number.
    pub(super) fn finish(self, index: impl Fn(u64) -> Vec<u64>) -> ElementsDiff {
        let place = |(number, a, b)| Place { index: index(number), a, b };
        ElementsDiff {
            first: self.first.map(place),
            furthest: self.furthest.map(place),
            distance: self.is_number.then(|| Distance {
                l1: self.l1,
                l2: self.squares.sqrt(),
                max: self.max,
                relative: self.part,
            }),
            ..self.found
        }
    }
}

/// A number that elements can be.
trait Number: Pod {
    fn text(self) -> String;
    fn is_nan(self) -> bool;
    /// How far `self` is from `other`, and the magnitude of the latter.
    fn apart(self, other: Self) -> (f64, f64);
}

fn judge<T: Number>(a: &[u8], b: &[u8]) -> Pair {
    let (Some(a), Some(b)) = (element::<T>(a), element::<T>(b)) else { return Pair::Other };
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Pair::Same,
        (false, false) => match a.apart(b) {
            (0.0, _) => Pair::Same,
            (distance, magnitude) => {
                let larger = magnitude.max(b.apart(a).1);
                Pair::Apart { distance, magnitude, larger }
            }
        },
        _ => Pair::Nan,
    }
}

fn show<T: Number>(bytes: &[u8]) -> String {
    element::<T>(bytes).map_or_else(String::new, Number::text)
}

fn element<T: Pod>(bytes: &[u8]) -> Option<T> {
    bytemuck::try_pod_read_unaligned(bytes).ok()
}

fn judge_bytes(a: &[u8], b: &[u8]) -> Pair {
    if a == b { Pair::Same } else { Pair::Other }
}

fn show_bytes(bytes: &[u8]) -> String {
    /// Most bytes that are shown of one element.
    const SHOWN: usize = 16;
    let hex = |byte: &u8| format!("{byte:02x}");
    let shown: String = bytes.iter().take(SHOWN).map(hex).collect();
    let more = if bytes.len() > SHOWN { "…" } else { "" };
    format!("0x{shown}{more}")
}

/// How elements are compared and shown, and whether they are numbers.
fn how(element: ElementType) -> (Judge, Show, bool) {
    fn number<T: Number>() -> (Judge, Show, bool) {
        (judge::<T>, show::<T>, true)
    }
    match element {
        ElementType::INT8 => number::<i8>(),
        ElementType::INT16 => number::<i16>(),
        ElementType::INT32 => number::<i32>(),
        ElementType::INT64 => number::<i64>(),
        ElementType::INT128 => number::<i128>(),
        ElementType::UINT8 | ElementType::BOOL => number::<u8>(),
        ElementType::UINT16 => number::<u16>(),
        ElementType::UINT32 => number::<u32>(),
        ElementType::UINT64 => number::<u64>(),
        ElementType::UINT128 => number::<u128>(),
        ElementType::FLOAT16 => number::<f16>(),
        ElementType::BFLOAT16 => number::<bf16>(),
        ElementType::FLOAT32 => number::<f32>(),
        ElementType::FLOAT64 => number::<f64>(),
        ElementType::COMPLEX32 => number::<Complex<f16>>(),
        ElementType::COMPLEX64 => number::<Complex<f32>>(),
        ElementType::COMPLEX128 => number::<Complex<f64>>(),
        _ => (judge_bytes, show_bytes, false),
    }
}

macro_rules! integers {
    ($($integer:ty)+) => {
        $(impl Number for $integer {
            fn text(self) -> String {
                self.to_string()
            }

            fn is_nan(self) -> bool {
                false
            }

            #[allow(clippy::cast_precision_loss, clippy::cast_lossless, reason = "by width")]
            fn apart(self, other: Self) -> (f64, f64) {
                (self.abs_diff(other) as f64, other.abs_diff(0) as f64)
            }
        })+
    };
}

integers! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 }

macro_rules! floats {
    ($($float:ty)+) => {
        $(impl Number for $float {
            fn text(self) -> String {
                let magnitude = f64::from(self).abs();
                // Hundreds of zeros tell nobody anything.
                let is_plain = magnitude == 0.0 || (1e-5..1e16).contains(&magnitude);
                if is_plain || !magnitude.is_finite() {
                    self.to_string()
                } else {
                    format!("{self:e}")
                }
            }

            fn is_nan(self) -> bool {
                f64::from(self).is_nan()
            }

            fn apart(self, other: Self) -> (f64, f64) {
                let (a, b) = (f64::from(self), f64::from(other));
                // Of two infinities of one sign the difference would be no number.
                #[expect(clippy::float_cmp, reason = "the same number is at no distance")]
                let distance = if a == b { 0.0 } else { (a - b).abs() };
                (distance, b.abs())
            }
        }

        impl Number for Complex<$float> {
            fn text(self) -> String {
                let sign = if self.im.is_sign_negative() { "" } else { "+" };
                format!("{}{sign}{}i", self.re.text(), self.im.text())
            }

            fn is_nan(self) -> bool {
                Number::is_nan(self.re) || Number::is_nan(self.im)
            }

            fn apart(self, other: Self) -> (f64, f64) {
                let (re, _) = self.re.apart(other.re);
                let (im, _) = self.im.apart(other.im);
                (libm::hypot(re, im), libm::hypot(other.re.into(), other.im.into()))
            }
        })+
    };
}

floats! { f16 bf16 f32 f64 }
