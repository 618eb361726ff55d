//! The word of a store: one request for the checksums that it keeps, which are compared with the archive.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::server::{ANY, Answer, Request, Server};
use super::{arrays, experiment, run, run_with};
use crate::run::Ran;

const MIB: usize = 1 << 20;

/// CRC64NVME bit by bit, as its definition has it.
fn crc64nvme(bytes: &[u8]) -> u64 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u64::from(*byte), |crc: u64, _| {
            if crc & 1 == 1 { (crc >> 1) ^ 0x9a6c_9329_ac4b_c9b5 } else { crc >> 1 }
        })
    })
}

fn crc_of(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(crc64nvme(bytes).to_be_bytes())
}

/// The answer of S3 to a request for the attributes of an object.
pub(crate) fn attributes(object: &[u8]) -> Answer {
    Answer::new("200 OK")
        .with("Content-Length", object.len().to_string())
        .with("x-amz-checksum-crc64nvme", crc_of(object))
        .with("x-amz-checksum-type", "FULL_OBJECT")
}

/// The SHA-256 of the SHA-256 of parts, as S3 shows it.
fn sha_of_parts(bytes: &[u8], part: usize) -> String {
    let parts: Vec<_> = bytes.chunks(part).map(Sha256::digest).collect();
    let sum = BASE64_STANDARD.encode(Sha256::digest(parts.concat()));
    format!("{sum}-{}", parts.len())
}

/// An archive on this machine, and a store.
struct Case {
    place: TempDir,
    server: Server,
}

type Headers = Vec<(&'static str, String)>;

impl Case {
    /// The store answers with the length of the archive and these headers.
    fn new(archive: &[u8], headers: Headers) -> Self {
        let length = ("Content-Length", archive.len().to_string());
        let answer = headers
            .into_iter()
            .fold(Answer::new("200 OK"), |answer, (name, value)| answer.with(name, value));
        let is_said = answer.headers.iter().any(|(name, _)| *name == length.0);
        let answer = if is_said { answer } else { answer.with(length.0, length.1) };
        Self::answering(archive, move |_| answer.clone())
    }

    fn answering(
        archive: &[u8],
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let files = [(ANY.to_owned(), Vec::new())].into();
        let server = Server::start(files, Duration::ZERO, move |request, _| answer(request));
        let place = TempDir::new().unwrap();
        fs::write(place.path().join("x y.zip"), archive).unwrap();
        Self { place, server }
    }

    fn archive(&self) -> PathBuf {
        self.place.path().join("x y.zip")
    }

    fn run(&self, args: &[&str]) -> Ran {
        let endpoint = format!("http://{}", self.server.host());
        let variables = [
            ("AWS_ENDPOINT_URL", &*endpoint),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "eu-central-1"),
        ];
        run_with(args, &variables)
    }

    fn verify(&self, options: &[&str]) -> Ran {
        let archive = self.archive().display().to_string();
        self.run(&[&["verify", &archive, "--store", "s3://bucket/a/"], options].concat())
    }

    /// Checks that the store agrees after one request.
    #[track_caller]
    fn agrees(&self, by: &str, value: &str) {
        let ran = self.verify(&[]).exits(0);
        let out = String::from_utf8(ran.out).unwrap();
        let (verdict, word) = out.trim_end().split_once('\n').unwrap();
        assert!(verdict.contains("x y.zip: valid ("), "{out}");
        let archive = self.archive().display().to_string();
        let said =
            format!("  the store agrees with {archive}: {by} {value} of s3://bucket/a/x%20y.zip");
        assert_eq!(word, said);
        let requests = self.server.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        let request = &requests[0];
        assert_eq!(request.method, "HEAD");
        assert_eq!(request.header("x-amz-checksum-mode"), Some("ENABLED"));
        let (path, query) = request.path.split_once('?').unwrap();
        assert_eq!(path, "/bucket/a/x%20y.zip");
        assert!(query.contains("X-Amz-SignedHeaders=host%3Bx-amz-checksum-mode&"), "{query}");
        assert!(query.contains("X-Amz-Signature="), "{query}");
        let json = self.verify(&["--json"]).exits(0).json();
        let word = serde_json::json!({
            "url": "s3://bucket/a/x%20y.zip", "outcome": "agrees", "checksum": by, "value": value
        });
        assert_eq!(json["store"], word);
    }

    /// Checks that the only problem is this one, and that the words do not call the object valid.
    #[track_caller]
    fn refused(&self, code: &str, outcome: &str, said: &[&str]) {
        let ran = self.verify(&[]).exits(1).says(said);
        let out = String::from_utf8(ran.out).unwrap();
        assert!(
            !out.contains("agrees") && !out.contains("intact") && !out.contains(": valid"),
            "{out}"
        );
        let ran = self.verify(&["--json"]).exits(1);
        assert_eq!(ran.findings(), [(code.to_owned(), String::new())]);
        assert_eq!(ran.json()["store"]["outcome"], outcome);
        assert_eq!(ran.json()["verdict"], "not_valid");
    }
}

