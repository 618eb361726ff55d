//! Proof of parts of files by the digests of their blocks.
//!
//! A pack with a list of block digests proves every part that is read of a stored file: each block that the part touches
//! is read as a whole and compared with its digest. A file that is not longer than one block is compared with the
//! manifest.

use std::sync::{Arc, PoisonError};

use super::state::{FoundMember, LastBlock, Pack, ProvedBlock, once};
use crate::archive::{Container, Member};
use crate::digest::{Algorithm, Digest, Digests};
use crate::error::{Error, Result};
use crate::fs::File;
use crate::manifest::BlockList;
use crate::pack::{self, BLOCK_LIST, Layout};
use crate::path::MemberPath;
use crate::pipeline;
use crate::read::blocks::{self, FileBlocks};
use crate::read::manifests::{self, ManifestText, RootFiles as _, rules};

impl LastBlock {
    fn get(&self, place: (u64, u64)) -> Option<Arc<ProvedBlock>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|block| block.place == place).map(Arc::clone)
    }

    fn set(&self, block: &Arc<ProvedBlock>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(block));
    }
}

impl Pack {
    /// Returns the list of block digests, which is read once; `None` if there is none, or if no manifest covers it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the list differs from the manifest or is not valid.
    pub(crate) fn block_list(&self) -> Result<Option<&BlockList>> {
        Ok(once(&self.state.known.block_list, || self.read_block_list())?.as_ref())
    }

    fn read_block_list(&self) -> Result<Option<BlockList>> {
        let archive = &self.state.archive;
        // A search in the index reads nothing, and the manifest may be another request.
        if archive.is_indexed() && self.find_tag(BLOCK_LIST)?.is_none() {
            return Ok(None);
        }
        if self.manifest()?.is_none() {
            return Ok(None);
        }
        let found = match self.state.placement.get() {
            Some(placement) => archive.find(&placement.place_tag(BLOCK_LIST))?,
            // The manifest was found at the root without reading all names.
            None => archive.find_by_order(BLOCK_LIST, false)?,
        };
        let Some(member) = found else { return Ok(None) };
        let text = self.text(&member, BLOCK_LIST)?;
        let names = rules(self)?.names;
        let Some(list) = BlockList::parse(names, &text) else { return Ok(None) };
        let is_covered = match self.layout()? {
            Layout::Plain => {
                let expected = self.expected_digest(&member)?;
                let found = Digests::of(&[expected.algorithm], &text);
                let found = found.made_by(expected.algorithm);
                self.check_digest(&member, expected, &found)?
            }
            Layout::BagIt => self.is_in_tag_manifest(&text)?,
        };
        let list = list.map_err(|fault| self.damaged(blocks::bad_line(&fault)))?;
        Ok(is_covered.then_some(list))
    }

    /// Returns whether the tag manifest of a bag lists the list of block digests and confirms it.
    fn is_in_tag_manifest(&self, text: &[u8]) -> Result<bool> {
        let algorithm = Algorithm::Sha256;
        let name = format!("tag{}", pack::manifest_name(algorithm));
        let Some(listed) = self.read_root(&name)? else { return Ok(false) };
        let listed = ManifestText::decode(&*name, algorithm, rules(self)?, listed);
        let listed = listed.map_err(|finding| self.damaged(*finding))?;
        let expected = listed.index().look_up(&MemberPath::new(BLOCK_LIST)?);
        let expected =
            expected.map_err(|fault| self.damaged(manifests::fault_finding(&name, &fault)))?;
        let found = Digest::sha256(text);
        match expected {
            Some(expected) if expected != found => {
                Err(self.damaged(manifests::mismatch(BLOCK_LIST, &name, &expected, &found)))
            }
            expected => Ok(expected.is_some()),
        }
    }

    /// Returns the digests that prove parts of a file, whose content begins at `start` of `file`. `None` if the pack has
    /// no list of block digests.
    pub(super) fn proof<'p>(
        &'p self,
        found: &'p FoundMember,
        file: &'p Arc<File>,
        start: u64,
    ) -> Result<Option<BlockProof<'p>>> {
        let Some(list) = self.block_list()? else { return Ok(None) };
        let FoundMember { name, member, .. } = found;
        let listed = self.listed_name(member);
        let listed = if member.size > list.block_size() {
            let blocks = FileBlocks::of(list, listed, member.size, name);
            Listed::Blocks(blocks.map_err(|finding| self.damaged(*finding))?)
        } else {
            let digest = self.listed_digest(member)?;
            self.must_be_listed(member, digest.is_some())?;
            let Some(digest) = digest else { return Ok(None) };
            Listed::Whole(digest)
        };
        let (pack, size) = (self, list.block_size());
        let proof =
            BlockProof { pack, member, name, file, start, size, listed, last: None, count: 0 };
        Ok(Some(proof))
    }
}

