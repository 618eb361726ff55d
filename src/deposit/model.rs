//! The facts in the attributes of a pack: title, people, dates, licence, funding. The names of the attributes are those
//! of ACDD and CF.

use std::ops::RangeInclusive;

use crate::ndl::{Attribute, Value};

/// The facts for a record in a repository.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct About {
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) licence: Option<Licence>,
    /// Dates as `2024-05-31`, or the year, or the year and the month.
    pub(super) published: Option<String>,
    pub(super) created: Option<String>,
    pub(super) modified: Option<String>,
    /// The first and the last day of the data.
    pub(super) period: Option<(String, String)>,
    pub(super) creators: Vec<Agent>,
    pub(super) contributors: Vec<Agent>,
    pub(super) publisher: Option<Agent>,
    pub(super) projects: Vec<String>,
    pub(super) funding: Vec<String>,
    pub(super) keywords: Vec<String>,
    /// Publications: URLs, or texts.
    pub(super) references: Vec<String>,
    pub(super) version: Option<String>,
    /// Identifier without the address of the resolver, such as `10.5281/zenodo.1`.
    pub(super) doi: Option<String>,
    pub(super) url: Option<String>,
    /// Southern, western, northern and eastern bound in degrees.
    pub(super) bounds: Option<[f64; 4]>,
}

/// A person or an organization.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) is_organization: bool,
    pub(super) email: Option<String>,
    /// The URL of an ORCID record.
    pub(super) orcid: Option<String>,
    pub(super) url: Option<String>,
    pub(super) institution: Option<String>,
}

/// A licence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Licence {
    /// Its name, or what the attribute says.
    pub(super) name: String,
    pub(super) url: Option<String>,
    /// The identifier in the list of SPDX.
    pub(super) spdx: Option<&'static str>,
}

/// Licences that repositories of data offer: identifier in the list of SPDX, and address without the scheme.
const LICENCES: [(&str, &str); 11] = [
    ("CC0-1.0", "creativecommons.org/publicdomain/zero/1.0/"),
    ("CC-BY-4.0", "creativecommons.org/licenses/by/4.0/"),
    ("CC-BY-SA-4.0", "creativecommons.org/licenses/by-sa/4.0/"),
    ("CC-BY-NC-4.0", "creativecommons.org/licenses/by-nc/4.0/"),
    ("CC-BY-NC-SA-4.0", "creativecommons.org/licenses/by-nc-sa/4.0/"),
    ("CC-BY-ND-4.0", "creativecommons.org/licenses/by-nd/4.0/"),
    ("ODbL-1.0", "opendatacommons.org/licenses/odbl/1-0/"),
    ("ODC-By-1.0", "opendatacommons.org/licenses/by/1-0/"),
    ("PDDL-1.0", "opendatacommons.org/licenses/pddl/1-0/"),
    ("MIT", "opensource.org/license/mit"),
    ("Apache-2.0", "www.apache.org/licenses/LICENSE-2.0"),
];

/// The attributes that may give each fact. The first that has a value counts, and messages name it.
pub(super) const TITLE: &[&str] = &["title"];
pub(super) const SUMMARY: &[&str] = &["summary", "description", "abstract"];
pub(super) const LICENCE: &[&str] = &["license", "licence"];
pub(super) const PUBLISHED: &[&str] = &["date_issued", "date_published", "date_created"];
pub(super) const CREATOR: &[&str] = &["creator_name", "creator", "author"];
pub(super) const PUBLISHER: &[&str] = &["publisher_name", "publisher", "institution"];