#[test]
fn the_store_agrees_by_a_checksum_of_the_whole_object() {
    assert_eq!(crc64nvme(b"123456789"), 0xae8b_1486_0a79_9888);
    let archive = experiment("x.zip");
    let kind = || ("x-amz-checksum-type", "FULL_OBJECT".to_owned());
    let crc = crc_of(&archive);
    Case::new(&archive, vec![("x-amz-checksum-crc64nvme", crc.clone()), kind()])
        .agrees("CRC64NVME", &crc);
    // Some stores do not say the kind.
    let sha = BASE64_STANDARD.encode(Sha256::digest(&archive));
    let header = || ("x-amz-checksum-sha256", sha.clone());
    for headers in [vec![header(), kind()], vec![header()]] {
        Case::new(&archive, headers).agrees("SHA-256", &sha);
    }
    for (header, name, polynomial, check) in [
        ("x-amz-checksum-crc32", "CRC32", 0xedb8_8320, 0xcbf4_3926),
        ("x-amz-checksum-crc32c", "CRC32C", 0x82f6_3b78, 0xe306_9283),
    ] {
        assert_eq!(crc32_by(polynomial, b"123456789"), check);
        let crc = BASE64_STANDARD.encode(crc32_by(polynomial, &archive).to_be_bytes());
        Case::new(&archive, vec![(header, crc.clone())]).agrees(name, &crc);
    }
}

/// A reflected CRC of 32 bits, bit by bit.
fn crc32_by(polynomial: u32, bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc: u32, _| {
            if crc & 1 == 1 { (crc >> 1) ^ polynomial } else { crc >> 1 }
        })
    })
}

#[test]
fn the_store_agrees_by_the_digests_of_parts() {
    let archive = arrays(3, 1_000_000);
    let composite = || ("x-amz-checksum-type", "COMPOSITE".to_owned());
    let header = |value: &str| ("x-amz-checksum-sha256", value.to_owned());
    for (part, by) in [
        (5 * MIB, "SHA-256 of 3 parts of 5 MiB"),
        (8 * MIB, "SHA-256 of 2 parts of 8 MiB"),
        (16 * MIB, "SHA-256 of 1 part"),
        // No program's default, but the shortest parts of which there are two.
        (6 * MIB, "SHA-256 of 2 parts of 6 MiB"),
    ] {
        let sum = sha_of_parts(&archive, part);
        Case::new(&archive, vec![header(&sum), composite()]).agrees(by, &sum);
    }
    // Some stores say the number of parts only with the entity tag.
    let sum = sha_of_parts(&archive, 8 * MIB);
    let (sum, tag) = (sum.strip_suffix("-2").unwrap(), ("ETag", "\"9b2cf535-2\"".to_owned()));
    for headers in [vec![header(sum), tag.clone()], vec![header(sum), tag, composite()]] {
        Case::new(&archive, headers).agrees("SHA-256 of 2 parts of 8 MiB", sum);
    }
    // A part that was changed.
    let mut other = archive.clone();
    other[9 * MIB] ^= 1;
    let sum = sha_of_parts(&other, 8 * MIB);
    let own = sha_of_parts(&archive, 8 * MIB);
    let case = Case::new(&archive, vec![header(&sum), composite()]);
    let own = own.strip_suffix("-2").unwrap();
    let said = format!("SHA-256 of 2 parts of 8 MiB {own}");
    case.refused("STORE001", "differs", &[&said, &format!("SHA-256 {sum}"), "another checksum"]);
    // So many parts have no usual size.
    let sum = sha_of_parts(&archive, MIB / 2);
    let case = Case::new(&archive, vec![header(&sum), composite()]);
    case.refused("STORE003", "no_checksum", &["no checksum", "aws s3 cp"]);
}

