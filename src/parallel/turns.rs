//! Which pieces of work a job takes when: the largest first, several at once where that takes less time, and
//! none that leaves the other jobs without work.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one job takes at a time of pieces of work that are counted from zero.
#[derive(Debug)]
pub(crate) enum Turn {
    /// One; whether it lasts longer than what is there to do for the other jobs meanwhile.
    One {
        /// Its number.
        piece: usize,
        /// One job alone has no others.
        outlasts: bool,
    },
    /// Several, which done at once take less time than one after the other.
    Several(Hand),
}

/// Pieces that one job does side by side. When it is done with one of them, the next of those takes its place that
/// lie there for all jobs with such a turn.
#[derive(Debug)]
pub(crate) struct Hand {
    first: Vec<usize>,
    talon: Arc<Talon>,
}

/// Pieces that nobody has yet.
#[derive(Debug)]
struct Talon {
    next: AtomicUsize,
    end: usize,
}

impl Talon {
    fn new(pieces: Range<usize>) -> Self {
        Self { next: AtomicUsize::new(pieces.start), end: pieces.end }
    }

    fn take(&self) -> Option<usize> {
        // Each job asks once more when there is none left: that does not come near the greatest number.
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.end).then_some(piece)
    }
}

impl Hand {
    /// How many are done side by side.
    pub(crate) fn width(&self) -> usize {
        self.first.len()
    }

    /// The pieces, each to be asked for when there is room for it. Who does not take all of his, because one has
    /// failed, leaves none to the others.
    pub(crate) fn pieces(&self) -> Pieces<'_> {
        Pieces { first: self.first.iter(), talon: Some(&self.talon) }
    }
}

/// The pieces of one hand.
pub(crate) struct Pieces<'h> {
    first: slice::Iter<'h, usize>,
    /// None when it is used up.
    talon: Option<&'h Talon>,
}

impl Iterator for Pieces<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if let Some(piece) = self.first.next() {
            return Some(*piece);
        }
        let piece = self.talon?.take();
        if piece.is_none() {
            self.talon = None;
        }
        piece
    }
}

impl Drop for Pieces<'_> {
    fn drop(&mut self) {
        if let Some(talon) = self.talon {
            talon.next.store(talon.end, Ordering::Relaxed);
        }
    }
}

/// Most pieces that all jobs together have in hand when some take several: each may have a buffer, a file and its
/// directory open, and a system allows a process 256 files at the least.
const IN_HAND: usize = 96;

/// How pieces of work of these sizes are given out, the largest first, or nearly so; `rest` is what follows them.
///
/// Several are taken at once, as many as `at_once` says or fewer, the most first, as long as they take less `time` so,
/// which is that of pieces of which so many are done at once, and the other jobs have something to do meanwhile.
pub(crate) fn turns(
    jobs: usize,
    sizes: &[u64],
    rest: u64,
    at_once: &[usize],
    time: impl Fn(&[u64], usize) -> u64,
) -> Vec<Turn> {
    let jobs = jobs.clamp(1, sizes.len().saturating_add(1));
    let most = IN_HAND.checked_div(jobs).unwrap_or(0);
    let ways = ways(at_once, most, &time);
    let mut plan = Plan::new(jobs, sum(sizes).saturating_add(rest));
    let mut turns = Vec::with_capacity(sizes.len());
    let mut next = 0_usize;
    while let Some((size, pieces)) = sizes.get(next..).and_then(|left| Some((left.first()?, left)))
    {
        // Dealt out to all jobs, so that each has as much to do; or to one, while others do the rest.
        let mut ways = ways.iter().flat_map(|way| [jobs, 1].map(|hands| (way, hands)));
        let several = ways.find_map(|(way, hands)| way.several(pieces, hands, jobs, &plan, &time));
        let Some(Several { hands, width, pieces }) = several else {
            turns.push(Turn::One { piece: next, outlasts: plan.outlasts(*size, *size) });
            plan.give(*size, *size);
            next = next.saturating_add(1);
            continue;
        };
        let end = next.saturating_add(pieces.len());
        let dealt = hands.saturating_mul(width);
        let talon = Arc::new(Talon::new(next.saturating_add(dealt)..end));
        for number in 0..hands {
            let (mut first, sizes) = deal(pieces, number, hands);
            plan.give(time(&sizes, width), sum(&sizes));
            first.truncate(width);
            let first = first.into_iter().map(|at| next.saturating_add(at)).collect();
            turns.push(Turn::Several(Hand { first, talon: Arc::clone(&talon) }));
        }
        next = end;
    }
    turns
}

