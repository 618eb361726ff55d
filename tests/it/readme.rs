//! Every shell line of README does what README shows.

use crate::foreign::installed;
use crate::page::Home;

#[test]
#[cfg(target_os = "linux")] // GNU sed and coreutils, as README uses them
fn the_console_sessions_are_real() {
    if installed(&["sha256sum", "unzip"]) {
        assert!(Home::with_sample().run_all("README.md") > 10, "README shows how to use the tool");
    }
}
