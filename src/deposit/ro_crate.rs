//! The metadata file of an RO-Crate 1.2.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::json::{Json, Map, reference};
use super::model::{About, Agent, doi_of, is_url};
use super::variable::Variable;
use super::{MEDIA_TYPE, RecordFormat, record};
use crate::finding::{Code, Finding};
use crate::message::Message;
use crate::pack::{CRATE_HEAD, Contents, RO_CRATE};

/// Compares the metadata file that ra-pack made with the pack.
pub(crate) fn check_crate(contents: &Contents) -> Option<Finding> {
    let found = contents.ro_crate.as_deref()?;
    let about = About::new(&contents.own_attributes());
    let expected = record(RecordFormat::RoCrate, &about, contents, None);
    if found == expected {
        return None;
    }
    let lines = expected.split_inclusive('\n').zip(found.split_inclusive('\n'));
    let at = lines.take_while(|(one, other)| one == other).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or_default().to_owned();
    let (expected, found) = (line(&expected), line(found));
    let start = expected.chars().zip(found.chars());
    let same = start.take_while(|(one, other)| one == other).count();
    let message = "the RO-Crate differs from the attributes or arrays of the pack";
    let finding = Finding::new(Code::CrateMismatch, message).in_member(RO_CRATE);
    let [expected, found] = [expected, found].map(|line| format!("`{}`", shown(&line, same)));
    let hint = Message::from("make it again: ").call("create", "ro_crate");
    Some(finding.at_line(at as u64 + 1).expected(expected, found).hint(hint))
}

/// Returns the part of a line around its first difference, after `same` characters.
fn shown(line: &str, same: usize) -> String {
    const BEFORE: usize = 40;
    const MOST: usize = 100;
    let from = if line.chars().count() > MOST { same.saturating_sub(BEFORE) } else { 0 };
    let part: String = line.chars().skip(from).take(MOST).collect();
    part.trim().to_owned()
}

/// Returns the text of the metadata file.
pub(super) fn text(about: &About, contents: &Contents) -> String {
    let arrays = contents.arrays.iter();
    let arrays: Vec<_> =
        arrays.map(|(path, facts)| (path, facts, Variable::new(contents, path))).collect();
    let variables: BTreeSet<_> = arrays.iter().map(|(.., variable)| variable).collect();
    let variables: Vec<_> = variables.into_iter().collect();
    let id_of = |variable| {
        let nth = variables.binary_search(&variable).expect("it is one of them");
        format!("#variable-{}", nth + 1)
    };
    let mut entities = Entities::default();
    let root = entities
        .root(about)
        .list("variableMeasured", variables.iter().map(|it| reference(id_of(it))))
        .list("hasPart", arrays.iter().map(|(path, ..)| reference(encoded(path.as_str()))));
    let files = arrays.iter().map(|(path, facts, variable)| {
        let header = facts.header.as_ref().ok().filter(|header| !header.is_encoded());
        let size = header.map(|it| it.header_len() + it.stored_len() + facts.trailing);
        Map::default()
            .with("@id", encoded(path.as_str()))
            .with("@type", "File")
            .with("name", path.as_str())
            .with("description", variable.description())
            .with("encodingFormat", MEDIA_TYPE)
            .maybe("contentSize", size.map(|size| size.to_string()))
            .with("about", reference(id_of(variable)))
    });
    let graph = [root].into_iter().chain(entities.all);
    let graph = graph.chain(variables.iter().map(|it| it.entity(id_of(it)))).chain(files);
    let mut text = CRATE_HEAD.to_owned();
    for (nth, entity) in graph.enumerate() {
        text.push_str(if nth > 0 { ",\n    " } else { "    " });
        Json::from(entity).push(4, &mut text);
    }
    text.push_str("\n  ]\n}\n");
    text
}

/// Returns a text in which bytes that a relative URI cannot have are percent-encoded.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The entities that the dataset refers to.
#[derive(Default)]
struct Entities {
    all: Vec<Map>,
    /// Their identifiers.
    taken: BTreeSet<String>,
}

