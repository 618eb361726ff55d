//! The dims of a header as the shape of a description, and back.

use crate::ndl::Order;

/// The extents of an array in the order of its description's shape.
///
/// A header lists the fastest index first. A description does too, unless it says
/// `storage: {order: row}`, which lists the slowest first. Reversing twice changes nothing, so the
/// same function gives dims from a shape.
pub fn shape_of(dims: &[u64], order: Order) -> Vec<u64> {
    match order {
        Order::Column | Order::RowUnreversed => dims.to_vec(),
        Order::Row => dims.iter().rev().copied().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_row_order_reverses() {
        assert_eq!(shape_of(&[2, 3, 4], Order::Column), [2, 3, 4]);
        assert_eq!(shape_of(&[2, 3, 4], Order::Row), [4, 3, 2]);
        assert_eq!(shape_of(&[2, 3, 4], Order::RowUnreversed), [2, 3, 4]);
    }
}
