//! The element type that a word of the description language stands for by itself.

use crate::ndl::Datatype;
use crate::ra::ElementType;

/// The element type that a datatype stands for, when it is a single word for numbers.
pub fn element_of_word(datatype: &Datatype) -> Option<ElementType> {
    Some(match datatype {
        Datatype::Int8 => ElementType::INT8,
        Datatype::Int16 => ElementType::INT16,
        Datatype::Int32 => ElementType::INT32,
        Datatype::Int64 => ElementType::INT64,
        Datatype::Int128 => ElementType::INT128,
        Datatype::UInt8 => ElementType::UINT8,
        Datatype::UInt16 => ElementType::UINT16,
        Datatype::UInt32 => ElementType::UINT32,
        Datatype::UInt64 => ElementType::UINT64,
        Datatype::UInt128 => ElementType::UINT128,
        Datatype::Float16 => ElementType::FLOAT16,
        Datatype::Float32 => ElementType::FLOAT32,
        Datatype::Float64 => ElementType::FLOAT64,
        Datatype::Float128 => ElementType::FLOAT128,
        Datatype::BFloat16 => ElementType::BFLOAT16,
        Datatype::Complex64 => ElementType::COMPLEX64,
        Datatype::Complex128 => ElementType::COMPLEX128,
        _ => return None,
    })
}
