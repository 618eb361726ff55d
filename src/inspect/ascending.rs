//! Checks that the values of a coordinate increase or decrease throughout.

use std::io::Read;

use crate::finding::{Code, Finding};
use crate::path::MemberPath;
use crate::ra::{Flags, Header};
use crate::read::values::{Number, read_number};

/// Size in bytes of the longest numeric element.
const MAX_ELBYTE: usize = 16;

/// Compares each element of an array with the one before it. Read errors are reported elsewhere.
pub(crate) fn check_order(
    path: &MemberPath,
    header: &Header,
    content: &mut dyn Read,
) -> Option<Finding> {
    let read = read_number(header.element())?;
    let size =
        usize::try_from(header.element().elbyte()).ok().filter(|size| *size <= MAX_ELBYTE)?;
    let is_big = header.flags().contains(Flags::BIG_ENDIAN);
    let skipped =
        std::io::copy(&mut (&mut *content).take(header.header_len()), &mut std::io::sink());
    skipped.ok()?;
    let mut room = [0_u8; MAX_ELBYTE];
    let bytes = room.get_mut(..size)?;
    let (mut last, mut rises): (Option<Number>, Option<bool>) = (None, None);
    for at in 0..header.elements() {
        content.read_exact(bytes).ok()?;
        if is_big {
            bytes.reverse();
        }
        let number = read(bytes);
        let is_number = !number.to_f64().is_nan();
        let step = last.map(|last| (last.is_less(number), number.is_less(last)));
        let fits = match step {
            None => true,
            Some((up, down)) => up != down && rises.is_none_or(|rises| rises == up),
        };
        if !is_number || !fits {
            let message = format!(
                "the coordinate `{}` neither increases nor decreases throughout",
                path.stem()
            );
            let finding = Finding::new(Code::NotMonotone, message).in_member(path.as_str());
            let direction = match rises {
                Some(true) => "more",
                Some(false) => "less",
                None => "another number",
            };
            let expected = match last {
                Some(last) => format!("{direction} than {last} at index {at}"),
                None => "a number at index 0".to_owned(),
            };
            return Some(finding.expected(expected, number.to_string()).about_array(path.as_str()));
        }
        rises = rises.or(step.map(|(up, _)| up));
        last = Some(number);
    }
    None
}
