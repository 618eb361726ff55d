//! A drawing, before it is a file: rectangles, lines, texts and images at places of a page.

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

pub(crate) const BLACK: Rgb = [0x22, 0x22, 0x22];
pub(crate) const WHITE: Rgb = [0xFF; 3];
pub(crate) const PALE: Rgb = [0xE3, 0xE3, 0xE3];
pub(crate) const INK: Rgb = [0x1F, 0x5A, 0xA6];

/// A page with what is drawn on it, in that order.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) items: Vec<Item>,
}

#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// A filled rectangle.
    Rect { x: f64, y: f64, width: f64, height: f64, fill: Rgb },
    /// Points that are joined.
    Line { points: Vec<(f64, f64)>, width: f64, ink: Rgb },
    /// A text of which the baseline begins, has its middle, or ends at a point.
    Text { x: f64, y: f64, text: String, anchor: Anchor, size: Size, is_upright: bool },
    /// Pixels at whole places.
    Image { x: u32, y: u32, pixels: Pixels },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Of ticks.
    Small,
    /// Of labels.
    Medium,
    /// Of the title.
    Large,
}

impl Size {
    /// Width of a letter in PNG; those of SVG are about as wide.
    pub(crate) fn letter(self) -> f64 {
        match self {
            Self::Small => 7.0,
            Self::Medium => 8.0,
            Self::Large => 9.0,
        }
    }
}

/// An image of its own.
#[derive(Debug, Clone)]
pub(crate) struct Pixels {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Row by row.
    pub(crate) colors: Vec<Rgb>,
}

impl Pixels {
    pub(crate) fn new(width: u32, height: u32, fill: Rgb) -> Self {
        let count = usize::try_from(u64::from(width) * u64::from(height)).unwrap_or(0);
        Self { width, height, colors: vec![fill; count] }
    }

    pub(crate) fn at(&mut self, x: i64, y: i64) -> Option<&mut Rgb> {
        let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        if x >= self.width || y >= self.height {
            return None;
        }
        let place = u64::from(y) * u64::from(self.width) + u64::from(x);
        self.colors.get_mut(usize::try_from(place).ok()?)
    }

    /// The image as a PNG file; the same image gives the same bytes.
    pub(crate) fn to_png(&self) -> ra_pack::Result<Vec<u8>> {
        use ra_pack::interchange::{Variable, png};
        use ra_pack::ndl::{Datatype, Extent, Ndarray, Order, Storage};
        let shape = [u64::from(self.height), u64::from(self.width), 3];
        let failed = |error: &dyn std::error::Error| {
            ra_pack::Error::Unsupported(format!("the picture cannot be written: {error}"))
        };
        let dims = shape.iter().rev().copied().collect();
        let header = ra_pack::ra::Header::new(ra_pack::ElementType::UINT8, dims)
            .map_err(|error| failed(&error))?;
        let variable = Variable {
            header,
            description: Ndarray {
                name: "plot".to_owned(),
                shape: shape.into_iter().map(Extent::Fixed).collect(),
                datatype: Datatype::UInt8,
                value: None,
                attributes: Vec::new(),
                storage: Some(Storage { order: Order::Row, ..Storage::default() }),
            },
            losses: Vec::new(),
        };
        let bytes: Vec<u8> = self.colors.iter().flatten().copied().collect();
        let mut file = Vec::new();
        png::write(&variable, bytes.as_slice(), &mut file).map_err(|error| failed(&error))?;
        Ok(file)
    }
}

/// A float as a whole number; what is beyond those becomes the last, what is no number 0.
#[expect(
    clippy::cast_possible_truncation,
    reason = "it saturates, and there is no other conversion"
)]
pub(crate) fn whole(number: f64) -> i64 {
    number.floor() as i64
}

/// A count as a float.
pub(crate) fn float(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