impl About {
    /// Reads the attributes of a pack.
    pub(crate) fn new(attributes: &[Attribute]) -> Self {
        let all = Stated(attributes);
        let one = |names: &[&str]| all.texts(names).into_iter().next();
        let date = |names: &[&str]| one(names).and_then(|text| day(&text).map(str::to_owned));
        let parts = |names: &[&str], ends: &[char]| {
            let mut parts = Vec::new();
            for part in all.texts(names).iter().flat_map(|text| text.split(ends)) {
                let part = part.trim().to_owned();
                if !part.is_empty() && !parts.contains(&part) {
                    parts.push(part);
                }
            }
            parts
        };
        let period = date(&["time_coverage_start"]).zip(date(&["time_coverage_end"]));
        let number = |name: &str| all.number(name);
        let bounds = [
            number("geospatial_lat_min"),
            number("geospatial_lon_min"),
            number("geospatial_lat_max"),
            number("geospatial_lon_max"),
        ];
        let doi = one(&["doi"]).into_iter().chain(one(&["id"])).find_map(|text| doi_of(&text));
        let mut creators = all.agents("creator", CREATOR);
        let institution = one(&["institution"]);
        for creator in creators.iter_mut().filter(|creator| !creator.is_organization) {
            creator.institution = creator.institution.take().or_else(|| institution.clone());
        }
        Self {
            title: one(TITLE),
            summary: one(SUMMARY),
            licence: one(LICENCE).map(Licence::new),
            published: date(PUBLISHED),
            created: date(&["date_created"]),
            modified: date(&["date_modified"]),
            period: period.filter(|(start, end)| start <= end),
            creators,
            contributors: all.agents("contributor", &["contributor_name"]),
            publisher: all.agents("publisher", PUBLISHER).into_iter().next(),
            projects: parts(&["project"], &[';'])
                .into_iter()
                .chain(parts(&["program"], &[';']))
                .collect(),
            funding: parts(&["funding", "funder"], &[';', '\n']),
            keywords: parts(&["keywords"], &[',', ';', '\n']),
            references: parts(&["references"], &[';', '\n']),
            version: one(&["product_version", "version"]),
            doi,
            url: one(&["url", "metadata_link"]).filter(|text| is_url(text)),
            bounds: match bounds {
                [Some(south), Some(west), Some(north), Some(east)]
                    if (-90.0..=north).contains(&south)
                        && north <= 90.0
                        && [west, east].iter().all(|it| (-180.0..=180.0).contains(it)) =>
                {
                    Some([south, west, north, east])
                }
                _ => None,
            },
        }
    }

    /// Returns how the pack is cited: people, year, title, publisher and address.
    pub(super) fn cited(&self) -> Option<String> {
        let names: Vec<_> = self.creators.iter().map(|creator| creator.name.as_str()).collect();
        let year = self.published.as_deref()?.get(..4)?;
        let parts = [
            Some(format!("{} ({year})", names.join("; "))).filter(|_| !names.is_empty()),
            self.title.clone(),
            self.publisher.as_ref().map(|publisher| publisher.name.clone()),
            self.address(),
        ];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(". "))
    }

    /// Returns the address of the pack: that of its DOI, or the one it states.
    pub(super) fn address(&self) -> Option<String> {
        let doi = self.doi.as_ref().map(|doi| format!("https://doi.org/{doi}"));
        doi.or_else(|| self.url.clone())
    }
}

/// Attributes by name.
struct Stated<'a>(&'a [Attribute]);

impl Stated<'_> {
    /// Returns the texts of the first of these attributes that has any: one, or those of a list. Numbers are written as
    /// in a description.
    fn texts(&self, names: &[&str]) -> Vec<String> {
        let of = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.trim().to_owned(),
            other => other.to_line(),
        };
        let texts = names.iter().map(|name| {
            let attribute = self.0.iter().find(|attribute| attribute.name == *name);
            let texts = match attribute.map(|attribute| &attribute.value) {
                None => Vec::new(),
                Some(Value::List(list)) => list.iter().map(of).collect(),
                Some(value) => vec![of(value)],
            };
            texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>()
        });
        texts.into_iter().find(|texts| !texts.is_empty()).unwrap_or_default()
    }

    fn number(&self, name: &str) -> Option<f64> {
        let number: f64 = self.texts(&[name]).first()?.parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// Returns the people whose names these attributes have: a list, or a text with semicolons. Attributes such as
    /// `creator_email` have the same number of parts, or one for all.
    fn agents(&self, role: &str, names: &[&str]) -> Vec<Agent> {
        let parts = |names: &[&str]| {
            let texts = self.texts(names);
            let parts = texts.iter().flat_map(|text| text.split(';')).map(str::trim);
            parts.map(str::to_owned).collect::<Vec<_>>()
        };
        let names = parts(names);
        let of = |what: &str| {
            let parts = parts(&[&format!("{role}_{what}")]);
            let (one, count) = (parts.len() == 1, names.len());
            let is_usable = one || parts.len() == count;
            move |nth: usize| {
                let at = if one { 0 } else { nth };
                parts.get(at).filter(|part| is_usable && !part.is_empty()).cloned()
            }
        };
        let (emails, urls, kinds, institutions) =
            (of("email"), of("url"), of("type"), of("institution"));
        let agents = names.iter().enumerate().filter(|(_, name)| !name.is_empty());
        let agents = agents.map(|(nth, name)| {
            let url = urls(nth).filter(|_| names.len() == 1 || urls(0) != urls(1));
            Agent {
                name: name.clone(),
                is_organization: role == "publisher"
                    || kinds(nth).is_some_and(|kind| kind == "institution" || kind == "group"),
                email: emails(nth).filter(|email| email.contains('@')),
                orcid: url.as_deref().and_then(orcid_of),
                url: url.filter(|url| is_url(url)),
                institution: institutions(nth),
            }
        });
        agents.collect()
    }
}

