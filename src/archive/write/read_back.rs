//! Reads back a sample of the written archive and compares it with the digests computed while writing.
//!
//! Members are hashed in memory, several at once, and are packed and written by several jobs. If one of these steps
//! fails on a machine, the archive could be wrong but consistent. This check reads members from the file with the
//! readers (and with the crate `tar`), and hashes them one after the other with the crate `sha2`.

use std::borrow::Cow;
use std::io::Read;
use std::iter;
use std::sync::Arc;

use super::failed::{failed, unread};
use super::member::Record;
use crate::archive::data::Stretch;
use crate::archive::stream::{StreamCompression, StreamDecoder};
use crate::archive::{Container, tar, zip};
use crate::digest::{Digest, sha256_alone};
use crate::error::{Error, Result};
use crate::fs::File;

/// A member of the sample.
#[derive(Debug)]
pub(crate) struct Sampled<'a> {
    /// The name in the archive.
    pub(crate) name: Cow<'a, str>,
    /// The location of the member; not used in a stream.
    pub(crate) record: Record,
    pub(crate) size: u64,
    /// The digest computed while writing.
    pub(crate) sha256: Digest,
}

impl Sampled<'_> {
    fn check(&self, file: &File, size: u64, content: &mut dyn Read) -> Result<()> {
        let found = sha256_alone(content).map_err(|error| unread(file, error))?;
        if size == self.size && found == self.sha256 {
            return Ok(());
        }
        Err(failed(
            file,
            format!(
                "`{}` differs from its digest: expected {} bytes with SHA-256 {}, found {size} with {found}",
                crate::path::escape(&self.name),
                self.size,
                self.sha256,
            ),
        ))
    }

    fn missing(&self, file: &File) -> Error {
        failed(file, format!("`{}` is missing", crate::path::escape(&self.name)))
    }
}

/// Compares each member of a sample, in the order of the archive, with its digest.
pub(super) fn check(file: &File, container: Container, sample: &[Sampled<'_>]) -> Result<()> {
    let (shared, len) = (Arc::new(file.try_clone()?), file.len()?);
    // The crate `tar` ends the record of a long name at a line feed.
    let mut readable = sample.iter().filter(|member| !member.name.contains('\n')).peekable();
    let Some(compression) = StreamCompression::of_container(container) else {
        return check_zip(&shared, sample);
    };
    if readable.peek().is_none() {
        return Ok(());
    }
    let from = |at: u64| Stretch::new(Arc::clone(&shared), at, len.saturating_sub(at));
    if container == Container::Tar {
        return readable
            .try_for_each(|member| check_tar(file, from(member.record.at), iter::once(member)));
    }
    check_tar(file, StreamDecoder::new(from(0), compression), readable)
}

/// Reads the members of a zip. Its directory has been compared already.
fn check_zip(file: &Arc<File>, sample: &[Sampled<'_>]) -> Result<()> {
    sample.iter().try_for_each(|sampled| {
        let Sampled { name, record, size, .. } = sampled;
        let content = zip::write::content(file, name, record, *size)?;
        let mut content = content.ok_or_else(|| sampled.missing(file))?;
        sampled.check(file, *size, &mut content)
    })
}

/// Reads a tar up to the last member of the sample.
fn check_tar<'s>(
    file: &File,
    tar: impl Read,
    mut sample: impl Iterator<Item = &'s Sampled<'s>>,
) -> Result<()> {
    let mut wanted = sample.next();
    let mut checked = Ok(());
    let read = tar::each_entry(tar, |name, size, content| {
        if let Some(sampled) = wanted
            && sampled.name.as_bytes() == name
        {
            checked = sampled.check(file, size, content);
            wanted = sample.next();
        }
        wanted.is_some() && checked.is_ok()
    });
    read.map_err(|error| unread(file, error))?;
    checked?;
    wanted.map_or(Ok(()), |sampled| Err(sampled.missing(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::write::{ArchiveWriter, NewMember};
    use crate::archive::{Compression, MemberKind, NewContent};
    use crate::digest::Algorithm;
    use crate::fs::PendingFile;

    /// Writes members, and returns a sample of all of them.
    fn written(
        container: Container,
        compression: Compression,
    ) -> (PendingFile, Vec<Sampled<'static>>) {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a");
        let pending = PendingFile::create(&target, true).unwrap();
        let contents: Vec<Vec<u8>> =
            (0..40_u8).map(|number| vec![number; 500 * usize::from(number)]).collect();
        let member = |number: usize| NewMember {
            path: format!("{}/{number:02}", "long".repeat(30)).into(),
            kind: MemberKind::File,
            size: contents[number].len() as u64,
            modified: 0,
            align: None,
        };
        let algorithms = [Algorithm::Sha256];
        let mut writer =
            ArchiveWriter::new(container, compression, &pending, &algorithms, 2).unwrap();
        let write = |(number, content): (usize, &Vec<u8>)| {
            let content = NewContent::Bytes(content);
            writer.write(&member(number), content).unwrap()
        };
        let placed: Vec<_> = contents.iter().enumerate().map(write).collect();
        let sample = placed.iter().enumerate().map(|(number, placed)| {
            let NewMember { path: name, size, .. } = member(number);
            let sha256 = placed.digests.by(Algorithm::Sha256).unwrap();
            Sampled { name, record: placed.record, size, sha256 }
        });
        let sample: Vec<_> = sample.collect();
        let records = || -> crate::archive::Records<'_, 'static> {
            let placed = placed.iter().enumerate();
            Box::new(placed.map(|(number, placed)| (member(number), placed.record)))
        };
        writer.finish(&records, &sample).unwrap();
        (pending, sample)
    }

    #[test]
    fn written_members_are_compared_with_their_digests() {
        use Compression::{Deflate, Stored, Zstd};
        for (container, compression) in [
            (Container::Zip, Stored),
            (Container::Zip, Deflate { level: None }),
            (Container::Zip, Zstd { level: None }),
            (Container::Tar, Stored),
            (Container::TarGz, Stored),
            (Container::TarZst, Stored),
        ] {
            let (pending, mut sample) = written(container, compression);
            let file = pending.file();
            check(file, container, &sample).unwrap();
            let some = sample.len() / 3;
            for of in [0, some, sample.len() - 1] {
                // A digest of other bytes.
                let right = sample[of].sha256;
                sample[of].sha256 = Digest::sha256(b"something else");
                let error = check(file, container, &sample).unwrap_err();
                let said = std::error::Error::source(&error).unwrap().to_string();
                assert!(said.contains("differs from its digest"), "{said}");
                sample[of].sha256 = right;
                sample[of].size += 1;
                check(file, container, &sample).unwrap_err();
                sample[of].size -= 1;
                let name = std::mem::replace(&mut sample[of].name, "another".into());
                check(file, container, &sample).unwrap_err();
                sample[of].name = name;
            }
            check(file, container, &sample).unwrap();
        }
    }

    /// Flips one bit of the content in the file.
    #[test]
    fn a_flipped_bit_is_detected_after_writing() {
        let (pending, sample) = written(Container::Tar, Compression::Stored);
        let file = pending.file();
        let member = &sample[30];
        // After the header of the name, the name, and the header of the member.
        let place = member.record.at + 3 * 512 + member.size / 2;
        let mut byte = [0];
        file.read_exact_at(&mut byte, place).unwrap();
        assert_eq!(byte, [30]);
        file.write_all_at(&[31], place).unwrap();
        check(file, Container::Tar, &sample).unwrap_err();
    }
}
