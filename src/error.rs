//! Errors of operations.
//!
//! Problems that an operation was asked to look for are [`Finding`]s, not errors.

use std::io;
use std::path::{Path, PathBuf};

use crate::file_kind::FileKind;
use crate::finding::{Finding, count_errors};
use crate::interchange;
use crate::message::{Message, Part, counted, listed};
use crate::ndl::Datatype;
use crate::path::{InvalidPath, escape, escape_path, extension};
use crate::progress::Cancelled;
use crate::ra::{DecodeError, DecodeErrorKind, Flags, ReadError, SliceError};

/// Maximum number of names that a message lists.
const MAX_NAMES_SHOWN: usize = 4;

/// The result of an operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an operation failed. `Display` gives the complete message; the cause is also the source.
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
    /// A system call failed.
    #[error("cannot {action} `{}`: {source}", show(path))]
    Io {
        /// The action that failed, as a verb.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// The target exists and may not be replaced.
    #[error("{}", self.message())]
    AlreadyExists {
        /// The target.
        path: PathBuf,
    },
    /// A source file changed while it was read.
    #[error("`{}` changed while it was read: {what}; nothing was written", show(path))]
    Changed {
        /// The file.
        path: PathBuf,
        /// The change that was observed.
        what: String,
    },
    /// The archive or one of its members is damaged or unsafe.
    #[error("{}", self.message())]
    Damaged {
        /// The archive.
        archive: PathBuf,
        /// The problem.
        finding: Box<Finding>,
    },
    /// The file is not a pack.
    #[error("`{}` is {}", show(path), kind.not("a pack"))]
    NotAPack {
        /// The file.
        path: PathBuf,
        /// The kind of the file.
        kind: FileKind,
    },
    /// The file or member is not an array.
    #[error("`{}` is {}", escape(name), kind.not("an array"))]
    NotAnArray {
        /// The file or member.
        name: String,
        /// The kind of the file or member.
        kind: FileKind,
    },
    /// Problems prevent the operation.
    #[error("{}", self.message())]
    Refused {
        /// The directory or archive.
        path: PathBuf,
        /// All problems, including warnings.
        findings: Vec<Finding>,
    },
    /// The archive has no member of that name.
    #[error("`{}` has no member `{}`{}", show(archive), escape(member), near(suggestion.as_ref()))]
    NoSuchMember {
        /// The archive.
        archive: PathBuf,
        /// The name that was given.
        member: String,
        /// A similar name that exists.
        suggestion: Option<String>,
    },
    /// The name is a directory in the archive, and a file is needed.
    #[error("`{}` is a directory with {} in `{}`", escape(member), counted(*files, "file"), show(archive))]
    IsDirectory {
        /// The archive.
        archive: PathBuf,
        /// The name that was given.
        member: String,
        /// Number of files in the directory.
        files: usize,
    },
    /// The name matches several files.
    #[error("`{}` matches {} files in `{}`: {}", escape(member), names.len(), show(archive), listed(names.iter().map(|name| format!("`{}`", escape(name))), MAX_NAMES_SHOWN))]
    SeveralMembers {
        /// The archive.
        archive: PathBuf,
        /// The name that was given.
        member: String,
        /// The names of the files.
        names: Vec<String>,
    },
    /// An array cannot be decoded.
    #[error("`{}`: {source}", escape(name))]
    Array {
        /// The file or member.
        name: String,
        /// The offset and the cause.
        source: DecodeError,
    },
    /// A file of another format cannot be read, or an array cannot be written in that format.
    #[error("`{}`: {source}", escape(name))]
    Interchange {
        /// The file, member or array.
        name: String,
        /// The place and the cause.
        source: interchange::FormatError,
    },
    /// An array differs from what the caller expects.
    #[error("`{}`: {reason}", escape(name))]
    Mismatch {
        /// The file or member.
        name: String,
        /// The expected and the found value.
        reason: String,
    },
    /// The description of the elements does not match the structure or small array that the caller reads.
    #[error("`{}`: expected elements described as `{wanted}`, found `{described}`", escape(name))]
    Structure {
        /// The file or member.
        name: String,
        /// The datatype in the description.
        described: Box<Datatype>,
        /// The datatype of the caller's type.
        wanted: Box<Datatype>,
    },
    /// A member of a new pack is incomplete: writing it failed, or its writer was dropped.
    #[error("`{}` is incomplete: not all of it was written", escape(name))]
    Incomplete {
        /// The member.
        name: String,
    },
    /// A slice does not fit the array.
    #[error("`{}`: {source}", escape(name))]
    Slice {
        /// The file or member.
        name: String,
        /// Why the slice does not fit.
        source: SliceError,
    },
    /// A text is not a slice, or the slice does not fit the array.
    #[error("the slice `{}`: {source}{}", escape(slice), sliced(slice, dimensions))]
    SliceText {
        /// The text.
        slice: String,
        /// Names, if any, and lengths of the array's dimensions; empty if they are not known.
        dimensions: Vec<(Option<String>, u64)>,
        /// The place and the cause.
        source: SliceError,
    },
    /// A limit was exceeded: one of the options, or the memory that an archive of this size may need.
    #[error("{0}")]
    Limit(Message),
    /// The memory to read into does not have the length of the array.
    #[error("`{}`: expected memory for {expected} elements, found {found}", escape(name))]
    Length {
        /// The member.
        name: String,
        /// Number of elements in the array.
        expected: u64,
        /// Number of elements that fit in the memory.
        found: u64,
    },
    /// The elements cannot be viewed in place. They can be read.
    #[error("`{}` cannot be viewed in place and must be read: {reason}", escape(name))]
    NotViewable {
        /// The member.
        name: String,
        /// Why the elements cannot be viewed.
        reason: NotViewable,
    },
    /// A read needs more memory than its limit.
    #[error("`{}` needs {bytes} bytes of memory, and the limit of a read is {limit}", escape(name))]
    TooLarge {
        /// The member.
        name: String,
        /// Bytes that the read needs.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The name is not valid for a member.
    #[error(transparent)]
    InvalidPath(#[from] InvalidPath),
    /// An option or argument is not possible, or contradicts another one or the input. The message says what to give
    /// instead.
    #[error("{0}")]
    Options(Message),
    /// The operation is for another kind of target, or would damage it.
    #[error("`{}` {reason}", show(target))]
    WrongTarget {
        /// The file, directory or name that was given.
        target: PathBuf,
        /// The kind of the target, and what is needed.
        reason: Message,
    },
    /// A format or feature is not supported. The message gives the reason and an alternative.
    #[error("{0}")]
    Unsupported(Message),
    /// An archive is damaged when it is read back after writing, or another YAML reader finds another value in a new
    /// description. Nothing has the final name.
    #[error("{0}")]
    ReadBack(String),
    /// The archive is complete, but the command that signs its manifest failed.
    #[error("the archive is complete, but lacks its {lacks}: `{}` {reason}", escape(command))]
    Command {
        /// The thing that it should have made.
        lacks: &'static str,
        /// The command.
        command: String,
        /// How it failed.
        reason: String,
    },
    /// [`Progress::cancel`](crate::Progress::cancel) stopped the operation.
    #[error("interrupted")]
    Interrupted,
}

/// The reason why elements cannot be viewed in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotViewable {
    /// The pack was opened without [`Pack::map`](crate::Pack::map).
    #[error("the pack was not opened with `Pack::map`")]
    NotMapped,
    /// The member is compressed.
    #[error("it is compressed in the archive")]
    Compressed,
    /// The elements are encoded, or their byte order is not that of this machine.
    #[error("its elements are stored with flags {0}")]
    Flags(Flags),
    /// The elements do not begin at a multiple of this many bytes, which their type requires.
    #[error("its elements are not aligned to {0} bytes")]
    Misaligned(usize),
}

impl Error {
    /// Returns whether the error is a problem in the input, not a failure of the operation.
    pub fn is_finding(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::Refused { .. } | Self::Array { .. } => true,
            Self::Interchange { source, .. } => {
                matches!(
                    source,
                    interchange::FormatError::Malformed { .. }
                        | interchange::FormatError::Invalid { .. }
                )
            }
            _ => false,
        }
    }

    /// Returns the message, whose options each front end names in its own words.
    pub fn message(&self) -> Message {
        match self {
            Self::AlreadyExists { path } => {
                Message::from(format!("`{}` exists; ", show(path))).join(instead(path))
            }
            Self::Limit(message) | Self::Options(message) | Self::Unsupported(message) => {
                message.clone()
            }
            Self::WrongTarget { target, reason } => {
                Message::from(format!("`{}` ", show(target))).join(reason.clone())
            }
            Self::Damaged { archive, finding } => {
                Message::from(format!("`{}`: ", show(archive))).join(finding.line())
            }
            Self::Refused { path, findings } => {
                let errors = format!("{} in `{}`", errors_found(findings), show(path));
                let first = first(findings).map(|first| Message::from(": ").join(first.line()));
                Message::from(errors).join(first.unwrap_or_default())
            }
            Self::Interchange { name, source } => {
                Message::from(format!("`{}`: ", escape(name))).join(source.message())
            }
            Self::Io { action, path, source } => {
                Message::from(format!("cannot {action} `{}`: ", show(path)))
                    .join(message_of(source))
            }
            _ => self.to_string().into(),
        }
    }

    /// Returns whether the file does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Adds the action and the file to an I/O error, unless the operation was cancelled.
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

    /// Returns the error for an array file at `path` that cannot be read.
    pub(crate) fn array_file(path: &Path, error: ReadError) -> Self {
        let name = path.to_string_lossy().into_owned();
        match error {
            ReadError::Decode(source) => Self::array(name, source),
            ReadError::Io(source) => Self::io("read", path)(source),
            ReadError::Slice(source) => Self::Slice { name, source },
        }
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers pass errors and texts that they no longer need"
    )]
    pub(crate) fn mismatch(name: impl Into<String>, reason: impl ToString) -> Self {
        Self::Mismatch { name: name.into(), reason: reason.to_string() }
    }

    /// Returns the error for a new description that another YAML reader reads in another way.
    #[cfg(feature = "full")]
    pub(crate) fn misread(name: &str, misread: &crate::ndl::Misread) -> Self {
        let fault = "This is a fault of ra-pack; please report it";
        Self::ReadBack(format!("`{}` is not written: {misread}. {fault}", escape(name)))
    }

    /// Returns a function that adds the text of a slice to its error.
    pub(crate) fn slice_text(text: &str) -> impl Fn(SliceError) -> Self {
        move |source| Self::SliceText { slice: text.to_owned(), dimensions: Vec::new(), source }
    }

    /// Returns the error for bytes of `name` that cannot be decoded as an array. The file counts as damaged only if it
    /// is called `.ra` and does not begin like another format.
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

    pub(crate) fn options(message: impl Into<Message>) -> Self {
        Self::Options(message.into())
    }

    pub(crate) fn wrong_target(target: impl AsRef<Path>, reason: impl Into<Message>) -> Self {
        Self::WrongTarget { target: target.as_ref().to_owned(), reason: reason.into() }
    }

    pub(crate) fn unsupported(message: impl Into<Message>) -> Self {
        Self::Unsupported(message.into())
    }

    pub(crate) fn damaged(archive: &Path, finding: Finding) -> Self {
        Self::Damaged { archive: archive.to_owned(), finding: Box::new(finding) }
    }

    /// Returns the findings about `path`, or the error that refuses it if one of them is an error. Very many are cut.
    #[cfg(feature = "full")]
    pub(crate) fn refuse_bad(path: &Path, mut findings: Vec<Finding>) -> Result<Vec<Finding>> {
        crate::finding::cut(&mut findings);
        if count_errors(&findings) > 0 {
            return Err(Self::Refused { path: path.to_owned(), findings });
        }
        Ok(findings)
    }
}

