//! BagIt profiles: each rule kept and broken, hostile profiles, bags of `create`, and the validator `bagit_profile`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Bag, CONTAINERS, digest};
use crate::experiment::{Experiment, UINT8};
use crate::python::Python;
use crate::run::{Ran, create, extract, ra, unhelpful};

const ALGORITHMS: [&str; 3] = ["sha256", "sha512", "md5"];
const URI: &str = "https://example.org/profile.json";

/// Returns a profile that accepts the bag of these tests.
fn accepting() -> Value {
    json!({
        "BagIt-Profile-Info": {
            "BagIt-Profile-Identifier": URI, "BagIt-Profile-Version": "1.4.0", "Source-Organization": "Example",
            "External-Description": "Tests", "Version": "1"
        },
        "Accept-Serialization": ["application/zip", "application/x-tar"],
        "Accept-BagIt-Version": ["1.0"]
    })
}

/// Returns that profile with other values of some rules.
fn with(rules: &Value) -> Value {
    let mut profile = accepting();
    profile.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
    profile
}

/// Returns a bag that names the profile.
fn bag() -> Bag {
    Bag::new().append("bag-info.txt", &format!("BagIt-Profile-Identifier: {URI}\n"))
}

fn write_profile(directory: &Path, profile: &Value) -> PathBuf {
    let path = directory.join("profile.json");
    fs::write(&path, profile.to_string()).unwrap();
    path
}

fn validate(target: &Path, profile: &Path) -> Ran {
    ra("validate", &[target], &["--json", "--profile", profile.to_str().unwrap()])
}

/// Returns the rules that a bag breaks, with the members that the findings name.
fn broken(bag: &Bag, ending: &str, profile: &Value) -> Vec<(String, String, String)> {
    let scratch = TempDir::new().unwrap();
    let target = bag.write(scratch.path(), ending);
    let ran = validate(&target, &write_profile(scratch.path(), profile));
    let report = ran.json();
    assert_eq!(report["profile"], URI);
    broken_in(&report)
}

fn broken_in(report: &Value) -> Vec<(String, String, String)> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or("").to_owned();
    let findings = report["findings"].as_array().unwrap().iter();
    let of_profile = findings.filter(|finding| finding["severity"] == "error");
    let rule = |finding: &Value| {
        let message = text(finding, "message");
        let (_, rule) = message.split_once("against `").expect("a rule");
        rule.split_once("` of the profile").unwrap().0.to_owned()
    };
    of_profile.map(|it| (text(it, "code"), rule(it), text(it, "member"))).collect()
}

