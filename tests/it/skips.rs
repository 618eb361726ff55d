//! Support: skipped tests, summarized when all are done.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::sync::{Mutex, Once};
use std::{env, thread};

/// Names of skipped tests, by reason.
static SKIPPED: Mutex<BTreeMap<String, BTreeSet<String>>> = Mutex::new(BTreeMap::new());

/// Records that the running test is skipped, completely or in part, because of `why`. A summary is printed at the end.
///
/// # Panics
///
/// If `RA_PACK_REQUIRE_TOOLS` is 1.
#[track_caller]
pub(crate) fn skip(why: &str) {
    let is_required = env::var_os("RA_PACK_REQUIRE_TOOLS").is_some_and(|value| value == "1");
    assert!(!is_required, "{why}, and RA_PACK_REQUIRE_TOOLS is 1");
    skip_always(why);
}

/// Records a skipped test whose reason is not a missing tool. Never fails.
pub(crate) fn skip_always(why: &str) {
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        // The test harness has no hook for the end of all tests, and hides the output of passing tests.
        // SAFETY: `atexit` is in the C library that std links, with this signature, and `print_sum` does not unwind.
        #[expect(unsafe_code, reason = "only the C library can call a function after all tests")]
        let refused = unsafe { atexit(print_sum) };
        assert_eq!(refused, 0, "no function can be called at the end");
    });
    let test = thread::current().name().unwrap_or("a test").to_owned();
    SKIPPED.lock().unwrap().entry(why.to_owned()).or_default().insert(test);
}

/// Returns `share`, and records that the running test is partly skipped: it tries one input of this number. In a long
/// run, returns 1.
pub(crate) fn one_of(share: usize) -> usize {
    if is_long() { 1 } else { share }
}

/// Whether this is a long run; if not, records that the running test is skipped, completely or in part. A test that
/// takes minutes begins with it, and is also `#[ignore]`d.
pub(crate) fn is_long() -> bool {
    let is_long = env::var_os("RA_PACK_LONG").is_some_and(|value| value == "1");
    if !is_long {
        skip_always("RA_PACK_LONG is not 1");
    }
    is_long
}

#[expect(unsafe_code, reason = "see `skip_always`")]
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

extern "C" fn print_sum() {
    let Ok(skipped) = SKIPPED.lock() else { return };
    for (why, tests) in skipped.iter() {
        let noun = if tests.len() == 1 { "test was" } else { "tests were" };
        // A closed standard error is ignored.
        drop(writeln!(
            io::stderr(),
            "SKIPPED: {why}: {} {noun} skipped, completely or in part",
            tests.len()
        ));
    }
}
