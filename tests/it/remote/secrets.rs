//! No message, report or output contains the secret parts of a URL or credentials.

use tempfile::TempDir;

use super::server::{Answer, Server, serve};
use super::{experiment, run, run_with};

const SECRETS: [&str; 3] = ["hunter2", "s1gnature", "t0ken"];

#[track_caller]
fn says_no_secret(args: &[&str], variables: &[(&str, &str)]) -> String {
    let ran = run_with(args, variables);
    let said = ran.said();
    assert!(SECRETS.iter().all(|secret| !said.contains(secret)), "{args:?}: {said}");
    assert!(matches!(ran.code, Some(0..=2)), "{said}");
    said
}

#[test]
fn no_command_prints_user_information_or_a_query() {
    let server = Server::answering("exp.zip", experiment("exp.zip"), |request, file| {
        // The server needs both.
        let is_allowed = request.header("authorization") == Some("Basic bWU6aHVudGVyMg==")
            && request.path.contains("sig=s1gnature");
        if is_allowed { serve(request, file) } else { Answer::new("403 Forbidden") }
    });
    let url = format!("http://me:hunter2@{}/exp.zip?sig=s1gnature#t0ken", server.host());
    let shown = format!("http://{}/exp.zip", server.host());
    let place = TempDir::new().unwrap();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let array = "thermistors/temperature.ra";
    for args in [
        &["list", &*url][..],
        &["list", "--json", &url],
        &["info", &url, "--json"],
        &["info", &url, array],
        &["show", &url],
        &["show", &url, array, "--json"],
        &["verify", &url],
        &["verify", &url, "--json"],
        &["validate", &url, "--json"],
        &["describe", &url],
        &["diff", &url, "examples/experiment"],
        &["diff", &url, "examples/experiment", "--json"],
        &["report", &url, "-o", &file("page.html")],
        &["extract", &url, "-C", &file("out"), "--json"],
        &["plot", &url, array, "-o", &file("x.svg")],
        &["get", &url, array, "-o", &file("x.ra"), "--json"],
        &["get", &url, "nothing.ra"],
        &["list", &format!("{url}x")],
        &["create", "examples/experiment", "-o", &url],
        &["convert", array, &url],
        &["reshape", &url, "1"],
        &["add", &url, "README.md"],
        &["nonsense", &url],
        &["list", &format!("--nonsense={url}")],
    ] {
        says_no_secret(args, &[]);
    }
    let said = says_no_secret(&["list", &url, "--json"], &[]);
    assert!(said.contains(&shown), "{said}");
    let page = std::fs::read_to_string(file("page.html")).unwrap();
    assert!(SECRETS.iter().all(|secret| !page.contains(secret)));
    // Without them, the server refuses.
    says_no_secret(&["list", &shown], &[]);
    run(&["list", &shown]).exits(2).says(&["403"]);
}