#[test]
fn another_object_is_an_error() {
    let archive = experiment("x.zip");
    let crc = |bytes: &[u8]| ("x-amz-checksum-crc64nvme", crc_of(bytes));
    let mut other = archive.clone();
    other[100] ^= 1;
    Case::new(&archive, vec![crc(&other)]).refused(
        "STORE001",
        "differs",
        &["STORE001", &crc_of(&archive), &crc_of(&other), "s3://bucket/a/x%20y.zip"],
    );
    // The length decides before any checksum.
    Case::new(&archive, vec![crc(&archive), ("Content-Length", "10".to_owned())]).refused(
        "STORE001",
        "differs",
        &["another length", &format!("{} bytes", archive.len()), "10 bytes"],
    );
    // One of two checksums is of other bytes.
    let sha = ("x-amz-checksum-sha256", BASE64_STANDARD.encode(Sha256::digest(&other)));
    Case::new(&archive, vec![crc(&archive), sha]).refused("STORE001", "differs", &["SHA-256"]);
    Case::answering(&archive, |_| Answer::new("404 Not Found")).refused(
        "STORE002",
        "no_object",
        &["there is no object `s3://bucket/a/x%20y.zip`"],
    );
}

#[test]
fn an_object_without_a_checksum_is_no_agreement() {
    let archive = experiment("x.zip");
    let crc = crc_of(&archive);
    let sha = BASE64_STANDARD.encode(Sha256::digest(&archive));
    let of = |name, value: &str| vec![(name, value.to_owned())];
    for headers in [
        vec![],
        of("ETag", "\"9b2cf535f27731c974343645a3985328\""),
        of("x-amz-checksum-sha1", "2jmj7l5rSw0yVb/vlWAYkK/YBwk="),
        of("x-amz-checksum-crc64nvme", ""),
        of("x-amz-checksum-crc64nvme", "-1"),
        of("x-amz-checksum-crc64nvme", "!!!"),
        of("x-amz-checksum-crc64nvme", &crc[..8]),
        of("x-amz-checksum-crc64nvme", &format!("{crc}\u{e9}")),
        of("x-amz-checksum-sha256", &crc),
        of("x-amz-checksum-sha256", &format!("{sha}-0")),
        of("x-amz-checksum-sha256", &format!("{sha}-x")),
        of("x-amz-checksum-sha256", &format!("{sha}-18446744073709551615")),
        of("x-amz-checksum-sha256", &format!("{sha}-18446744073709551616")),
        // The kind contradicts the number of parts.
        [of("x-amz-checksum-sha256", &sha), of("x-amz-checksum-type", "COMPOSITE")].concat(),
        [
            of("x-amz-checksum-sha256", &format!("{sha}-1")),
            of("x-amz-checksum-type", "FULL_OBJECT"),
        ]
        .concat(),
    ] {
        let case = Case::new(&archive, headers);
        let next = "aws s3 cp --checksum-algorithm CRC64NVME";
        case.refused("STORE003", "no_checksum", &["no checksum", next]);
    }
}

#[test]
fn a_store_that_does_not_answer_is_asked_before_the_archive_is_read() {
    let case = Case::answering(b"not read", |_| Answer::new("403 Forbidden"));
    case.verify(&[]).exits(2).says(&["s3://bucket/a/x%20y.zip", "403", "AWS_ACCESS_KEY_ID"]);
    assert_eq!(case.server.requests().len(), 1);
    let moved =
        |_: &Request| Answer::new("301 Moved Permanently").with("x-amz-bucket-region", "eu-west-1");
    Case::answering(b"not read", moved).verify(&[]).exits(2).says(&["`AWS_REGION`", "`eu-west-1`"]);
    // A busy store is asked again.
    let archive = experiment("x.zip");
    let good = attributes(&archive);
    let case = Case::answering(&archive, move |request| match request.number {
        0 => Answer::new("503 Slow Down").with("Retry-After", "0"),
        _ => good.clone(),
    });
    case.verify(&[]).exits(0);
    assert_eq!(case.server.requests().len(), 2);
}

#[test]
fn a_request_without_credentials_is_not_signed() {
    let archive = experiment("x.zip");
    let case = Case::new(&archive, vec![("x-amz-checksum-crc64nvme", crc_of(&archive))]);
    let (path, endpoint) =
        (case.archive().display().to_string(), format!("http://{}", case.server.host()));
    let args = ["verify", &path, "--store", "s3://bucket/x.zip"];
    run_with(&args, &[("AWS_ENDPOINT_URL", &endpoint)]).exits(0);
    let requests = case.server.requests();
    assert_eq!(requests.iter().map(|it| &*it.path).collect::<Vec<_>>(), ["/bucket/x.zip"]);
    assert_eq!(requests[0].header("x-amz-checksum-mode"), Some("ENABLED"));
    assert_eq!(requests[0].header("authorization"), None);
}

