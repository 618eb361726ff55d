//! Packs that are written to a bucket: the same bytes as a file, visible when they are complete, and nothing after a
//! failure.

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::server::{ANY, Answer, End, Request, Server, serve};
use super::{run, run_with};
use crate::experiment::{INT64, raw_array};

/// The content of a bucket.
#[derive(Default)]
struct Bucket {
    objects: BTreeMap<String, Vec<u8>>,
    /// The parts of uploads that are not complete, by the numbers of the uploads.
    uploads: BTreeMap<usize, BTreeMap<usize, Vec<u8>>>,
    begun: usize,
}

/// A server with one bucket.
struct S3 {
    server: Server,
    bucket: Arc<Mutex<Bucket>>,
}

/// The answer of a store to a request, if the request is not served as usual. The last argument is its number among those
/// of the same path and query.
type Fault = dyn Fn(&Request, usize, &mut Bucket) -> Option<Answer> + Send + Sync;

impl S3 {
    fn start(
        fault: impl Fn(&Request, usize, &mut Bucket) -> Option<Answer> + Send + Sync + 'static,
    ) -> Self {
        let bucket = Arc::<Mutex<Bucket>>::default();
        let (known, fault): (_, Box<Fault>) = (Arc::clone(&bucket), Box::new(fault));
        let seen = Mutex::new(BTreeMap::<String, usize>::new());
        let files = [(ANY.to_owned(), Vec::new())].into();
        let server = Server::start(files, Duration::ZERO, move |request, _| {
            let time = {
                let mut seen = seen.lock().unwrap();
                let time = seen.entry(format!("{} {}", request.method, request.path)).or_default();
                *time += 1;
                *time
            };
            let mut bucket = known.lock().unwrap();
            let answer = bucket.answer(request);
            fault(request, time, &mut bucket).unwrap_or(answer)
        });
        Self { server, bucket }
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", format!("http://{}", self.server.host())),
            ("AWS_ACCESS_KEY_ID", "key".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
            ("AWS_REGION", "eu-central-1".to_owned()),
        ]
    }

    fn run(&self, args: &[&str]) -> crate::run::Ran {
        let variables = self.variables();
        let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, &**value)).collect();
        run_with(args, &variables)
    }

    fn object(&self, name: &str) -> Option<Vec<u8>> {
        self.bucket.lock().unwrap().objects.get(&format!("/bucket/{name}")).cloned()
    }

    fn has_nothing(&self) {
        let bucket = self.bucket.lock().unwrap();
        assert!(bucket.objects.is_empty(), "{:?}", bucket.objects.keys());
        assert!(bucket.uploads.is_empty(), "{:?}", bucket.uploads.keys());
    }
}

impl Bucket {
    fn answer(&mut self, request: &Request) -> Answer {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let query: BTreeMap<_, _> =
            query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
        let upload = query.get("uploadId").map(|id| id.parse::<usize>().unwrap());
        let xml = |text: String| Answer { body: text.into_bytes(), ..Answer::new("200 OK") };
        let gone = || Answer {
            body: b"<Error><Code>NoSuchUpload</Code></Error>".to_vec(),
            ..Answer::new("404 Not Found")
        };
        match (&*request.method, upload) {
            ("GET", None) => match self.objects.get(path) {
                Some(object) => serve(request, object),
                None => Answer::new("404 Not Found"),
            },
            ("POST", None) if query.contains_key("uploads") => {
                self.begun += 1;
                self.uploads.insert(self.begun, BTreeMap::new());
                xml(format!(
                    "<InitiateMultipartUploadResult><UploadId>{}</UploadId></InitiateMultipartUploadResult>",
                    self.begun
                ))
            }
            ("PUT", Some(upload)) => {
                let digest = BASE64_STANDARD.encode(Sha256::digest(&request.body));
                if request.header("x-amz-checksum-sha256") != Some(&digest) {
                    return Answer::new("400 Bad Request");
                }
                let Some(parts) = self.uploads.get_mut(&upload) else { return gone() };
                parts.insert(query["partNumber"].parse().unwrap(), request.body.clone());
                Answer::new("200 OK").with("ETag", "\"part\"").with("x-amz-checksum-sha256", digest)
            }
            ("POST", Some(upload)) => {
                let Some(parts) = self.uploads.remove(&upload) else { return gone() };
                let content: Vec<u8> = parts.into_values().flatten().collect();
                self.objects.insert(path.to_owned(), content);
                xml("<CompleteMultipartUploadResult><ETag>\"x\"</ETag></CompleteMultipartUploadResult>".to_owned())
            }
            ("DELETE", Some(upload)) => match self.uploads.remove(&upload) {
                Some(_) => Answer::new("204 No Content"),
                None => gone(),
            },
            ("POST", None) if query.contains_key("delete") => {
                let text = String::from_utf8(request.body.clone()).unwrap();
                let keys = text.split("<Key>").skip(1).map(|it| it.split("</Key>").next().unwrap());
                let deleted = keys.map(|key| {
                    self.objects.remove(&format!("{path}/{}", key.replace(' ', "%20")));
                    format!("<Deleted><Key>{key}</Key></Deleted>")
                });
                let deleted: String = deleted.collect();
                xml(format!("<DeleteResult>{deleted}</DeleteResult>"))
            }
            other => panic!("unexpected request: {other:?}"),
        }
    }
}

