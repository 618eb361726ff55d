//! Attributes of an opened pack and of its groups.

use super::Pack;
use crate::error::Result;
use crate::ndl::Group;

impl Pack {
    /// The groups of the pack that have attributes, by the document of the pack, without arrays and coordinates. The
    /// group `/` is the pack itself: its title, its institution, and whatever else was said of it.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ra_pack::create::CreateOptions;
    /// use ra_pack::ndl::Attribute;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let zip = directory.path().join("mooring.zip");
    /// let mut options = CreateOptions::default();
    /// options.attributes = vec![Attribute::read("title", "Mooring 7")];
    /// ra_pack::create("examples/experiment", &zip, &options)?;
    /// let groups = ra_pack::Pack::open(&zip)?.attributes()?;
    /// let root = groups.iter().find(|group| group.path == "/").expect("the pack has a title");
    /// assert!(root.attributes.iter().any(|attribute| attribute.name == "title"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// When the document cannot be read.
    pub fn attributes(&self) -> Result<Vec<Group>> {
        Ok(self.document()?.map(|facts| facts.attributes()).unwrap_or_default())
    }
}