#[test]
fn each_rule_is_checked_in_each_container() {
    let md5 = format!("{}  data/a.txt\n{}  data/deep/b c.txt\n", digest("md5"), digest("md5"));
    let md5 = || bag().file("manifest-md5.txt", &md5);
    let fetch = || bag().file("fetch.txt", "https://example.org/a 3 data/a.txt\n");
    let named = |text: &str| Bag::new().append("bag-info.txt", text);
    let empty = || {
        let bag = bag().without("data/a.txt").without("data/deep/b c.txt");
        bag.file("data/placeholder", "")
    };
    let tag = |rule: Value| json!({"Bag-Info": {"Contact-Name": rule}});
    let both = format!(
        "BagIt-Profile-Identifier: https://example.org/other\nBAGIT-profile-identifier: {URI}\n"
    );
    for (rules, bag, expected) in [
        (json!({}), bag(), None),
        (json!({}), Bag::new(), Some(("PROF003", "BagIt-Profile-Info", "bag-info.txt"))),
        (
            json!({}),
            named("BagIt-Profile-Identifier: x\n"),
            Some(("PROF003", "BagIt-Profile-Info", "bag-info.txt")),
        ),
        (json!({}), named(&both), None),
        (
            tag(
                json!({"required": true, "repeatable": false, "values": ["A. Scientist"], "description": "x"}),
            ),
            bag(),
            None,
        ),
        (
            tag(json!({"required": true})),
            bag().file("bag-info.txt", format!("BagIt-Profile-Identifier: {URI}\n")),
            Some(("PROF003", "Bag-Info", "bag-info.txt")),
        ),
        (tag(json!({"values": ["B"]})), bag(), Some(("PROF003", "Bag-Info", "bag-info.txt"))),
        (tag(json!({"values": []})), bag(), None),
        (
            tag(json!({"repeatable": false})),
            bag().append("bag-info.txt", "contact-name: B\n"),
            Some(("PROF003", "Bag-Info", "bag-info.txt")),
        ),
        (tag(json!({"repeatable": true})), bag().append("bag-info.txt", "Contact-Name: B\n"), None),
        (json!({"Manifests-Required": ["sha256"]}), bag(), None),
        (
            json!({"Manifests-Required": ["md5"]}),
            bag(),
            Some(("PROF004", "Manifests-Required", "manifest-md5.txt")),
        ),
        (json!({"Manifests-Allowed": ["sha256"]}), bag(), None),
        (
            json!({"Manifests-Allowed": ["sha256"]}),
            md5(),
            Some(("PROF004", "Manifests-Allowed", "manifest-md5.txt")),
        ),
        (json!({"Tag-Manifests-Required": ["sha256"]}), bag(), None),
        (
            json!({"Tag-Manifests-Required": ["sha1"]}),
            bag(),
            Some(("PROF004", "Tag-Manifests-Required", "tagmanifest-sha1.txt")),
        ),
        (
            json!({"Tag-Manifests-Allowed": []}),
            bag(),
            Some(("PROF004", "Tag-Manifests-Allowed", "tagmanifest-sha256.txt")),
        ),
        (json!({"Tag-Files-Required": ["meta/a.xml"]}), bag().file("meta/a.xml", ""), None),
        (
            json!({"Tag-Files-Required": ["meta/a.xml"]}),
            bag(),
            Some(("PROF005", "Tag-Files-Required", "meta/a.xml")),
        ),
        (json!({"Tag-Files-Allowed": ["meta/*.xml"]}), bag().file("meta/deep/a.xml", ""), None),
        (json!({"Tag-Files-Allowed": []}), bag(), None),
        (
            json!({"Tag-Files-Allowed": ["a*b*.xml"]}),
            bag().file("database/ab.txt", ""),
            Some(("PROF005", "Tag-Files-Allowed", "database/ab.txt")),
        ),
        (json!({"Payload-Files-Required": ["data/a.txt", "data/deep/"]}), bag(), None),
        (
            json!({"Payload-Files-Required": ["data/b.txt"]}),
            bag(),
            Some(("PROF005", "Payload-Files-Required", "b.txt")),
        ),
        (
            json!({"Payload-Files-Required": ["data/a.txt/"]}),
            bag(),
            Some(("PROF005", "Payload-Files-Required", "a.txt/")),
        ),
        (json!({"Payload-Files-Allowed": ["data/a.txt", "data/deep/*"]}), bag(), None),
        (json!({"Payload-Files-Allowed": ["data/*.txt"]}), bag(), None),
        (
            json!({"Payload-Files-Allowed": ["data/a.txt"]}),
            bag(),
            Some(("PROF005", "Payload-Files-Allowed", "deep/b c.txt")),
        ),
        (json!({"Allow-Fetch.txt": true}), fetch(), None),
        (
            json!({"Allow-Fetch.txt": false}),
            fetch(),
            Some(("PROF005", "Allow-Fetch.txt", "fetch.txt")),
        ),
        (json!({"Fetch.txt-Required": true}), fetch(), None),
        (
            json!({"Fetch.txt-Required": true}),
            bag(),
            Some(("PROF005", "Fetch.txt-Required", "fetch.txt")),
        ),
        (json!({"Data-Empty": true}), empty(), None),
        (
            json!({"Data-Empty": true}),
            empty().file("data/b", ""),
            Some(("PROF005", "Data-Empty", "data")),
        ),
        (
            json!({"Data-Empty": true}),
            empty().file("data/placeholder", "x"),
            Some(("PROF005", "Data-Empty", "data")),
        ),
        (
            json!({"Accept-BagIt-Version": ["0.97"]}),
            bag(),
            Some(("PROF002", "Accept-BagIt-Version", "")),
        ),
        (json!({"Accept-BagIt-Version": ["0.97"]}), bag().version("0.97"), None),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(code, rule, member)| (code.into(), rule.into(), member.into()))
            .collect();
        for ending in CONTAINERS {
            assert_eq!(broken(&bag, ending, &with(&rules)), expected, "{ending} {rules}");
        }
    }
}

