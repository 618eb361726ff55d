//! Brings elements from big-endian to little-endian while they are read, whatever they are made of.

use std::io::{self, Read};

use super::descr::{ByteOrder, Descr};
use crate::ra::reverse_each;

/// Bytes that are swapped at a time.
const BUFFER: usize = 64 * 1024;

/// What to do with the bytes of one element, one step after the other. It is as long as the dtype's text,
/// however large the element is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Plan {
    steps: Vec<Step>,
    /// How many of the steps are a body, or come before one: nothing is added to those.
    sealed: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// So many bytes, of which each `width` are reversed.
    Run { width: u64, len: u64 },
    /// The `steps` steps after this one, so many times.
    Repeat { times: u64, steps: usize },
}

impl Plan {
    /// The plan for elements of a dtype; empty when all bytes are in place.
    pub(super) fn new(descr: &Descr) -> Self {
        let mut plan = Self::default();
        plan.add(descr);
        if plan.steps.iter().all(|step| matches!(step, Step::Run { width: 1, .. })) {
            plan.steps.clear();
        }
        plan
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    fn add(&mut self, descr: &Descr) {
        match descr {
            Descr::Scalar(scalar) => {
                let is_big = scalar.order == ByteOrder::Big;
                self.run(if is_big { scalar.swap_width().max(1) } else { 1 }, scalar.size);
            }
            Descr::Struct(fields) => {
                for field in fields {
                    self.add(&field.descr);
                }
            }
            Descr::Subarray { base, shape } => {
                let inner = Self::new(base);
                let size = base.size().unwrap_or(0);
                let times = shape.iter().fold(1_u64, |all, extent| all.saturating_mul(*extent));
                match inner.steps.as_slice() {
                    _ if times == 0 || size == 0 => {}
                    [] => self.run(1, size.saturating_mul(times)),
                    [Step::Run { width, .. }] => self.run(*width, size.saturating_mul(times)),
                    steps => {
                        self.steps.push(Step::Repeat { times, steps: steps.len() });
                        self.steps.extend(steps);
                        self.sealed = self.steps.len();
                    }
                }
            }
        }
    }

    fn run(&mut self, width: u64, len: u64) {
        let is_open = self.steps.len() > self.sealed;
        match self.steps.last_mut() {
            _ if len == 0 => {}
            Some(Step::Run { width: last, len: before }) if is_open && *last == width => {
                *before = before.saturating_add(len);
            }
            _ => self.steps.push(Step::Run { width, len }),
        }
    }
}

/// A place in the endless repetition of a plan.
#[derive(Debug, Clone, Default)]
struct Cursor {
    at: usize,
    /// Begin and end of each body around the place, and how often it is still to be done.
    bodies: Vec<(usize, usize, u64)>,
}

impl Cursor {
    /// The next run: width and length.
    fn next(&mut self, plan: &Plan) -> (u64, u64) {
        loop {
            if let Some((begin, end, left)) = self.bodies.last_mut()
                && *end == self.at
            {
                *left = left.saturating_sub(1);
                if *left > 0 {
                    self.at = *begin;
                } else {
                    self.bodies.pop();
                }
                continue;
            }
            let step = plan.steps.get(self.at);
            self.at = self.at.saturating_add(1);
            match step {
                Some(Step::Run { width, len }) => return (*width, *len),
                Some(Step::Repeat { times, steps }) => {
                    self.bodies.push((self.at, self.at.saturating_add(*steps), *times));
                }
                None if plan.is_empty() => return (1, u64::MAX),
                None => self.at = 0,
            }
        }
    }
}

/// Swaps what a reader gives while it is read.
#[derive(Debug)]
pub(super) struct Swapper {
    plan: Plan,
    cursor: Cursor,
    /// Width and rest of the run that the first unswapped byte is in.
    run: (u64, u64),
    buffer: Vec<u8>,
    /// The first byte that was not handed out yet.
    begin: usize,
    /// The first byte that was not swapped yet.
    ready: usize,
}

impl Swapper {
    pub(super) fn new(plan: Plan) -> Self {
        let cursor = Cursor::default();
        Self { plan, cursor, run: (1, 0), buffer: Vec::new(), begin: 0, ready: 0 }
    }

    /// Reads as [`Read::read`] does, bytes that `input` gives, in little-endian order.
    pub(super) fn read(&mut self, input: &mut impl Read, out: &mut [u8]) -> io::Result<usize> {
        while self.begin == self.ready && !out.is_empty() {
            if !self.refill(input)? {
                return Ok(0);
            }
            self.swap();
        }
        let mut ready = self.buffer.get(self.begin..self.ready).unwrap_or_default();
        let given = ready.read(out)?;
        self.begin = self.begin.saturating_add(given);
        Ok(given)
    }

