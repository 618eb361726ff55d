//! Checks of remote packs, and refusals.

use std::fs;

use ra_pack::verify::VerifyOptions;
use ra_pack::write::CreateOptions;
use ra_pack::{Pack, create, verify};
use tempfile::TempDir;

use super::server::{Server, serve};
use super::{arrays, experiment, run};
use crate::run::ENDINGS;

#[test]
fn verify_reads_each_byte_once_in_large_parts() {
    // 30 MB: several parts.
    let file = arrays(10, 750_000);
    let len = file.len();
    let server = Server::of("x.zip", file);
    let report = verify(server.url("x.zip"), &VerifyOptions::default()).unwrap();
    assert!(report.is_valid() && report.findings.is_empty(), "{:?}", report.findings);
    assert!(report.contents_read);
    let requests = server.requests();
    let ranges = requests.iter().map(|request| request.range(len).unwrap());
    let bytes: usize = ranges.map(|(first, end)| end - first).sum();
    // The last 256 KiB are read first, and the parts are up to 8 MiB.
    assert!(bytes <= len + len / 20, "{bytes} of {len}");
    assert!(requests.len() <= 12, "{} requests", requests.len());
}

#[test]
fn a_flipped_byte_is_found() {
    let mut file = arrays(4, 100_000);
    file[500_000] ^= 1;
    let server = Server::of("x.zip", file);
    let url = server.url("x.zip");
    run(&["verify", &url]).exits(1).says(&["a00001.ra"]);
    run(&["get", &url, "a00001.ra"]).exits(1);
    run(&["get", &url, "a00000.ra"]).exits(0);
    // A slice of other bytes is not checked.
    run(&["get", &url, "a00001.ra", "--slice", "0:2", "--no-verify"]).exits(0);
}

#[test]
fn a_manifest_at_home_checks_a_remote_pack() {
    let place = TempDir::new().unwrap();
    let (file, other) = (experiment("exp.zip"), arrays(4, 10));
    let local = place.path().join("exp.zip");
    create("examples/experiment", &local, &CreateOptions::default()).unwrap();
    let manifest = place.path().join("exp.zip.manifest-sha256.txt");
    let text = run(&["manifest", local.to_str().unwrap()]).exits(0).out;
    fs::write(&manifest, text).unwrap();
    let manifest = manifest.to_str().unwrap();
    let server = Server::of("exp.zip", file);
    run(&["verify", &server.url("exp.zip"), "--manifest", manifest]).exits(0);
    let server = Server::of("exp.zip", other);
    run(&["verify", &server.url("exp.zip"), "--manifest", manifest]).exits(1);
}

#[test]
fn tars_are_verified_and_otherwise_need_a_download() {
    for ending in ENDINGS.iter().filter(|ending| **ending != ".zip") {
        let name = format!("exp{ending}");
        let server = Server::of(&name, experiment(&name));
        let url = server.url(&name);
        run(&["verify", &url]).exits(0);
        for command in ["list", "info", "show"] {
            run(&[command, &url]).exits(2).says(&["read from its beginning", "--download"]);
        }
        let array = "thermistors/temperature.ra";
        run(&["get", &url, array]).exits(2).says(&["--download"]);
        let got = run(&["get", &url, array, "--download"]).exits(0).out;
        let pack = Pack::open("examples/experiment").unwrap();
        assert_eq!(got, pack.read(array).unwrap(), "{ending}");
    }
}

#[test]
fn commands_that_write_refuse_urls() {
    let place = TempDir::new().unwrap();
    let local = place.path().join("exp.zip");
    fs::write(&local, experiment("exp.zip")).unwrap();
    let local = local.to_str().unwrap();
    let url = "https://example.org/out.zip";
    let array = "https://example.org/out.ra";
    for args in [
        &["create", "examples/experiment", "-o", url][..],
        &["extract", local, "-C", url],
        &["get", local, "thermistors/temperature.ra", "-o", array],
        &["report", local, "-o", "https://example.org/out.html"],
        &["plot", local, "thermistors/temperature.ra", "-o", "https://example.org/out.svg"],
        &["add", url, "README.md"],
    ] {
        run(args).exits(2).says(&["URL"]);
    }
}

#[test]
fn audits_of_urls_skip_the_version_that_was_verified() {
    let place = TempDir::new().unwrap();
    let log = place.path().join("audit.jsonl");
    let log = log.to_str().unwrap();
    let server = Server::of("exp.zip", experiment("exp.zip"));
    let url = format!("{}?signature=secret", server.url("exp.zip"));
    let verify = |url: &str| run(&["verify", url, "--log", log, "--max-age", "90d"]).exits(0);
    verify(&url);
    let text = fs::read_to_string(log).unwrap();
    assert!(!text.contains("secret"), "{text}");
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(line["e_tag"], "\"v1\"");
    // The digest of the query, which is a secret, is a part of the name.
    let digest = crate::bytes::sha256(b"signature=secret");
    assert_eq!(line["target"], format!("{} (query {})", server.url("exp.zip"), &digest[..16]));
    assert_eq!(line["modified"], "2026-11-23T10:00:00Z");
    server.requests();
    // The version is asked for with one request.
    verify(&url).says(&["1 verified recently"]);
    assert_eq!(server.requests().len(), 1);
    run(&["audit", log, "--max-age", "90d"]).exits(0);
    // Another version is verified again.
    fs::write(log, text.replace("v1", "v0")).unwrap();
    assert!(!verify(&url).err.contains("recently"));
    assert_eq!(fs::read_to_string(log).unwrap().lines().count(), 2);
    // A pack that is gone has a line, too.
    run(&["verify", &server.url("gone.zip"), "--log", log]).exits(2);
    run(&["audit", log]).exits(1).says(&["gone.zip: missing"]);
}

#[test]
fn urls_that_differ_in_the_query_are_different_targets() {
    let place = TempDir::new().unwrap();
    let (log, list) = (place.path().join("audit.jsonl"), place.path().join("list"));
    let (log, list) = (log.to_str().unwrap(), list.to_str().unwrap());
    let mut damaged = experiment("exp.zip");
    damaged[5000] ^= 1;
    let server = Server::answering("get", experiment("exp.zip"), move |request, file| {
        serve(request, if request.path.ends_with("=2") { &damaged } else { file })
    });
    let urls = ["1", "2"].map(|id| format!("{}?id={id}", server.url("get")));
    fs::write(list, urls.join("\n")).unwrap();
    for args in [&["verify", &*urls[1], &*urls[0]][..], &["verify", "--files-from", list]] {
        let ran = run(&[args, &["--log", log]].concat()).exits(1);
        ran.says(&["2 targets: 1 valid, 1 NOT VALID"]);
        assert!(!fs::read_to_string(log).unwrap().contains("id="));
        run(&["audit", log]).exits(1).says(&["2 packs: 1 bad, 1 good"]);
        run(&["audit", log, "--files-from", list]).exits(1).says(&["2 packs: 1 bad, 1 good"]);
    }
}
