//! Writes a picture, row by row.

use std::io::{self, Read, Write};

use png::{BitDepth, ColorType, Encoder, EncodingError};

use super::read::MAX_WHOLE;
use crate::interchange::{Error, Variable};
use crate::ndl::{Datatype, Order};
use crate::ra::{ElementType, Flags};

/// Bytes that are taken from the data at once: whole samples.
const CHUNK: usize = 1 << 16;

/// Writes an array of `uint8` or `uint16`, of the shape `[height, width]` or `[height, width, channels]` with 2
/// (grey and alpha), 3 (RGB) or 4 channels (RGB and alpha). `data` are its elements, the last index fastest. Gives
/// what the file does not say, one sentence each.
///
/// The same array gives the same bytes.
///
/// # Errors
///
/// When the array is no such picture, has no pixels, its first index runs fastest, `data` are shorter or longer
/// than the header says, or reading or writing fails.
///
/// ```
/// use ra_pack::interchange::{Error, Variable, png};
/// use ra_pack::ndl::{Datatype, Extent, Ndarray};
/// use ra_pack::ra::{ElementType, Header};
///
/// let line = Variable {
///     header: Header::new(ElementType::UINT8, vec![2]).unwrap(),
///     description: Ndarray {
///         name: "line".to_owned(),
///         shape: vec![Extent::Fixed(2)],
///         datatype: Datatype::UInt8,
///         value: None,
///         attributes: Vec::new(),
///         storage: None,
///     },
///     losses: Vec::new(),
/// };
/// let refused = png::write(&line, [1, 2].as_slice(), std::io::sink());
/// assert!(matches!(refused, Err(Error::NoCounterpart { .. })));
/// ```
pub fn write(variable: &Variable, data: impl Read, out: impl Write) -> Result<Vec<String>, Error> {
    let Variable { header, description, .. } = variable;
    let name = &description.name;
    let depth = match (&description.datatype, header.element()) {
        (Datatype::UInt8, ElementType::UINT8) => BitDepth::Eight,
        (Datatype::UInt16, ElementType::UINT16) => BitDepth::Sixteen,
        (datatype, _) => {
            let reason =
                format!("a picture has samples of `uint8` or `uint16`, {name:?} has `{datatype}`");
            return Err(Error::no_counterpart(
                reason,
                "scale the values to uint8 or uint16, or have `ra-pack plot` draw them",
            ));
        }
    };
    if header.is_encoded() {
        let reason = format!("the data of {name:?} are encoded");
        return Err(Error::no_counterpart(reason, "decode them first"));
    }
    let mut size = header.dims().to_vec();
    match description.order() {
        Order::Row => size.reverse(),
        Order::RowUnreversed => {}
        Order::Column if size.len() < 2 => {}
        Order::Column => {
            let reason =
                format!("the first index of {name:?} runs fastest, and in a picture the last does");
            return Err(Error::no_counterpart(reason, "reorder its data first"));
        }
    }
    let (height, width, color) = match size[..] {
        [height, width] => (height, width, ColorType::Grayscale),
        [height, width, 2] => (height, width, ColorType::GrayscaleAlpha),
        [height, width, 3] => (height, width, ColorType::Rgb),
        [height, width, 4] => (height, width, ColorType::Rgba),
        _ => {
            return Err(Error::no_counterpart(
                format!(
                    "a picture has the shape [height, width] or [height, width, 2 to 4 channels], {name:?} has \
                     {size:?}"
                ),
                "take a slice of that shape",
            ));
        }
    };
    let extent =
        |length: u64| i32::try_from(length).ok().and_then(|length| u32::try_from(length).ok());
    let (Some(height @ 1..), Some(width @ 1..)) = (extent(height), extent(width)) else {
        return Err(Error::no_counterpart(
            format!(
                "a picture has 1 to {} rows and columns, {name:?} has {height} and {width}",
                i32::MAX
            ),
            "take a slice with fewer, or with some",
        ));
    };
    let row = header.data_len().checked_div(u64::from(height)).unwrap_or(0);
    if usize::try_from(row).map_or(true, |row| row > MAX_WHOLE) {
        let reason = format!("a row of {name:?} has {row} bytes, and {MAX_WHOLE} are the most");
        return Err(Error::no_counterpart(reason, "write it in parts"));
    }
    let swaps = depth == BitDepth::Sixteen && !header.flags().contains(Flags::BIG_ENDIAN);
    let mut encoder = Encoder::new(out, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().map_err(refuse)?;
    let mut pixels = writer.stream_writer_with_size(CHUNK).map_err(refuse)?;
    copy(name, data, header.data_len(), swaps, &mut pixels)?;
    pixels.finish().map_err(refuse)?;
    writer.finish().map_err(refuse)?;

    let attributes = description.attributes.iter();
    Ok(attributes
        .map(|attribute| format!("the attribute {:?} of {name:?} is left out", attribute.name))
        .collect())
}

fn copy(
    name: &str,
    mut data: impl Read,
    len: u64,
    swaps: bool,
    out: &mut impl Write,
) -> Result<(), Error> {
    let mut buffer = vec![0; CHUNK];
    let mut left = len;
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK);
        let part = buffer.get_mut(..part).unwrap_or_default();
        data.read_exact(part).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let reason = format!("the data of {name:?} end before their {len} bytes");
                io::Error::new(io::ErrorKind::UnexpectedEof, reason)
            }
            _ => error,
        })?;
        if swaps {
            for sample in part.as_chunks_mut::<2>().0 {
                sample.reverse();
            }
        }
        out.write_all(part)?;
        left = left.saturating_sub(u64::try_from(part.len()).unwrap_or(left));
    }
    let mut more = Vec::new();
    if data.take(1).read_to_end(&mut more)? > 0 {
        let reason = format!("the data of {name:?} are longer than their {len} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason).into());
    }
    Ok(())
}

fn refuse(error: EncodingError) -> Error {
    match error {
        EncodingError::IoError(error) => Error::Io(error),
        error => Error::Io(io::Error::other(error.to_string())),
    }
}
