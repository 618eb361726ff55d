//! Why an operation could not be done.
//!
//! Damage that an operation was asked to look for is a [`Finding`], not an error.

use std::io;
use std::path::{Path, PathBuf};

use crate::file_kind::FileKind;
use crate::finding::{Finding, count_errors};
use crate::interchange;
use crate::ndl::Datatype;
use crate::path::{InvalidPath, escape, extension};
use crate::progress::Cancelled;
use crate::ra::{DecodeError, DecodeErrorKind, Flags, ReadError, SliceError};

/// The result of everything that may fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation could not be done. It displays as a whole message; its cause is also its source.
///
/// ```
/// use ra_pack::{Error, Pack};
///
/// let depth = Pack::open("examples/experiment")?.array("thermistors/depth.ra")?;
/// let values = match depth.view::<f32>() {
///     Ok(view) => view.to_owned(),
///     Err(Error::NotViewable { .. }) => depth.read()?,
///     Err(error) => return Err(error),
/// };
/// assert_eq!(values[[0]], 1.0);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {source}", show(path))]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The target is there already and may not be replaced.
    #[error("`{}` exists; {}", show(path), instead(path))]
    AlreadyExists {
        /// The target.
        path: PathBuf,
    },
    /// A source file changed while it was read.
    #[error("`{}` changed while it was read: {what}; nothing was written", show(path))]
    Changed {
        /// The file.
        path: PathBuf,
        /// What was seen.
        what: String,
    },
    /// The archive, or one of its members, is damaged or not to be trusted.
    #[error("`{}`: {finding}", show(archive))]
    Damaged {
        /// The archive.
        archive: PathBuf,
        /// What is wrong.
        finding: Box<Finding>,
    },
    /// The file is not a pack, and never was one.
    #[error("`{}` is {}", show(path), kind.not("a pack"))]
    NotAPack {
        /// The file.
        path: PathBuf,
        /// What it is.
        kind: FileKind,
    },
    /// The file or member is not an array, and never was one.
    #[error("`{}` is {}", escape(name), kind.not("an array"))]
    NotAnArray {
        /// The file or member.
        name: String,
        /// What it is.
        kind: FileKind,
    },
    /// Findings that forbid the operation; every one of them.
    #[error("{} in `{}`{}", errors_found(findings), show(path), first(findings))]
    Refused {
        /// The directory or archive.
        path: PathBuf,
        /// What is wrong; warnings too.
        findings: Vec<Finding>,
    },
    /// The archive holds no member of that name.
    #[error("`{}` holds no member `{}`{}", show(archive), escape(member), near(suggestion.as_ref()))]
    NoSuchMember {
        /// The archive.
        archive: PathBuf,
        /// The name asked for.
        member: String,
        /// A name that is there and looks like it.
        suggestion: Option<String>,
    },
    /// The name is that of a directory of the archive, where a file is wanted.
    #[error("`{}` is a directory of {files} {} in `{}`", escape(member), if *files == 1 { "file" } else { "files" }, show(archive))]
    IsDirectory {
        /// The archive.
        archive: PathBuf,
        /// The name asked for.
        member: String,
        /// Files in it.
        files: usize,
    },
    /// The name is the end of the names of several files.
    #[error("`{}` is the name of {} files in `{}`: {}", escape(member), names.len(), show(archive), some(names))]
    SeveralMembers {
        /// The archive.
        archive: PathBuf,
        /// The name asked for.
        member: String,
        /// The names of the files.
        names: Vec<String>,
    },
    /// An array cannot be decoded.
    #[error("`{}`: {source}", escape(name))]
    Array {
        /// The file or member.
        name: String,
        /// Where and why.
        source: DecodeError,
    },
    /// A file of another format cannot be read, or an array not be written in it.
    #[error("`{}`: {source}", escape(name))]
    Interchange {
        /// The file, member or array.
        name: String,
        /// Where and why.
        source: interchange::FormatError,
    },
    /// An array is not what the caller asked for.
    #[error("`{}`: {reason}", escape(name))]
    Mismatch {
        /// The file or member.
        name: String,
        /// What was asked for, and what it is.
        reason: String,
    },
    /// Elements are not of the fields or of the small arrays that the caller's type is of.
    #[error("`{}`: each element is described as `{described}`, not as `{wanted}`", escape(name))]
    Structure {
        /// The file or member.
        name: String,
        /// The datatype of the description.
        described: Box<Datatype>,
        /// The datatype of the caller's type.
        wanted: Box<Datatype>,
    },
    /// A member of a new pack was not written to its end, because that failed or the writer of it was dropped.
    #[error("`{}` was not written to its end", escape(name))]
    Incomplete {
        /// The member.
        name: String,
    },
    /// A slice does not fit the array.
    #[error("`{}`: {source}", escape(name))]
    Slice {
        /// The file or member.
        name: String,
        /// Why it does not fit.
        source: SliceError,
    },
    /// A text is no slice, or one that does not fit the array.
    #[error("the slice `{}`: {source}{}", escape(slice), sliced(slice, dimensions))]
    SliceText {
        /// The text.
        slice: String,
        /// The names of the array's dimensions, as far as it has any, and their lengths; empty when nobody looked.
        dimensions: Vec<(Option<String>, u64)>,
        /// Where and why.
        source: SliceError,
    },
    /// A limit forbids it: of the options, or of what an archive of that size may take.
    #[error("{0}")]
    Limit(String),
    /// The memory to read into has another length than the array.
    #[error(
        "`{}`: the array has {expected} elements, the slice to read into {found}",
        escape(name)
    )]
    Length {
        /// The member.
        name: String,
        /// Elements of the array.
        expected: u64,
        /// Elements of the memory.
        found: u64,
    },
    /// The elements cannot be viewed where they are stored. They can be read.
    #[error("`{}` cannot be viewed in place, only read: {reason}", escape(name))]
    NotViewable {
        /// The member.
        name: String,
        /// Why they cannot be viewed.
        reason: NotViewable,
    },
    /// A read takes more memory than it may.
    #[error(
        "`{}` takes {bytes} bytes of memory, more than the {limit} that a read may take",
        escape(name)
    )]
    TooLarge {
        /// The member.
        name: String,
        /// Bytes that the read takes.
        bytes: u64,
        /// The most bytes that it may take.
        limit: u64,
    },
    /// A name that no member may have.
    #[error(transparent)]
    InvalidPath(#[from] InvalidPath),
    /// What was asked for cannot be done, with the reason and the way out.
    #[error("{0}")]
    Unsupported(String),
    /// [`Progress::cancel`](crate::Progress::cancel) stopped the operation.
    #[error("interrupted")]
    Interrupted,
}