impl From<Cancelled> for Error {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Interrupted
    }
}

/// Returns whether cancellation caused the error, however often readers and formats have wrapped it.
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

/// Lets functions that return [`io::Result`] use `?`.
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
                interchange::FormatError::Malformed { .. }
                | interchange::FormatError::Invalid { .. } => io::ErrorKind::InvalidData,
            },
            // Readers retry errors of the kind `Interrupted`.
            Error::Changed { .. } | Error::Command { .. } | Error::Interrupted => {
                io::ErrorKind::Other
            }
            Error::InvalidPath(_)
            | Error::Options(_)
            | Error::WrongTarget { .. }
            | Error::Mismatch { .. }
            | Error::Structure { .. }
            | Error::Incomplete { .. }
            | Error::Slice { .. }
            | Error::SliceText { .. }
            | Error::Length { .. }
            | Error::SeveralMembers { .. }
            | Error::NotAPack { .. }
            | Error::NotAnArray { .. } => io::ErrorKind::InvalidInput,
            Error::Damaged { .. }
            | Error::ReadBack(_)
            | Error::Refused { .. }
            | Error::Array { .. } => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

fn show(path: &Path) -> String {
    escape_path(path).to_string()
}

/// Returns what to do about an existing path. A directory is never replaced.
fn instead(path: &Path) -> Message {
    if path.is_dir() {
        "it is a directory, so choose another name".into()
    } else {
        Message::from("use ").option("force").text(" to replace it")
    }
}

/// Returns the text of a system error, or the message that is its cause.
fn message_of(error: &io::Error) -> Message {
    let text = error.to_string();
    if let Some(number) = error.raw_os_error()
        && let Some(plain) = text.strip_suffix(&format!(" (os error {number})"))
    {
        let parts = vec![Part::Text(plain.to_owned().into()), Part::ErrorNumber(number)];
        return Message { parts };
    }
    let mut cause = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    while let Some(error) = cause {
        if let Some(message) = error.downcast_ref::<Message>() {
            return message.clone();
        }
        cause = error.source();
    }
    text.into()
}

fn errors_found(findings: &[Finding]) -> String {
    match count_errors(findings) {
        0 => "warnings treated as errors".to_owned(),
        1 => "1 error".to_owned(),
        many => format!("{many} errors"),
    }
}

fn first(findings: &[Finding]) -> Option<&Finding> {
    findings.iter().find(|finding| finding.is_error()).or(findings.first())
}

/// Lists the dimensions of the array, and suggests a slice without names if `slice` uses them.
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

fn near(suggestion: Option<&String>) -> String {
    match suggestion {
        Some(name) => format!("; did you mean `{}`?", escape(name)),
        None => String::new(),
    }
}
