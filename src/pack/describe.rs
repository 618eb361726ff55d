//! Descriptions from headers.

use crate::interchange::{element_of_word, truth};
use crate::ndl::{Datatype, Endian, Extent, Integer, Ndarray, Order, Storage, Value};
use crate::ra::{Element, ElementKind, ElementType, Encoding, Flags, Header, Part, Structure};

/// Describes an array by its header. If the header is flagged as encoded, `encoding` is the encoding that was detected
/// in the data.
///
/// ```
/// use ra_pack::describe;
/// use ra_pack::ndl::Extent;
/// use ra_pack::ra::{ElementType, Encoding, Header};
///
/// let header = Header::new(ElementType::FLOAT32, vec![2, 3])?;
/// let described = describe("voltage", &header, Encoding::Raw);
/// assert_eq!(described.shape, [Extent::Fixed(2), Extent::Fixed(3)]);
/// # Ok::<(), ra_pack::ra::ShapeError>(())
/// ```
pub fn describe(name: &str, header: &Header, encoding: Encoding) -> Ndarray {
    let shape = shape_of(header.dims(), Order::Column);
    let endian = header.flags().contains(Flags::BIG_ENDIAN).then_some(Endian::Big);
    let filter = filter_word(encoding).map(Value::from);
    let storage = (endian.is_some() || filter.is_some()).then(|| Storage {
        endian,
        filter: filter.into_iter().collect(),
        ..Storage::default()
    });
    Ndarray {
        name: name.to_owned(),
        shape: shape.into_iter().map(Extent::Fixed).collect(),
        datatype: datatype_of(header.element()),
        value: None,
        attributes: Vec::new(),
        storage,
    }
}

/// Returns the word in `storage.filter` for an encoding.
pub(super) fn filter_word(encoding: Encoding) -> Option<&'static str> {
    match encoding {
        Encoding::Lz4 => Some("lz4"),
        Encoding::Leb128 => Some("leb128"),
        Encoding::Bits => Some("bits"),
        _ => None,
    }
}

/// Converts the dimensions of a header to the shape of a description in this order.
///
/// A header lists the fastest dimension first. So does a description, unless it has `storage: {order: row}`, which
/// reverses the list. The function is its own inverse: it also converts a shape to dimensions.
pub fn shape_of(dims: &[u64], order: Order) -> Vec<u64> {
    match order {
        Order::Column | Order::RowUnreversed => dims.to_vec(),
        Order::Row => dims.iter().rev().copied().collect(),
    }
}

/// How well a datatype describes an element type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fit {
    /// Exactly.
    Exact,
    /// In a way that other programs may not understand, with a hint.
    Loose(String),
    /// Not at all, with a reason if the types alone do not explain it.
    Not(Option<String>),
}

const NOT: Fit = Fit::Not(None);

fn exact_if(fits: bool) -> Fit {
    if fits { Fit::Exact } else { NOT }
}

/// Compares a datatype with an element type.
pub(super) fn fit(datatype: &Datatype, element: ElementType) -> Fit {
    if let Some(word) = element_of_word(datatype) {
        return exact_if(word == element);
    }
    match datatype {
        Datatype::Opaque { size, tag } => fit_opaque(*size, tag.as_deref(), element),
        Datatype::Enum { base, members } => fit_enum(*base, members, datatype, element),
        Datatype::Compound(members) => fit_compound(members, datatype, element),
        Datatype::Array { .. } => {
            exact_if(datatype.packed_size().is_some_and(|size| is_user(element, size)))
        }
        // Bytes of UTF-8. The shape is checked elsewhere.
        Datatype::String => exact_if(element == ElementType::UINT8),
        _ => Fit::Not(Some(format!(
            "RawArray cannot store `{datatype}`; give the elements as `value` and remove the file"
        ))),
    }
}

fn is_user(element: ElementType, size: u64) -> bool {
    element.kind() == ElementKind::User && element.elbyte() == size
}

fn fit_opaque(size: u64, tag: Option<&str>, element: ElementType) -> Fit {
    // Types without a word in NDL are described by their size and a tag with their name.
    let tagged = |name| tag == Some(name);
    let named = element.elbyte() == size
        && ((element == ElementType::FLOAT16 && tagged("float16"))
            || (element == ElementType::BFLOAT16 && tagged("bfloat16"))
            || (word_of(element).is_none() && tagged(&element.to_string())));
    exact_if(is_user(element, size) || named)
}

