//! A dataset of Croissant 1.1: the archive, and the set of its arrays. Croissant has no word for the elements of an array
//! file, so there are no record sets.

use super::json::{Json, Map, reference};
use super::model::{About, Agent};
use super::{ArchiveFile, MEDIA_TYPE};

/// The context of Croissant 1.1, which programs expect word for word.
const CONTEXT: &str = r#"{
    "@language": "en", "@vocab": "https://schema.org/", "arrayShape": "cr:arrayShape", "citeAs": "cr:citeAs",
    "column": "cr:column", "conformsTo": "dct:conformsTo", "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/", "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"}, "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/", "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty", "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract", "field": "cr:field", "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject", "fileSet": "cr:fileSet", "format": "cr:format", "includes": "cr:includes",
    "isArray": "cr:isArray", "isLiveDataset": "cr:isLiveDataset", "jsonPath": "cr:jsonPath", "key": "cr:key",
    "md5": "cr:md5", "name": {"@container": "@language"}, "parentField": "cr:parentField", "path": "cr:path",
    "recordSet": "cr:recordSet", "references": "cr:references", "regex": "cr:regex", "repeated": "cr:repeated",
    "replace": "cr:replace", "samplingRate": "cr:samplingRate", "sc": "https://schema.org/"
  }"#;

/// Returns the dataset of a pack.
pub(super) fn dataset(about: &About, archive: &ArchiveFile) -> Json {
    let file = Map::default()
        .with("@type", "cr:FileObject")
        .with("@id", "archive")
        .with("name", &archive.name)
        .with("contentUrl", &archive.name)
        .with("contentSize", format!("{} B", archive.size))
        .with("encodingFormat", archive.media_type)
        .maybe("sha256", archive.sha256.as_ref());
    let arrays = Map::default()
        .with("@type", "cr:FileSet")
        .with("@id", "arrays")
        .with("name", "arrays")
        .with("containedIn", reference("archive"))
        .with("encodingFormat", MEDIA_TYPE)
        .with("includes", "*.ra");
    let licence = about.licence.as_ref();
    Map::default()
        .with("@context", Json::Raw(CONTEXT))
        .with("@type", "sc:Dataset")
        .with("conformsTo", "http://mlcommons.org/croissant/1.1")
        .maybe("name", about.title.as_ref())
        .maybe("description", about.summary.as_ref())
        .maybe("license", licence.map(|it| it.url.as_ref().unwrap_or(&it.name)))
        .maybe("datePublished", about.published.as_ref())
        .maybe("dateCreated", about.created.as_ref())
        .maybe("dateModified", about.modified.as_ref())
        .maybe("url", about.address())
        .list("creator", about.creators.iter().map(of_agent))
        .list("publisher", about.publisher.iter().map(of_agent))
        .list("keywords", &about.keywords)
        .maybe("citeAs", about.cited())
        .maybe("version", about.version.as_ref())
        .list("distribution", [file, arrays])
        .into()
}

fn of_agent(agent: &Agent) -> Map {
    Map::default()
        .with("@type", if agent.is_organization { "sc:Organization" } else { "sc:Person" })
        .with("name", &agent.name)
        .maybe("url", agent.orcid.as_ref().or(agent.url.as_ref()))
        .maybe("email", agent.email.as_ref())
}
