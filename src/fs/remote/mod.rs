//! Packs at URLs and in object stores.
//!
//! [`configure`] sets how URLs are read. Every operation and [`Pack::open`](crate::Pack::open) accept a URL as a path:
//!
//! ```no_run
//! let url = "https://example.org/exp.zip";
//! let pack = ra_pack::Pack::open(url)?;
//! let first = pack.array("run1/temperature.ra")?.slice::<f32>(ndarray::s![0..10, ..])?;
//! # Ok::<(), ra_pack::Error>(())
//! ```

mod attributes;
mod cache;
mod client;
mod object;
mod options;
mod process;
mod runtime;
mod session;
mod store;
#[cfg(feature = "full")]
mod upload;

pub(crate) use self::attributes::{Attributes, attributes};
pub use self::client::{SharedClient, Traffic, traffic};
pub use self::options::{RemoteOptions, configure};
pub use self::session::name;
pub(crate) use self::session::open_store;
pub(crate) use self::session::url_of;
pub(super) use self::session::{open, version};
#[cfg(feature = "full")]
pub(super) use self::upload::give_up_uploads;
#[cfg(feature = "full")]
pub(crate) use self::upload::{NewObject, upload};
/// The crate of object stores. The clients that it makes need a provider of TLS that the program installs
/// (`rustls::crypto::CryptoProvider::install_default`); [`SharedClient`] brings its own.
pub use object_store;