/// To do several at once.
struct Way {
    /// How many at most.
    most: usize,
    /// How many at least, so that it takes less time.
    least: usize,
    /// How many would be done at once otherwise.
    fewer: usize,
}

/// The ways that there are to do several at once, in the order of `at_once`.
fn ways(at_once: &[usize], most: usize, time: impl Fn(&[u64], usize) -> u64) -> Vec<Way> {
    /// With pieces of one size it is worth most.
    const ALIKE: u64 = 1 << 30;
    let fewer = at_once.iter().skip(1).copied().chain([1]);
    let way = |(count, fewer): (&usize, usize)| {
        let most = most.min(*count);
        let is_worth_it = |width: &usize| {
            let alike = vec![ALIKE; *width];
            time(&alike, *width) < time(&alike, fewer)
        };
        Some(Way { most, least: (2..=most).find(is_worth_it)?, fewer })
    };
    at_once.iter().zip(fewer).filter_map(way).collect()
}

/// What is given out to do several at once.
struct Several<'p> {
    /// To how many jobs.
    hands: usize,
    /// How many each does side by side.
    width: usize,
    /// All of it.
    pieces: &'p [u64],
}

impl Way {
    /// How many of `pieces` so many of the jobs had best do in this way, if that is worth it.
    fn several<'p>(
        &self,
        pieces: &'p [u64],
        hands: usize,
        jobs: usize,
        plan: &Plan,
        time: impl Fn(&[u64], usize) -> u64,
    ) -> Option<Several<'p>> {
        let width = pieces.len().checked_div(hands)?.min(self.most);
        if width < self.least {
            return None;
        }
        let first = |count: usize| pieces.get(..count).unwrap_or(pieces);
        let round = width.saturating_mul(hands);
        let whole_rounds = pieces.len().checked_div(round)?.saturating_mul(round);
        // What is left over is done faster by whoever has room, or by itself afterwards.
        let cost = |count: &usize| {
            let left = time(pieces.get(*count..).unwrap_or_default(), self.fewer);
            let left = left.checked_div(wide(jobs)).unwrap_or(0);
            time(&deal(first(*count), 0, hands).1, width).saturating_add(left)
        };
        let count = if hands == jobs {
            [whole_rounds, pieces.len()].into_iter().min_by_key(cost)?
        } else {
            round
        };
        let pieces = first(count);
        let (_, hand) = deal(pieces, 0, hands);
        let at_once = time(&hand, width);
        let is_worth_it = at_once < time(&hand, self.fewer) && !plan.outlasts(at_once, sum(&hand));
        is_worth_it.then_some(Several { hands, width, pieces })
    }
}

