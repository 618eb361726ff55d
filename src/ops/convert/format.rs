//! The forms that arrays come in: one table of how each is called, read and written.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Serialize, Serializer};

use super::ConvertOptions;
use super::data::{Arranged, Data, Metadata};
use super::item::Item;
use super::{foreign, rawarray};
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::fs::{self, PendingFile};
use crate::pack::{DESCRIPTION_EXTENSIONS, EXTERNAL_MANIFEST_SUFFIX};
use crate::path::escape;

/// A form that arrays come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// One RawArray file, with its description beside it.
    Ra,
    /// One array of numpy.
    Npy,
    /// Several arrays of numpy in a zip.
    Npz,
    /// The variables of one file of ds-format.
    Ds,
    /// A picture.
    Png,
    /// A directory of RawArray files and descriptions, or an archive of one.
    Pack(Container),
}

type Open = fn(&Path, &ConvertOptions) -> Result<Source>;
type Begin = for<'o> fn(&Output<'o>) -> Result<Box<dyn ArraySink + 'o>>;

/// A row of the table of formats.
struct Format {
    form: Form,
    /// Its word, which is also the extension of a file.
    word: &'static str,
    holds_many: bool,
    open: Open,
    begin: Begin,
}

/// Every format.
const FORMATS: [Format; 10] = [
    row(Form::Ra, "ra", false, rawarray::open_file, rawarray::begin_file),
    row(Form::Npy, "npy", false, foreign::open_npy, foreign::begin_npy),
    row(Form::Npz, "npz", true, foreign::open_npz, foreign::begin_npz),
    row(Form::Ds, "ds", true, foreign::open_ds, foreign::begin_ds),
    row(Form::Png, "png", false, foreign::open_png, foreign::begin_png),
    pack("directory", Container::Directory),
    pack("zip", Container::Zip),
    pack("tar", Container::Tar),
    pack("tar.gz", Container::TarGz),
    pack("tar.zst", Container::TarZst),
];

const fn row(form: Form, word: &'static str, holds_many: bool, open: Open, begin: Begin) -> Format {
    Format { form, word, holds_many, open, begin }
}

const fn pack(word: &'static str, container: Container) -> Format {
    row(Form::Pack(container), word, true, rawarray::open_pack, rawarray::begin_pack)
}

impl Form {
    fn format(self) -> &'static Format {
        FORMATS.iter().find(|format| format.form == self).expect("the table has every form")
    }

    /// The words of all forms.
    pub fn words() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|format| format.word)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        self.format().word
    }

    /// The form that the extension of a file's name stands for.
    pub fn from_extension(path: &Path) -> Option<Self> {
        if let Some(container) = Container::from_extension(path) {
            return Some(Self::Pack(container));
        }
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let mut files = FORMATS.iter().filter(|format| !matches!(format.form, Self::Pack(_)));
        files.find(|format| format.word == extension).map(|format| format.form)
    }

    /// The form of what is at `path`.
    pub(super) fn of_input(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        if fs::is_directory(path)? {
            return Ok(Self::Pack(Container::Directory));
        }
        if let Some(form) = Self::from_extension(path) {
            return Ok(form);
        }
        let kind = fs::kind_of(path)?;
        match kind {
            // What has a form may be called as it likes.
            FileKind::RawArray
            | FileKind::Npy
            | FileKind::Ds
            | FileKind::Png
            | FileKind::Unknown => {}
            kind if kind.may_hold_a_pack() => {}
            kind => {
                return Err(Error::Unsupported(format!(
                    "`{}` is {kind}, which ra-pack cannot read; make an .npy or .npz of its arrays",
                    escape(&path.to_string_lossy())
                )));
            }
        }
        Err(unknown(path, "from"))
    }

    /// The form of what shall be at `path`: a directory when it ends in a slash or has no extension.
    pub(super) fn of_output(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        let last = path.as_os_str().as_encoded_bytes().last();
        let ends_in_slash = last.is_some_and(|last| std::path::is_separator(char::from(*last)));
        if ends_in_slash || path.extension().is_none() {
            return Ok(Self::Pack(Container::Directory));
        }
        Self::from_extension(path).ok_or_else(|| unknown(path, "to"))
    }

    /// Whether its arrays are RawArray files.
    pub(super) fn is_rawarray(self) -> bool {
        matches!(self, Self::Ra | Self::Pack(_))
    }

    /// Whether it holds any number of arrays, by name.
    pub(super) fn holds_many(self) -> bool {
        self.format().holds_many
    }
}