fn fit_enum(
    base: Option<Integer>,
    members: &[(String, i128)],
    datatype: &Datatype,
    element: ElementType,
) -> Fit {
    let stored = word_of(element).and_then(|word| word.integer());
    let resolved = datatype.resolved_base();
    if resolved.is_some() && stored == resolved {
        return Fit::Exact;
    }
    let is_bool = members.len() == 2 && members.iter().all(|(_, value)| (0..2).contains(value));
    let bool_elements =
        [ElementType::UINT8, ElementType::INT8, ElementType::BOOL, ElementType::BITS];
    if is_bool && (bool_elements.contains(&element) || is_user(element, 1)) {
        return Fit::Exact;
    }
    match stored {
        Some(stored) if base.is_none() => {
            if members.iter().all(|(_, value)| stored.holds(*value)) {
                Fit::Loose(format!(
                    "add `base: {}`: without a base, an enum has the smallest type that holds its \
                     members",
                    stored.word()
                ))
            } else {
                NOT
            }
        }
        _ => NOT,
    }
}

fn fit_compound(members: &[(String, Datatype)], datatype: &Datatype, element: ElementType) -> Fit {
    if element.kind() == ElementKind::Complex {
        let [(real, first), (imaginary, second)] = members else { return NOT };
        let parts = [("r", "i"), ("re", "im"), ("real", "imag")];
        let named = parts.contains(&(real.as_str(), imaginary.as_str()));
        return exact_if(named && first == second && part_of(element).as_ref() == Some(first));
    }
    match datatype.packed_size() {
        Some(size) => exact_if(is_user(element, size)),
        None => Fit::Not(Some(
            "RawArray cannot store a compound with a member of variable size".to_owned(),
        )),
    }
}

/// Returns the datatype of the real part of a complex element.
fn part_of(element: ElementType) -> Option<Datatype> {
    match element {
        ElementType::COMPLEX32 => Some(Datatype::Float16),
        ElementType::COMPLEX64 => Some(Datatype::Float32),
        ElementType::COMPLEX128 => Some(Datatype::Float64),
        _ => None,
    }
}

/// Returns the word of NDL for an element type; there is none for complex numbers.
fn word_of(element: ElementType) -> Option<Datatype> {
    Datatype::from_word(&element.to_string()).filter(|_| element.kind() != ElementKind::Complex)
}

/// Returns the datatype to write for an element type.
pub(super) fn datatype_of(element: ElementType) -> Datatype {
    if let Some(word) = word_of(element) {
        return word;
    }
    if let Some(part) = part_of(element) {
        return Datatype::Compound(vec![("r".to_owned(), part.clone()), ("i".to_owned(), part)]);
    }
    match element {
        ElementType::BOOL | ElementType::BITS => truth(),
        _ => Datatype::Opaque {
            size: element.elbyte(),
            tag: (element.kind() != ElementKind::User).then(|| element.to_string()),
        },
    }
}

/// Returns the datatype for elements of type `T`; for a structure, a compound of its fields.
///
/// ```
/// assert_eq!(ra_pack::read::datatype::<[f32; 3]>().to_string(), "array(float32, [3])");
/// ```
pub fn datatype<T: Element>() -> Datatype {
    datatype_of_part(&Part::of::<T>())
}

fn datatype_of_part(part: &Part) -> Datatype {
    match part.structure {
        Structure::Compound(fields) => Datatype::Compound(
            fields
                .iter()
                .map(|(name, part)| ((*name).to_owned(), datatype_of_part(part)))
                .collect(),
        ),
        Structure::Array { element, count } => match datatype_of_part(element) {
            Datatype::Array { base, shape } => {
                Datatype::Array { base, shape: [vec![count], shape].concat() }
            }
            base => Datatype::Array { base: Box::new(base), shape: vec![count] },
        },
        _ => datatype_of(part.element),
    }
}

/// Returns whether elements of this datatype may consist of these parts. Opaque elements may have any parts, and byte
/// arrays may be any element.
pub(crate) fn is_made_of(datatype: &Datatype, part: &Part) -> bool {
    match (datatype, part.structure) {
        (_, Structure::Array { element, count }) if element.element == ElementType::UINT8 => {
            datatype.packed_size() == Some(count)
        }
        (Datatype::Compound(members), Structure::Compound(fields)) => {
            let same = |((name, member), (field, part)): (&(String, Datatype), &(&str, Part))| {
                name == field && is_made_of(member, part)
            };
            members.len() == fields.len() && members.iter().zip(fields).all(same)
        }
        (Datatype::Array { base, shape }, Structure::Array { mut element, mut count }) => {
            while let Structure::Array { element: inner, count: more } = element.structure {
                (element, count) = (inner, count * more);
            }
            shape.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))
                == Some(count)
                && is_made_of(base, element)
        }
        (Datatype::Opaque { .. }, _) | (_, Structure::Plain) => {
            !matches!(fit(datatype, part.element), Fit::Not(_))
        }
        _ => false,
    }
}

