//! The `ra-pack` command.
fn main() {}