impl Licence {
    fn new(text: String) -> Self {
        let plain = |text: &str| text.to_lowercase().replace([' ', '_'], "-");
        let address = text.split_once("://").map_or("", |(_, rest)| rest);
        let address = address.trim_end_matches("deed.en").trim_end_matches("legalcode");
        let known = LICENCES.iter().find(|(spdx, known)| {
            let pages = [*known, &format!("spdx.org/licenses/{spdx}")];
            let page = |page: &str| page.trim_end_matches('/').to_lowercase();
            plain(&text) == plain(spdx) || pages.iter().any(|it| page(it) == page(address))
        });
        let url = known.map(|(_, known)| format!("https://{known}"));
        let spdx = known.map(|(spdx, _)| *spdx);
        let name = spdx.map_or_else(|| text.clone(), str::to_owned);
        Self { name, url: url.or_else(|| Some(text).filter(|text| is_url(text))), spdx }
    }
}

/// Returns the day at the beginning of a date or time, or a year, or a year and a month.
pub(super) fn day(text: &str) -> Option<&str> {
    let date = text.split(['T', ' ']).next()?;
    let is_number = |part: &str, len: usize, range: RangeInclusive<u32>| {
        part.len() == len
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && part.parse().is_ok_and(|number| range.contains(&number))
    };
    let parts: Vec<_> = date.split('-').collect();
    let fits = [(4, 0..=9999), (2, 1..=12), (2, 1..=31)];
    let is_date = parts.iter().zip(fits).all(|(part, (len, range))| is_number(part, len, range));
    // A time belongs to a day.
    let is_whole = parts.len() == 3 || (parts.len() < 3 && date == text);
    (is_date && is_whole).then_some(date)
}

/// Returns whether a text is an address that JSON-LD accepts as an identifier.
pub(super) fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && !br#"<>"{}|\^`[]"#.contains(&byte);
        rest.starts_with(|first: char| first.is_ascii_alphanumeric())
            && rest.bytes().all(is_allowed)
            && has_whole_escapes(rest)
    })
}

/// Returns whether each `%` is followed by two hexadecimal digits.
fn has_whole_escapes(text: &str) -> bool {
    let digits = |rest: &str| rest.bytes().take_while(u8::is_ascii_hexdigit).take(2).count() == 2;
    text.split('%').skip(1).all(digits)
}

/// Returns the identifier in a DOI, which may be a URL.
pub(super) fn doi_of(text: &str) -> Option<String> {
    let at = text.find("10.").filter(|at| {
        let before = text.get(..*at).unwrap_or_default().to_lowercase();
        matches!(
            &*before,
            "" | "doi:"
                | "https://doi.org/"
                | "http://doi.org/"
                | "http://dx.doi.org/"
                | "https://dx.doi.org/"
        )
    })?;
    let doi = text.get(at..)?;
    let (prefix, suffix) = doi.strip_prefix("10.")?.split_once('/')?;
    let is_prefix = (4..=9).contains(&prefix.len()) && prefix.bytes().all(|it| it.is_ascii_digit());
    (is_prefix && !suffix.is_empty() && is_url(&format!("https://doi.org/{doi}")))
        .then(|| doi.to_owned())
}

