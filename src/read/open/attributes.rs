//! Attributes of an open pack and of its groups.

use super::Pack;
use crate::error::Result;
use crate::ndl::Group;

impl Pack {
    /// Returns the groups with attributes from the description of the pack, without their arrays and coordinates. The
    /// attributes of the group `/` are those of the pack, such as its title.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use ra_pack::write::CreateOptions;
    /// use ra_pack::ndl::Attribute;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let zip = directory.path().join("mooring.zip");
    /// let options = CreateOptions {
    ///     attributes: vec![Attribute::read("title", "Mooring 7")],
    ///     ..CreateOptions::default()
    /// };
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
    /// [`Error::Damaged`](crate::Error::Damaged) or [`Error::Io`](crate::Error::Io) if the description of the pack
    /// cannot be read.
    pub fn attributes(&self) -> Result<Vec<Group>> {
        Ok(self.document()?.map(|facts| facts.attributes()).unwrap_or_default())
    }
}
