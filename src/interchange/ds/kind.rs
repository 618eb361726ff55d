//! What an array of a description is in a file.

use super::fill::to_bits;
use super::mapping::element_of;
use crate::interchange::Error;
use crate::ndl::{Datatype, Ndarray, Value};
use crate::ra::ElementType;

/// What the elements of an array are in this format.
pub(super) struct Kind<'d> {
    /// The number that is stored.
    pub(super) datatype: Datatype,
    pub(super) element: ElementType,
    members: Option<&'d [(String, i128)]>,
}

impl<'d> Kind<'d> {
    pub(super) fn of(
        description: &'d Ndarray,
        element: Option<ElementType>,
    ) -> Result<Self, Error> {
        let name = &description.name;
        let mut datatype = description.datatype.clone();
        let mut members = None;
        if let Datatype::Enum { members: all, .. } = &description.datatype {
            let base = datatype.resolved_base().ok_or_else(|| disagree(name))?;
            datatype = base.datatype();
            members = Some(all.as_slice());
        }
        let Some(known) = element_of(&datatype) else {
            return Err(refuse(name, &description.datatype));
        };
        // Truth values of other writers, of one byte all the same.
        let is_truth = known.elbyte() == 1 && members.is_some();
        if let Some(element) = element
            && element != known
            && !(is_truth && element.elbyte() == 1)
        {
            return Err(disagree(name));
        }
        Ok(Self { datatype, element: known, members })
    }

    /// A value of the description, in bits.
    pub(super) fn bits(&self, value: &Value) -> Option<u64> {
        let named = value.as_str().and_then(|name| {
            let (_, number) = self.members?.iter().find(|(known, _)| known == name)?;
            Some(integer(*number))
        });
        to_bits(named.as_ref().unwrap_or(value), &self.datatype)
    }

    /// The numbers of true and false, when there are just these two members: another one may stand for
    /// what is missing and is masked.
    pub(super) fn truth(&self, masked: Option<u64>) -> Option<(u64, u64)> {
        let members = self.members.filter(|_| self.element.elbyte() == 1)?;
        let (mut yes, mut no) = (None, None);
        for (name, number) in members {
            let bits = to_bits(&integer(*number), &self.datatype)?;
            match name.to_ascii_lowercase().as_str() {
                "true" if bits == 1 => yes = Some(bits),
                "false" if bits == 0 => no = Some(bits),
                _ if Some(bits) == masked => {}
                _ => return None,
            }
        }
        Some((yes?, no?))
    }

    /// What the members of an enum are, as attributes: their numbers and their names, in which blanks are `_`.
    pub(super) fn flags(&self) -> Option<(Value, String, bool)> {
        let members = self.members?;
        let numbers = members.iter().map(|(_, number)| integer(*number)).collect();
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        let plain = |found: char| if found.is_whitespace() { '_' } else { found };
        let words: Vec<String> =
            names.iter().map(|name| name.chars().map(plain).collect()).collect();
        let is_changed = words != names;
        Some((Value::List(numbers), words.join(" "), is_changed))
    }
}

/// A number of a member, all of which fit 64 bits.
fn integer(number: i128) -> Value {
    match i64::try_from(number) {
        Ok(number) => Value::Int(number),
        Err(_) => Value::from(u64::try_from(number).unwrap_or_default()),
    }
}

/// Why there is no counterpart, and the nearest way out.
fn refuse(name: &str, datatype: &Datatype) -> Error {
    let instead = match datatype {
        Datatype::Float16 | Datatype::BFloat16 => "convert its elements to `float32`",
        Datatype::Float128 => "convert its elements to `float64`",
        Datatype::Int128 => "convert its elements to `int64`",
        Datatype::UInt128 => "convert its elements to `uint64`",
        Datatype::Complex64 | Datatype::Complex128 => {
            "write real and imaginary parts as two arrays of floats"
        }
        Datatype::Compound(_) => "write each member as an array of its own",
        Datatype::Opaque { .. } => "describe its bytes as `uint8` with one dimension more",
        Datatype::Array { .. } => "describe its elements with more dimensions",
        Datatype::String => "give the texts as `value` in the description",
        _ => "leave it out",
    };
    Error::no_counterpart(
        format!("ds has no elements of `{datatype}`, which {name:?} has"),
        instead,
    )
}

/// The refusal of a description that does not fit.
pub(super) fn disagree(name: &str) -> Error {
    Error::no_counterpart(
        format!("the description of {name:?} does not fit its header or value"),
        "make shape and datatype those of the data",
    )
}
