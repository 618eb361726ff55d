//! Servers that lack a feature, fail for a while, or lie.

use std::time::{Duration, Instant};

use ra_pack::{Error, Pack, Progress};

use super::server::{Answer, End, Request, Server, TAG, serve};
use super::{eight, experiment, run};

const ARRAY: &str = "a00003.ra";

/// Gets an array of a long pack from a server, and checks its bytes.
#[track_caller]
fn is_read(answer: impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static) -> Vec<Request> {
    let file = eight();
    let server = Server::answering("x.zip", file, answer);
    let ran = run(&["get", &server.url("x.zip"), ARRAY]).exits(0);
    assert_eq!(ran.out.len(), 400_056);
    server.requests()
}

/// Gets an array of a long pack from a server, which fails with these words.
#[track_caller]
fn fails(
    words: &[&str],
    answer: impl Fn(&Request, &[u8]) -> Answer + Send + Sync + 'static,
) -> Vec<Request> {
    let server = Server::answering("x.zip", eight(), answer);
    let begun = Instant::now();
    run(&["get", &server.url("x.zip"), ARRAY, "--timeout", "0.5"]).exits(2).says(words);
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    server.requests()
}

#[test]
fn a_server_without_suffix_ranges_is_asked_for_its_length() {
    for status in ["501 Not Implemented", "416 Range Not Satisfiable", "400 Bad Request"] {
        let requests =
            is_read(
                move |request, file| {
                    if request.is_suffix() { Answer::new(status) } else { serve(request, file) }
                },
            );
        assert_eq!(requests[1].header("range"), Some("bytes=0-0"), "{status}");
        assert_eq!(requests.len(), 4, "{status}");
    }
    is_read(|request, file| {
        if request.is_suffix() {
            Answer { body: file.to_vec(), ..Answer::new("200 OK") }
        } else {
            serve(request, file)
        }
    });
}

#[test]
fn a_server_without_ranges_needs_a_download() {
    let whole = |_: &Request, file: &[u8]| Answer { body: file.to_vec(), ..Answer::new("200 OK") };
    fails(&["206", "200", "--download"], whole);
    let server = Server::answering("x.zip", eight(), whole);
    let ran = run(&["get", &server.url("x.zip"), ARRAY, "--download"]).exits(0);
    assert_eq!(ran.out.len(), 400_056);
}

#[test]
fn a_failure_that_passes_is_repeated_after_the_time_that_the_server_asks_for() {
    let requests = is_read(|request, file| match request.number {
        1 => Answer::new("503 Service Unavailable").with("Retry-After", "1"),
        2 => Answer::new("429 Too Many Requests"),
        3 => serve(request, file).ending(End::CutAt(1000)),
        _ => serve(request, file),
    });
    let waited = requests[2].at.duration_since(requests[1].at);
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
    let requests = fails(&["503", "5 times"], |request, file| match request.number {
        0 => serve(request, file),
        _ => Answer::new("503 Service Unavailable").with("Retry-After", "0"),
    });
    assert_eq!(requests.len(), 6);
}

#[test]
fn a_change_midway_is_reported() {
    let changed = ["changed while it was read"];
    let tag = |request: &Request| if request.number == 0 { TAG } else { "\"v2\"" };
    // Servers that compare the tag, and those that do not.
    let requests = fails(&changed, move |request, file| {
        if request.header("if-match").is_some_and(|wanted| wanted != tag(request)) {
            Answer::new("412 Precondition Failed")
        } else {
            serve(request, file)
        }
    });
    assert_eq!(requests[1].header("if-match"), Some(TAG));
    fails(&["changed while it was read", "ETag"], move |request, file| {
        let mut blind = request.clone();
        blind.headers.remove("if-match");
        serve(&blind, file).with("ETag", tag(request))
    });
    fails(&["changed while it was read", "length"], |request, file| match request.number {
        0 => serve(request, file),
        _ => {
            let answer = serve(request, file);
            let range = answer.headers.iter().find(|(name, _)| *name == "Content-Range").unwrap();
            let other = format!("{}/{}", range.1.split('/').next().unwrap(), file.len() + 1);
            answer.with("Content-Range", other)
        }
    });
    // A weak tag is not sent, and the date is compared too.
    let weak = |request: &Request, file: &[u8]| serve(request, file).with("ETag", "W/\"v1\"");
    let requests = is_read(weak);
    assert!(requests.iter().all(|request| request.header("if-match").is_none()));
    fails(&["changed while it was read", "Last-Modified"], move |request, file| {
        let date = format!("Mon, 23 Nov 2026 10:00:0{} GMT", request.number.min(1));
        weak(request, file).with("Last-Modified", date)
    });
}

