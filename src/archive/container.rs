//! The kinds of containers, and their extensions.

use std::fmt;
use std::path::Path;

/// The kind of container of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Container {
    /// A plain directory.
    Directory,
    /// A zip file.
    Zip,
    /// An uncompressed tar file.
    Tar,
    /// A tar compressed with gzip.
    TarGz,
    /// A tar compressed with Zstandard.
    TarZst,
}

impl Container {
    /// File name extensions. The first of each container is used for writing.
    const EXTENSIONS: [(&str, Self); 6] = [
        (".zip", Self::Zip),
        (".tar", Self::Tar),
        (".tar.gz", Self::TarGz),
        (".tgz", Self::TarGz),
        (".tar.zst", Self::TarZst),
        (".tzst", Self::TarZst),
    ];

    /// Returns the container for the extension of a file name.
    ///
    /// ```
    /// use ra_pack::Container;
    ///
    /// assert_eq!(Container::from_extension("exp.tar.zst".as_ref()), Some(Container::TarZst));
    /// ```
    pub fn from_extension(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let is_it = |extension: &str| name.len() > extension.len() && name.ends_with(extension);
        let mut known = Self::EXTENSIONS.into_iter();
        known.find(|(extension, _)| is_it(extension)).map(|(_, container)| container)
    }

    /// Returns the preferred extension of file names.
    pub fn extension(self) -> &'static str {
        let mut known = Self::EXTENSIONS.into_iter();
        known.find(|(_, container)| *container == self).map_or("", |(extension, _)| extension)
    }
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.extension().strip_prefix('.').unwrap_or("directory"))
    }
}
