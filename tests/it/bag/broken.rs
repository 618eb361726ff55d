//! Each rule broken once: code, severity and exit status.

use super::{ARCHIVES, Bag, CONTAINERS, CONTENT, codes, digest, line};

const ERROR: &str = "error";
const WARNING: &str = "warning";

struct Case {
    what: &'static str,
    bag: Bag,
    code: &'static str,
    severity: &'static str,
}

fn case(what: &'static str, bag: Bag, code: &'static str, severity: &'static str) -> Case {
    Case { what, bag, code, severity }
}

#[track_caller]
fn check(cases: &[Case], containers: &[&str]) {
    for Case { what, bag, code, severity } in cases {
        for container in containers {
            let ran = bag.verify(container, &[]);
            let json = ran.json();
            let expected = ((*code).to_owned(), (*severity).to_owned());
            assert!(codes(&json).contains(&expected), "{what}{container}: {}", ran.said());
            let is_error = *severity == ERROR;
            assert_eq!(json["bag"]["valid"], !is_error, "{what}{container}: {}", ran.said());
            ran.exits(i32::from(is_error));
        }
    }
}

fn with_line(text: &str) -> Bag {
    Bag::new().append("manifest-sha256.txt", text)
}

fn declared(text: &str) -> Bag {
    Bag::new().file("bagit.txt", text)
}

fn info(text: &str) -> Bag {
    Bag::new().file("bag-info.txt", text)
}

fn fetch(text: &str) -> Bag {
    Bag::new().file("fetch.txt", text)
}

#[test]
fn a_path_outside_the_bag_is_refused() {
    let paths = ["../../etc/hostname", "/etc/hostname", "data/../../x", "data\\x", "C:/x", "C:x"];
    let cases: Vec<_> =
        paths.iter().map(|path| case("V1 ", with_line(&line(path)), "MAN002", ERROR)).collect();
    check(&cases, &CONTAINERS);
    let paths = ["~/.ssh/id_rsa", "%HOME%/x"];
    let cases: Vec<_> =
        paths.iter().map(|path| case("V1 ", with_line(&line(path)), "BAG007", ERROR)).collect();
    check(&cases, &CONTAINERS);
}

#[test]
fn the_declaration_has_one_format() {
    let encoding = "Tag-File-Character-Encoding: UTF-8\n";
    let version = "BagIt-Version: 1.0\n";
    let bad = |what, text: String| case(what, declared(&text), "BAG001", ERROR);
    check(
        &[
            bad("V2 three lines", format!("{version}{encoding}more\n")),
            bad("V2 one line", version.to_owned()),
            bad("V2 other order", format!("{encoding}{version}")),
            bad("V2 label", format!("BagIt-version: 1.0\n{encoding}")),
            bad("V2 space before the colon", format!("BagIt-Version : 1.0\n{encoding}")),
            bad("V2 no space", format!("BagIt-Version:1.0\n{encoding}")),
            bad("V2 unknown version", format!("BagIt-Version: 2.0\n{encoding}")),
            bad("V2 empty", String::new()),
            case("V2 mark", declared(&format!("\u{feff}{version}{encoding}")), "BAG002", ERROR),
            case(
                "V2 unknown encoding",
                declared(&format!("{version}Tag-File-Character-Encoding: KOI8-R\n")),
                "BAG003",
                ERROR,
            ),
        ],
        &CONTAINERS,
    );
}

#[test]
fn tag_files_are_text_in_the_declared_encoding() {
    let utf16 = |version: &str| {
        let text = format!("BagIt-Version: {version}\nTag-File-Character-Encoding: UTF-16\n");
        declared(&text).untagged()
    };
    check(
        &[
            case("V3 mark in bag-info", info("\u{feff}A: b\n"), "BAG002", ERROR),
            case("V3 not UTF-8", Bag::new().file("bag-info.txt", b"A: \xe9\n"), "BAG002", ERROR),
            case(
                "V3 mark in a manifest",
                Bag::new().file("manifest-sha256.txt", "\u{feff}".to_owned() + &line("data/a.txt")),
                "MAN002",
                ERROR,
            ),
            case(
                "V3 not ASCII",
                declared("BagIt-Version: 1.0\nTag-File-Character-Encoding: US-ASCII\n")
                    .file("bag-info.txt", "Contact-Name: \u{c9}\n"),
                "BAG002",
                ERROR,
            ),
            case(
                "V3 half a pair",
                utf16("1.0").file("bag-info.txt", b"\xfe\xff\xd8\x00\x00A"),
                "BAG002",
                ERROR,
            ),
            case("V3 an odd byte", utf16("1.0").file("bag-info.txt", "A: b"), "BAG002", ERROR),
        ],
        &CONTAINERS,
    );
}

