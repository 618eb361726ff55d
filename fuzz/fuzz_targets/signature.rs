#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ra_pack_fuzz::signature(bytes));
