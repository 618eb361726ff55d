//! Packs on real servers on this machine: S3 of moto, and nginx.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{experiment, run, run_with};
use crate::foreign::installed;
use crate::python::Python;
use crate::skips::is_long;

/// A running program, which ends when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server, and waits until it listens on its port.
fn start(command: &mut Command, port: u16) -> Running {
    let running = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let running = Running(running);
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    running
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Sends a PUT and returns the status line.
fn put(port: u16, path: &str, body: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!(
        "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nx-amz-acl: public-read\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "slow"]
fn a_pack_in_a_bucket_is_read() {
    let Some(python) = Python::with(&["moto.server"]) else { return };
    let port = free_port();
    let program = "import sys; from moto.server import main; main(sys.argv[1:])";
    let mut command = python.command();
    let _server =
        start(command.args(["-c", program, "-H", "127.0.0.1", "-p", &port.to_string()]), port);
    let file = experiment("exp.zip");
    assert!(put(port, "/bucket", b"").contains("200"));
    assert!(put(port, "/bucket/a%20b/exp.zip", &file).contains("200"));
    let endpoint = format!("http://127.0.0.1:{port}");
    let keys = [
        ("AWS_ENDPOINT_URL", &*endpoint),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "eu-central-1"),
    ];
    let url = "s3://bucket/a%20b/exp.zip";
    // With and without credentials.
    for variables in [&keys[..], &keys[..1]] {
        let ran = run_with(&["verify", url, "-v"], variables).exits(0);
        assert!(ran.err.contains("1 request"), "{}", ran.err);
        let get = ["get", url, "thermistors/depth.ra", "--format", "csv"];
        let got = run_with(&get, variables).exits(0).out;
        let local = run(&["get", "examples/experiment", "thermistors/depth.ra", "--format", "csv"]);
        assert_eq!(got, local.out);
    }
    // The store agrees that an upload has the bytes of the file.
    let place = TempDir::new().unwrap();
    let local = place.path().join("exp.zip").display().to_string();
    fs::write(&local, &file).unwrap();
    let new = "s3://bucket/new/exp.zip";
    run_with(&["create", "examples/experiment", "-o", new], &keys).exits(0);
    let beside = ["verify", &local, "--store", "s3://bucket/new/"];
    run_with(&beside, &keys).exits(0).says(&["the store agrees", "SHA-256 of 1 part"]);
    run_with(&["list", "s3://bucket/no.zip"], &keys).exits(2).says(&["no such object"]);
}

/// The gate installs Azurite and the library only with `--long`, because they are large.
#[test]
#[ignore = "needs Azurite, which is large"]
fn a_pack_in_azurite_is_read() {
    /// The account of every Azurite, which its documentation publishes.
    const KEY: &str =
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    const UPLOAD: &str = "\
import sys
from azure.storage.blob import BlobServiceClient
port, key, path = sys.argv[1:]
account = 'devstoreaccount1'
service = BlobServiceClient(f'http://127.0.0.1:{port}/{account}', {'account_name': account, 'account_key': key})
service.create_container('data', public_access='blob')
with open(path, 'rb') as file:
    service.get_blob_client('data', 'a/exp.zip').upload_blob(file)
";
    if !is_long() {
        return;
    }
    let Some(python) = Python::with(&["azure.storage.blob"]) else { return };
    if !installed(&["azurite-blob"]) {
        return;
    }
    let place = TempDir::new().unwrap();
    let path = place.path().join("exp.zip");
    fs::write(&path, experiment("exp.zip")).unwrap();
    // ra-pack reads Azurite at its usual port.
    let (port, home) = ("10000", place.path().to_str().unwrap());
    let mut azurite = Command::new("azurite-blob");
    azurite.args(["--location", home, "--blobPort", port, "--silent", "--skipApiVersionCheck"]);
    let _server = start(&mut azurite, port.parse().unwrap());
    let uploaded = python.command().args(["-c", UPLOAD, port, KEY]).arg(&path).status().unwrap();
    assert!(uploaded.success());
    let variables = [
        ("AZURE_STORAGE_USE_EMULATOR", "true"),
        ("AZURE_STORAGE_ACCOUNT_NAME", "devstoreaccount1"),
        ("AZURE_STORAGE_ACCOUNT_KEY", KEY),
    ];
    for variables in [&variables[..], &variables[..1]] {
        let ran = run_with(&["verify", "az://data/a/exp.zip", "-v"], variables).exits(0);
        assert!(ran.err.contains("1 request") || ran.err.contains("2 requests"), "{}", ran.err);
        let get = ["get", "az://data/a/exp.zip", "thermistors/depth.ra"];
        let local = run(&["get", "examples/experiment", "thermistors/depth.ra"]);
        assert_eq!(run_with(&get, variables).exits(0).out, local.out);
    }
}

#[test]
fn a_pack_on_nginx_is_read() {
    if !installed(&["nginx"]) {
        return;
    }
    let place = TempDir::new().unwrap();
    let file = super::eight();
    fs::write(place.path().join("x.zip"), &file).unwrap();
    fs::write(place.path().join("exp.tar.gz"), experiment("exp.tar.gz")).unwrap();
    let port = free_port();
    let home = place.path().display();
    // The worker must read the temporary directory, which is private.
    let user = if fs::metadata("/root").is_ok_and(|_| fs::read_dir("/root").is_ok()) {
        "user root;"
    } else {
        ""
    };
    let configuration = format!(
        "{user} daemon off; pid {home}/pid; error_log {home}/errors;
         events {{}}
         http {{
             access_log off;
             client_body_temp_path {home}/t1; proxy_temp_path {home}/t2; fastcgi_temp_path {home}/t3;
             uwsgi_temp_path {home}/t4; scgi_temp_path {home}/t5;
             server {{ listen 127.0.0.1:{port}; root {home}; gzip on; gzip_types *; }}
         }}"
    );
    let path = place.path().join("nginx.conf");
    fs::write(&path, configuration).unwrap();
    let _server =
        start(Command::new("nginx").arg("-c").arg(&path).arg("-p").arg(place.path()), port);
    let url = format!("http://127.0.0.1:{port}/x.zip");
    let ran = run(&["get", &url, "a00005.ra", "-v"]).exits(0);
    assert!(ran.err.contains("2 requests") && ran.out.len() == 400_056, "{}", ran.err);
    run(&["verify", &url]).exits(0);
    run(&["verify", &format!("http://127.0.0.1:{port}/exp.tar.gz")]).exits(0);
    // The file is replaced while it is read.
    let pack = ra_pack::Pack::open(&url).unwrap();
    std::thread::sleep(Duration::from_millis(1100));
    fs::write(place.path().join("x.zip"), &file).unwrap();
    let error = pack.read("a00001.ra").unwrap_err().to_string();
    assert!(error.contains("changed while it was read"), "{error}");
}