#[test]
fn a_profile_accepts_directories_and_types_of_archives() {
    let form = |rule: &str| vec![("PROF002".to_owned(), rule.to_owned(), String::new())];
    for (serialization, types, accepted) in [
        ("optional", json!(["application/tar"]), ["/", ".tar"].as_slice()),
        ("optional", json!(["application/zip", "text/plain"]), &["/", ".zip"]),
        ("required", json!(["application/zip", "application/tar"]), &[".zip", ".tar"]),
        ("forbidden", json!([]), &["/"]),
    ] {
        let profile = with(&json!({"Serialization": serialization, "Accept-Serialization": types}));
        for ending in CONTAINERS {
            let rule =
                if serialization == "optional" { "Accept-Serialization" } else { "Serialization" };
            let expected = if accepted.contains(&ending) { Vec::new() } else { form(rule) };
            assert_eq!(broken(&bag(), ending, &profile), expected, "{ending} {profile}");
        }
    }
}

#[test]
fn a_rule_that_is_newer_than_the_profile_does_not_apply() {
    for (version, applies) in [("1.1.0", false), ("1.2.0", false), ("1.3.0", true), ("1.4.0", true)]
    {
        let mut profile = with(&json!({"Manifests-Allowed": []}));
        profile["BagIt-Profile-Info"]["BagIt-Profile-Version"] = version.into();
        assert_eq!(!broken(&bag(), ".zip", &profile).is_empty(), applies, "{version}");
        let home = TempDir::new().unwrap();
        let ran =
            validate(&bag().write(home.path(), ".tar"), &write_profile(home.path(), &profile));
        let warned = ran
            .says(&[])
            .said()
            .contains("`Manifests-Allowed` does not apply to profiles of this version");
        assert_eq!(warned, !applies, "{version}");
    }
}

#[test]
fn profiles_that_break_the_specification_are_refused_with_all_errors() {
    let home = TempDir::new().unwrap();
    let target = bag().write(home.path(), ".zip");
    let refused = |text: &[u8]| {
        let path = home.path().join("profile.json");
        fs::write(&path, text).unwrap();
        let ran = ra("validate", &[&target], &["--profile", path.to_str().unwrap()]);
        assert!(ran.said().len() < 20_000, "{} bytes", ran.said().len());
        ran.exits(1).says(&["PROF001"])
    };
    let errors = |rules: &Value| refused(with(rules).to_string().as_bytes());
    errors(
        &json!({"BagIt-Profile-Info": {}, "Accept-Serialization": [], "Accept-BagIt-Version": []}),
    )
    .says(&[
        "no `Source-Organization`",
        "no `External-Description`",
        "no `Version`",
        "no `BagIt-Profile-Identifier`",
        "`Accept-Serialization` has no element",
        "`Accept-BagIt-Version` has no element",
    ]);
    errors(&json!({"Manifests-Required": "md5", "Data-Empty": "true", "Serialization": "none", "Bag-Info": {"A": {"required": 1}}}))
        .says(&["`Manifests-Required`: ", "`Data-Empty`: ", "`Serialization`: unknown variant `none`", "`Bag-Info`: ", "4 errors"]);
    errors(&json!({"Accept-BagIt-Version": [1.0]}))
        .says(&["floating point `1.0`, expected a string"]);
    for [kind, name] in [
        ["Manifests", "md5"],
        ["Tag-Manifests", "md5"],
        ["Tag-Files", "a"],
        ["Payload-Files", "data/a"],
    ] {
        let rules =
            json!({(format!("{kind}-Required")): [name], (format!("{kind}-Allowed")): ["b*"]});
        errors(&rules).says(&[
            &format!("`{kind}-Required` has a name that `{kind}-Allowed` does not: `{name}`"),
            "1 error",
        ]);
    }
    errors(&json!({"Fetch.txt-Required": true, "Allow-Fetch.txt": false})).says(&["contradicts"]);
    errors(&json!({"Payload-Files-Required": ["a"], "Payload-Files-Allowed": ["data/b/", "*"]}))
        .says(&["outside `data/`: `a`", "end with `/*`: `data/b/`"]);
    for version in [json!("2.0.0"), json!(""), json!("1.4.0.0")] {
        let mut profile = accepting();
        profile["BagIt-Profile-Info"]["BagIt-Profile-Version"] = version;
        refused(profile.to_string().as_bytes())
            .says(&["the version of the specification is unknown"]);
    }
    errors(&json!({"Tag-Files-Allowd": [], "Bag-Info": 1}))
        .says(&["did you mean `Tag-Files-Allowed`?"]);
}

