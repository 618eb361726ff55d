//! Reverses bytes within elements, to change their byte order.

/// Reverses each `width` bytes of `bytes`; a part shorter than `width` at the end stays.
pub(crate) fn reverse_each(bytes: &mut [u8], width: usize) {
    match width {
        0 | 1 => {}
        // Fixed widths compile to vector shuffles, the general loop does not.
        2 => reverse_fixed::<2>(bytes),
        4 => reverse_fixed::<4>(bytes),
        8 => reverse_fixed::<8>(bytes),
        16 => reverse_fixed::<16>(bytes),
        _ => bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse),
    }
}

fn reverse_fixed<const N: usize>(bytes: &mut [u8]) {
    let (elements, _) = bytes.as_chunks_mut::<N>();
    for element in elements {
        element.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reverses_within_elements_only() {
        for width in 1..=20 {
            let element: Vec<u8> = (0..width).collect();
            let mut bytes = element.repeat(3);
            reverse_each(&mut bytes, usize::from(width));
            let reversed: Vec<u8> = (0..width).rev().collect();
            assert_eq!(bytes, reversed.repeat(3));
        }
    }
}
