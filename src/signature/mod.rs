//! Signatures and time-stamps of manifests: who signed a manifest, and when it existed.

#[cfg(feature = "signatures")]
mod minisign;
#[cfg(feature = "signatures")]
mod outcome;
#[cfg(feature = "signatures")]
mod ssh;
#[cfg(feature = "signatures")]
mod time_stamp;
#[cfg(feature = "signatures")]
mod trusted;

use serde::{Deserialize, Serialize};

#[cfg(feature = "signatures")]
use self::outcome::Proved;
#[cfg(feature = "signatures")]
pub use self::trusted::TrustedKeys;
use crate::time::Timestamp;

/// A signature or a time-stamp of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Signature {
    /// Its name in the target, or its path outside it.
    pub name: String,
    /// The outcome of its check.
    pub state: SignatureState,
    /// Its maker: the principals of an SSH key as the list of signers has them, the public key of minisign, or the
    /// subject of the certificate of a time-stamp authority; null unless it is good.
    pub by: Option<String>,
    /// The time at which the manifest existed; null unless it is a good time-stamp.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub time: Option<Timestamp>,
}

/// The outcome of the check of a signature or a time-stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SignatureState {
    /// No keys for it were given.
    NotChecked,
    /// It is of this manifest, by a trusted key.
    Good,
    /// It is not. A finding says why.
    Bad,
}

impl Signature {
    /// Returns whether it is of the manifest, by a trusted key.
    pub fn is_good(&self) -> bool {
        self.state == SignatureState::Good
    }

    pub(crate) fn not_checked(name: String) -> Self {
        Self { name, state: SignatureState::NotChecked, by: None, time: None }
    }
}

#[cfg(feature = "signatures")]
impl Signature {
    pub(crate) fn prove(&mut self, Proved { by, time }: Proved) {
        (self.state, self.by, self.time) = (SignatureState::Good, Some(by), time);
    }
}

#[cfg(feature = "display")]
impl Signature {
    /// Returns what is known of it: "good, by lab@example.org".
    pub fn summary(&self) -> String {
        let Self { name, state, by, time } = self;
        let by = crate::path::escape(by.as_deref().unwrap_or_default());
        match (state, time) {
            (SignatureState::NotChecked, _) => {
                let option = match name.rsplit_once('.') {
                    Some((_, "sig")) => "signers",
                    Some((_, "minisig")) => "minisign-key",
                    Some((_, "tsr")) => "time-ca",
                    _ => return "not checked; verify it with the tool that made it".to_owned(),
                };
                format!("not checked; `ra-pack verify --{option}` checks it")
            }
            (SignatureState::Bad, _) => "NOT VALID".to_owned(),
            (SignatureState::Good, None) => format!("good, by {by}"),
            (SignatureState::Good, Some(time)) => {
                format!("good; the manifest existed at {time}, according to {by}")
            }
        }
    }
}
