//! Few requests: counted by the server.

use std::fs;

use ndarray::s;
use ra_pack::{Pack, PackWriter, WriteOptions};
use tempfile::TempDir;

use super::server::Server;
use super::{arrays, experiment, run};

/// Runs a command on a URL with and without `-v`, and checks the number of requests that the server and `-v` count.
#[track_caller]
fn takes(server: &Server, args: &[&str], expected: usize) -> Vec<u8> {
    server.requests();
    let ran = run(&[args, &["-v"]].concat());
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.said());
    let requests = server.requests();
    let ranges: Vec<_> = requests.iter().map(|request| request.header("range")).collect();
    assert_eq!(requests.len(), expected, "{args:?}: {ranges:?}");
    assert!(ran.err.contains(&format!("{expected} request")), "{}", ran.err);
    ran.out
}

#[test]
fn a_small_pack_takes_one_request() {
    let file = experiment("exp.zip");
    let place = TempDir::new().unwrap();
    let local = place.path().join("exp.zip");
    fs::write(&local, &file).unwrap();
    let server = Server::of("exp.zip", file);
    let (url, local) = (server.url("exp.zip"), local.to_str().unwrap().to_owned());
    for args in [&["list"][..], &["info"], &["show"], &["validate"], &["describe"], &["verify"]] {
        let remote = takes(&server, &[args, &[&*url]].concat(), 1);
        let same = run(&[args, &[&*local]].concat());
        let remote = String::from_utf8(remote).unwrap().replace(&url, &local);
        if args[0] != "verify" {
            assert_eq!(remote, String::from_utf8(same.out).unwrap(), "{args:?}");
        }
    }
    let array = "thermistors/temperature.ra";
    for args in [&["show"][..], &["info"], &["get"]] {
        let remote = takes(&server, &[args, &[&*url, array]].concat(), 1);
        let same = run(&[args, &[&*local, array]].concat());
        if args[0] != "info" {
            assert_eq!(remote, same.out, "{args:?}");
        }
    }
}

#[test]
fn one_array_of_a_long_pack_takes_two_requests() {
    // 24 arrays of 400 kB: the directory and the manifests are in the last 256 KiB.
    let server = Server::of("long.zip", arrays(24, 100_000));
    let url = server.url("long.zip");
    let out = takes(&server, &["get", &url, "a00003.ra"], 2);
    assert_eq!(out.len(), 400_000 + 56);
    let requests = server.requests();
    assert!(requests.is_empty());
    // A slice reads the header, then its bytes; they are here in one block.
    takes(&server, &["get", &url, "a00003", "--slice", "0:10", "--no-verify"], 3);
    let names = takes(&server, &["list", "--names", &url], 1);
    assert_eq!(String::from_utf8(names).unwrap().lines().count(), 50);
    // Types and shapes are those in the description of the pack, which is in the last 256 KiB too.
    for command in ["list", "info", "show", "describe"] {
        takes(&server, &[command, &url], 1);
    }
}

#[test]
fn other_commands_take_few_requests() {
    let server = Server::of("long.zip", arrays(24, 100_000));
    let url = server.url("long.zip");
    let place = TempDir::new().unwrap();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    // The header and the description are requested at the same time, and the last values after them.
    takes(&server, &["info", &url, "a00003"], 3);
    takes(&server, &["show", &url, "a00003"], 4);
    takes(&server, &["plot", &url, "a00003", "-o", &file("a.svg")], 4);
    // Several threads read ahead, so the number depends on their order.
    for (args, most) in [
        (["report", &url, "-o", &file("long.html")], 8),
        (["extract", &url, "-C", &file("out")], 32),
    ] {
        run(&args).exits(0);
        let count = server.requests().len();
        assert!(count <= most, "{args:?} took {count} requests");
    }
    takes(&server, &["validate", &url], 25);
    let references = takes(&server, &["refs", &url], 25);
    assert!(String::from_utf8(references).unwrap().contains(&format!("[\"{url}\",")));
}

#[test]
fn only_headers_are_read_of_types_that_the_description_leaves_open() {
    let place = TempDir::new().unwrap();
    let archive = place.path().join("x.zip");
    let mut pack = PackWriter::create(&archive, WriteOptions::default()).unwrap();
    let values = ndarray::Array1::from_elem(20_000, num_complex::Complex::new(1_f32, 2.0));
    for name in ["a", "b", "c", "d", "e"] {
        pack.array(name, &values).dims(["x"]).write().unwrap();
    }
    pack.finish().unwrap();
    let content = fs::read(&archive).unwrap();
    let server = Server::of("x.zip", content.clone());
    let listed = run(&["list", &server.url("x.zip")]).exits(0).out;
    assert_eq!(listed, run(&["list", archive.to_str().unwrap()]).exits(0).out);
    let requests = server.requests();
    let ranges = requests.iter().skip(1).map(|request| request.range(content.len()).unwrap());
    let bytes: usize = ranges.map(|(first, end)| end - first).sum();
    assert!(bytes <= 5 * 4096, "{bytes} bytes of headers");
}

