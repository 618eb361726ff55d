//! Which pieces of work a job takes when: the largest first, several at once where that takes less time, and
//! none that leaves the other jobs without work.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What one job takes at a time of pieces of work that are counted from zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Turn {
    /// One; whether it lasts longer than what is there to do for the other jobs meanwhile.
    One {
        /// Its number.
        piece: usize,
        /// One job alone has no others.
        outlasts: bool,
    },
    /// Several, which done at once take less time than one after the other.
    Several(Vec<usize>),
}

/// Most pieces that all jobs together have in hand when some take several: each may have a buffer, a file and its
/// directory open, and a system allows a process 256 files at the least.
const IN_HAND: usize = 96;

/// How pieces of work of these sizes, the largest first, are given out; `rest` is what follows them. Several are
/// taken at once, as many as `at_once` says or fewer, the most first, as long as they take less `time` so and the
/// other jobs have something to do meanwhile.
pub(crate) fn turns(
    jobs: usize,
    sizes: &[u64],
    rest: u64,
    at_once: &[usize],
    time: impl Fn(&[u64]) -> u64,
) -> Vec<Turn> {
    let jobs = jobs.clamp(1, sizes.len().saturating_add(1));
    let most = IN_HAND.checked_div(jobs).unwrap_or(0);
    let mut plan = Plan::new(jobs, sum(sizes).saturating_add(rest));
    let mut turns = Vec::with_capacity(sizes.len());
    let mut next = 0_usize;
    while let Some((size, pieces)) = sizes.get(next..).and_then(|left| Some((left.first()?, left)))
    {
        let fewer = at_once.iter().skip(1).copied().chain([1]);
        let mut ways = at_once.iter().zip(fewer).flat_map(|(count, fewer)| {
            // Dealt out to all jobs, so that each has as much to do; or to one, while others do the rest.
            [jobs, 1].map(|hands| (*count, fewer, hands))
        });
        let several = ways.find_map(|(count, fewer, hands)| {
            let each = pieces.len().checked_div(hands).unwrap_or(0).min(count).min(most);
            if each < 2 {
                return None;
            }
            let (_, first) = hand(pieces, 0, hands, each);
            let in_fewer = first.chunks(fewer).map(&time).fold(0, u64::saturating_add);
            let at_once = time(&first);
            let is_worth_it = at_once < in_fewer && !plan.outlasts(at_once, sum(&first));
            is_worth_it.then_some((hands, each))
        });
        let Some((hands, each)) = several else {
            turns.push(Turn::One { piece: next, outlasts: plan.outlasts(*size, *size) });
            plan.give(*size, *size);
            next = next.saturating_add(1);
            continue;
        };
        for number in 0..hands {
            let (places, sizes) = hand(pieces, number, hands, each);
            plan.give(time(&sizes), sum(&sizes));
            turns.push(Turn::Several(
                places.into_iter().map(|at| next.saturating_add(at)).collect(),
            ));
        }
        next = next.saturating_add(hands.saturating_mul(each));
    }
    turns
}

/// Places and sizes of what the job of this `number` gets, when so many jobs get so many pieces each.
fn hand(pieces: &[u64], number: usize, hands: usize, each: usize) -> (Vec<usize>, Vec<u64>) {
    let all = pieces.iter().copied().enumerate();
    all.skip(number).step_by(hands).take(each).unzip()
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
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
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

    /// Two at once last two thirds as long as one after the other, and four half as long.
    fn time(sizes: &[u64]) -> u64 {
        match sizes {
            [one, two, three, four] => [one, two, three, four].iter().map(|size| *size / 2).sum(),
            [one, other] => one.saturating_add(*other) / 3 * 2,
            [size] => *size,
            several => several.chunks(2).map(time).sum(),
        }
    }

    fn shown(jobs: usize, sizes: &[u64], rest: u64, at_once: &[usize]) -> String {
        let (mut taken, mut text) = (Vec::new(), String::new());
        for turn in turns(jobs, sizes, rest, at_once, time) {
            let (pieces, shown) = match turn {
                Turn::One { piece, outlasts } => (vec![piece], if outlasts { '!' } else { '.' }),
                Turn::Several(pieces) => {
                    let count = pieces.len().try_into().unwrap();
                    (pieces, char::from_digit(count, 36).unwrap())
                }
            };
            assert!(pieces.is_sorted());
            taken.extend(pieces);
            text.push(shown);
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
        assert_eq!(shown(1, &[9; 11], 0, &[4, 2]), "442.");
        // Three at once are no better than two.
        assert_eq!(shown(1, &[9; 3], 0, &[4, 2]), "2.");
        assert_eq!(shown(2, &[9; 8], 0, &[4, 2]), "44");
        assert_eq!(shown(2, &[9; 7], 0, &[4, 2]), "42!");
        assert_eq!(shown(2, &[9; 4], 0, &[4, 2]), "22");
        assert_eq!(shown(1, &[9; 8], 0, &[4]), "44");
    }

    #[test]
    fn so_many_jobs_take_fewer_at_once() {
        let pieces = |jobs| {
            let turns = turns(jobs, &vec![9; 5000], 0, &[16], |sizes| sizes[0]);
            let several = |turn: &Turn| match turn {
                Turn::Several(pieces) => pieces.len(),
                Turn::One { .. } => 1,
            };
            turns.iter().map(several).max().unwrap()
        };
        assert_eq!([1, 6, 7, 24, 96, 4000].map(pieces), [16, 16, 13, 4, 1, 1]);
    }
}