#[test]
fn a_server_without_tags_and_dates_is_read() {
    is_read(|request, file| {
        serve(request, file).without("ETag").without("Last-Modified").ending(End::Chunked)
    });
    is_read(|request, file| serve(request, file).with("Last-Modified", "yesterday"));
}

#[test]
fn answers_that_were_not_asked_for_are_refused() {
    fails(&["compressed a range", "gzip"], |request, file| {
        serve(request, file).with("Content-Encoding", "gzip")
    });
    fails(&["Content-Range"], |request, file| serve(request, file).without("Content-Range"));
    fails(&["Content-Range"], |request, file| {
        serve(request, file).with("Content-Range", "bytes 9-3/100")
    });
    // Other bytes than those asked for.
    fails(&["equested"], |request, file| match request.number {
        0 => serve(request, file),
        _ => {
            let answer = serve(request, file);
            let len = answer.body.len();
            answer.with("Content-Range", format!("bytes 0-{}/{}", len - 1, file.len()))
        }
    });
    let requests = fails(&["longer than"], |request, file| match request.number {
        0 => serve(request, file),
        _ => serve(request, file).ending(End::Endless),
    });
    assert!(requests.len() < 4, "an endless answer is not asked for again");
}

#[test]
fn a_server_that_stops_answering_is_given_up() {
    for at in [0, 1000] {
        fails(&["did not answer for 0.5 s"], move |request, file| match request.number {
            0 => serve(request, file),
            _ => serve(request, file).ending(End::StallAt(at)),
        });
    }
    let gone = Server::of("x.zip", Vec::new()).url("x.zip");
    std::thread::sleep(Duration::from_millis(50));
    let ran = run(&["list", &gone.replace("x.zip", "y.zip")]).exits(2);
    assert!(
        ran.err.contains("cannot open") && ran.err.contains("cannot be reached"),
        "{}",
        ran.err
    );
}

#[test]
fn redirects_are_followed_and_counted() {
    let target = Server::of("y.zip", experiment("y.zip"));
    let location = target.url("y.zip");
    let server = Server::answering("x.zip", Vec::new(), move |_, _| {
        Answer::new("302 Found").with("Location", location.clone())
    });
    let url = format!("{}?signature=s1gnature", server.url("x.zip"));
    let ran = run(&["list", "--names", &url, "-v"]).exits(0);
    assert!(ran.err.contains("2 requests"), "{}", ran.err);
    // The other server does not learn the first URL.
    let requests = target.requests();
    assert_eq!(requests.len(), 1);
    assert!(!format!("{requests:?}").contains("s1gnature"), "{requests:?}");
    let looping = Server::answering("x.zip", Vec::new(), |_, _| {
        Answer::new("302 Found").with("Location", "/x.zip")
    });
    run(&["list", &looping.url("x.zip")]).exits(2).says(&["redirects more than 5 times"]);
}

#[test]
fn statuses_are_explained() {
    for (status, word) in [
        ("404 Not Found", "no such object"),
        ("403 Forbidden", "access is denied"),
        ("401 Unauthorized", "access is denied"),
    ] {
        let server = Server::answering("x.zip", Vec::new(), move |_, _| Answer::new(status));
        let url = server.url("x.zip");
        run(&["list", &url]).exits(2).says(&[&format!("cannot open `{url}`"), word]);
        assert_eq!(server.requests().len(), 1, "{status}");
    }
    let empty = Server::of("x.zip", Vec::new());
    run(&["verify", &empty.url("x.zip")]).exits(1).says(&["the file is empty"]);
}

#[test]
fn a_cancelled_read_ends_at_once() {
    let server = Server::answering("x.zip", eight(), |request, file| match request.number {
        0 => serve(request, file),
        _ => serve(request, file).ending(End::StallAt(0)),
    });
    let progress = Progress::new();
    let pack = Pack::open_watched(server.url("x.zip"), &progress).unwrap();
    let canceller = progress.clone();
    let begun = Instant::now();
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        canceller.cancel();
    });
    assert!(matches!(pack.read(ARRAY), Err(Error::Interrupted)));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    waiting.join().unwrap();
}