#[test]
fn hostile_profiles_end_soon_with_an_error() {
    let home = TempDir::new().unwrap();
    let target = bag().write(home.path(), ".tar");
    let path = home.path().join("profile.json");
    let of = |rules: Value| with(&rules).to_string().into_bytes();
    let stars = "data/".to_owned() + &"*a".repeat(200_000) + "b";
    let many: Vec<_> = (0..300).map(|number| format!("data/*{number}")).collect();
    for (text, code, words) in [
        (b"[".repeat(500_000), 1, "expected a map"),
        (br#"{"a":"#.repeat(200_000), 1, "recursion limit exceeded"),
        (b"".to_vec(), 1, "EOF"),
        (b"\xff\xfe{\0}\0".to_vec(), 1, "expected value"),
        (
            br#"{"Manifests-Required": ["a"#.to_vec(),
            1,
            "EOF while parsing a string at line 1 column 26",
        ),
        (vec![b' '; 1 << 21], 2, "it is longer than 1048576 bytes"),
        (of(json!({"Payload-Files-Allowed": many})), 1, "has 300 `*`, more than 256"),
        (of(json!({"Payload-Files-Allowed": [stars]})), 1, "has 200000 `*`, more than 256"),
        (of(json!({"Tag-Files-Required": vec!["x"; 200_000]})), 1, "PROF005"),
        (
            of(json!({"Bag-Info": {"\u{1b}[31m'; rm -rf x": {"required": true}}})),
            1,
            "'LABEL=VALUE'",
        ),
        (of(json!({"x".repeat(500_000): []})), 0, "is unknown"),
    ] {
        fs::write(&path, text).unwrap();
        let ran = ra("validate", &[&target], &["--profile", path.to_str().unwrap()]).exits(code);
        assert!(!ran.said().contains('\u{1b}'));
        assert!(ran.said().len() < 300_000, "{} bytes", ran.said().len());
        ran.says(&[words]);
    }
}

#[test]
fn a_profile_is_for_bags() {
    let home = TempDir::new().unwrap();
    let profile = write_profile(home.path(), &accepting());
    let experiment =
        Experiment::new().array("a.ra", UINT8, &[2], b"ab").describe("a.yaml", "[2]", "uint8");
    let source = experiment.path();
    let plain = home.path().join("plain.zip");
    create(source, &plain, &[]).exits(0);
    for target in [source, &plain, &source.join("a.ra")] {
        validate(target, &profile)
            .exits(2)
            .says(&["is not a bag", "`ra-pack create --layout bagit`"]);
    }
    let option = ["--profile", profile.to_str().unwrap()];
    create(source, &home.path().join("exp.zip"), &option).exits(2).says(&["--layout bagit"]);
}

#[test]
fn create_refuses_with_all_problems_and_the_options_that_solve_them() {
    let home = TempDir::new().unwrap();
    let profile = write_profile(
        home.path(),
        &with(&json!({
            "Bag-Info": {"Contact-Email": {"required": true}, "Payload-Oxum": {"required": true, "values": ["3.1"]}},
            "Manifests-Required": ["sha512"],
            "Tag-Files-Allowed": ["manifest.yaml"],
            "Payload-Files-Allowed": ["data/*.txt"],
            "Serialization": "required",
            "Accept-Serialization": ["application/x-tar"]
        })),
    );
    let experiment = Experiment::new().file("a.txt", "abc").file("run/b.tmp", "x");
    let bagit = ["--layout", "bagit", "--profile", profile.to_str().unwrap()];
    let target = home.path().join("exp.zip");
    create(experiment.path(), &target, &bagit).exits(1).says(&[
        "PROF002",
        "the extension .tar",
        "PROF003",
        "`ra-pack create --bag-info 'Contact-Email=VALUE'`",
        "PROF004",
        "`ra-pack create --digest sha256,sha512`",
        "PROF005",
        "`ra-pack create --exclude 'run/b.tmp'`",
        "5 errors",
    ]);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing is written");
    let target = home.path().join("exp.tar");
    let options = [
        "--bag-info",
        "Contact-Email=VALUE",
        "--digest",
        "sha256,sha512",
        "--exclude",
        "run/b.tmp",
    ];
    create(experiment.path(), &target, &[&bagit[..], &options].concat()).exits(0);
    validate(&target, &profile).exits(0);
    ra("verify", &[&target], &[]).exits(0);
    let directory = home.path().join("unpacked");
    extract(&target, &directory, &[]).exits(0);
    let info = fs::read_to_string(directory.join("exp/bag-info.txt")).unwrap();
    assert!(info.contains(&format!("BagIt-Profile-Identifier: {URI}\n")), "{info}");
    assert_eq!(broken_in(&validate(&directory.join("exp"), &profile).json())[0].1, "Serialization");
}

/// A bag and a profile, written for both validators.
struct Case {
    name: String,
    profile: Value,
    directory: PathBuf,
    target: PathBuf,
}

impl Case {
    fn write(home: &Path, name: String, bag: &Bag, ending: &str, profile: Value) -> Self {
        let place = home.join(&name);
        fs::create_dir(&place).unwrap();
        let (directory, target) = (bag.write(&place, "/"), bag.write(&place, ending));
        Self { name, profile, directory, target }
    }

    /// Returns the rules that the bag breaks, in the words of the script.
    fn ours(&self) -> Vec<String> {
        let place = self.directory.parent().unwrap();
        let ran = validate(&self.target, &write_profile(place, &self.profile));
        if ran.err.contains("PROF001") {
            return vec!["profile".to_owned()];
        }
        assert!(unhelpful(&ran.json()).is_empty(), "{}", ran.said());
        let rules = broken_in(&ran.json()).into_iter().map(|(_, rule, _)| match &*rule {
            "BagIt-Profile-Info" => "Bag-Info".to_owned(),
            "Accept-Serialization" => "Serialization".to_owned(),
            _ => rule,
        });
        rules.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Returns the rules that each bag breaks for the validator.
fn theirs(python: &Python, cases: &[Case]) -> Vec<Vec<String>> {
    let cases: Vec<_> = cases.iter().map(|Case { profile, directory, target, .. }| json!({"profile": profile, "directory": directory, "target": target})).collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/bag/profile.py");
    let mut child =
        python.command().arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(Value::from(cases).to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Numbers that look random and are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn some<'a>(&mut self, all: &[&'a str]) -> Vec<&'a str> {
        all.iter().copied().filter(|_| self.below(2) == 0).collect()
    }

    fn one<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// Writes a bag and a profile that have some of all parts.
fn generated(chance: &mut Chance, home: &Path, number: usize) -> Case {
    let version = chance.one(&["0.97", "1.0"]);
    let mut bag = Bag::new().version(version).untagged().without("manifest-sha256.txt");
    for algorithm in chance.some(&ALGORITHMS) {
        let line = |name: &str| format!("{}  data/{name}\n", digest(algorithm));
        bag = bag.file(&format!("manifest-{algorithm}.txt"), line("a.txt") + &line("deep/b c.txt"));
    }
    for algorithm in chance.some(&ALGORITHMS) {
        bag = bag.file(&format!("tagmanifest-{algorithm}.txt"), "");
    }
    for (name, text) in [
        ("extra.txt", ""),
        ("meta/a.xml", ""),
        ("notes.md", ""),
        ("fetch.txt", "https://example.org/a 3 data/a.txt\n"),
    ] {
        if chance.below(3) == 0 {
            bag = bag.file(name, text);
        }
    }
    let lines = [
        format!("BagIt-Profile-Identifier: {URI}\n"),
        "A: 1\n".to_owned(),
        "A: 1\nA: 2\n".to_owned(),
        String::new(),
    ];
    let is_named = chance.below(8) > 0;
    let info = if is_named { lines[0].clone() } else { String::new() }
        + &chance.one(&lines[1..])
        + chance.one(&["", "B: x\n", "B: y\n"]);
    let bag = bag.file("bag-info.txt", info);
    // The validator also needs the rules that the specification does not require.
    let mut profile = with(&json!({
        "Bag-Info": {
            "A": {"required": chance.below(2) == 0, "repeatable": chance.below(2) == 0},
            "B": {"required": chance.below(4) == 0, "values": chance.one(&[json!(["x", "y"]), json!(["y", "z"])])}
        },
        "Manifests-Required": chance.some(&ALGORITHMS[..2]),
        "Accept-BagIt-Version": chance.one(&[json!(["0.97"]), json!(["0.97", "1.0"]), json!(["1.0"])]),
        "Accept-Serialization": chance.one(&[json!(["application/zip"]), json!(["application/x-tar", "application/zip"])]),
    }));
    profile["BagIt-Profile-Info"]["BagIt-Profile-Version"] =
        chance.one(&["1.1.0", "1.2.0", "1.3.0", "1.4.0"]).into();
    for (rule, value) in [
        ("Tag-Manifests-Required", json!(chance.some(&ALGORITHMS[..1]))),
        ("Manifests-Allowed", json!(["sha256", "sha512"])),
        ("Tag-Manifests-Allowed", json!(["sha256", "md5"])),
        ("Tag-Files-Required", json!(chance.some(&["extra.txt", "meta/a.xml"]))),
        (
            "Tag-Files-Allowed",
            chance.one(&[
                json!(["*.txt", "meta/a.xml"]),
                json!(["extra.txt", "meta/*"]),
                json!(["*"]),
            ]),
        ),
        ("Allow-Fetch.txt", json!(chance.below(2) == 0)),
        ("Serialization", json!(chance.one(&["required", "optional", "forbidden"]))),
    ] {
        if chance.below(2) == 0 {
            profile[rule] = value;
        }
    }
    let ending = chance.one(&CONTAINERS);
    Case::write(home, number.to_string(), &bag, ending, profile)
}

#[test]
#[ignore = "slow"]
fn the_validator_finds_the_same_broken_rules_in_generated_bags() {
    let Some(python) = Python::of_deposits(&["bagit", "bagit_profile"]) else { return };
    let home = TempDir::new().unwrap();
    let mut chance = Chance(1);
    let cases: Vec<_> =
        (0..200).map(|number| generated(&mut chance, home.path(), number)).collect();
    let mut seen = BTreeSet::new();
    for (case, theirs) in cases.iter().zip(theirs(&python, &cases)) {
        assert_eq!(case.ours(), theirs, "case {}: {}", case.name, case.profile);
        seen.extend(theirs);
    }
    assert_eq!(seen.len(), 10, "each rule is broken at least once: {seen:?}");
}

/// The validator differs from the specification here. The first list is ours, the second its own.
#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn the_validator_differs_from_the_specification_in_known_cases() {
    let Some(python) = Python::of_deposits(&["bagit", "bagit_profile"]) else { return };
    let home = TempDir::new().unwrap();
    let of = |rules: Value| {
        let mut profile = with(&json!({"Bag-Info": {}, "Manifests-Required": []}));
        profile.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
        profile
    };
    let tag = |label: &str, rule: Value| of(json!({"Bag-Info": {label: rule}}));
    let identifier = |key: &str| {
        let mut profile = of(json!({}));
        profile["BagIt-Profile-Info"].as_object_mut().unwrap().remove(key);
        profile
    };
    let both = "BagIt-Profile-Identifier: https://example.org/other\n";
    let (none, info, files): (&[&str], _, _) = (&[], &["Bag-Info"][..], &["Tag-Files-Allowed"][..]);
    let (form, profile) = (&["Serialization"][..], &["profile"][..]);
    let table = [
        (
            "labels have no case",
            bag(),
            "/",
            tag("contact-NAME", json!({"required": true})),
            none,
            info,
        ),
        (
            "a bag may have several profiles",
            bag().append("bag-info.txt", both),
            "/",
            of(json!({})),
            none,
            info,
        ),
        (
            "no values means any value",
            bag(),
            "/",
            tag("Contact-Name", json!({"values": []})),
            none,
            info,
        ),
        (
            "each value is compared",
            bag().append("bag-info.txt", "Contact-Name: A. Scientist\n"),
            "/",
            tag("Contact-Name", json!({"values": ["A. Scientist"]})),
            none,
            info,
        ),
        (
            "only `*` is special",
            bag().file("a.txt", ""),
            "/",
            of(json!({"Tag-Files-Allowed": ["?.txt"]})),
            files,
            none,
        ),
        (
            "`database` is not the payload",
            bag().file("database/a", ""),
            "/",
            of(json!({"Tag-Files-Allowed": []})),
            files,
            none,
        ),
        (
            "a tar has the type of the examples",
            bag(),
            ".tar",
            of(json!({"Accept-Serialization": ["application/tar"]})),
            none,
            form,
        ),
        (
            "a type of the archive is required",
            bag(),
            "/",
            of(json!({"Accept-Serialization": []})),
            profile,
            none,
        ),
        (
            "the description is required",
            bag(),
            "/",
            identifier("External-Description"),
            profile,
            none,
        ),
        ("the version is required", bag(), "/", identifier("Version"), profile, none),
        (
            "required names must be allowed",
            bag().file("a.txt", ""),
            "/",
            of(json!({"Tag-Files-Required": ["a.txt"], "Tag-Files-Allowed": []})),
            profile,
            files,
        ),
        (
            "payload rules",
            bag(),
            "/",
            of(json!({"Payload-Files-Required": ["data/x"]})),
            &["Payload-Files-Required"],
            none,
        ),
        ("an empty payload", bag(), "/", of(json!({"Data-Empty": true})), &["Data-Empty"], none),
        (
            "a required list to fetch",
            bag(),
            "/",
            of(json!({"Fetch.txt-Required": true})),
            &["Fetch.txt-Required"],
            none,
        ),
    ];
    let cases: Vec<_> = table
        .iter()
        .map(|(name, bag, ending, profile, ..)| {
            Case::write(home.path(), (*name).to_owned(), bag, ending, profile.clone())
        })
        .collect();
    for ((case, found), (.., ours, theirs)) in cases.iter().zip(theirs(&python, &cases)).zip(table)
    {
        assert_eq!(
            (case.ours(), found),
            (
                ours.iter().map(|it| (*it).to_owned()).collect(),
                theirs.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()
            ),
            "{}",
            case.name
        );
    }
}
