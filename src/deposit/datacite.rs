//! A record of `DataCite`, in the JSON of kernel 4.

use super::json::{Json, Map};
use super::model::{About, Agent, Licence, doi_of, is_url};
use super::{ArchiveFile, MEDIA_TYPE};

/// Returns the record of a pack with this number of arrays.
pub(super) fn record(about: &About, arrays: usize, archive: Option<&ArchiveFile>) -> Json {
    let one = |key, text: &String| Map::default().with(key, text);
    let period = about.period.as_ref().map(|(start, end)| format!("{start}/{end}"));
    let dates = [
        (&about.published, "Issued"),
        (&about.created, "Created"),
        (&about.modified, "Updated"),
        (&period, "Collected"),
    ];
    let dates = dates.into_iter().filter_map(|(date, kind)| Some((date.as_ref()?, kind)));
    let types =
        Map::default().with("resourceTypeGeneral", "Dataset").with("resourceType", "Dataset");
    let contributors = about.contributors.iter();
    let contributors = contributors.map(|it| of_agent(it).with("contributorType", "Other"));
    let abstracts = about.summary.iter();
    let abstracts =
        abstracts.map(|text| one("description", text).with("descriptionType", "Abstract"));
    let bytes = archive.map(|archive| format!("{} bytes", archive.size));
    let container = archive.map(|archive| archive.media_type);
    Map::default()
        .maybe("doi", about.doi.as_ref())
        .maybe("url", about.url.as_ref())
        .with("types", types)
        .list("titles", about.title.iter().map(|title| one("title", title)))
        .list("creators", about.creators.iter().map(of_agent))
        .maybe("publisher", about.publisher.as_ref().map(|publisher| one("name", &publisher.name)))
        .maybe("publicationYear", about.published.as_deref().and_then(|date| date.get(..4)))
        .list("subjects", about.keywords.iter().map(|keyword| one("subject", keyword)))
        .list("contributors", contributors)
        .list("dates", dates.map(|(date, kind)| one("date", date).with("dateType", kind)))
        .list("descriptions", abstracts)
        .list("rightsList", about.licence.iter().map(of_licence))
        .list("fundingReferences", about.funding.iter().map(|text| one("funderName", text)))
        .list("relatedIdentifiers", about.references.iter().filter_map(|text| related(text)))
        .list("geoLocations", about.bounds.map(of_bounds))
        .list("sizes", bytes.into_iter().chain([format!("{arrays} arrays")]))
        .list("formats", container.into_iter().chain([MEDIA_TYPE]))
        .maybe("version", about.version.as_ref())
        .with("schemaVersion", "http://datacite.org/schema/kernel-4")
        .into()
}

fn of_agent(agent: &Agent) -> Map {
    let parts = agent.name.split_once(", ").filter(|_| !agent.is_organization);
    let orcid = agent.orcid.iter().map(|orcid| {
        Map::default()
            .with("nameIdentifier", orcid)
            .with("nameIdentifierScheme", "ORCID")
            .with("schemeUri", "https://orcid.org")
    });
    Map::default()
        .with("name", &agent.name)
        .with("nameType", if agent.is_organization { "Organizational" } else { "Personal" })
        .maybe("givenName", parts.map(|(_, given)| given))
        .maybe("familyName", parts.map(|(family, _)| family))
        .list("nameIdentifiers", orcid)
        .list("affiliation", agent.institution.iter().map(|name| Map::default().with("name", name)))
}

fn of_licence(licence: &Licence) -> Map {
    let known = licence.spdx.map(str::to_lowercase);
    Map::default()
        .with("rights", &licence.name)
        .maybe("rightsUri", licence.url.as_ref())
        .maybe("rightsIdentifierScheme", known.as_ref().map(|_| "SPDX"))
        .maybe("schemeUri", known.as_ref().map(|_| "https://spdx.org/licenses/"))
        .maybe("rightsIdentifier", known)
}

fn related(text: &str) -> Option<Map> {
    let doi = doi_of(text);
    let kind = if doi.is_some() { "DOI" } else { "URL" };
    let identifier = doi.or_else(|| is_url(text).then(|| text.to_owned()))?;
    let related = Map::default().with("relatedIdentifier", identifier);
    Some(related.with("relatedIdentifierType", kind).with("relationType", "References"))
}

fn of_bounds([south, west, north, east]: [f64; 4]) -> Map {
    let bounds = Map::default()
        .with("westBoundLongitude", Json::Number(west))
        .with("eastBoundLongitude", Json::Number(east))
        .with("southBoundLatitude", Json::Number(south))
        .with("northBoundLatitude", Json::Number(north));
    Map::default().with("geoLocationBox", bounds)
}