#[test]
fn the_word_of_the_store_is_logged_and_audited() {
    let archive = experiment("x.zip");
    let place = TempDir::new().unwrap();
    let at = |name: &str| place.path().join(name).display().to_string();
    let audit = |log: &str| {
        let (page, log) = (at("page.html"), at(log));
        let out = run(&["audit", &log, "--all", "--html", &page, "--force"]).out;
        let json = run(&["audit", &log, "--json"]).json();
        let page = fs::read_to_string(page).unwrap();
        assert!(page.contains("<th>Store</th>"));
        (String::from_utf8(out).unwrap(), json["targets"][0].clone(), page)
    };
    let good = Case::new(&archive, vec![("x-amz-checksum-crc64nvme", crc_of(&archive))]);
    good.verify(&["--log", &at("good")]).exits(0);
    let (out, target, page) = audit("good");
    assert!(out.contains(", store: agrees (CRC64NVME)\n"), "{out}");
    assert_eq!(target["store"]["outcome"], "agrees");
    assert!(page.contains("<td>agrees (CRC64NVME)</td>"));
    let bad = Case::new(&archive, vec![("x-amz-checksum-crc64nvme", crc_of(b""))]);
    bad.verify(&["--log", &at("bad")]).exits(1);
    let (out, target, page) = audit("bad");
    assert!(out.contains("bad, never good, store: differs: the object"), "{out}");
    assert_eq!((&target["state"], &target["store"]["outcome"]), (&"bad".into(), &"differs".into()));
    assert!(page.contains("<td>differs</td>"));
    run(&["verify", &bad.archive().display().to_string(), "--log", &at("none")]).exits(0);
    assert!(audit("none").1["store"].is_null());
}

#[test]
fn other_stores_and_targets_are_refused() {
    let place = TempDir::new().unwrap();
    let archive = place.path().join("x.zip").display().to_string();
    fs::write(&archive, experiment("x.zip")).unwrap();
    let to = |store: &str, target: &str| run(&["verify", target, "--store", store]).exits(2);
    for store in ["https://h/x.zip", "gs://b/x.zip", "az://b/x.zip", "x.zip", "S3:/b"] {
        to(store, &archive).says(&[store, "is not in S3", "`s3://BUCKET/PATH`"]);
    }
    to("s3://b/x.zip?versionId=secret", &archive).says(&["query", "leave it out"]);
    to("s3://bucket", &archive).says(&["names a bucket"]);
    to("s3://bucket/", "examples/experiment").says(&["is not a file"]);
    to("s3://bucket/", "s3://bucket/x.zip").says(&["is not a file"]);
    let two = ["verify", &archive, &archive, "--store", "s3://bucket/x.zip"];
    run(&two).exits(2).says(&["ends in `/`"]);
    run(&["verify", &archive, "--store", "s3://bucket/", "--fast"]).exits(2).says(&["--fast"]);
    run(&["verify", &archive, "--store", "s3://b/", "--shard", "1/2"]).exits(2).says(&["--shard"]);
}

#[test]
fn create_prints_what_s3_will_show() {
    let place = TempDir::new().unwrap();
    let archive = place.path().join("x.zip").display().to_string();
    let create = |source: &str, options: &[&str]| {
        let args = ["create", source, "-o", &archive, "--store-checksums", "--force"];
        run(&[&args, options].concat()).exits(0)
    };
    let ran = create("examples/experiment", &[]);
    let bytes = fs::read(&archive).unwrap();
    let sha = BASE64_STANDARD.encode(Sha256::digest(&bytes));
    let said = format!("S3 shows CRC64NVME {} or SHA-256 {sha}\n", crc_of(&bytes));
    assert!(ran.err.contains(&said), "{}", ran.err);
    // A longer archive is sent in parts.
    let source = place.path().join("exp");
    fs::create_dir(&source).unwrap();
    fs::write(source.join("x.bin"), vec![7; 17 * MIB]).unwrap();
    let json = create(source.to_str().unwrap(), &["--json"]).json();
    let bytes = fs::read(&archive).unwrap();
    let sums = &json["store_checksums"];
    assert_eq!(sums["sha256"], sha_of_parts(&bytes, 8 * MIB));
    assert_eq!(sums["part_size"], 8 * MIB);
    // The store says the same, and `verify` agrees.
    let crc = sums["crc64nvme"].as_str().unwrap();
    Case::new(&bytes, vec![("x-amz-checksum-crc64nvme", crc.to_owned())]).agrees("CRC64NVME", crc);
    for target in ["-", "s3://bucket/x.zip"] {
        let args = ["create", "examples/experiment", "-o", target, "--store-checksums"];
        run(&[&args[..], &["--container", "zip"]].concat())
            .exits(2)
            .says(&["archive that is a file"]);
    }
}
