//! Every row of the table, both ways, and random dtypes for properties here and in the modules beside this one.

mod mapping;
mod round_trip;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::interchange::npy::descr::{ByteOrder, Descr, Field, Kind, Scalar};
use crate::interchange::npy::time::TimeUnit;

fn any_scalar() -> impl Strategy<Value = Scalar> {
    let unit = TimeUnit::parse("[25s]").unwrap();
    let kinds = vec![
        (Kind::Bool, 1),
        (Kind::Int, 1),
        (Kind::Int, 2),
        (Kind::Int, 8),
        (Kind::UInt, 4),
        (Kind::Float, 2),
        (Kind::Float, 8),
        (Kind::Complex, 8),
        (Kind::Complex, 16),
        (Kind::Bytes, 3),
        (Kind::Text, 8),
        (Kind::Void, 5),
        (Kind::Date(unit), 8),
        (Kind::Duration(TimeUnit::GENERIC), 8),
    ];
    (select(kinds), any::<bool>()).prop_map(|((kind, size), is_big)| {
        let made = Scalar::new(kind, size);
        let is_big = is_big && made.order == ByteOrder::Little;
        Scalar { order: if is_big { ByteOrder::Big } else { made.order }, ..made }
    })
}

/// Any dtype that has a counterpart, apart from what the names of fields do.
pub(in crate::interchange::npy) fn any_descr() -> impl Strategy<Value = Descr> {
    let leaf = any_scalar().prop_map(Descr::Scalar).boxed();
    leaf.prop_recursive(3, 24, 4, |inner| {
        let shaped = (inner, vec(1..4_u64, 0..3)).prop_map(|(base, shape)| {
            if shape.is_empty() { base } else { Descr::Subarray { base: Box::new(base), shape } }
        });
        let name = "[a-zé\u{17e}'\"\\\\ \u{200b}\n]{1,3}";
        let padding =
            (1..9_u64).prop_map(|size| (None, String::new(), Descr::scalar(Kind::Void, size)));
        let named = (proptest::option::of(name), name, shaped)
            .prop_map(|(title, name, descr)| (title, name, descr));
        vec(prop_oneof![4 => named, 1 => padding], 1..5).prop_map(|fields| {
            let field =
                |(index, (title, name, descr)): (usize, (Option<String>, String, Descr))| {
                    let name = if name.is_empty() { name } else { format!("{name}{index}") };
                    Field { title, name, descr }
                };
            Descr::Struct(fields.into_iter().enumerate().map(field).collect())
        })
    })
}