/// The digests of a file.
enum Listed<'p> {
    Blocks(FileBlocks<'p>),
    /// That of the whole file, which is not longer than a block.
    Whole(Digest),
}

/// A reader of parts of one stored file that compares every block it touches with its digest.
pub(super) struct BlockProof<'p> {
    pack: &'p Pack,
    member: &'p Member,
    /// The name that was given.
    name: &'p str,
    file: &'p Arc<File>,
    /// The offset of the content in the file.
    start: u64,
    /// Bytes per block.
    pub(super) size: u64,
    listed: Listed<'p>,
    last: Option<Arc<ProvedBlock>>,
    /// Number of blocks that were compared. A block counts again if others were read between.
    pub(super) count: u64,
}

impl BlockProof<'_> {
    /// Fills `out` from an offset of the content.
    pub(super) fn read_at(&mut self, mut at: u64, mut out: &mut [u8]) -> Result<()> {
        while !out.is_empty() {
            let (index, within) = (at / self.size, at % self.size);
            let step = usize::try_from(self.size).unwrap_or(usize::MAX);
            let whole = if within == 0 { out.len() - out.len() % step } else { 0 };
            let (piece, rest);
            if whole > step {
                (piece, rest) = out.split_at_mut(whole);
                self.read_blocks(index, step, piece)?;
            } else {
                let block = self.block(index)?;
                let ready =
                    usize::try_from(within).ok().and_then(|within| block.bytes.get(within..));
                let ready = ready.filter(|ready| !ready.is_empty()).ok_or_else(|| self.ends())?;
                (piece, rest) = out.split_at_mut(out.len().min(ready.len()));
                piece.copy_from_slice(ready.split_at(piece.len()).0);
            }
            at += piece.len() as u64;
            out = rest;
        }
        Ok(())
    }

    /// Reads several complete blocks at once, the first of which has the number `first`.
    fn read_blocks(&mut self, first: u64, step: usize, out: &mut [u8]) -> Result<()> {
        let this = &*self;
        let blocks = (first..).zip(out.chunks_mut(step)).collect::<Vec<_>>();
        let count = blocks.len() as u64;
        let read = |(): &mut (), (index, block): (u64, &mut [u8])| {
            this.file.read_exact_at(block, this.start + index * this.size)?;
            this.check(index, block)
        };
        pipeline::share(pipeline::default_jobs(), blocks, || (), read)?;
        self.count += count;
        Ok(())
    }

    /// Returns one block.
    fn block(&mut self, index: u64) -> Result<Arc<ProvedBlock>> {
        let place = (self.start, index);
        if let Some(block) = self.last.as_ref().filter(|block| block.place == place) {
            return Ok(Arc::clone(block));
        }
        // Files of a directory have the same offset, and may change.
        let is_kept = self.pack.container() != Container::Directory;
        let kept = if is_kept { self.pack.state.known.last_block.get(place) } else { None };
        let block = match kept {
            Some(block) => block,
            None => {
                let offset = index * self.size;
                let len = self.member.size.saturating_sub(offset).min(self.size);
                let mut bytes = vec![0; usize::try_from(len).map_err(|_| self.ends())?];
                self.file.read_exact_at(&mut bytes, self.start + offset)?;
                self.check(index, &bytes)?;
                Arc::new(ProvedBlock { place, bytes })
            }
        };
        if is_kept {
            self.pack.state.known.last_block.set(&block);
        }
        self.count += 1;
        Ok(Arc::clone(self.last.insert(block)))
    }

    /// Compares a complete block with its digest.
    fn check(&self, index: u64, bytes: &[u8]) -> Result<()> {
        let finding = match &self.listed {
            Listed::Blocks(blocks) => {
                let index = usize::try_from(index).map_err(|_| self.ends())?;
                let found = Digests::of(&[Algorithm::Sha256], bytes);
                if blocks.confirms(index, &found) {
                    return Ok(());
                }
                blocks.damaged([index]).expect("one block is damaged")
            }
            Listed::Whole(expected) => {
                let algorithm = expected.algorithm();
                let found = Digests::of(&[algorithm], bytes).made_by(algorithm);
                if found == *expected {
                    return Ok(());
                }
                let manifest = self.pack.manifest()?.map_or("", |manifest| &manifest.name);
                manifests::mismatch(self.pack.listed_name(self.member), manifest, expected, &found)
            }
        };
        Err(self.pack.damaged(finding))
    }

    fn ends(&self) -> Error {
        let end = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the file ends early");
        Error::io("read", self.name)(end)
    }
}