#[test]
fn a_manifest_exists_and_lists_each_file_once() {
    let upper = digest("sha256").to_uppercase().replace('B', "C");
    let again = line("data/a.txt");
    check(
        &[
            case("V4 none", Bag::new().without("manifest-sha256.txt"), "MAN001", ERROR),
            case("V4 digits", with_line("ab12  data/x\n"), "MAN002", ERROR),
            case("V4 no hexadecimal", with_line(&again.replace('b', "g")), "MAN002", ERROR),
            case("V4 twice in 1.0", with_line(&again), "MAN002", ERROR),
            case("V4 twice before", with_line(&again).version("0.97"), "MAN002", WARNING),
            case("V4 two digests", with_line(&format!("{upper}  data/a.txt\n")), "MAN002", ERROR),
            case(
                "V4 two digests before",
                with_line(&format!("{upper}  data/a.txt\n")).version("0.97"),
                "MAN002",
                ERROR,
            ),
        ],
        &CONTAINERS,
    );
}

/// Returns a bag with another file in its payload, whose name is `listed` in the manifest.
fn with_payload(name: &str, listed: &str) -> Bag {
    with_line(&line(listed)).file(name, CONTENT).file("bag-info.txt", "Payload-Oxum: 9.3\n")
}

#[test]
fn percent_signs_are_decoded_according_to_the_version() {
    check(
        &[
            case("V5 odd", with_payload("data/100%.txt", "data/100%.txt"), "BAG013", WARNING),
            case("V5 odd code", with_payload("data/%41", "data/%41"), "BAG013", WARNING),
            case("V5 decoded twice", with_payload("data/%", "data/%2525"), "MAN004", ERROR),
            case("V5 before", with_payload("data/%", "data/%25").version("0.97"), "MAN004", ERROR),
        ],
        &CONTAINERS,
    );
}

#[test]
fn all_listed_files_exist_and_all_payload_is_listed() {
    let sha512 = format!("{}  data/a.txt\n", digest("sha512"));
    let both = Bag::new().file("manifest-sha512.txt", sha512);
    check(
        &[
            case("V6 missing", Bag::new().without("data/a.txt"), "MAN004", ERROR),
            case("V6 unlisted", Bag::new().file("data/more", CONTENT), "MAN005", ERROR),
            case("V6 in one of two", both, "BAG016", ERROR),
            case(
                "V6 no payload directory",
                Bag::new()
                    .without("data/a.txt")
                    .without("data/deep/b c.txt")
                    .file("manifest-sha256.txt", "")
                    .file("bag-info.txt", "Payload-Oxum: 0.0\n"),
                "MAN004",
                ERROR,
            ),
            case(
                "V6 not fetched",
                Bag::new().without("data/a.txt").file("fetch.txt", "http://e.org/a - data/a.txt\n"),
                "BAG005",
                ERROR,
            ),
            case(
                "V6 a tag file",
                Bag::new().tags(&(Bag::new().tag_lines() + &line("gone.txt"))),
                "MAN004",
                ERROR,
            ),
        ],
        &CONTAINERS,
    );
}

#[test]
fn a_bag_with_files_to_fetch_is_neither_complete_nor_valid() {
    let bag = Bag::new().without("data/a.txt").file("fetch.txt", "http://e.org/a - data/a.txt\n");
    for container in CONTAINERS {
        let json = bag.verify(container, &[]).exits(1).json();
        assert_eq!(json["bag"]["complete"], false);
        assert_eq!(json["bag"]["valid"], false);
        // The missing file is reported once.
        assert_eq!(codes(&json), [("BAG005".to_owned(), ERROR.to_owned())]);
    }
}

/// Before 1.0 a tag manifest may omit files, which are then not verified.
#[test]
fn an_old_tag_manifest_that_omits_files_is_a_warning() {
    let bag = Bag::new().version("0.97");
    let lines = bag.tag_lines();
    for left_out in ["manifest-sha256.txt", "bag-info.txt"] {
        let kept: Vec<_> = lines.lines().filter(|line| !line.ends_with(left_out)).collect();
        let bag = bag.clone().tags(&(kept.join("\n") + "\n"));
        let code = if left_out.starts_with("manifest") { "BAG007" } else { "BAG008" };
        let json = bag.verify(".zip", &[]).exits(0).json();
        assert_eq!(codes(&json), [(code.to_owned(), WARNING.to_owned())], "{left_out}");
        assert_eq!(json["bag"]["valid"], true);
    }
}

#[test]
fn every_digest_is_recomputed() {
    let tagged = Bag::new().tag_lines();
    check(
        &[
            case("V7 payload", Bag::new().file("data/a.txt", "abd"), "MAN003", ERROR),
            case(
                "V7 tag file",
                Bag::new().file("bag-info.txt", "Payload-Oxum: 6.2\n").tags(&tagged),
                "MAN003",
                ERROR,
            ),
            case(
                "V7 a second manifest",
                Bag::new().file(
                    "manifest-sha512.txt",
                    format!(
                        "{}  data/a.txt\n{}  data/deep/b c.txt\n",
                        digest("sha512"),
                        digest("sha512").replace('a', "b")
                    ),
                ),
                "MAN003",
                ERROR,
            ),
            case(
                "V7 unknown algorithm",
                Bag::new().file("manifest-blake2b.txt", line("data/a.txt")),
                "BAG014",
                ERROR,
            ),
        ],
        &CONTAINERS,
    );
}