/// Makes a directory with one array of 20 MB, which needs three parts.
fn large(place: &TempDir) -> String {
    let source = place.path().join("exp");
    fs::create_dir(&source).unwrap();
    let values: Vec<_> =
        (0..2_500_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let bytes: Vec<_> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let shape = &[2_500_000];
    fs::write(source.join("a.ra"), raw_array(INT64, shape, &bytes)).unwrap();
    source.display().to_string()
}

fn local(place: &TempDir, source: &str, options: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let archive = place.path().join("exp.zip");
    let path = archive.display().to_string();
    run(&[&["create", source, "-o", &path, "--describe", "--force"], options].concat()).exits(0);
    let manifest = place.path().join("exp.zip.manifest-sha256.txt");
    (fs::read(archive).unwrap(), fs::read(manifest).unwrap())
}

const TARGET: &str = "s3://bucket/run%201/exp.zip";
const NAME: &str = "run%201/exp.zip";

#[test]
#[ignore = "slow"]
fn an_object_has_the_bytes_of_a_file() {
    let place = TempDir::new().unwrap();
    let source = large(&place);
    let s3 = S3::start(|_, _, _| None);
    for layout in ["plain", "bagit"] {
        let options = ["--layout", layout];
        let (archive, manifest) = local(&place, &source, &options);
        let args = [&["create", &*source, "-o", TARGET, "--describe", "--force"], &options[..]];
        let ran = s3.run(&args.concat()).exits(0);
        assert!(ran.err.contains(TARGET), "{}", ran.err);
        assert!(s3.object(NAME).unwrap() == archive);
        assert!(s3.object(&format!("{NAME}.manifest-sha256.txt")).unwrap() == manifest);
    }
    assert!(s3.bucket.lock().unwrap().uploads.is_empty());
    s3.run(&["verify", TARGET]).exits(0);
    // An existing object is replaced only on request, and nothing is uploaded before.
    s3.server.requests();
    s3.run(&["create", &source, "-o", TARGET, "--describe"]).exits(2).says(&["exists", TARGET]);
    assert!(s3.server.requests().iter().all(|request| request.method == "GET"));
    // As with files, the manifest and signature of an old archive do not remain next to another one.
    let args = ["create", &source, "-o", TARGET, "--describe", "--force"];
    s3.run(&[&args[..], &["--no-external-manifest"]].concat())
        .exits(2)
        .says(&["s3://", "belongs to an earlier archive"]);
    let signature = format!("{NAME}.manifest-sha256.txt.minisig");
    s3.bucket.lock().unwrap().objects.insert(format!("/bucket/{signature}"), b"x".to_vec());
    s3.run(&args).exits(0);
    assert_eq!(s3.object(&signature), None);
    s3.run(&["verify", TARGET]).exits(0);
}

#[test]
fn failed_requests_are_repeated() {
    let place = TempDir::new().unwrap();
    let source = large(&place);
    let (archive, _) = local(&place, &source, &[]);
    let s3 = S3::start(|request, time, _| {
        let is_write = request.method != "GET";
        (is_write && time == 1).then(|| match request.method.as_str() {
            // The object is complete, but the answer is lost.
            "POST" if request.path.contains("uploadId") => {
                Answer { body: vec![b'x'; 100], ..Answer::new("200 OK") }.ending(End::CutAt(1))
            }
            _ => Answer::new("503 Service Unavailable").with("Retry-After", "0"),
        })
    });
    s3.run(&["create", &source, "-o", TARGET, "--describe"]).exits(0);
    assert!(s3.object(NAME).unwrap() == archive);
}

#[test]
fn nothing_remains_of_an_upload_that_fails() {
    let place = TempDir::new().unwrap();
    let source = large(&place);
    let is_part =
        |request: &Request| request.method == "PUT" && request.path.contains("partNumber=2");
    let denied = || Answer {
        body: b"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>".to_vec(),
        ..Answer::new("403 Forbidden")
    };
    let s3 = S3::start(move |request, _, _| is_part(request).then(denied));
    let args = ["create", &source, "-o", TARGET, "--describe"];
    s3.run(&args).exits(2).says(&["cannot write", TARGET, "403", "`AccessDenied`"]);
    s3.has_nothing();
    // It says how to delete parts that remain.
    let s3 = S3::start(move |request, _, _| {
        (is_part(request) || request.method == "DELETE").then(denied)
    });
    let left =
        "aws s3api abort-multipart-upload --bucket bucket --key 'run 1/exp.zip' --upload-id 1";
    s3.run(&args).exits(2).says(&["parts of it remain", left]);
    // There is no such bucket.
    let s3 =
        S3::start(|request, _, _| (request.method == "POST").then(|| Answer::new("404 Not Found")));
    s3.run(&args).exits(2).says(&["404"]);
}

#[test]
fn an_object_that_appears_during_an_upload_is_not_replaced() {
    let place = TempDir::new().unwrap();
    let source = large(&place);
    let s3 = S3::start(|request, _, bucket| {
        if request.method == "PUT" {
            bucket.objects.insert(format!("/bucket/{NAME}"), b"other".to_vec());
        }
        None
    });
    let args = ["create", &source, "-o", TARGET, "--describe"];
    s3.run(&args).exits(2).says(&["exists", TARGET]);
    assert_eq!(s3.object(NAME).unwrap(), b"other");
    assert!(s3.bucket.lock().unwrap().uploads.is_empty());
}

#[cfg(unix)]
fn begin_and_stall(s3: &S3, source: &str) -> Child {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin!("ra-pack"));
    let variables = s3.variables();
    command.args(["create", source, "-o", TARGET, "--describe"]).envs(variables);
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    // Other parts have arrived, and one has no answer.
    while s3.bucket.lock().unwrap().uploads.values().all(|parts| parts.len() < 3) {
        assert!(begun.elapsed() < Duration::from_secs(30), "no parts arrived");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

#[cfg(unix)]
#[test]
fn a_signal_deletes_the_parts_and_a_kill_leaves_no_object() {
    let place = TempDir::new().unwrap();
    let source = large(&place);
    let stalled = |request: &Request, _: usize, _: &mut Bucket| {
        let is_part = request.method == "PUT" && request.path.contains("partNumber=2");
        is_part.then(|| Answer::new("200 OK").ending(End::Silent))
    };
    let s3 = S3::start(stalled);
    let child = begin_and_stall(&s3, &source);
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    s3.has_nothing();

    let s3 = S3::start(stalled);
    let mut child = begin_and_stall(&s3, &source);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(s3.bucket.lock().unwrap().objects.is_empty());
}

#[test]
fn other_urls_are_refused() {
    let args = |target| ["create", "examples/experiment", "-o", target];
    run(&args("https://example.org/exp.zip")).exits(2).says(&["can only be read", "s3:"]);
    run(&args("s3://bucket/exp.zip?x=1")).exits(2).says(&["query", "leave it out"]);
    run(&args("s3://bucket/exp")).exits(2).says(&["no known extension"]);
}
