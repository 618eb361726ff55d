//! Verification of one array file: its header, its description, and the digests in a manifest above it.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::{Intact, Start, VerifyOptions, VerifyReport};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, Severity, count_errors};
use crate::fs::{self, File};
use crate::inspect::validate::inline_findings;
use crate::pack::{self, BAG_DECLARATION, Layout};
use crate::path::escape_path;
use crate::read::manifests::{
    self, BY_PREFERENCE, MAX_MANIFEST, ManifestText, NamedManifest, TagRules,
};
use crate::read::single_file::{self, SingleFile};

/// Verifies the array file at `target`. It needs no description, coordinates or manifest to be valid.
pub(super) fn verify(target: &Path, options: &VerifyOptions, start: Start) -> Result<VerifyReport> {
    let single_file = single_file::gather(target, None)?;
    single_file.refuse_other_formats(target)?;
    let mut report = VerifyReport::begin(target, options, start);
    // An array file has no shards: each run reads all of it.
    report.shard = None;
    report.arrays = 1;
    report.note_version(fs::version(target)?);
    if !options.only_manifests {
        report.findings = single_file.findings();
        report.findings.extend(inline_findings(&single_file)?);
        // An array that cannot be read cannot be described.
        let is_read = !report.findings.iter().any(|finding| finding.code == Code::BadHeader);
        report.findings.retain(|finding| is_read || finding.code != Code::Undescribed);
        // The file may come from a pack that has the coordinates.
        let is_elsewhere =
            |it: &Finding| matches!(it.code, Code::Undescribed | Code::UnknownCoordinate);
        for finding in report.findings.iter_mut().filter(|it| is_elsewhere(it)) {
            finding.severity = Severity::Warning;
        }
        if options.strict {
            report.findings.extend(single_file.extension_words());
        }
    }
    let files = single_file.own_files();
    report.files = files.len() as u64;
    for file in &files {
        let len = fs::file_len(&single_file.root.join(file.as_str())).unwrap_or(0);
        report.bytes = report.bytes.saturating_add(len);
    }
    match listing(target, options)? {
        Some((above, manifest, digest)) => {
            report.manifest_digest = Some(digest);
            report.manifests.push(manifest.name.clone());
            report.contents_read = !options.fast;
            if report.contents_read {
                check_digests(&single_file, &above, &manifest, options, &mut report.findings)?;
                report.intact = Some(intact(&report));
            }
        }
        None if options.only_manifests => {
            return Err(Error::unsupported(format!(
                "no manifest lists `{}`: searched its directory and those above it",
                escape_path(target)
            )));
        }
        None => {}
    }
    // The signatures of manifests are next to packs.
    #[cfg(feature = "signatures")]
    report.findings.extend(options.trusted.iter().flat_map(|trusted| trusted.missing(&[])));
    single_file.name_files(target, &mut report.findings);
    Ok(report.finish(options, start))
}

/// Returns the manifest that lists the array, the directory to which its names are relative, and its SHA-256: the named
/// manifest, or else the nearest one above the array.
fn listing(
    target: &Path,
    options: &VerifyOptions,
) -> Result<Option<(PathBuf, NamedManifest, Digest)>> {
    let working = fs::real_path(".".as_ref())?;
    for above in fs::enclosing_directories(target)? {
        let Some(name) = fs::name_below(&above, target) else { continue };
        let declaration = above.join(BAG_DECLARATION);
        let is_bag = fs::exists(&declaration);
        let text = if is_bag { fs::read_limited(&declaration, MAX_MANIFEST)? } else { Vec::new() };
        let layout = if is_bag { Layout::BagIt } else { Layout::Plain };
        let rules = TagRules::of(layout, Some(&text));
        let named = options.manifest.iter().map(|path| (path.clone(), Algorithm::Sha256));
        let inside =
            BY_PREFERENCE.map(|algorithm| (above.join(pack::manifest_name(algorithm)), algorithm));
        let inside = inside.into_iter().filter(|_| options.manifest.is_none());
        for (path, algorithm) in named.chain(inside) {
            if options.manifest.is_none() && !fs::exists(&path) {
                continue;
            }
            let text = fs::read_limited(&path, MAX_MANIFEST)?;
            let digest = Digest::sha256(&text);
            let shown = path.strip_prefix(&working).unwrap_or(&path).to_string_lossy().into_owned();
            let Ok(text) = ManifestText::decode(shown, algorithm, rules, text) else { continue };
            let mut faults = Vec::new();
            let manifest = text.parse(&mut faults);
            if options.manifest.is_some() {
                manifests::must_be_one(&manifest, &faults)?;
            }
            if manifest.manifest.get(&name).is_some() {
                return Ok(Some((above, manifest, digest)));
            }
        }
    }
    Ok(None)
}

/// Compares the digests of the array and its description with those in the manifest.
fn check_digests(
    single_file: &SingleFile,
    above: &Path,
    named: &NamedManifest,
    options: &VerifyOptions,
    findings: &mut Vec<Finding>,
) -> Result<()> {
    for file in single_file.own_files() {
        let path = single_file.root.join(file.as_str());
        let listed = fs::name_below(above, &path).and_then(|name| named.manifest.get(&name));
        let Some(entry) = listed else { continue };
        options.progress.at(file.as_str());
        let opened = File::open(&path)?.watched(&options.progress);
        let algorithm = entry.digest.algorithm();
        let digests = manifests::digest_reader(&mut BufReader::new(opened), &[algorithm]);
        let found = digests.map_err(Error::io("read", &path))?.made_by(algorithm);
        if found != entry.digest {
            let member = file.as_str();
            findings.push(manifests::mismatch(member, &named.name, &entry.digest, &found));
        }
    }
    Ok(())
}

/// Returns the counts of the report if there is no error, and otherwise none.
fn intact(report: &VerifyReport) -> Intact {
    match count_errors(&report.findings) {
        0 => Intact { files: report.files, arrays: 1, bytes: report.bytes },
        _ => Intact::default(),
    }
}