/// Refuses `-`, the standard input or output, where nobody can go back.
fn refuse_stream(path: &Path) -> Result<()> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Error::Unsupported(
        "arrays are converted from file to file, and `-` is none; give a path, or `./-` for a file that is called so".to_owned(),
    ))
}

fn unknown(path: &Path, option: &str) -> Error {
    let words: Vec<_> = Form::words().collect();
    Error::Unsupported(format!(
        "the name of `{}` does not say what form it has; give the option `{option}` with one of {}",
        escape(&path.to_string_lossy()),
        words.join(", ")
    ))
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A word that names no form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}", Form::words().collect::<Vec<_>>().join(", "))]
pub struct UnknownForm;

impl FromStr for Form {
    type Err = UnknownForm;

    fn from_str(word: &str) -> Result<Self, UnknownForm> {
        let format = FORMATS.iter().find(|format| format.word == word);
        format.map(|format| format.form).ok_or(UnknownForm)
    }
}

/// Arrays of some form: first what is there, from headers only, then the elements of one after the other.
pub(super) struct Source {
    /// Each of them; never with an order other than row and column.
    pub(super) items: Vec<Item>,
    /// What else is there and is left where it is, one sentence each.
    pub(super) losses: Vec<String>,
    pub(super) reads: Box<dyn ArraySource>,
}

/// A file or pack that the elements of arrays are read from.
pub(super) trait ArraySource {
    /// The elements of the array at `index`, which is `item`. Elements that have to be copied to be checked are
    /// copied beside `beside`.
    fn elements(&mut self, index: usize, item: &Item, beside: &Path) -> Result<Elements<'_>>;
}

/// The elements of an array, and what came with them.
pub(super) struct Elements<'s> {
    pub(super) data: Data<'s>,
    pub(super) metadata: Metadata,
    /// Whether a manifest vouches for them.
    pub(super) verified: bool,
}

impl<'s> From<Data<'s>> for Elements<'s> {
    fn from(data: Data<'s>) -> Self {
        Self { data, metadata: Metadata::None, verified: false }
    }
}

/// A file with a single array, whose elements are read once.
struct SingleArray<F>(Option<F>);

impl<F: FnOnce() -> Result<Elements<'static>>> ArraySource for SingleArray<F> {
    fn elements(&mut self, _: usize, _: &Item, _: &Path) -> Result<Elements<'_>> {
        let read = self.0.take().expect("each array is converted once");
        read()
    }
}

impl Source {
    /// Looks at what is at `path`.
    pub(super) fn open(path: &Path, form: Form, options: &ConvertOptions) -> Result<Self> {
        (form.format().open)(path, options)
    }

    /// A file with a single array, whose elements are what `read` gives.
    pub(super) fn single(
        item: Item,
        read: impl FnOnce() -> Result<Elements<'static>> + 'static,
    ) -> Self {
        let reads = Box::new(SingleArray(Some(read)));
        Self { items: vec![item], losses: Vec::new(), reads }
    }

    /// The elements of one of the items. Elements that have to be copied to be checked are copied beside `beside`.
    pub(super) fn elements(&mut self, index: usize, beside: &Path) -> Result<Elements<'_>> {
        let item = self.items.get(index).expect("only items of the source are planned");
        self.reads.elements(index, item, beside)
    }
}

