//! Valid bags of every version and in every allowed format.

use super::{Bag, CONTAINERS, CONTENT, DIGESTS, codes, digest, line};
use tempfile::TempDir;

use crate::run::{extract, ra};

/// Verifies a bag in every container, allows only the findings `warnings`, and extracts its payload.
#[track_caller]
fn accepted(what: &str, bag: &Bag, version: &str, warnings: &[&str]) {
    for container in CONTAINERS {
        let ran = bag.verify(container, &[]);
        let json = ran.json();
        let found: Vec<_> = codes(&json).into_iter().map(|(code, _)| code).collect();
        assert_eq!(found, warnings, "{what} {container}: {}", ran.said());
        assert_eq!(json["bag"]["version"], version, "{what}");
        assert_eq!(json["bag"]["complete"], true, "{what}");
        assert_eq!(json["bag"]["valid"], true, "{what}");
        ran.exits(0);
        let fast = bag.verify(container, &["--fast"]).exits(0).json();
        assert_eq!(fast["bag"]["complete"], true, "{what}");
        assert_eq!(fast["bag"]["valid"], false, "{what}: nothing was hashed");
        let scratch = TempDir::new().unwrap();
        let target = bag.write(scratch.path(), container);
        let got = ra("get", &[&target], &["deep/b c.txt"]).exits(0);
        assert_eq!(got.out, CONTENT.as_bytes(), "{what}");
        if container != "/" {
            let into = TempDir::new().unwrap();
            extract(&target, into.path(), &[]).exits(0);
            let payload = std::fs::read(into.path().join("exp/data/a.txt")).unwrap();
            assert_eq!(payload, CONTENT.as_bytes(), "{what}");
        }
    }
}

#[test]
fn every_version_has_its_own_rules() {
    for version in ["0.93", "0.94", "0.95", "0.96", "0.97", "1.0"] {
        accepted(version, &Bag::new().version(version), version, &[]);
    }
    // Before 0.96 the metadata file had another name, and a wrong size in it is reported.
    let old = Bag::new().version("0.95").file("package-info.txt", "Payload-Oxum: 1.1\n");
    let json = old.verify(".zip", &[]).exits(1).json();
    assert_eq!(codes(&json), [("BAG004".to_owned(), "error".to_owned())]);
    // Before 1.0 one of several manifests is enough, spaces around colons are allowed, and `%` is not decoded.
    let loose = Bag::new()
        .file("bagit.txt", "BagIt-Version : 0.97\nTag-File-Character-Encoding:UTF-8\n")
        .file("bag-info.txt", "Contact-Name : x\n")
        .file("data/%25", CONTENT)
        .append("manifest-sha256.txt", &line("data/%25"))
        .file("manifest-md5.txt", format!("{}  data/a.txt\n", digest("md5")));
    accepted("loose", &loose, "0.97", &[]);
}

#[test]
fn every_algorithm_is_checked_and_weak_ones_cause_warnings() {
    for (algorithm, digest) in DIGESTS {
        let name = format!("manifest-{algorithm}.txt");
        let lines = |digest: &str| format!("{digest}  data/a.txt\n{digest}  data/deep/b c.txt\n");
        let bag = Bag::new().without("manifest-sha256.txt").file(&name, lines(digest));
        let weak: &[&str] = if digest.len() <= 40 { &["MAN007"] } else { &[] };
        accepted(algorithm, &bag, "1.0", weak);
        let wrong = bag.file(&name, lines(&digest.replace('2', "3")));
        for container in CONTAINERS {
            let json = wrong.verify(container, &[]).exits(1).json();
            let wrong = codes(&json).iter().filter(|(code, _)| code == "MAN003").count();
            assert_eq!(wrong, 2, "{algorithm}");
            assert_eq!(json["bag"]["complete"], true);
            assert_eq!(json["bag"]["valid"], false);
        }
    }
}

#[test]
#[ignore = "slow"]
fn line_ends_and_encodings_are_free() {
    type Encode = fn(&str) -> Vec<u8>;
    let encodings: [(&str, Encode); 6] = [
        ("UTF-8", |text| text.as_bytes().to_vec()),
        ("utf-8", |text| text.as_bytes().to_vec()),
        ("UTF-16", |text| {
            let text = format!("\u{feff}{text}");
            text.encode_utf16().flat_map(u16::to_le_bytes).collect()
        }),
        ("UTF-16LE", |text| text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("UTF-16BE", |text| text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
        ("ISO-8859-1", |text| text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()),
    ];
    for (name, encode) in encodings {
        for end in ["\n", "\r\n", "\r"] {
            for version in ["0.97", "1.0"] {
                let text = |text: &str| encode(&text.replace('\n', end));
                let declaration =
                    format!("BagIt-Version: {version}\nTag-File-Character-Encoding: {name}\n");
                let manifest =
                    line("data/a.txt") + &line("data/deep/b c.txt") + &line("data/é.txt");
                let bag = Bag::new()
                    .file("bagit.txt", declaration.replace('\n', end))
                    .file("bag-info.txt", text("Contact-Name: É\n  folded\nPayload-Oxum: 9.3"))
                    .file("data/é.txt", CONTENT)
                    .file("manifest-sha256.txt", text(&manifest));
                let tags = text(&bag.tag_lines());
                let bag = bag.untagged().file("tagmanifest-sha256.txt", tags);
                accepted(&format!("{name} {end:?}"), &bag, version, &[]);
            }
        }
    }
}

#[test]
fn encoded_names_are_decoded_once() {
    let bag = Bag::new()
        .file("data/100%.txt", CONTENT)
        .file("data/%25", CONTENT)
        .file("bag-info.txt", "Payload-Oxum: 12.4\n")
        .append("manifest-sha256.txt", &(line("data/100%25.txt") + &line("data/%2525")));
    accepted("percent", &bag, "1.0", &[]);
}

#[test]
fn a_bag_with_fetched_files_is_valid() {
    let bag = Bag::new().file("fetch.txt", "https://example.org/a%20 3 data/a.txt\n");
    accepted("fetched", &bag, "1.0", &[]);
}

#[test]
fn an_ro_crate_is_recognized_at_the_root_and_in_the_payload() {
    let crates = Bag::new()
        .file("data/ro-crate-metadata.json", CONTENT)
        .file("bag-info.txt", "Payload-Oxum: 9.3\n")
        .append("manifest-sha256.txt", &line("data/ro-crate-metadata.json"));
    for (container, name) in
        [("/", "data/ro-crate-metadata.json"), (".zip", "exp/data/ro-crate-metadata.json")]
    {
        assert_eq!(crates.verify(container, &[]).exits(0).json()["ro_crate"], name);
    }
    let beside = Bag::new().file("ro-crate-metadata.json", "{}");
    assert_eq!(
        beside.verify(".tar", &[]).exits(0).json()["ro_crate"],
        "exp/ro-crate-metadata.json"
    );
    assert!(Bag::new().verify(".zip", &[]).json().get("ro_crate").is_none());
}