#[cfg(test)]
mod shape_tests {
    use super::*;

    #[test]
    fn only_row_order_reverses() {
        assert_eq!(shape_of(&[2, 3, 4], Order::Column), [2, 3, 4]);
        assert_eq!(shape_of(&[2, 3, 4], Order::Row), [4, 3, 2]);
        assert_eq!(shape_of(&[2, 3, 4], Order::RowUnreversed), [2, 3, 4]);
    }
}

#[cfg(test)]
mod element_tests {
    use super::*;

    fn element(eltype: u64, elbyte: u64) -> ElementType {
        ElementType::new(eltype, elbyte).unwrap()
    }

    #[test]
    fn the_description_of_an_element_type_fits_it() {
        for eltype in 0..=5 {
            for elbyte in 1..=40 {
                let Ok(element) = ElementType::new(eltype, elbyte) else { continue };
                let datatype = datatype_of(element);
                assert_eq!(fit(&datatype, element), Fit::Exact, "{element} as {datatype}");
            }
        }
    }

    #[test]
    fn a_word_fits_only_its_own_type() {
        assert_eq!(fit(&Datatype::Float32, element(3, 8)), NOT);
        assert_eq!(fit(&Datatype::Int32, element(2, 4)), NOT);
        assert_eq!(fit(&Datatype::UInt8, element(1, 1)), NOT);
        assert!(matches!(fit(&Datatype::ObjRef, element(0, 8)), Fit::Not(Some(_))));
    }

    fn compound(members: &[(&str, Datatype)]) -> Datatype {
        Datatype::Compound(
            members.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect(),
        )
    }

    #[test]
    fn complex_numbers_are_compounds_of_their_parts_in_order() {
        for names in [["r", "i"], ["re", "im"], ["real", "imag"]] {
            let pair = compound(&[(names[0], Datatype::Float32), (names[1], Datatype::Float32)]);
            assert_eq!(fit(&pair, element(4, 8)), Fit::Exact);
            assert_eq!(fit(&pair, element(4, 16)), NOT);
            assert_eq!(fit(&pair, element(0, 8)), Fit::Exact);
        }
        let swapped = compound(&[("i", Datatype::Float32), ("r", Datatype::Float32)]);
        assert_eq!(fit(&swapped, element(4, 8)), NOT);
        assert_eq!(fit(&Datatype::Complex128, element(4, 16)), Fit::Exact);
    }

    #[test]
    fn compounds_are_packed() {
        let record = compound(&[("a", Datatype::Int8), ("b", Datatype::Float64)]);
        assert_eq!(fit(&record, element(0, 9)), Fit::Exact);
        assert_eq!(fit(&record, element(0, 16)), NOT);
        let text = compound(&[("a", Datatype::String)]);
        assert!(matches!(fit(&text, element(0, 9)), Fit::Not(Some(_))));
    }

    fn members(values: &[i128]) -> Vec<(String, i128)> {
        values.iter().map(|value| (format!("m{value}"), *value)).collect()
    }

    #[test]
    fn enums_have_their_base_or_the_smallest_type() {
        let with = |base| Datatype::Enum { base: Some(base), members: members(&[0, 25, -120]) };
        assert_eq!(fit(&with(Integer::Int8), element(1, 1)), Fit::Exact);
        assert_eq!(fit(&with(Integer::Int8), element(1, 2)), NOT);
        let without = Datatype::Enum { base: None, members: members(&[0, 1, 255]) };
        assert_eq!(fit(&without, element(2, 1)), Fit::Exact);
        assert!(matches!(fit(&without, element(2, 2)), Fit::Loose(_)));
        assert_eq!(fit(&without, element(1, 1)), NOT);
        let truth = Datatype::Enum { base: Some(Integer::Int8), members: members(&[0, 1]) };
        for (eltype, elbyte) in [(2, 1), (1, 1), (0, 1), (5, 1)] {
            assert_eq!(fit(&truth, element(eltype, elbyte)), Fit::Exact);
        }
    }
}
