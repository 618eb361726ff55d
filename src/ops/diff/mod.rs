//! How two arrays differ, or two packs, in whatever containers they lie.
//!
//! Of packs, the structure and the manifest of each are looked at first, then what is needed is read: a file that both
//! manifests give one digest is the same, one that a single manifest lists is held against it, and only what
//! is then not the same is looked at closely.

mod arrays;
mod blob;
mod detail;
mod pairing;
mod report;
mod side;

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

pub use self::report::{
    ArrayChange, ArrayDiff, DescriptionDifference, DiffCounts, DiffPlace, DiffSide, Distance,
    ElementsDiff, FieldDifference, FileDifference, MemberChange, MemberDiff, PackDiff,
};

use self::arrays::{OpenArray, compare};
use self::blob::Blob;
use self::detail::Details;
use self::pairing::{Pair, Unit};
use self::side::PackSide;
use super::open::{LONGEST_HEADER, Pack};
use super::select::Patterns;
use super::single_file::is_array_file;
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding;
use crate::fs::File;
use crate::pack::PACK_DOCUMENT;
use crate::pipeline;
use crate::progress::Progress;

/// Options of [`diff`]: tolerances, members, and how much is read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DiffOptions {
    /// Elements whose distance is no more than this count as equal.
    pub tolerance: f64,
    /// Elements whose distance is no more than this part of the second one's magnitude count as equal.
    pub relative: f64,
    /// Of packs, what to compare: the members with these names; everything when there are none.
    pub patterns: Patterns,
    /// Of packs, read everything, instead of taking a file as equal that the manifests of both give one
    /// digest.
    pub read_all: bool,
    /// Of packs, compare what packing generates too: manifests, tag files of bags.
    pub generated: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Who is told how far it is.
    pub progress: Progress,
}

/// Compares the arrays in the files `a` and `b`, element by element.
///
/// Elements with the same index in both shapes are compared, however the files store them: byte order,
/// encoding and, where descriptions tell of it, the order of dimensions may differ.
///
/// ```
/// use ra_pack::diff::diff_arrays;
///
/// let depth = "examples/experiment/thermistors/depth.ra";
/// let diff = diff_arrays(depth, depth, &Default::default())?;
/// assert_eq!(diff.shape, [10]);
/// # Ok::<(), ra_pack::Error>(())
/// ```
///
/// # Errors
///
/// When one of them cannot be read or is no whole RawArray.
pub fn diff_arrays(
    a: impl AsRef<Path>,
    b: impl AsRef<Path>,
    options: &DiffOptions,
) -> Result<ArrayDiff> {
    let (a, b) = (a.as_ref(), b.as_ref());
    diff_opened(a, b, &b.to_string_lossy(), options, OpenArray::open)
}

fn diff_opened(
    a: &Path,
    b: &Path,
    name: &str,
    options: &DiffOptions,
    open: impl Fn(&Path, &Progress) -> Result<OpenArray>,
) -> Result<ArrayDiff> {
    let progress = &options.progress;
    let (first, second) = (open(a, progress)?, open(b, progress)?);
    progress.stage("comparing", first.data_len().saturating_add(second.data_len()), 0);
    progress.at(name);
    let (element, shape) = (first.element(), first.shape());
    let (header, elements) = compare(&first, &second, options)?;
    Ok(ArrayDiff { a: a.to_owned(), b: b.to_owned(), element, shape, header, elements })
}

/// Compares one array of two packs, by its payload name in both; either may be an array file instead, which
/// is then meant itself.
///
/// # Errors
///
/// As [`diff`] and [`Pack::resolve`], and when the array cannot be read.
pub fn diff_members(
    a: impl AsRef<Path>,
    b: impl AsRef<Path>,
    member: &str,
    options: &DiffOptions,
) -> Result<ArrayDiff> {
    let (a, b) = (a.as_ref(), b.as_ref());
    diff_opened(a, b, member, options, |path, progress| array(path, member, progress))
}

/// The array, held against the manifest.
fn array(path: &Path, member: &str, progress: &Progress) -> Result<OpenArray> {
    if is_array_file(path)? {
        return OpenArray::open(path, progress);
    }
    let pack = Pack::open_watched(path, progress)?;
    let member = &*pack.resolve(member)?;
    let array = pack.array(member)?;
    let order = array.description()?.map(|description| description.order()).unwrap_or_default();
    let blob = if let Some((start, _)) = array.offsets()? {
        pack.copy_to(member, &mut std::io::sink())?;
        let file = Arc::new(File::open(path)?.watched(progress));
        Blob { file, start, len: array.file_size() }
    } else {
        let scratch = blob::scratch(progress)?;
        pack.copy_to(member, &mut &scratch)?;
        Blob::whole(scratch)?
    };
    OpenArray::new(member, &blob, order)
}