#[test]
fn manifests_list_only_their_own_files() {
    let tagged = Bag::new().tag_lines();
    let lacking: String = tagged
        .lines()
        .filter(|line| !line.ends_with("manifest-sha256.txt"))
        .fold(String::new(), |text, line| text + line + "\n");
    check(
        &[
            case(
                "V8 payload",
                Bag::new().tags(&(tagged.clone() + &line("data/a.txt"))),
                "BAG007",
                ERROR,
            ),
            case(
                "V8 tag manifest",
                Bag::new().tags(&(tagged + &line("tagmanifest-sha256.txt"))),
                "BAG007",
                ERROR,
            ),
            case("V8 no tag manifest", Bag::new().untagged(), "BAG008", WARNING),
            case("V8 without the manifest", Bag::new().tags(&lacking), "BAG007", ERROR),
            case(
                "V8 unlisted",
                Bag::new().tags(&Bag::new().tag_lines()).file("notes.txt", "x"),
                "BAG008",
                WARNING,
            ),
            case("V8 outside", with_line(&line("bagit.txt")), "BAG007", ERROR),
        ],
        &CONTAINERS,
    );
}

#[test]
fn the_metadata_has_the_required_format() {
    check(
        &[
            case("V9 format", info("Payload-Oxum: 6 bytes\n"), "BAG004", ERROR),
            case("V9 twice", info("Payload-Oxum: 6.2\npayload-oxum: 6.2\n"), "BAG004", ERROR),
            case("V9 bytes", info("Payload-Oxum: 7.2\n"), "BAG004", ERROR),
            case("V9 files", info("Payload-Oxum: 6.3\n"), "BAG004", ERROR),
            case("V9 no colon", info("Contact-Name\n"), "BAG002", ERROR),
            case("V9 space before the colon", info("Contact-Name : x\n"), "BAG002", ERROR),
            case("V9 date", info("Bagging-Date: 3 June 2024\n"), "BAG002", WARNING),
        ],
        &CONTAINERS,
    );
}

#[test]
fn a_fetch_list_has_an_address_for_each_payload_file() {
    let bad = |what, text| case(what, fetch(text), "BAG006", ERROR);
    check(
        &[
            bad("V10 two words", "http://e.org/a data/a.txt\n"),
            bad("V10 relative", "a 3 data/a.txt\n"),
            bad("V10 length", "http://e.org/a three data/a.txt\n"),
            bad("V10 tag file", "http://e.org/a 3 bagit.txt\n"),
            bad("V10 outside", "http://e.org/a 3 data/../../x\n"),
            bad("V10 unlisted", "http://e.org/a 3 data/unlisted\n"),
            bad("V10 huge", "http://e.org/a 99999999999999999999999999 data/a.txt\n"),
            case("V10 scheme", fetch("ftp://e.org/a 3 data/a.txt\n"), "BAG006", WARNING),
        ],
        &CONTAINERS,
    );
}

#[test]
fn other_formats_of_lines_are_read_with_a_warning() {
    let listed =
        |text: String| Bag::new().file("manifest-sha256.txt", text + &line("data/deep/b c.txt"));
    let digest = digest("sha256");
    check(
        &[
            case("V11 normalised", with_payload("data/\u{e9}", "data/e\u{301}"), "BAG012", WARNING),
            case("V12 star", listed(format!("{digest} *data/a.txt\n")), "BAG011", WARNING),
            case("V12 dot", listed(format!("{digest}  ./data/a.txt\n")), "BAG011", WARNING),
            case("V12 tag", listed(format!("SHA256 (data/a.txt) = {digest}\n")), "BAG011", WARNING),
            case(
                "V12 comment",
                listed(format!("# mine\n{}", line("data/a.txt"))),
                "BAG011",
                WARNING,
            ),
            case("V12 backslash", listed(format!("\\{}", line("data/a.txt"))), "MAN002", ERROR),
        ],
        &CONTAINERS,
    );
}

#[test]
fn an_archive_holds_one_directory_with_one_bag() {
    let mut root = Bag::new();
    root.top = "";
    check(
        &[
            case("V15 stray", Bag::new().next_to("README", "x"), "BAG009", ERROR),
            case(
                "V15 two bags",
                Bag::new()
                    .next_to("other/bagit.txt", "BagIt-Version: 1.0\n")
                    .next_to("other/data/x", "x"),
                "BAG009",
                ERROR,
            ),
            case("V15 root", root, "BAG010", WARNING),
        ],
        &ARCHIVES,
    );
}
