//! The values in documents: what YAML has.

use serde::{Serialize, Serializer};

/// A value given in a document.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above [`i64::MAX`]; `Value::from` chooses between this and `Int`.
    UInt(u64),
    /// A float; may be NaN or infinite.
    Float(f64),
    /// Text.
    String(String),
    /// A list.
    List(Vec<Self>),
    /// A mapping in the order of the text.
    Map(#[serde(serialize_with = "serialize_entries")] Vec<(String, Self)>),
}

fn serialize_entries<S: Serializer>(
    entries: &[(String, Value)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
}

/// NaN equals NaN: values are equal if they are written the same.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::UInt(a), Self::UInt(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => {
                a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
            }
            (Self::String(a), Self::String(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Map(a), Self::Map(b)) => a == b,
            _ => false,
        }
    }
}

impl Value {
    /// Returns an integer as a value, if it fits 64 bits.
    pub(crate) fn of_integer(number: i128) -> Option<Self> {
        let signed = i64::try_from(number).map(Self::Int);
        signed.or_else(|_| u64::try_from(number).map(Self::UInt)).ok()
    }

    /// Returns the number if this is an integer.
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Int(number) => Some((*number).into()),
            Self::UInt(number) => Some((*number).into()),
            _ => None,
        }
    }

    /// Returns the number if it is whole: 3 for `3` and `3.0`.
    pub(crate) fn to_integer(&self) -> Option<i128> {
        match self {
            Self::Float(number) if number.fract() == 0.0 => format!("{number:.0}").parse().ok(),
            value => value.as_integer(),
        }
    }

    /// Returns the text if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements of lists nested as deep as there are dimensions, the last index varying fastest; `None` if
    /// the lists have another shape.
    pub(crate) fn elements(&self, extents: &[u64]) -> Option<Vec<&Self>> {
        match (extents.split_first(), self) {
            (None, element) => Some(vec![element]),
            (Some((extent, inner)), Self::List(list)) if list.len() as u64 == *extent => {
                let parts = list.iter().map(|value| value.elements(inner));
                parts.collect::<Option<Vec<_>>>().map(|parts| parts.concat())
            }
            _ => None,
        }
    }
}

/// Implements `From` for integers that fit `i64`.
macro_rules! integers {
    ($($integer:ty),+) => {
        $(impl From<$integer> for Value {
            fn from(number: $integer) -> Self {
                Self::Int(number.into())
            }
        })+
    };
}

integers!(i8, i16, i32, i64, u8, u16, u32);

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or(Self::UInt(number), Self::Int)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

/// Converts to the shortest decimal number that reads back as the same `f32`: 0.1 stays 0.1.
impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Self::Float(number.to_string().parse().unwrap_or_else(|_| f64::from(number)))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>, const N: usize> From<[T; N]> for Value {
    fn from(list: [T; N]) -> Self {
        Vec::from(list).into()
    }
}

impl<T: Into<Self> + Clone> From<&[T]> for Value {
    fn from(list: &[T]) -> Self {
        list.to_vec().into()
    }
}
