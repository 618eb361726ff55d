//! Digests of several short messages at once.

use super::{Sha256, Stream, Units, compress_all};

impl Sha256 {
    /// Computes the digests of several messages at once, which is faster if [`at_once`] says so.
    pub(crate) fn of_each(messages: &[&[u8]]) -> Vec<[u8; 32]> {
        Self::of_each_by(Units::find(), messages)
    }

    pub(super) fn of_each_by(units: Units, messages: &[&[u8]]) -> Vec<[u8; 32]> {
        let mut hashers = vec![Self::new(); messages.len()];
        Self::update_all_by(units, hashers.iter_mut().zip(messages.iter().copied()));
        let ends: Vec<_> = hashers.iter().map(Self::last_blocks).collect();
        let streams = hashers.iter_mut().zip(&ends);
        let streams = streams
            .map(|(message, end)| Stream { state: &mut message.state, blocks: end.blocks() });
        compress_all(units, streams.collect());
        hashers.iter().map(Self::digest).collect()
    }
}
