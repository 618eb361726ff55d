//! Reports of verifications as text, for the command and the viewer. Any version may change it.

use super::{StoreOutcome, StoreWord, VerifyReport};
use crate::archive::Container;
use crate::display::text::human_bytes;
use crate::finding::{Code, Finding};
use crate::message::counted;
use crate::path::{escape, escape_path};
use crate::signature::Signature;

/// Returns what was verified, and against what: "2 arrays, 5 files, 48 kB, checked against manifest-sha256.txt".
pub fn extent(report: &VerifyReport) -> String {
    let manifests = match report.manifests.len() {
        0 if report.container.is_none() && report.arrays == 1 => ", not in a manifest".to_owned(),
        0 => String::new(),
        _ if report.contents_read => format!(", checked against {}", report.manifests.join(", ")),
        _ => format!(", {}", report.manifests.join(", ")),
    };
    let blocks = report.blocks.as_ref().map_or_else(String::new, |blocks| {
        let (files, size) = (counted(blocks.files, "file"), human_bytes(blocks.block_size));
        format!(", {files} by blocks of {size} instead of digests of whole files")
    });
    let shard = report.shard.map_or(String::new(), |shard| format!(", contents of shard {shard}"));
    format!(
        "{}, {}, {}{shard}{}{blocks}{}",
        counted(report.arrays, "array"),
        counted(report.files, "file"),
        human_bytes(report.bytes),
        escape(&manifests),
        bag(report),
    )
}

/// Returns lines about signatures, and, if there are errors, about the intact part and the next step. `target` is the
/// target as a word of the shell.
pub fn remarks(report: &VerifyReport, target: &str) -> Vec<String> {
    let signature = |it: &Signature| format!("signature: {} ({})", escape(&it.name), it.summary());
    let mut lines: Vec<_> = report.signatures.iter().map(signature).collect();
    let agrees = report.store.as_ref().filter(|word| word.outcome == StoreOutcome::Agrees);
    if let Some(StoreWord { url, checksum: Some(checksum), value: Some(value), .. }) = agrees {
        let (target, url) = (escape_path(&report.target), escape(url));
        lines.push(format!("the store agrees with {target}: {checksum} {value} of {url}"));
    }
    if let [first, rest @ ..] = &report.parity[..] {
        let more =
            if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        lines.push(format!("parity: {}{more}", escape(first)));
    }
    // These errors are about the manifest, a key or an object, not about the files.
    let of_others = |it: &Finding| {
        matches!(it.code, Code::BadSignature | Code::UntrustedSigner | Code::NoSignature)
            || matches!(it.code, Code::StoreDiffers | Code::NoObject | Code::NoStoreChecksum)
    };
    if report.findings.iter().any(|it| it.is_error() && !of_others(it)) {
        lines.extend(intact(report, target));
        if !report.parity.is_empty() {
            lines.push(format!(
                "repair: `par2 repair {target}.par2`, if enough of the parity files is intact"
            ));
        }
    }
    lines
}

/// Returns the lines about the intact part of a damaged target, and the next step.
fn intact(report: &VerifyReport, target: &str) -> Vec<String> {
    let Some(intact) = &report.intact else {
        let why = if report.files == 0 && report.container.is_none() {
            "the pack cannot be opened"
        } else if report.manifests.is_empty() {
            "there is no manifest"
        } else if report.shard.is_some() {
            "other shards were not read"
        } else {
            "the contents were not read"
        };
        return vec![format!("intact: unknown, because {why}")];
    };
    let next = match (intact.files, report.container) {
        (all, _) if all == report.files => {
            "every file is intact; fix the errors above, and pack them again if they change"
                .to_owned()
        }
        (0, _) => "restore the pack from another copy".to_owned(),
        (_, Some(Container::Directory)) => {
            "restore the files named above from another copy".to_owned()
        }
        (_, _) => format!(
            "restore the files named above from another copy; `ra-pack extract {target} -C DIR` unpacks the rest"
        ),
    };
    vec![
        format!(
            "intact: {} of {}, {} of {}, {} of {}",
            intact.arrays,
            counted(report.arrays, "array"),
            intact.files,
            counted(report.files, "file"),
            human_bytes(intact.bytes),
            human_bytes(report.bytes),
        ),
        format!("next: {next}"),
    ]
}

/// Returns the state of the bag, and the version of the crate.
fn bag(report: &VerifyReport) -> String {
    let bag = report.bag.as_ref().map(|bag| {
        let state = match (bag.complete, bag.valid) {
            (_, true) => "valid",
            (true, false) if report.contents_read => "complete, not valid",
            (true, false) => "complete by names and sizes",
            (false, false) => "incomplete",
        };
        let version = bag.version.as_deref().unwrap_or("without a version");
        format!(", BagIt {} {state}", escape(version))
    });
    let ro_crate = report.ro_crate.as_ref().map(|name| format!(", RO-Crate {}", escape(name)));
    format!("{}{}", bag.unwrap_or_default(), ro_crate.unwrap_or_default())
}
