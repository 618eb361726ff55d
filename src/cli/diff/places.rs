//! Where an element stands by the coordinates of its array.

use std::path::Path;

use ra_pack::ndl::Value;
use ra_pack::{Axis, Container, CornersOptions, Pack, PackedArray, escape};

use super::super::array;
use super::super::show::{flow, values};

/// Digits of a coordinate behind the point.
const DIGITS: usize = 6;

/// What knows the coordinates of arrays.
pub(super) struct Places {
    pack: Option<Pack>,
    /// The array that is meant, when there is one alone.
    member: Option<String>,
}

impl Places {
    /// Those of a pack, or of an array in it or by itself.
    pub(super) fn of(target: &Path, member: Option<&str>) -> Self {
        // An index is a place too, so that what cannot be read here is no error.
        let opened = match member {
            _ if ra_pack::is_array_file(target).unwrap_or(false) => {
                Pack::of_array(target).ok().map(|(pack, member)| (pack, Some(member)))
            }
            member => Pack::open(target).ok().map(|pack| (pack, member.map(str::to_owned))),
        };
        // A stream would be read from its beginning for every coordinate.
        let is_stream =
            |pack: &Pack| matches!(pack.container(), Container::TarGz | Container::TarZst);
        match opened.filter(|(pack, _)| !is_stream(pack)) {
            Some((pack, member)) => Self { pack: Some(pack), member },
            None => Self { pack: None, member: None },
        }
    }

    /// The array that is meant, when there is one alone.
    pub(super) fn text_of_array(&self, index: &[u64]) -> Option<String> {
        self.text(self.member.as_deref()?, index)
    }

    /// What the coordinates of an array say of an index, such as `depth 10, time 17`; nothing when there
    /// are none.
    pub(super) fn text(&self, member: &str, index: &[u64]) -> Option<String> {
        let pack = self.pack.as_ref()?;
        let axes = pack
            .array(member)
            .and_then(PackedArray::in_shape_order)
            .and_then(|array| array.axes())
            .ok()?;
        let said = axes.iter().zip(index).filter_map(|(axis, at)| {
            let name = axis.name.as_ref()?;
            Some(format!("{} {}", escape(name), value(pack, axis, *at)?))
        });
        let said: Vec<String> = said.collect();
        (axes.len() == index.len() && !said.is_empty()).then(|| said.join(", "))
    }
}

/// The coordinate at one place of a dimension.
fn value(pack: &Pack, axis: &Axis, at: u64) -> Option<String> {
    let coordinate = axis.coordinate.as_ref()?;
    let description = coordinate.description.as_ref();
    let Some(member) = &coordinate.member else {
        let Value::List(values) = description?.value.as_ref()? else { return None };
        return values.get(usize::try_from(at).ok()?).map(|value| flow(value, 1));
    };
    let options = CornersOptions { slice: Some(at.to_string()), edge: None, threshold: 1 };
    let corners = pack.array(member).and_then(|array| array.corners(&options)).ok()?;
    let date = array::dates(description).zip(array::ends(&corners));
    let date = date.and_then(|(dates, (number, _))| dates.exact(number));
    // A sentence goes on behind it, where `10.` would seem to be its end.
    date.or_else(|| Some(values::text(&corners, DIGITS).trim().trim_end_matches('.').to_owned()))
}
