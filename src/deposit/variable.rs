//! The content of an array: its name, units and meaning.

use super::json::Map;
use crate::ndl::Ndarray;
use crate::pack::Contents;
use crate::path::MemberPath;

/// The content of an array. Arrays of several runs often have the same.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variable {
    name: String,
    long_name: Option<String>,
    standard_name: Option<String>,
    units: Option<String>,
}

/// The codes of UN/CEFACT for units, which are written as in UDUNITS.
const UNIT_CODES: &str = "1=C62 %=P1 A=AMP Hz=HTZ J=JOU K=KEL N=NEW Pa=PAL V=VLT W=WTT W_m-2=D54 cm=CMT degC=CEL \
    degree=DD degree_Celsius=CEL hPa=A97 kg=KGM km=KMT m=MTR m_s-1=MTS mm=MMT mol=C34 radian=C81 s=SEC";

impl Variable {
    /// Returns what an array contains, according to its description.
    pub(super) fn new(contents: &Contents, path: &MemberPath) -> Self {
        let of = |array: Option<&Ndarray>| {
            let text = |name: &str| {
                let value = array?.attribute(name)?;
                let text = value.as_str().map_or_else(|| value.to_line(), str::to_owned);
                Some(text).filter(|text| !text.trim().is_empty())
            };
            Self {
                name: path.stem().to_owned(),
                long_name: text("long_name"),
                standard_name: text("standard_name"),
                units: text("units"),
            }
        };
        if let Some(plain) = contents.plain(path) {
            return of(Some(&plain.ndarray()));
        }
        let described = contents.description(path, &mut Vec::new());
        of(described.map(|described| described.entity.array()))
    }

    /// Returns a few words about an array with this content.
    pub(super) fn description(&self) -> String {
        let what = self.long_name.as_ref().or(self.standard_name.as_ref());
        what.map_or_else(|| format!("Array {}", self.name), Clone::clone)
    }

    /// Returns the entity of JSON-LD.
    pub(super) fn entity(&self, id: String) -> Map {
        let is_ordinary =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let property = self.standard_name.as_ref().filter(|name| name.bytes().all(is_ordinary));
        let property =
            property.map(|name| format!("http://vocab.nerc.ac.uk/standard_name/{name}/"));
        let units = self.units.as_ref().map(|units| format!("{}=", units.replace(' ', "_")));
        let code =
            units.and_then(|it| UNIT_CODES.split(' ').find_map(|code| code.strip_prefix(&it)));
        Map::default()
            .with("@id", id)
            .with("@type", "PropertyValue")
            .with("name", &self.name)
            .maybe("description", self.long_name.as_ref())
            .maybe("propertyID", property)
            .maybe("unitText", self.units.as_ref())
            .maybe("unitCode", code)
    }
}
