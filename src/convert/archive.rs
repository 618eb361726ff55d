//! Archives to which converted arrays are added.

use super::data::Arranged;
use super::destination::Destination;
use super::format::ArrayFormat;
use super::item::ArrayItem;
use super::sink::{ArraySink, WriteArrays, description};
use super::source::OtherFile;
use crate::error::{Error, Result};
use crate::finding::{Code, MANY, grouped};
use crate::fs;
use crate::pack::{ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS};
use crate::path::escape;
use crate::write::{CreateOptions, PackWriter};

/// An archive to which files are added.
struct ArchiveSink(PackWriter<'static>);

pub(super) fn begin<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    let Destination { path, to, options, .. } = *out;
    fs::refuse_url(path)?;
    let ArrayFormat::Pack(container) = to else { unreachable!("an archive is a pack") };
    let options = CreateOptions {
        container: Some(container),
        compression: options.compression.unwrap_or_default(),
        force: options.force,
        jobs: options.jobs,
        progress: options.progress.silent(),
        ..CreateOptions::default()
    };
    Ok(Box::new(ArchiveSink(PackWriter::create(path, options)?)))
}

impl WriteArrays for ArchiveSink {
    fn array(&mut self, name: &str, item: &ArrayItem, data: Arranged<'_>) -> Result<Vec<String>> {
        let header = item.to_variable()?.header;
        self.inline(name, item)?;
        let (file, start) = (format!("{name}.{ARRAY_EXTENSION}"), header.header_len());
        let size = start.saturating_add(header.data_len());
        let written = self.0.written(&file, Some(size), Some(start), |out| {
            out.append(&header.encode())?;
            data.pass(|block| out.append(block))
        });
        if let Err(error) = written {
            // Its description has no array any more.
            for name in [file, format!("{name}.{}", DESCRIPTION_EXTENSIONS[0])] {
                match self.0.remove(name) {
                    Ok(()) | Err(Error::NoSuchMember { .. }) => {}
                    Err(failed) => return Err(failed),
                }
            }
            return Err(error);
        }
        Ok(Vec::new())
    }

    /// Writes the description of an array, unless the description of the pack contains it.
    fn inline(&mut self, name: &str, item: &ArrayItem) -> Result<()> {
        if item.is_described_by_pack() {
            return Ok(());
        }
        let text = description(item)?;
        self.0.file(format!("{name}.{}", DESCRIPTION_EXTENSIONS[0]), text.as_bytes())
    }

    fn other(&mut self, other: &OtherFile) -> Result<()> {
        match &other.copy {
            Some(copy) => self.0.written(&other.name, None, None, |out| copy(out).map(drop)),
            None => self.0.directory(&other.name),
        }
    }

    fn finish(mut self: Box<Self>, losses: &mut Vec<String>) -> Result<u64> {
        let report = self.0.finish()?;
        // The reason why files were not converted is already known.
        let mut others = report.findings;
        others.retain(|finding| finding.code != Code::NoArrays);
        losses.extend(grouped(&others, MANY).map(|finding| {
            let name =
                finding.member.map_or_else(String::new, |name| format!("{}: ", escape(&name)));
            format!("{name}{} ({})", escape(&finding.message), finding.code.id())
        }));
        Ok(report.archive_bytes)
    }
}