/// What is to be written where.
#[derive(Clone, Copy)]
pub(super) struct Output<'o> {
    pub(super) path: &'o Path,
    pub(super) from: Form,
    pub(super) to: Form,
    pub(super) options: &'o ConvertOptions,
}

/// An array that is to be written.
pub(super) struct OutgoingArray<'a> {
    pub(super) name: &'a str,
    pub(super) item: &'a Item,
    pub(super) data: Arranged<'a>,
    /// What follows its elements where the form has room for it.
    pub(super) metadata: Metadata,
}

/// A file or pack that arrays are written into. It gets its name when all of it is there.
pub(super) trait ArraySink {
    /// Writes one array. The answer is what the output does not say of it, one sentence each.
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>>;

    /// Writes one whose elements are all in its description.
    fn inline(&mut self, _name: &str, item: &Item) -> Result<()> {
        item.to_variable().map(drop)
    }

    /// Gives everything its name, and answers how many bytes that are.
    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64>;
}

impl<'o> Output<'o> {
    /// Begins what arrays are written into, and the file for what follows the elements of the one array.
    pub(super) fn begin(
        &self,
        arrays: usize,
    ) -> Result<(Box<dyn ArraySink + 'o>, Option<PendingFile>)> {
        let Self { to, options, .. } = self;
        let metadata = match &options.keep_metadata {
            None => None,
            Some(_) if arrays != 1 => {
                return Err(Error::Unsupported(
                    "the option `keep_metadata` is for one array; choose it by the option `member`"
                        .to_owned(),
                ));
            }
            Some(path) if self.files().iter().any(|other| fs::is_same_name(path, other)) => {
                return Err(Error::Unsupported(format!(
                    "`{}` cannot be both what is converted to and the file of the option `keep_metadata`",
                    escape(&path.to_string_lossy())
                )));
            }
            Some(path) => Some(PendingFile::create(path, options.force)?),
        };
        Ok(((to.format().begin)(self)?, metadata))
    }

    /// The output and the files beside it that belong to it.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.path.to_owned()];
        match self.to {
            Form::Ra => {
                files.extend(DESCRIPTION_EXTENSIONS.map(|end| self.path.with_extension(end)));
            }
            Form::Pack(container) if container != Container::Directory => {
                let mut manifest = self.path.as_os_str().to_owned();
                manifest.push(EXTERNAL_MANIFEST_SUFFIX);
                files.push(manifest.into());
            }
            _ => {}
        }
        files
    }

    /// Files that an interrupted run left beside what is written.
    pub(super) fn leftovers(&self) -> Vec<PathBuf> {
        let files = self.files().into_iter().chain(self.options.keep_metadata.clone());
        files.flat_map(|path| fs::leftovers(&path)).collect()
    }
}

/// Writes a file to the disk and gives it its name; answers how many bytes it has.
pub(super) fn settle(file: PendingFile) -> Result<u64> {
    let bytes = file.file().len()?;
    file.sync()?;
    file.persist()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_form() {
        let output = |path: &str| Form::of_output(path.as_ref()).ok();
        for (path, form) in [
            ("a.ra", "ra"),
            ("x/a.NPY", "npy"),
            ("a.npz", "npz"),
            ("a.b.ds", "ds"),
            ("a.png", "png"),
            ("a.tar.gz", "tar.gz"),
            ("a.tzst", "tar.zst"),
            ("a", "directory"),
            ("a.npy/", "directory"),
            ("a.b/c", "directory"),
        ] {
            assert_eq!(output(path), form.parse().ok(), "{path}");
        }
        assert_eq!(output("a.jpeg"), None);
        assert_eq!(output("-"), None);
        assert_eq!(output("./-"), "directory".parse().ok());
        assert!(Form::of_input("-".as_ref()).is_err());
        assert!("zap".parse::<Form>().is_err());
    }
}