/// Places and sizes of what the job of this `number` gets, when pieces are dealt out to so many.
fn deal(pieces: &[u64], number: usize, hands: usize) -> (Vec<usize>, Vec<u64>) {
    pieces.iter().copied().enumerate().skip(number).step_by(hands).unzip()
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn sum(sizes: &[u64]) -> u64 {
    sizes.iter().copied().fold(0, u64::saturating_add)
}

/// What was given out.
struct Plan {
    /// When each job will have done what it has.
    ends: BinaryHeap<Reverse<u64>>,
    /// All of it together.
    given: u64,
    /// What nobody has yet.
    left: u64,
}

impl Plan {
    fn new(jobs: usize, left: u64) -> Self {
        Self { ends: std::iter::repeat_n(Reverse(0), jobs).collect(), given: 0, left }
    }

    /// Whether what the next job takes would last longer than what the others have to do meanwhile.
    fn outlasts(&self, time: u64, taken: u64) -> bool {
        let now = self.ends.peek().map_or(0, |Reverse(end)| *end);
        let begun = self.given.saturating_sub(now.saturating_mul(wide(self.ends.len())));
        let others = begun.saturating_add(self.left.saturating_sub(taken));
        let jobs = wide(self.ends.len().saturating_sub(1));
        others.checked_div(jobs).is_some_and(|each| time > each)
    }

    /// Gives it to the job that is the first to have nothing to do.
    fn give(&mut self, time: u64, taken: u64) {
        let Reverse(now) = self.ends.pop().unwrap_or_default();
        self.ends.push(Reverse(now.saturating_add(time)));
        self.given = self.given.saturating_add(time);
        self.left = self.left.saturating_sub(taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two at once last two thirds as long as one after the other, and four half as long; of equal sizes.
    fn time(sizes: &[u64], width: usize) -> u64 {
        let time = |sizes: &[u64]| match sizes {
            [one, two, three, four] => [one, two, three, four].iter().map(|size| *size / 2).sum(),
            [one, other] => one.saturating_add(*other) / 3 * 2,
            sizes => sizes.iter().copied().fold(0, u64::saturating_add),
        };
        sizes.chunks(width).map(time).fold(0, u64::saturating_add)
    }

    fn shown(jobs: usize, sizes: &[u64], rest: u64, at_once: &[usize]) -> String {
        let (mut taken, mut text) = (Vec::new(), String::new());
        for turn in turns(jobs, sizes, rest, at_once, time) {
            match turn {
                Turn::One { piece, outlasts } => {
                    taken.push(piece);
                    text.push(if outlasts { '!' } else { '.' });
                }
                Turn::Several(hand) => {
                    // The first to ask takes all that lies there.
                    let pieces: Vec<_> = hand.pieces().collect();
                    assert!(pieces.is_sorted());
                    text.push_str(&hand.width().to_string());
                    if let more @ 1.. = pieces.len() - hand.width() {
                        text.extend(["+", &more.to_string()]);
                    }
                    taken.extend(pieces);
                }
            }
        }
        taken.sort_unstable();
        assert!(taken.iter().copied().eq(0..sizes.len()));
        text
    }

    #[test]
    fn what_outlasts_all_else_is_known() {
        assert_eq!(shown(2, &[9], 0, &[]), "!");
        assert_eq!(shown(2, &[9], 9, &[]), ".");
        assert_eq!(shown(1, &[9, 1], 0, &[]), "..");
        assert_eq!(shown(2, &[9, 1, 1], 0, &[]), "!..");
        assert_eq!(shown(2, &[9, 9, 9, 9], 0, &[]), "....");
        assert_eq!(shown(2, &[9, 9, 9], 0, &[]), "..!");
        assert_eq!(shown(4, &[9, 9], 1, &[]), "!!");
        assert_eq!(shown(usize::MAX, &[u64::MAX, 0], u64::MAX, &[]), "!.");
        assert_eq!(shown(2, &[], 9, &[]), "");
    }

    #[test]
    fn several_are_taken_where_no_other_job_would_be_idle() {
        assert_eq!(shown(1, &[9, 9, 1], 0, &[2]), "2.");
        assert_eq!(shown(2, &[9], 0, &[2]), "!");
        assert_eq!(shown(2, &[9, 9], 0, &[2]), "..");
        assert_eq!(shown(2, &[9, 9, 9, 9], 0, &[2]), "22");
        assert_eq!(shown(2, &[9, 9], 18, &[2]), "2");
        assert_eq!(shown(2, &[900, 9, 9, 9], 0, &[2]), "!2.");
        assert_eq!(shown(3, &[9; 5], 0, &[2]), "2..!");
        assert_eq!(shown(0, &[u64::MAX; 3], u64::MAX, &[2]), "2.");
        // Three at once are no better than two.
        assert_eq!(shown(1, &[9; 3], 0, &[4, 2]), "2.");
        assert_eq!(shown(2, &[9; 8], 0, &[4, 2]), "44");
        assert_eq!(shown(2, &[9; 7], 0, &[4, 2]), "42!");
        assert_eq!(shown(2, &[9; 4], 0, &[4, 2]), "22");
    }

    #[test]
    fn what_all_jobs_have_many_of_is_taken_by_those_who_have_room() {
        assert_eq!(shown(1, &[9; 8], 0, &[4]), "4+4");
        assert_eq!(shown(1, &[9; 11], 0, &[4, 2]), "4+42.");
        assert_eq!(shown(2, &[9; 27], 0, &[4, 2]), "4+164..!");
        assert_eq!(shown(2, &[9; 9], 0, &[2]), "2+42!");
        // What is left over after whole rounds is taken too, where that is as quick as all else.
        let half =
            |sizes: &[u64], width: usize| if width > 1 { sum(sizes) / 2 } else { sum(sizes) };
        let turns = turns(2, &[9; 11], 0, &[4], half);
        let [Turn::Several(one), Turn::Several(other)] = &*turns else { panic!("{turns:?}") };
        assert_eq!([one.width(), other.width()], [4, 4]);
        let (mut one, mut other) = (one.pieces(), other.pieces());
        let mut taken: Vec<_> = one.by_ref().take(5).chain(other.by_ref().take(6)).collect();
        assert_eq!([one.next(), other.next(), one.next()], [None; 3]);
        assert_eq!(taken[..5], [0, 2, 4, 6, 8]);
        taken.sort_unstable();
        assert_eq!(taken, (0..11).collect::<Vec<_>>());
    }

    /// Who stops before the end has failed, and nobody begins anything more.
    #[test]
    fn a_hand_that_is_put_down_leaves_none_to_the_others() {
        for taken in [0, 3, 6] {
            let turns = turns(2, &[9; 80], 0, &[4], time);
            let [Turn::Several(one), Turn::Several(other)] = &*turns else { panic!("{turns:?}") };
            assert_eq!(one.pieces().take(taken).count(), taken);
            assert_eq!(other.pieces().collect::<Vec<_>>(), [1, 3, 5, 7]);
        }
    }

    /// What is not worth it is seen without a look at all pieces, of which there may be a million.
    #[test]
    fn the_time_of_all_pieces_is_asked_for_a_few_times_only() {
        const COUNT: usize = 100_000;
        for (jobs, worth_from) in [(2, 2), (16, 9), (30, 9), (200, 2)] {
            let asked = std::cell::Cell::new(0);
            let time = |sizes: &[u64], width: usize| {
                asked.set(asked.get() + sizes.len());
                if width < worth_from { sum(sizes) } else { sum(sizes) / 2 }
            };
            turns(jobs, &vec![9; COUNT], 0, &[16], time);
            assert!(asked.get() < 20 * COUNT, "{jobs}: {}", asked.get());
        }
    }

    #[test]
    fn so_many_jobs_take_fewer_at_once() {
        let pieces = |jobs| {
            let time = |sizes: &[u64], width: usize| if width > 1 { sizes[0] } else { sum(sizes) };
            let turns = turns(jobs, &vec![9; 5000], 0, &[16], time);
            let several = |turn: &Turn| match turn {
                Turn::Several(hand) => hand.width(),
                Turn::One { .. } => 1,
            };
            turns.iter().map(several).max().unwrap()
        };
        assert_eq!([1, 6, 7, 24, 96, 4000].map(pieces), [16, 16, 13, 4, 1, 1]);
    }
}