/// The reason why elements cannot be viewed where they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotViewable {
    /// The pack was opened without [`Pack::map`](crate::Pack::map).
    #[error("the pack was not opened by `Pack::map`")]
    NotMapped,
    /// The container keeps the member compressed.
    #[error("the archive keeps it compressed")]
    Compressed,
    /// The elements are encoded, or in the byte order of another machine.
    #[error("its elements are stored with flags {0}")]
    Flags(Flags),
    /// The elements begin at no multiple of so many bytes, as their type has to.
    #[error("its elements are not aligned to {0} bytes")]
    Misaligned(usize),
}

impl Error {
    /// Whether it says that the input is bad, rather than that the operation could not be tried.
    pub fn is_finding(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::Refused { .. } | Self::Array { .. } => true,
            Self::Interchange { source, .. } => {
                matches!(source, interchange::FormatError::Malformed { .. })
            }
            _ => false,
        }
    }

    /// Whether the system says that something else stands where a directory should.
    pub(crate) fn is_not_a_directory(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotADirectory)
    }

    /// Whether the system says that there is no such file.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Adds what was tried and on what file, unless the operation was stopped.
    pub(crate) fn io(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| {
            if is_interruption(&source) {
                return Self::Interrupted;
            }
            Self::Io { action, path: path.as_ref().to_owned(), source }
        }
    }

    /// Why the array in the file at `path` cannot be read.
    pub(crate) fn array_file(path: &Path, error: ReadError) -> Self {
        let name = path.to_string_lossy().into_owned();
        match error {
            ReadError::Decode(source) => Self::array(name, source),
            ReadError::Io(source) => Self::io("read", path)(source),
            ReadError::Slice(source) => Self::Slice { name, source },
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "errors and texts are given away")]
    pub(crate) fn mismatch(name: impl Into<String>, reason: impl ToString) -> Self {
        Self::Mismatch { name: name.into(), reason: reason.to_string() }
    }

    /// Why the slice of this text cannot be taken.
    pub(crate) fn slice_text(text: &str) -> impl Fn(SliceError) -> Self {
        move |source| Self::SliceText { slice: text.to_owned(), dimensions: Vec::new(), source }
    }

    /// Why the bytes of `name` cannot be read as an array. A file that neither is called an array nor begins as one
    /// is not damaged, and neither is one that begins as a file of another format.
    pub(crate) fn array(name: String, source: DecodeError) -> Self {
        let start: &[u8] = match &source.kind {
            DecodeErrorKind::Magic { found } => found,
            DecodeErrorKind::HeaderTruncated { found: 0, .. } => &[],
            _ => return Self::Array { name, source },
        };
        let kind = FileKind::of(start);
        if extension(&name) == Some("ra") && !kind.is_never_an_array() {
            return Self::Array { name, source };
        }
        Self::NotAnArray { name, kind }
    }

    /// The same about a file at another path.
    #[must_use]
    pub(crate) fn with_path(mut self, place: impl Fn(PathBuf) -> PathBuf) -> Self {
        if let Self::Io { path, .. }
        | Self::AlreadyExists { path }
        | Self::Changed { path, .. }
        | Self::Damaged { archive: path, .. }
        | Self::Refused { path, .. } = &mut self
        {
            *path = place(std::mem::take(path));
        }
        self
    }

    pub(crate) fn damaged(archive: &Path, finding: Finding) -> Self {
        Self::Damaged { archive: archive.to_owned(), finding: Box::new(finding) }
    }
}

