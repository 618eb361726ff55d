//! What goes into a bag beside its payload, and which payload cannot go into one.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use crate::digest::{Algorithm, Digests};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::manifest::{Manifest, NameEncoding};
use crate::ops::create::CreateOptions;
use crate::pack::Layout;
use crate::pack::bag::{BAGGING_DATE, BagInfo, date_of};
use crate::path::MemberPath;

/// The algorithms that a pack is hashed by, weakest first.
pub(in crate::ops) fn algorithms(options: &CreateOptions) -> Result<Vec<Algorithm>> {
    if options.digests.is_empty() {
        return Ok(vec![Algorithm::Sha256]);
    }
    if let Some(other) = options.digests.iter().find(|algorithm| !algorithm.is_written()) {
        return Err(Error::Unsupported(format!(
            "a manifest by {} is only read; write sha256, sha512 or both",
            other.name()
        )));
    }
    if !options.digests.contains(&Algorithm::Sha256) {
        return Err(Error::Unsupported(
            "the digests must have sha256 among them: it is what every reader of a pack looks for"
                .to_owned(),
        ));
    }
    let mut algorithms = options.digests.clone();
    algorithms.sort_unstable();
    algorithms.dedup();
    Ok(algorithms)
}

/// The metadata that was asked for, in its order, and the day, when there is a time to take it from.
pub(in crate::ops) fn info(options: &CreateOptions) -> Result<BagInfo> {
    let mut info = BagInfo::default();
    if options.layout != Layout::BagIt && !options.bag_info.is_empty() {
        return Err(Error::Unsupported(
            "metadata of a bag was given, but no bag is made; the option `layout: bagit` makes one"
                .to_owned(),
        ));
    }
    for (label, value) in &options.bag_info {
        info.add(label, value).map_err(|invalid| {
            Error::Unsupported(format!("`bag-info.txt` cannot hold this: {invalid}"))
        })?;
    }
    if info.get(BAGGING_DATE).is_none()
        && let Some(day) = options.timestamp.and_then(date_of)
    {
        info.add(BAGGING_DATE, &day).map_err(|invalid| Error::Unsupported(invalid.to_string()))?;
    }
    Ok(info)
}

/// The text of a manifest by one algorithm.
pub(in crate::ops) fn manifest_text(
    algorithm: Algorithm,
    names: NameEncoding,
    listed: &[(MemberPath, Digests)],
) -> Vec<u8> {
    let digests = listed.iter().map(|(path, digests)| (path.clone(), digests.made_by(algorithm)));
    Manifest::new(algorithm, digests).to_text(names)
}

/// Names that other readers of bags take for others, or that may become one.
pub(in crate::ops) fn unfit_names<'a>(paths: impl Iterator<Item = &'a MemberPath>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut normalized: HashMap<String, &MemberPath> = HashMap::new();
    for path in paths {
        let name = path.as_str();
        if name.contains(['%', '\n', '\r']) {
            findings.push(
                Finding::new(
                    Code::UnfitForBag,
                    "the name has a line end or a `%`, which a bag has to encode and most readers \
                     of bags do not decode",
                )
                .in_member(name)
                .hint("rename the file, leave it out with the option `exclude`, or use the option `layout: plain`"),
            );
        }
        // Names in ASCII are normalised as they are, and are no twins of each other.
        if let Some(other) = normalized.insert(name.nfc().collect(), path) {
            findings.push(
                Finding::new(
                    Code::UnfitForBag,
                    format!("the name is that of `{other}` after normalisation"),
                )
                .in_member(name)
                .hint("on some systems the two are one file; rename one of them"),
            );
        }
    }
    findings
}
