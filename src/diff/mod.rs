//! Comparison of two arrays or two packs in any containers.
//!
//! For packs, structures and manifests are read first. Files with the same digest in both manifests are the same. Files
//! that only one manifest lists are hashed. Only files that differ are then read in detail.

mod arrays;
mod blob;
mod detail;
mod options;
mod pairing;
mod report;
mod side;

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

pub use self::options::DiffOptions;
pub use self::report::{
    Agreement, ArrayChange, ArrayDiff, DescriptionDifference, DiffCounts, DiffPlace, DiffSide,
    Distance, ElementsDiff, FieldDifference, FileDifference, MemberChange, MemberDiff, PackDiff,
};

use self::arrays::{OpenArray, compare};
use self::blob::Blob;
use self::detail::Details;
use self::pairing::{Pair, Unit};
use self::side::{PackSide, is_same};
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding;
use crate::fs::File;
use crate::ndl::Ndarray;
use crate::pack::PACK_DOCUMENT;
use crate::pipeline;
use crate::progress::Progress;
use crate::read::open::{LONGEST_HEADER, Pack};
use crate::read::single_file::is_array_file;

/// Compares the arrays in the files `a` and `b`, element by element.
///
/// Elements with the same index in both shapes are compared. Byte order and encoding may differ, and also the order of
/// dimensions if descriptions give it.
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
/// [`Error::Io`] if a file cannot be read, and [`Error::Array`] or [`Error::NotAnArray`] if it is not a valid RawArray
/// file.
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

/// Compares one array of two packs by its payload name. `a` or `b` may also be an array file.
///
/// # Errors
///
/// As [`diff`] and [`Pack::resolve`], and [`Error::Damaged`] if the array is damaged.
pub fn diff_members(
    a: impl AsRef<Path>,
    b: impl AsRef<Path>,
    member: &str,
    options: &DiffOptions,
) -> Result<ArrayDiff> {
    let (a, b) = (a.as_ref(), b.as_ref());
    diff_opened(a, b, member, options, |path, progress| array(path, member, progress))
}

/// Opens the array, and checks it against the manifest.
fn array(path: &Path, member: &str, progress: &Progress) -> Result<OpenArray> {
    if is_array_file(path)? {
        return OpenArray::open(path, progress);
    }
    let pack = Pack::open_watched(path, progress)?;
    let member = pack.resolve(member)?;
    member_of(&pack, &member, progress)
}

/// Opens an array of a pack, and checks it against the manifest.
fn member_of(pack: &Pack, member: &str, progress: &Progress) -> Result<OpenArray> {
    let array = pack.array(member)?;
    let blob = if let Some((start, _)) = array.offsets()? {
        pack.copy_to(member, &mut std::io::sink())?;
        let file = Arc::new(File::open(pack.archive().path())?.watched(progress));
        Blob { file, start, len: array.file_size() }
    } else {
        let scratch = blob::scratch(progress)?;
        pack.copy_to(member, &mut &scratch)?;
        Blob::whole(scratch)?
    };
    OpenArray::new(member, &blob, array.description()?)
}

/// Compares an array of a pack with that in a RawArray file, which has a name and a description.
pub(crate) fn compare_member(
    pack: &Pack,
    member: &str,
    (name, file, description): (&str, File, Ndarray),
    progress: &Progress,
) -> Result<(Vec<FieldDifference>, Option<ElementsDiff>)> {
    let ours = member_of(pack, member, progress)?;
    let theirs = OpenArray::new(name, &Blob::whole(file)?, Some(description))?;
    compare(&ours, &theirs, &DiffOptions::default())
}

/// Compares two packs: archives of any kind, or directories.
///
/// Members are matched by their payload names, so the layouts may differ. An array and the description next to it are
/// one member. Manifests and tag files are compared only with [`DiffOptions::generated`]. Files with the same digest in
/// both manifests are not read, except with [`DiffOptions::read_all`].
///
/// Damage is reported in the findings of its pack, and the remaining members are compared.
///
/// # Errors
///
/// [`Error::Io`] if a target cannot be read, and [`Error::NotAPack`] if it is not a pack.
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
    // Opens one after the other, to keep only one manifest in memory.
    let (mut a, mut b) = (PackSide::open(a, jobs, progress)?, PackSide::open(b, jobs, progress)?);
    let algorithm = a.algorithm().or(b.algorithm()).unwrap_or(Algorithm::Sha256);
    a.use_algorithm(algorithm);
    b.use_algorithm(algorithm);
    if a.find(PACK_DOCUMENT).is_some() && b.find(PACK_DOCUMENT).is_some() {
        // Packing completes a hand-written description.
        match (a.packed_document(jobs)?, b.packed_document(jobs)?) {
            (Some(text), None) => a.set_document(&text)?,
            (None, Some(text)) => b.set_document(&text)?,
            _ => {}
        }
    }
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
        // Arrays that only the description of the pack describes may have different descriptions.
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

/// Reads files that are not in a manifest, and files of one pack only that may have another name in the other.
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

/// Reads the members that differ and checks them against the manifest. For a member of one pack only, the header and
/// the description are enough.
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