impl From<Cancelled> for Error {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Interrupted
    }
}

/// Whether a stopped operation is the reason, however often readers and formats have wrapped it.
fn is_interruption(error: &io::Error) -> bool {
    let Some(inner) = error.get_ref() else { return false };
    match (inner.downcast_ref(), inner.downcast_ref()) {
        (Some(Error::Interrupted), _) => true,
        (Some(Error::Io { source, .. }), _) | (_, Some(interchange::FormatError::Io(source))) => {
            is_interruption(source)
        }
        _ => false,
    }
}

/// So that a program whose functions return [`io::Result`] can use `?`.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::Io { source, .. } => source.kind(),
            Error::AlreadyExists { .. } => io::ErrorKind::AlreadyExists,
            Error::NoSuchMember { .. } => io::ErrorKind::NotFound,
            Error::IsDirectory { .. } => io::ErrorKind::IsADirectory,
            Error::Unsupported(_) | Error::NotViewable { .. } => io::ErrorKind::Unsupported,
            Error::TooLarge { .. } | Error::Limit(_) => io::ErrorKind::FileTooLarge,
            Error::Interchange { source, .. } => match source {
                interchange::FormatError::Io(source) => source.kind(),
                interchange::FormatError::NoCounterpart { .. } => io::ErrorKind::Unsupported,
                interchange::FormatError::Malformed { .. } => io::ErrorKind::InvalidData,
            },
            // What is `Interrupted` by its kind is tried again by all who read.
            Error::Changed { .. } | Error::Interrupted => io::ErrorKind::Other,
            Error::InvalidPath(_)
            | Error::Mismatch { .. }
            | Error::Structure { .. }
            | Error::Incomplete { .. }
            | Error::Slice { .. }
            | Error::SliceText { .. }
            | Error::Length { .. }
            | Error::SeveralMembers { .. }
            | Error::NotAPack { .. }
            | Error::NotAnArray { .. } => io::ErrorKind::InvalidInput,
            Error::Damaged { .. } | Error::Refused { .. } | Error::Array { .. } => {
                io::ErrorKind::InvalidData
            }
        };
        Self::new(kind, error)
    }
}

fn show(path: &Path) -> String {
    escape(&path.to_string_lossy()).to_string()
}

/// What to do about a path that is in the way. Nothing replaces a directory.
fn instead(path: &Path) -> &'static str {
    if path.is_dir() {
        "it is a directory, so choose another name"
    } else {
        "use the option `force` to replace it"
    }
}

fn errors_found(findings: &[Finding]) -> String {
    match count_errors(findings) {
        0 => "warnings, which are errors here,".to_owned(),
        1 => "1 error".to_owned(),
        many => format!("{many} errors"),
    }
}

fn first(findings: &[Finding]) -> String {
    let first = findings.iter().find(|finding| finding.is_error()).or(findings.first());
    first.map(|finding| format!(": {finding}")).unwrap_or_default()
}

/// The dimensions that a slice is of, and the slice that may be meant by one with their names.
fn sliced(slice: &str, dimensions: &[(Option<String>, u64)]) -> String {
    if dimensions.is_empty() {
        return String::new();
    }
    let part = |(name, extent): &(Option<String>, u64)| match name {
        Some(name) => format!("{} ({extent})", escape(name)),
        None => extent.to_string(),
    };
    let all: Vec<_> = dimensions.iter().map(part).collect();
    let said = format!("; the dimensions are {}", all.join(", "));
    let mut parts = vec![":"; dimensions.len()];
    let is_named = slice.split(',').all(|part| {
        let Some((name, taken)) = part.split_once('=') else { return false };
        let at = dimensions.iter().position(|(known, _)| known.as_deref() == Some(name.trim()));
        at.and_then(|at| parts.get_mut(at)).map(|part| *part = taken.trim()).is_some()
    });
    if is_named { format!("{said}: did you mean `{}`?", escape(&parts.join(","))) } else { said }
}

/// Some of these names.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<_> =
        names.iter().take(SHOWN).map(|name| format!("`{}`", escape(name))).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn near(suggestion: Option<&String>) -> String {
    match suggestion {
        Some(name) => format!("; did you mean `{}`?", escape(name)),
        None => String::new(),
    }
}
