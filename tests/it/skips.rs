//! Support: tests that could not be made, summed up when all are done.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::sync::{Mutex, Once};
use std::{env, thread};

/// The names of the tests that were not made, by the reason.
static SKIPPED: Mutex<BTreeMap<String, BTreeSet<String>>> = Mutex::new(BTreeMap::new());

/// Notes that the running test is not made, or not wholly, because of `why`. The sum is printed at the end of the run.
///
/// # Panics
///
/// Panics when `RA_PACK_REQUIRE_TOOLS` is 1.
#[track_caller]
pub(crate) fn skip(why: &str) {
    let is_required = env::var_os("RA_PACK_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(!is_required, "{why}, and RA_PACK_REQUIRE_TOOLS is 1");
    skip_always(why);
}

/// As [`skip`], for what is no matter of what is installed: it never fails.
pub(crate) fn skip_always(why: &str) {
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        // The harness has no hook for the end of all tests, and a passing test's output is swallowed.
        // SAFETY: `atexit` is of the C library that std links, with this signature, and `print_sum` does not unwind.
        #[expect(unsafe_code, reason = "the C library alone knows when the tests are over")]
        let refused = unsafe { atexit(print_sum) };
        assert_eq!(refused, 0, "no function can be called at the end");
    });
    let test = thread::current().name().unwrap_or("a test").to_owned();
    SKIPPED.lock().unwrap().entry(why.to_owned()).or_default().insert(test);
}

#[expect(unsafe_code, reason = "see `skip_always`")]
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

extern "C" fn print_sum() {
    let Ok(skipped) = SKIPPED.lock() else { return };
    for (why, tests) in skipped.iter() {
        let noun = if tests.len() == 1 { "test was" } else { "tests were" };
        // An error output that is closed is no reason to fail, and nobody could be told.
        drop(writeln!(io::stderr(), "SKIPPED: {why}: {} {noun} not made, or in part", tests.len()));
    }
}