    /// Puts more behind what could not be swapped yet; `false` at the end.
    fn refill(&mut self, input: &mut impl Read) -> io::Result<bool> {
        self.buffer.drain(..self.ready);
        (self.begin, self.ready) = (0, 0);
        let kept = self.buffer.len();
        self.buffer.resize(BUFFER, 0);
        let found = input.read(self.buffer.get_mut(kept..).unwrap_or_default());
        self.buffer.truncate(kept.saturating_add(*found.as_ref().unwrap_or(&0)));
        found.map(|found| found > 0)
    }

    /// Swaps all that is there in whole.
    fn swap(&mut self) {
        loop {
            let (width, left) = self.run;
            if left == 0 {
                self.run = self.cursor.next(&self.plan);
                continue;
            }
            let unswapped = self.buffer.get_mut(self.ready..).unwrap_or_default();
            let there = u64::try_from(unswapped.len()).unwrap_or(u64::MAX).min(left);
            let whole = there.saturating_sub(there.checked_rem(width).unwrap_or(0));
            if whole == 0 {
                return;
            }
            let taken = usize::try_from(whole).unwrap_or(usize::MAX);
            let width = usize::try_from(width).unwrap_or(1);
            reverse_each(unswapped.get_mut(..taken).unwrap_or_default(), width);
            self.ready = self.ready.saturating_add(taken);
            self.run.1 = left.saturating_sub(whole);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interchange::npy::descr::{Field, Kind, Scalar};
    use crate::interchange::npy::tests::any_descr;

    /// What an element is after swapping, by the dtype itself.
    fn swapped(descr: &Descr, bytes: &mut [u8]) {
        match descr {
            Descr::Scalar(scalar) if scalar.order == ByteOrder::Big => {
                let width = usize::try_from(scalar.swap_width()).unwrap();
                bytes.chunks_mut(width.max(1)).for_each(<[u8]>::reverse);
            }
            Descr::Scalar(_) => {}
            Descr::Struct(fields) => {
                let mut rest = bytes;
                for field in fields {
                    let size = usize::try_from(field.descr.size().unwrap()).unwrap();
                    let (own, after) = rest.split_at_mut(size);
                    swapped(&field.descr, own);
                    rest = after;
                }
            }
            Descr::Subarray { base, .. } => {
                let size = usize::try_from(base.size().unwrap()).unwrap().max(1);
                bytes.chunks_mut(size).for_each(|element| swapped(base, element));
            }
        }
    }

    /// Gives a few bytes at a time.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let end = out.len().min(self.1);
            self.0.read(&mut out[..end])
        }
    }

    fn read(descr: &Descr, bytes: &[u8], drop: usize) -> Vec<u8> {
        let mut swapper = Swapper::new(Plan::new(descr));
        let mut input = Drops(bytes, drop);
        let mut found = Vec::new();
        loop {
            let mut out = [0; 7];
            match swapper.read(&mut input, &mut out).unwrap() {
                0 => return found,
                given => found.extend(&out[..given]),
            }
        }
    }

    #[test]
    fn a_plan_is_as_long_as_the_text_of_the_dtype() {
        let big = Scalar { kind: Kind::Int, order: ByteOrder::Big, size: 2 };
        let field = |descr| Field { title: None, name: String::new(), descr };
        let pair =
            Descr::Struct(vec![field(Descr::Scalar(big)), field(Descr::scalar(Kind::Int, 1))]);
        let many = Descr::Subarray { base: Box::new(pair), shape: vec![1000, 1000] };
        let plan = Plan::new(&Descr::Struct(vec![field(many), field(Descr::scalar(Kind::Int, 8))]));
        let run = |width, len| Step::Run { width, len };
        let repeat = Step::Repeat { times: 1_000_000, steps: 2 };
        assert_eq!(plan.steps, [repeat, run(2, 2), run(1, 1), run(1, 8)]);
        assert!(Plan::new(&Descr::scalar(Kind::Float, 8)).is_empty());
    }

    proptest! {
        #[test]
        fn swapping_a_stream_is_swapping_each_element(
            descr in any_descr(), count in 0..4_usize, drop in 1..40_usize,
        ) {
            let size = usize::try_from(descr.size().unwrap()).unwrap();
            let bytes: Vec<u8> = (0..=255).cycle().take(size * count).collect();
            let mut expected = bytes.clone();
            if size > 0 {
                expected.chunks_mut(size).for_each(|element| swapped(&descr, element));
            }
            if Plan::new(&descr).is_empty() {
                prop_assert_eq!(bytes, expected);
            } else {
                prop_assert_eq!(read(&descr, &bytes, drop), expected);
            }
        }
    }
}