/// Compares two packs: archives of any kind, or directories.
///
/// Members are matched by their payload names, so that it does not matter how a pack is laid out. An array and
/// the description beside it are one member; manifests and tag files are not compared unless
/// [`DiffOptions::generated`] asks for it. What both manifests give one digest is taken as the same without
/// being read, unless [`DiffOptions::read_all`] forbids that.
///
/// Damage is a finding of the pack that has it; what can be compared all the same is.
///
/// # Errors
///
/// When one of them cannot be read, or is no archive.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ra_pack::diff;
/// use ra_pack::diff::DiffOptions;
///
/// # let directory = tempfile::tempdir()?;
/// # let zip = directory.path().join("mooring.zip");
/// # ra_pack::create("examples/experiment", &zip, &Default::default())?;
/// let diff = diff("examples/experiment", &zip, &DiffOptions::default())?;
/// for member in &diff.members {
///     println!("{}: {:?}", member.name, member.change);
/// }
/// assert!(diff.is_same());
/// # Ok(())
/// # }
/// ```
pub fn diff(a: impl AsRef<Path>, b: impl AsRef<Path>, options: &DiffOptions) -> Result<PackDiff> {
    let (a, b) = (a.as_ref(), b.as_ref());
    let jobs = pipeline::jobs(options.jobs);
    let progress = &options.progress;
    // One after the other: both at once would take the room for two manifests.
    let (mut a, mut b) = (PackSide::open(a, jobs, progress)?, PackSide::open(b, jobs, progress)?);
    let algorithm = a.algorithm().or(b.algorithm()).unwrap_or(Algorithm::Sha256);
    a.use_algorithm(algorithm);
    b.use_algorithm(algorithm);
    let mut pairs = pairing::by_name(&a, &b, &options.patterns, options.generated);
    read_unlisted(&mut a, &mut b, &pairs, options.read_all, jobs)?;
    pairing::join_renamed(&a, &b, &mut pairs);
    let both = a.find(PACK_DOCUMENT).zip(b.find(PACK_DOCUMENT));
    let documents = a.has_generated_document
        && b.has_generated_document
        && both.is_none_or(|(one, other)| !is_same(&a, &b, one, other));
    let mut counts = DiffCounts::default();
    pairs.retain(|pair| {
        let Some((one, other)) = pair.a.zip(pair.b) else { return true };
        let descriptions = [one, other].map(|unit| unit.description.is_some());
        // What only the document of the pack says of an array may be different there.
        let may_differ = documents && descriptions == [false; 2];
        let is_same = !pair.renamed
            && (descriptions == [true; 2] || descriptions == [false; 2])
            && pair.parts().all(|(one, other)| is_same(&a, &b, one, other))
            && !(may_differ && pairing::is_array(a.name(one.file)));
        if is_same && !other.generated {
            let unread = |(one, other)| [!a.is_read(one), !b.is_read(other)];
            counts.same += 1;
            counts.by_manifest += u64::from(pair.parts().any(|part| unread(part) != [false; 2]));
            counts.by_manifests_alone +=
                u64::from(pair.parts().all(|part| unread(part) == [true; 2]));
        }
        !is_same
    });
    look_closely(&mut a, &mut b, &pairs, jobs)?;
    progress.stage("comparing", 0, 0);
    let details = Details { a: &a, b: &b, options, documents };
    let Ok(members) =
        pipeline::share(jobs, &pairs, || (), |(), pair| Ok::<_, Infallible>(details.of(pair)));
    let mut diff = PackDiff { a: a.report, b: b.report, counts, members: Vec::new() };
    for member in members {
        match member {
            Ok(member) => diff.push(member),
            Err(Error::Damaged { archive, finding }) => {
                let side = if archive == diff.a.target { &mut diff.a } else { &mut diff.b };
                side.findings.push(*finding);
            }
            Err(error) => return Err(error),
        }
    }
    diff.members.sort_by(|one, other| one.name.cmp(&other.name));
    finding::cut(&mut diff.a.findings);
    finding::cut(&mut diff.b.findings);
    Ok(diff)
}

/// Reads the files that no manifest lists, and of those that stand in one pack alone what may have another
/// name in the other.
fn read_unlisted(
    a: &mut PackSide,
    b: &mut PackSide,
    pairs: &[Pair],
    read_all: bool,
    jobs: usize,
) -> Result<()> {
    let (mut ours, mut theirs) = pairing::maybe_renamed(a, b, pairs);
    for (one, other) in pairs.iter().flat_map(Pair::parts) {
        if a.size(one) == b.size(other) {
            ours.push(one);
            theirs.push(other);
        }
    }
    if read_all {
        ours = a.files().collect();
        theirs = b.files().collect();
    } else {
        ours.retain(|file| a.digest(*file).is_none());
        theirs.retain(|file| b.digest(*file).is_none());
    }
    let read = |(): &mut (), (side, files): (&mut PackSide, _)| side.read_closely(&[], files, jobs);
    pipeline::share(jobs, [(a, ours), (b, theirs)], || (), read).map(drop)
}

/// Reads what is not the same: it is reported by its bytes, which have to be those that were packed. Of a member of
/// one pack alone the header and the description are enough.
fn look_closely(a: &mut PackSide, b: &mut PackSide, pairs: &[Pair], jobs: usize) -> Result<()> {
    let differing = pairs.iter().flat_map(Pair::parts);
    let differing = differing.filter(|(one, other)| !is_same(a, b, *one, *other));
    let (of_a, of_b) = differing.unzip();
    let looked_at = |side: &PackSide, unit: fn(&Pair) -> Option<Unit>| {
        let mut files = Vec::new();
        for pair in pairs {
            let Some(Unit { file, description, .. }) = unit(pair) else { continue };
            if pair.a.is_some() && pair.b.is_some() {
                files.push((file, u64::MAX));
            } else if pairing::is_array(side.name(file)) {
                files.push((file, LONGEST_HEADER));
            }
            files.extend(description.map(|file| (file, u64::MAX)));
        }
        files
    };
    let (ours, theirs) = (looked_at(a, |pair| pair.a), looked_at(b, |pair| pair.b));
    let look = |(): &mut (), (side, files, differing): (&mut PackSide, Vec<_>, _)| {
        side.read_closely(&files, differing, jobs)
    };
    pipeline::share(jobs, [(a, ours, of_a), (b, theirs, of_b)], || (), look).map(drop)
}

/// Whether two files are known to have the same bytes.
fn is_same(a: &PackSide, b: &PackSide, one: usize, other: usize) -> bool {
    let digest = a.digest(one);
    a.size(one) == b.size(other) && digest.is_some() && digest == b.digest(other)
}