#[test]
fn a_slice_is_proved_by_its_blocks_only() {
    let place = TempDir::new().unwrap();
    let archive = place.path().join("x.zip");
    let options = WriteOptions { block_digests: Some(64 << 10), ..WriteOptions::default() };
    let mut pack = PackWriter::create(&archive, options).unwrap();
    let values = ndarray::Array1::from_iter((0..2_000_000_u32).map(|number| number % 1000));
    pack.array("x", &values).dims(["x"]).write().unwrap();
    pack.finish().unwrap();
    let mut content = fs::read(&archive).unwrap();
    content[4_000_000] ^= 1;
    let server = Server::of("x.zip", content.clone());
    let url = server.url("x.zip");
    let slice = ["show", &url, "x", "--slice", "500000:500002", "--json"];
    let shown: serde_json::Value = serde_json::from_slice(&run(&slice).exits(0).out).unwrap();
    assert_eq!((&shown["verified"], &shown["text"]), (&true.into(), &"[0 1]".into()));
    let requests = server.requests();
    let bytes = requests.iter().map(|request| request.range(content.len()).unwrap());
    let bytes: usize = bytes.map(|(first, end)| end - first).sum();
    assert!(requests.len() <= 4 && bytes < 600_000, "{bytes} bytes in {} requests", requests.len());
    // Only the slice that touches the damaged block is refused.
    run(&["show", &url, "x", "--slice", "1000000:1000002"]).exits(1).says(&["block"]);
    // Without digests of blocks, the command says that nothing is proved.
    let server = Server::of("y.zip", arrays(4, 100_000));
    let (url, says) = (server.url("y.zip"), ["not verified: only these values were read"]);
    run(&["show", &url, "a00001"]).exits(0).says(&says);
    run(&["get", &url, "a00001", "--slice", "0:2", "--no-verify"]).exits(0).says(&says);
}

#[test]
#[ignore = "slow"]
fn a_slice_in_a_pack_of_many_arrays_takes_three_round_trips() {
    let server = Server::of("many.zip", arrays(5000, 10));
    let url = server.url("many.zip");
    let pack = Pack::open(&url).unwrap();
    let array = pack.array("a04000.ra").unwrap();
    let part: ndarray::ArrayD<f32> = array.slice(s![2..4]).unwrap();
    assert_eq!(part.as_slice().unwrap(), [4002.0, 4003.0]);
    let requests = server.requests();
    assert!(requests.len() <= 3, "{requests:?}");
    // The whole array is compared with its line in the manifest.
    takes(&server, &["get", &url, "a04000.ra"], 5);
    // Another array needs one more request at most.
    let all: ndarray::ArrayD<f32> = pack.array("a00000.ra").unwrap().slice(s![..]).unwrap();
    assert_eq!(all.len(), 10);
    assert!(server.requests().len() <= 1);
}

#[test]
fn pieces_of_a_slice_are_requested_at_once() {
    let place = TempDir::new().unwrap();
    let archive = place.path().join("x.zip");
    let values = ndarray::Array2::from_shape_fn((2000, 4000), |(row, column)| {
        f32::from(u16::try_from(row).unwrap()) * 4000.0 + f32::from(u16::try_from(column).unwrap())
    });
    let mut pack = PackWriter::create(&archive, WriteOptions::default()).unwrap();
    pack.array("x", &values).dims(["row", "column"]).write().unwrap();
    pack.finish().unwrap();
    let server = Server::of("x.zip", fs::read(&archive).unwrap());
    let pack = Pack::open(server.url("x.zip")).unwrap();
    let array = pack.array("x.ra").unwrap().in_shape_order().unwrap();
    for slice in [s![..;500, ..], s![.., ..;1000], s![10..12, ..], s![..;-700, ..]] {
        server.requests();
        let part: ndarray::ArrayD<f32> = array.slice(slice).unwrap();
        assert_eq!(part, values.slice(slice).into_dyn());
        let count = server.requests().len();
        // 32 MB in parts of 4 MiB, the header and the description.
        assert!(count <= 12, "{slice:?} took {count} requests");
    }
}

#[test]
fn a_store_of_the_program_is_read_like_a_url() {
    use ra_pack::remote::object_store::{ObjectStore, ObjectStoreExt as _, memory::InMemory};
    let store = std::sync::Arc::new(InMemory::new());
    let stored = std::sync::Arc::clone(&store);
    let put = async move { stored.put(&"a/exp.zip".into(), experiment("exp.zip").into()).await };
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(put).unwrap();
    let store: std::sync::Arc<dyn ObjectStore> = store;
    let pack = Pack::open_store(std::sync::Arc::clone(&store), "a/exp.zip").unwrap();
    let array = pack.array("thermistors/temperature.ra").unwrap();
    assert_eq!(array.read::<f32>().unwrap().shape(), [10, 149]);
    let missing = Pack::open_store(store, "a/other.zip").unwrap_err().to_string();
    assert!(missing.starts_with("cannot open `a/other.zip`"), "{missing}");
    assert!(Pack::open_url("exp.zip").unwrap_err().to_string().contains("not a URL"));
}

#[test]
fn a_store_with_the_shared_client_is_read_in_async_code() {
    use std::sync::Arc;

    use ra_pack::remote::SharedClient;
    use ra_pack::remote::object_store::{
        ClientOptions, ObjectStore, ObjectStoreExt as _, http::HttpBuilder,
    };
    let server = Server::of("exp.zip", experiment("exp.zip"));
    // The provider of TLS of the process is for the program to choose.
    Pack::open_url(&server.url("exp.zip")).unwrap();
    assert!(rustls::crypto::CryptoProvider::get_default().is_none());
    let store = HttpBuilder::new()
        .with_url(format!("http://{}", server.host()))
        .with_client_options(ClientOptions::new().with_allow_http(true))
        .with_http_connector(SharedClient)
        .build()
        .unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    // The only thread of the runtime waits for the pack.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let shape = runtime.block_on(async move {
        let whole = store.get(&"exp.zip".into()).await.unwrap();
        drop(whole.bytes().await.unwrap());
        let pack = Pack::open_store(store, "exp.zip").unwrap();
        pack.array("thermistors/temperature.ra").unwrap().shape().unwrap()
    });
    assert_eq!(shape, [10, 149]);
}
