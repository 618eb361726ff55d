//! The outcome of the check of one signature.

use crate::finding::{Code, Finding};
use crate::time::Timestamp;

/// The facts that a good signature proves.
pub(crate) struct Proved {
    pub(crate) by: String,
    pub(crate) time: Option<Timestamp>,
}

/// The reason why a signature is not good: its code, what is wrong, and what would be right.
pub(crate) struct Wrong {
    code: Code,
    message: String,
    sides: Option<[String; 2]>,
}

impl Wrong {
    /// The signature is damaged, or of something else.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self { code: Code::BadSignature, message: message.into(), sides: None }
    }

    /// The signature is by someone else.
    pub(super) fn untrusted(message: impl Into<String>) -> Self {
        Self { code: Code::UntrustedSigner, message: message.into(), sides: None }
    }

    pub(super) fn expected(self, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { sides: Some([expected.into(), found.into()]), ..self }
    }

    pub(crate) fn into_finding(self, name: &str) -> Finding {
        let finding = Finding::new(self.code, self.message).in_member(name);
        match self.sides {
            Some([expected, found]) => finding.expected(expected, found),
            None => finding,
        }
    }
}