impl Entities {
    /// Returns the dataset without its arrays.
    fn root(&mut self, about: &About) -> Map {
        let licence = about.licence.as_ref().map(|licence| {
            let id = licence.url.clone().unwrap_or_else(|| "#license".to_owned());
            self.add("CreativeWork", id, &licence.name, [("description", licence.name.as_str())])
        });
        let period = about.period.as_ref().map(|(start, end)| format!("{start}/{end}"));
        let place = about.bounds.map(|[south, west, north, east]| {
            let bounds = format!("{south} {west} {north} {east}");
            let shape = Map::default().with("@id", "#box").with("@type", "GeoShape");
            self.all.push(shape.with("name", &bounds).with("box", &bounds));
            let place = Map::default().with("@id", "#place").with("@type", "Place");
            self.all.push(place.with("name", "geographic bounds").with("geo", reference("#box")));
            reference("#place")
        });
        let (mut citations, mut mentions) = (Vec::new(), Vec::new());
        for text in &about.references {
            let doi = doi_of(text).map(|doi| format!("https://doi.org/{doi}"));
            match doi.or_else(|| is_url(text).then(|| text.clone())) {
                Some(url) => citations.push(self.add("CreativeWork", url, text, [])),
                // A citation must have an address.
                None => mentions.push(self.named("CreativeWork", text)),
            }
        }
        Map::default()
            .with("@id", "./")
            .with("@type", "Dataset")
            .maybe("name", about.title.as_ref())
            .maybe("description", about.summary.as_ref())
            .maybe("datePublished", about.published.as_ref())
            .maybe("license", licence)
            .maybe("identifier", about.address())
            .list("author", about.creators.iter().map(|agent| self.agent(agent)))
            .list("contributor", about.contributors.iter().map(|agent| self.agent(agent)))
            .maybe("publisher", about.publisher.as_ref().map(|agent| self.agent(agent)))
            .list("sourceOrganization", about.projects.iter().map(|it| self.named("Project", it)))
            .list("funding", about.funding.iter().map(|text| self.named("Grant", text)))
            .list("keywords", &about.keywords)
            .maybe("dateCreated", about.created.as_ref())
            .maybe("dateModified", about.modified.as_ref())
            .maybe("version", about.version.as_ref())
            .maybe("temporalCoverage", period)
            .maybe("spatialCoverage", place)
            .list("citation", citations)
            .list("mentions", mentions)
    }

    /// Adds an entity unless its identifier is taken, and returns a reference to it.
    fn add<'a>(
        &mut self,
        kind: &str,
        id: String,
        name: &str,
        more: impl IntoIterator<Item = (&'static str, &'a str)>,
    ) -> Json {
        if self.taken.insert(id.clone()) {
            let entity = Map::default().with("@id", &id).with("@type", kind).with("name", name);
            self.all.push(
                more.into_iter().fold(entity, |entity, (key, value)| entity.with(key, value)),
            );
        }
        reference(id)
    }

    /// Adds an entity that has only a name.
    fn named(&mut self, kind: &str, name: &str) -> Json {
        self.add(kind, format!("#{kind}-{}", encoded(name)), name, [])
    }

    fn agent(&mut self, agent: &Agent) -> Json {
        let kind = if agent.is_organization { "Organization" } else { "Person" };
        let is_ror = |url: &&String| url.starts_with("https://ror.org/");
        let registered = agent.orcid.as_ref().or(agent.url.as_ref().filter(is_ror));
        let id = registered.cloned().unwrap_or_else(|| format!("#{kind}-{}", encoded(&agent.name)));
        if self.taken.insert(id.clone()) {
            let institution = agent.institution.as_ref();
            let affiliation = institution.map(|name| self.named("Organization", name));
            let entity = Map::default().with("@id", &id).with("@type", kind);
            self.all.push(
                entity
                    .with("name", &agent.name)
                    .maybe("email", agent.email.as_ref())
                    .maybe("url", agent.url.as_ref().filter(|_| registered.is_none()))
                    .maybe("affiliation", affiliation),
            );
        }
        reference(id)
    }
}