#[test]
fn no_message_has_credentials_of_a_cloud() {
    let server = Server::answering("bucket/x.zip", Vec::new(), |request, _| {
        let mut answer = Answer::new("403 Forbidden");
        answer.body = format!("<Error>{request:?} hunter2</Error>").into_bytes();
        answer
    });
    let endpoint = format!("http://{}", server.host());
    let variables = [
        ("AWS_ENDPOINT_URL", &*endpoint),
        ("AWS_ACCESS_KEY_ID", "t0ken"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2"),
        ("AWS_SESSION_TOKEN", "s1gnature"),
    ];
    let said = says_no_secret(&["list", "s3://bucket/x.zip"], &variables);
    assert!(said.contains("aws configure export-credentials --format env"), "{said}");
    assert!(server.requests()[0].header("authorization").is_some());
    // Without credentials, the request is not signed, and nothing else is asked.
    says_no_secret(&["list", "s3://bucket/x.zip"], &variables[..1]);
    let requests = server.requests();
    assert!(requests.len() == 1 && requests[0].header("authorization").is_none());
}

#[test]
fn urls_with_one_name_are_told_apart() {
    let files = [("a", "x.zip"), ("b", "y.zip")].map(|(query, name)| (query, experiment(name)));
    let other = super::arrays(1, 4);
    let [(_, first), _] = files;
    let server = Server::answering("data", first, move |request, file| {
        serve(request, if request.path.ends_with("=b") { &other } else { file })
    });
    let [one, two] = ["a", "b"].map(|name| format!("{}?name={name}", server.url("data")));
    run(&["diff", &one, &one]).exits(0);
    run(&["diff", &one, &two]).exits(1).says(&["a00000.ra"]);
}

#[test]
#[ignore = "slow"]
fn texts_that_are_almost_urls_keep_their_secrets() {
    let place = TempDir::new().unwrap();
    let (log, list) = (place.path().join("log"), place.path().join("list"));
    for url in [
        "http://u:hun/hunter2@127.0.0.1:1/x.zip",
        "http://u:hun#hunter2@127.0.0.1:1/x.zip",
        "http://u:hun?hunter2@127.0.0.1:1/x.zip",
        " http://u:hunter2@127.0.0.1:1/x.zip?sig=s1gnature",
        "\thttp://u:hunter2@127.0.0.1:1/x.zip",
        "http:/u:hunter2@127.0.0.1:1/x.zip",
        "http:///u:hunter2@127.0.0.1:1/x.zip",
        "ftp://u:hunter2@127.0.0.1:1/x.zip?sig=s1gnature#t0ken",
        "sftp://u:hunter2@127.0.0.1:1/x.zip",
        "HTTPS:/u:hunter2@127.0.0.1:1/x.zip",
    ] {
        std::fs::write(&list, url).unwrap();
        let (log, list) = (log.to_str().unwrap(), list.to_str().unwrap());
        for args in [
            &["list", url][..],
            &["verify", "--json", url],
            &["verify", "--log", log, url],
            &["verify", "--log", log, "--files-from", list],
            &["verify", "--log", log, "--max-age", "1d", url],
            &["get", url, "x.ra"],
            &["info", url, "--json"],
            &["report", url, "-o", "/nonexistent/x.html"],
            &["diff", url, "examples/experiment"],
            &["audit", log, "--files-from", list],
            &["audit", url],
            &["nonsense", url],
            &["list", &format!("--nonsense={url}")],
        ] {
            assert_ne!(run(args).code, Some(0), "{args:?}");
            says_no_secret(args, &[]);
        }
        let text = std::fs::read_to_string(log).unwrap();
        assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{text}");
    }
}

#[test]
fn a_server_that_repeats_the_query_does_not_reveal_it() {
    let place = TempDir::new().unwrap();
    let log = place.path().join("log");
    let log = log.to_str().unwrap();
    let with = |name: &'static str, value: fn(&str) -> String| {
        Server::answering("x.zip", experiment("x.zip"), move |request, file| {
            serve(request, file).with(name, value(&request.path))
        })
    };
    for (name, value, code) in [
        ("Content-Range", (|path| format!("bytes of {path}")) as fn(&str) -> String, 2),
        ("Content-Range", |_| "x".repeat(60_000), 2),
        ("Content-Encoding", |path| path.to_owned(), 2),
        ("Content-Encoding", |_| "x".repeat(60_000), 2),
        ("ETag", |path| format!("\"{path}\""), 0),
        ("ETag", |path| format!("W/\"{path}\""), 0),
    ] {
        let server = with(name, value);
        let url = format!("{}?sig=s1gnature", server.url("x.zip"));
        let args = ["verify", "--json", "--log", log, &url];
        let ran = run(&args);
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.said());
        assert!(ran.said().len() < 5000, "{name}: {} bytes", ran.said().len());
        says_no_secret(&args, &[]);
        let text = std::fs::read_to_string(log).unwrap();
        assert!(!text.contains("s1gnature"), "{name}: {text}");
    }
}

#[test]
fn references_are_not_made_for_a_url_with_a_query() {
    let server = Server::of("x.zip", experiment("x.zip"));
    let place = TempDir::new().unwrap();
    let out = place.path().join("x.json");
    let out = out.to_str().unwrap();
    let url = format!("{}?sig=s1gnature", server.url("x.zip"));
    run(&["refs", &url, "-o", out]).exits(2).says(&["has a query", "--url"]);
    run(&["refs", &url, "-o", out, "--url", &url]).exits(0);
    assert!(std::fs::read_to_string(out).unwrap().contains(&url));
    run(&["refs", &server.url("x.zip"), "-o", out, "--force"]).exits(0);
}
