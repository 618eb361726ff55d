//! Many arrays of a pack at once.

use ndarray::ArrayD;

use super::{Pack, PackedArray};
use crate::error::Result;
use crate::pipeline;
use crate::ra::Element;

/// Arrays that a thread takes at a time: enough for their costs to be alike, few enough for the last to be shared.
const MOST: usize = 64;

impl Pack {
    /// Reads many arrays on all cores, each as [`PackedArray::read`] does, and gives what
    /// `visit` makes of them, in the order of their names.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let zip = directory.path().join("mooring.zip");
    /// # ra_pack::create("examples/experiment".as_ref(), &zip, &Default::default())?;
    /// let pack = ra_pack::Pack::open(&zip)?;
    /// let names = ["thermistors/temperature.ra", "thermistors/depth.ra"];
    /// let means = pack.read_each(&names, |_, array: ndarray::ArrayD<f32>| array.mean())?;
    /// assert!(means.iter().all(Option::is_some));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the first array that cannot be read; `visit` may then have seen others behind it.
    pub fn read_each<T: Element, R: Send>(
        &self,
        names: &[impl AsRef<str> + Sync],
        visit: impl Fn(&str, ArrayD<T>) -> R + Sync,
    ) -> Result<Vec<R>> {
        self.read_each_opened(names, Ok, visit)
    }

    /// The same with the indices of each in the order of its description's shape, as after
    /// [`PackedArray::in_shape_order`].
    ///
    /// # Errors
    ///
    /// As [`Pack::read_each`], and those of the first description that is at fault.
    pub fn read_each_in_shape_order<T: Element, R: Send>(
        &self,
        names: &[impl AsRef<str> + Sync],
        visit: impl Fn(&str, ArrayD<T>) -> R + Sync,
    ) -> Result<Vec<R>> {
        self.read_each_opened(names, PackedArray::in_shape_order, visit)
    }

    fn read_each_opened<'p, T: Element, R: Send>(
        &'p self,
        names: &[impl AsRef<str> + Sync],
        open: impl Fn(PackedArray<'p>) -> Result<PackedArray<'p>> + Sync,
        visit: impl Fn(&str, ArrayD<T>) -> R + Sync,
    ) -> Result<Vec<R>> {
        // Many are found by an index from the first one on, so that which are read first makes no difference.
        if let Some(name) = names.first().filter(|_| names.len() > MOST) {
            self.archive.find(name.as_ref())?;
            if let Some(manifest) = self.manifest()? {
                manifest.index(self)?;
            }
        }
        let jobs = pipeline::default_jobs();
        let step = (names.len() / jobs.saturating_mul(8).max(1)).clamp(1, MOST);
        let parts = pipeline::share(
            jobs,
            names.chunks(step),
            || (),
            |(), names| {
                let names = names.iter().map(AsRef::as_ref);
                names
                    .map(|name| Ok(visit(name, open(self.array(name)?)?.read()?)))
                    .collect::<Result<Vec<R>>>()
            },
        )?;
        Ok(parts.into_iter().flatten().collect())
    }
}
