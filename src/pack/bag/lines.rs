//! What a manifest of a bag says in a way that other programs read otherwise.

use super::MAX_FAULTS;
use super::declaration::BagVersion;

/// Something odd about one line of a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ManifestNote {
    /// The line, counted from 1.
    pub line: u64,
    /// What is odd.
    pub kind: ManifestNoteKind,
}

/// What can be odd about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestNoteKind {
    /// Written as `md5sum` and its siblings write, which a strict reader refuses (§6.1.3).
    Legacy,
    /// A `%` that encodes none of the three characters that are encoded (§2.1.3).
    Percent,
    /// A name that a shell would make into another.
    Shell,
}

/// Everything odd about the lines of a decoded manifest. Lines that are no lines of a manifest are
/// left to the parser of those.
pub fn manifest_notes(version: BagVersion, text: &[u8]) -> Vec<ManifestNote> {
    let mut notes = Vec::new();
    for (line, content) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        if notes.len() >= MAX_FAULTS {
            break;
        }
        let mut note = |kind| notes.push(ManifestNote { line, kind });
        let blank = content.iter().position(|byte| matches!(byte, b' ' | b'\t'));
        let Some(blank) = blank else {
            if content.starts_with(b"#") {
                note(ManifestNoteKind::Legacy);
            }
            continue;
        };
        let (digest, rest) = content.split_at(blank);
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let name = rest.get(blanks..).unwrap_or_default();
        if !digest.iter().all(u8::is_ascii_hexdigit)
            || name.starts_with(b"*")
            || name.starts_with(b"./")
        {
            note(ManifestNoteKind::Legacy);
        }
        if version == BagVersion::V1_0 && has_odd_percent(name) {
            note(ManifestNoteKind::Percent);
        }
        if name.starts_with(b"~") || is_variable(name) {
            note(ManifestNoteKind::Shell);
        }
    }
    notes
}

fn has_odd_percent(name: &[u8]) -> bool {
    memchr::memchr_iter(b'%', name).any(|at| {
        let code = name.get(at.saturating_add(1)..at.saturating_add(3)).unwrap_or_default();
        ![&b"0A"[..], b"0D", b"25"].iter().any(|known| code.eq_ignore_ascii_case(known))
    })
}

/// `%NAME%` at the beginning, which a shell of Windows replaces.
fn is_variable(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"%") else { return false };
    let end = memchr::memchr(b'%', rest).unwrap_or(0);
    let variable = rest.get(..end).unwrap_or_default();
    !variable.is_empty() && variable.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_oddity_is_noted_with_its_line() {
        use ManifestNoteKind::{Legacy, Percent, Shell};
        let text = b"aa  data/a\naa *data/b\naa  ./data/c\n\\aa  data/d\nMD5 (data/e) = aa\n#\n\
            aa  data/100%25\naa  data/%0a%0D\naa  data/100%\naa  data/%41\naa  ~/x\naa  %HOME%/x\n";
        let notes = |version| {
            let notes = manifest_notes(version, text);
            notes.iter().map(|note| (note.line, note.kind)).collect::<Vec<_>>()
        };
        let legacy = [(2, Legacy), (3, Legacy), (4, Legacy), (5, Legacy), (6, Legacy)];
        let percent = [(9, Percent), (10, Percent)];
        let shell = [(11, Shell), (12, Percent), (12, Shell)];
        assert_eq!(notes(BagVersion::V1_0), [&legacy[..], &percent, &shell].concat());
        assert_eq!(notes(BagVersion::V0_97), [&legacy[..], &[(11, Shell), (12, Shell)]].concat());
    }
}
