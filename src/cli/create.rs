//! `ra-pack create`

use ra_pack::{CreateOptions, Layout, Patterns};

use super::args::{Create, LayoutArg};
use super::output::{Output, counted, human_bytes};
use super::{Ending, Failure, diagnostics};

pub(super) fn run(args: &Create, output: &Output) -> Result<Ending, Failure> {
    let options = CreateOptions {
        container: None,
        layout: match args.layout {
            LayoutArg::Plain => Layout::Plain,
            LayoutArg::Bagit => Layout::BagIt,
        },
        bag_info: args.bag_info.clone(),
        digests: args.digest.clone(),
        compression: args.compression,
        describe: args.describe,
        exclude: Patterns::new(&args.exclude)?,
        dereference: args.dereference,
        force: args.force,
        strict: args.strict,
        portable: args.portable,
        jobs: args.common.jobs,
        no_external_manifest: args.no_external_manifest,
        archive_digest: args.archive_digest,
        sign_with: args.sign_with.clone(),
        preserve_mtime: args.preserve_mtime,
        timestamp: timestamp()?,
    };
    let report = ra_pack::create(&args.source, &args.output, &options)?;
    for finding in &report.findings {
        output.message(&diagnostics::finding(&args.source, finding, output.color_err()));
    }
    for leftover in &report.leftovers {
        output.message(&diagnostics::leftover(leftover));
    }
    if args.common.json {
        output.json(&report)?;
        return Ok(Ending::Clean);
    }
    let described = u64::try_from(report.described.len()).unwrap_or(u64::MAX);
    if described > 0 {
        output.note(&format!("described {} by their headers", counted(described, "array")));
    }
    output.note(&format!(
        "packed {} and {} into {} ({}, {})",
        counted(report.arrays, "array"),
        counted(report.members.saturating_sub(report.arrays), "other file"),
        args.output.display(),
        report.container,
        human_bytes(report.archive_bytes),
    ));
    if let Some(manifest) = &report.external_manifest {
        output.note(&format!(
            "keep {} in another place: it proves what was packed",
            manifest.display()
        ));
    }
    if let Some(signature) = &report.signature {
        output.note(&format!("signed by {}", signature.display()));
    }
    Ok(Ending::Clean)
}

/// The time that the environment asks for, by the convention of reproducible builds.
fn timestamp() -> Result<Option<u64>, Failure> {
    let Some(value) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(None) };
    match value.to_str().and_then(|value| value.parse().ok()) {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(ra_pack::Error::Unsupported(format!(
            "SOURCE_DATE_EPOCH is `{}`, expected seconds since 1970",
            ra_pack::escape(&value.to_string_lossy())
        ))
        .into()),
    }
}
