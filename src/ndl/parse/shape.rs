//! Shapes and other lists of extents.

use super::Reader;
use crate::ndl::diagnostic::{Code, Place, quote};
use crate::ndl::model::{Extent, Value};
use crate::ndl::node::{Kind, Node};

impl<'n> Reader<'n, '_, '_> {
    /// The shape of an ndarray: integers, `null` and names of dimcoords.
    pub(in crate::ndl) fn shape(
        &mut self,
        node: &'n Node,
        place: Place<'_>,
    ) -> Option<Vec<Extent>> {
        let list = self.extents(node, place, "the shape")?;
        let shape: Vec<_> = list.iter().map(|node| self.extent(node, place)).collect();
        let shape = shape.into_iter().collect::<Option<Vec<_>>>()?;
        let fixed = shape.iter().filter_map(|extent| match extent {
            Extent::Fixed(size) => Some(*size),
            Extent::Unlimited | Extent::Coord(_) => None,
        });
        self.check_count(fixed, node, place)?;
        Some(shape)
    }

    /// A shape of integers alone.
    pub(super) fn fixed_shape(
        &mut self,
        node: &'n Node,
        place: Place<'_>,
        what: &str,
    ) -> Option<Vec<u64>> {
        let shape = self.numbers(node, place, what)?;
        self.check_count(shape.iter().copied(), node, place)?;
        Some(shape)
    }

    /// A list of extents that are integers.
    pub(super) fn numbers(
        &mut self,
        node: &'n Node,
        place: Place<'_>,
        what: &str,
    ) -> Option<Vec<u64>> {
        let list = self.extents(node, place, what)?;
        let numbers: Vec<_> = list
            .iter()
            .map(|node| match self.extent(node, place)? {
                Extent::Fixed(size) => Some(size),
                Extent::Unlimited | Extent::Coord(_) => {
                    self.sink
                        .error(
                            Code::ExtentKind,
                            node.at,
                            place,
                            format!("{what} holds integers only"),
                        )
                        .expected("an integer, at least 0")
                        .found(node.describe());
                    None
                }
            })
            .collect();
        numbers.into_iter().collect()
    }

    fn extents(&mut self, node: &'n Node, place: Place<'_>, what: &str) -> Option<&'n [Node]> {
        if let Kind::List(list) = &node.kind {
            return Some(list);
        }
        let hint = match node.value() {
            Ok(Value::Int(_) | Value::UInt(_) | Value::String(_)) => {
                let text = node.describe();
                let text = text.rsplit(' ').next().unwrap_or_default().replace('`', "");
                format!("a shape of one dimension is a list, too: `[{text}]`")
            }
            _ => "the shape of a scalar is `[]`".to_owned(),
        };
        self.wrong_kind(node, place, what, "a list of extents").hint(hint);
        None
    }

    fn extent(&mut self, node: &'n Node, place: Place<'_>) -> Option<Extent> {
        let value = self.value(node, place)?;
        if let Some(number) = value.as_integer()
            && let Ok(size) = u64::try_from(number)
        {
            return Some(Extent::Fixed(size));
        }
        match value {
            Value::Null => Some(Extent::Unlimited),
            Value::String(name) => self.coord(name, node, place),
            _ => {
                self.sink
                    .error(Code::Extent, node.at, place, "malformed extent")
                    .expected("an integer of at least 0, `null` or the name of a dimcoord")
                    .found(node.describe());
                None
            }
        }
    }

    fn coord(&mut self, name: String, node: &'n Node, place: Place<'_>) -> Option<Extent> {
        let parts = || name.split('/').skip(usize::from(name.starts_with('/')));
        let fault = if name.is_empty() {
            "the name of a dimcoord is empty"
        } else if !name.starts_with('/') && name.contains('/') {
            "a path to a dimcoord begins with `/`"
        } else if parts().any(|part| matches!(part, "" | "." | "..")) {
            "the path to a dimcoord has an empty, `.` or `..` part"
        } else {
            return Some(Extent::Coord(name));
        };
        let hint = (!name.is_empty() && !name.starts_with('/') && name.contains('/'))
            .then(|| format!("write {}", quote(&format!("/{name}"))));
        self.sink
            .error(Code::CoordPath, node.at, place, fault)
            .expected("a name, or a path from the root such as `/a/b`")
            .found(node.describe())
            .maybe_hint(hint);
        None
    }

    fn check_count(
        &mut self,
        mut extents: impl Iterator<Item = u64> + Clone,
        node: &Node,
        place: Place<'_>,
    ) -> Option<()> {
        if extents.clone().any(|extent| extent == 0) {
            return Some(());
        }
        if extents.try_fold(1_u64, u64::checked_mul).is_none() {
            self.sink
                .error(Code::ShapeSize, node.at, place, "the shape has too many elements")
                .expected("fewer than 2^64");
            return None;
        }
        Some(())
    }
}