/// Returns the URL of an ORCID whose last character fits the others.
fn orcid_of(text: &str) -> Option<String> {
    let number = text.rsplit('/').next()?.trim_start_matches("orcid:");
    let digits: Vec<char> =
        number.split('-').filter(|part| part.len() == 4).flat_map(str::chars).collect();
    let (last, first) = digits.split_last()?;
    let sum = first.iter().try_fold(0, |sum, digit| Some((sum + digit.to_digit(10)?) * 2 % 11))?;
    let check = (12 - sum) % 11;
    let fits = if check == 10 { *last == 'X' } else { last.to_digit(10) == Some(check) };
    (digits.len() == 16 && number.len() == 19 && fits)
        .then(|| format!("https://orcid.org/{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_begin_with_a_year_a_month_or_a_day() {
        for good in
            ["2024", "2024-05", "2024-02-29", "2000-02-29", "2024-05-31T12:00:00Z", "0001-01-01 x"]
        {
            assert!(
                day(good).is_some_and(|day| good.starts_with(day) && day.len() <= 10),
                "{good}"
            );
        }
        for bad in [
            "",
            "24",
            "2024-13",
            "2024-00",
            "2024-04-32",
            "2024-1-1",
            "20240101",
            "2024-01-01-01",
            "+2024-01-01",
            "2024T12:00",
            "2024-05-3\u{661}",
            "summer",
        ] {
            assert_eq!(day(bad), None, "{bad}");
        }
    }

    #[test]
    fn identifiers_are_recognized_by_their_check_digits_and_prefixes() {
        let url = "https://orcid.org/0000-0002-1825-0097";
        for good in [url, "0000-0002-1825-0097", "orcid:0000-0002-1825-0097"] {
            assert_eq!(orcid_of(good).as_deref(), Some(url));
        }
        assert!(orcid_of("https://orcid.org/0000-0002-1694-233X").is_some());
        for bad in [
            "0000-0002-1825-0098",
            "0000-0002-1825-009",
            "0000000218250097",
            "",
            "X",
            "https://a.b/",
        ] {
            assert_eq!(orcid_of(bad), None, "{bad}");
        }
        for good in ["10.5281/zenodo.1", "doi:10.5281/zenodo.1", "https://doi.org/10.5281/zenodo.1"]
        {
            assert_eq!(doi_of(good).as_deref(), Some("10.5281/zenodo.1"));
        }
        for bad in
            ["10.5281", "10.52/a", "v10.5281/a", "10.5281/a b", "https://a.b/10.5281/a", "10.5281/"]
        {
            assert_eq!(doi_of(bad), None, "{bad}");
        }
        assert!(is_url("https://a.b/c?d=%20#e") && is_url("http://a"));
        for bad in [
            "https://",
            "https:// a",
            "ftp://a",
            "https://a\"",
            "https://a%",
            "https://a%2",
            "a",
            "https://ä",
        ] {
            assert!(!is_url(bad), "{bad}");
        }
    }

    #[test]
    fn licences_are_recognized_in_the_ways_that_people_write_them() {
        for text in [
            "CC-BY-4.0",
            "CC BY 4.0",
            "cc_by_4.0",
            "https://creativecommons.org/licenses/by/4.0",
            "http://creativecommons.org/licenses/by/4.0/deed.en",
            "https://spdx.org/licenses/CC-BY-4.0",
        ] {
            let licence = Licence::new(text.to_owned());
            assert_eq!((&*licence.name, licence.spdx), ("CC-BY-4.0", Some("CC-BY-4.0")), "{text}");
        }
        let other = Licence::new("https://example.org/terms".to_owned());
        assert_eq!((other.url.as_deref(), other.spdx), (Some("https://example.org/terms"), None));
        assert_eq!(Licence::new("Ask first".to_owned()).url, None);
    }

    #[test]
    fn people_are_paired_with_what_belongs_to_them() {
        let about = |attributes: &[(&str, &str)]| {
            let attributes =
                attributes.iter().filter_map(|(name, value)| Attribute::new(*name, *value));
            About::new(&attributes.collect::<Vec<_>>())
        };
        let two =
            about(&[("creator_name", "A, B; C"), ("creator_email", ";c@d"), ("institution", "I")]);
        assert_eq!((two.creators.len(), &*two.creators[0].name), (2, "A, B"));
        assert_eq!(two.creators[0].email, None);
        assert_eq!(two.creators[1].email.as_deref(), Some("c@d"));
        assert_eq!(two.creators[1].institution.as_deref(), Some("I"));
        assert_eq!(two.publisher.map(|publisher| publisher.name).as_deref(), Some("I"));
        // It is not known whose the address is.
        let three = about(&[("creator_name", "A; B; C"), ("creator_email", "a@d; b@d")]);
        assert!(three.creators.iter().all(|creator| creator.email.is_none()));
        let bounds = |north| {
            [
                ("geospatial_lat_min", "1"),
                ("geospatial_lat_max", north),
                ("geospatial_lon_min", "-3"),
                ("geospatial_lon_max", "4"),
            ]
        };
        assert_eq!(about(&bounds("2")).bounds, Some([1.0, -3.0, 2.0, 4.0]));
        for north in ["0", "91", "nan", "inf", "x"] {
            assert_eq!(about(&bounds(north)).bounds, None);
        }
    }
}
