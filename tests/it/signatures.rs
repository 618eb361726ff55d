//! Signatures, time-stamps and parity files, made by the programs that users have: `ssh-keygen`, `minisign`, `openssl ts`
//! and `par2`. The verdicts are those of these programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::experiment::Experiment;
use crate::foreign::{complaint, installed};
use crate::run::{Ran, create, ra};

const MANIFEST: &str = "x.zip.manifest-sha256.txt";

/// A directory with an archive, `x.zip`, and keys.
struct Signed {
    directory: TempDir,
}

impl Signed {
    /// Packs an experiment with these options. `{}` in them is the directory.
    fn new(options: &[&str]) -> Self {
        let this = Self { directory: TempDir::new().unwrap() };
        this.pack(options);
        this
    }

    fn pack(&self, options: &[&str]) {
        self.run(options, |options| {
            create(Experiment::standard().path(), &self.at("x.zip"), options).exits(0)
        });
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn fill(&self, text: &str) -> String {
        text.replace("{}", self.directory.path().to_str().unwrap())
    }

    /// Runs a line of the shell in the directory.
    fn shell(&self, line: &str) {
        let mut shell = Command::new("sh");
        let line = format!("set -e; {line}");
        complaint(shell.args(["-c", &line]).current_dir(self.directory.path())).unwrap();
    }

    fn verify(&self, options: &[&str]) -> Ran {
        self.run(options, |options| ra("verify", &[&self.at("x.zip")], options))
    }

    /// Runs a command with options in which `{}` is the directory.
    fn run(&self, options: &[&str], run: impl FnOnce(&[&str]) -> Ran) -> Ran {
        let options: Vec<_> = options.iter().map(|option| self.fill(option)).collect();
        run(&options.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Checks that the archive is refused because of its signature with this code alone.
    #[track_caller]
    fn refused(&self, options: &[&str], code: &str, said: &str) {
        self.verify(options).exits(1).says(&[said]);
        let found = self.verify(&[options, &["--json"]].concat()).exits(1).findings();
        assert_eq!(found.iter().map(|(code, _)| &**code).collect::<Vec<_>>(), [code], "{said}");
    }

    /// Makes an SSH key, and a list of signers with it.
    fn ssh_key(&self, name: &str, kind: &str) {
        self.shell(&format!(
            "ssh-keygen -q {kind} -N '' -C '' -f {name}; echo {name}@example.org $(cat {name}.pub) > {name}.signers"
        ));
    }

    fn sign_by_ssh(&self, name: &str, namespace: &str) {
        self.shell(&format!(
            "rm -f {MANIFEST}.sig; ssh-keygen -q -Y sign -n {namespace} -f {name} {MANIFEST}"
        ));
    }

    /// Makes a time-stamp authority in the directory `name` whose certificate is valid until the end of `year`.
    fn authority(&self, name: &str, year: u16) {
        fs::create_dir(self.at(name)).unwrap();
        fs::write(self.at(name).join("c.cnf"), AUTHORITY).unwrap();
        self.shell(&format!(
            "cd {name}; touch index; echo 01 > serial; echo 01 > tsserial
             openssl req -x509 -newkey rsa:2048 -nodes -keyout root.key -out root.pem -days 30 \
                 -config c.cnf -extensions root_ext -subj '/CN=Root {name}'
             openssl req -newkey rsa:2048 -nodes -keyout tsa.key -out tsa.csr -config c.cnf \
                 -subj '/CN=Time {name}'
             openssl ca -batch -config c.cnf -in tsa.csr -out tsa.pem -cert root.pem -keyfile root.key \
                 -extensions tsa_ext -startdate 20200101000000Z -enddate {year}1231235959Z -notext"
        ));
        fs::write(self.at(name).join("stamp"), STAMP).unwrap();
    }

    fn stamp(&self, name: &str) {
        self.shell(&format!("sh {name}/stamp \"$PWD/{MANIFEST}\""));
    }
}

/// The configuration of an authority with `openssl ca` and `openssl ts`.
const AUTHORITY: &str = "\
[req]
distinguished_name = dn
prompt = no
[dn]
CN = replaced
[root_ext]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign
[tsa_ext]
basicConstraints = critical,CA:false
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
[ca]
default_ca = own
[own]
dir = .
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = policy
[policy]
commonName = supplied
[tsa]
default_tsa = own_tsa
[own_tsa]
serial = tsserial
signer_cert = tsa.pem
certs = root.pem
signer_key = tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
other_policies = 1.2.3.4.2
digests = sha256, sha384, sha512
ess_cert_id_alg = sha256
";

/// A command for `--time-with`, as users have one that asks a server.
const STAMP: &str = "\
set -e
cd \"$(dirname \"$0\")\"
openssl ts -query -data \"$1\" -sha512 -cert -out q.tsq
openssl ts -reply -config c.cnf -queryfile q.tsq -out \"$1.tsr\"
";

#[test]
fn signatures_by_ssh_keys_are_checked() {
    if !installed(&["ssh-keygen", "sh"]) {
        return;
    }
    let signed = Signed::new(&[]);
    for (name, kind) in [
        ("ed", "-t ed25519"),
        ("rsa", "-t rsa -b 2048"),
        ("p256", "-t ecdsa -b 256"),
        ("p384", "-t ecdsa -b 384"),
    ] {
        signed.ssh_key(name, kind);
        signed.sign_by_ssh(name, "file");
        let signers = format!("--signers={{}}/{name}.signers");
        let ran = signed.verify(&[&signers]).exits(0);
        ran.says(&[&format!("(good, by {name}@example.org, SHA256:")]);
        if name != "ed" {
            signed.refused(&["--signers={}/ed.signers"], "SIG002", "not one of the signers");
        }
    }
    signed.verify(&[]).exits(0).says(&["(not checked; `ra-pack verify --signers` checks it)"]);
    let report = signed.verify(&["--json", "--signers={}/p384.signers"]).exits(0).json();
    assert_eq!(report["signatures"][0]["state"], "good");

    // Another kind of key, time, and use.
    signed.ssh_key("p521", "-t ecdsa -b 521");
    signed.sign_by_ssh("p521", "file");
    signed.refused(
        &["--signers={}/p521.signers"],
        "SIG002",
        "ecdsa-sha2-nistp521 cannot be checked",
    );
    signed.sign_by_ssh("ed", "git");
    signed.refused(&["--signers={}/ed.signers"], "SIG001", "for another purpose");
    signed.sign_by_ssh("ed", "file");
    for (option, said) in [
        ("valid-before=20240101Z", "the key of lab expired at 2024-01-01T00:00:00Z"),
        ("valid-after=\"20990101Z\"", "is valid only from 2099"),
        ("namespaces=\"git,mail\"", "must not sign files"),
    ] {
        signed.shell(&format!("echo 'lab {option}' $(cat ed.pub) > limited"));
        signed.refused(&["--signers={}/limited"], "SIG002", said);
    }
    fs::write(signed.at("limited"), "lab ssh-ed25519 garbage\n").unwrap();
    signed.verify(&["--signers={}/limited"]).exits(2).says(&["limited`, line 1: expected"]);

    // No signature, and one of another program with the same extension.
    fs::write(signed.at(&format!("{MANIFEST}.sig")), "untrusted comment: signify\n").unwrap();
    signed.refused(&["--signers={}/ed.signers"], "SIG003", "no signature by an SSH key");
    fs::remove_file(signed.at(&format!("{MANIFEST}.sig"))).unwrap();
    signed.refused(&["--signers={}/ed.signers"], "SIG003", "no signature by an SSH key");
}

#[test]
fn a_changed_byte_makes_a_signature_bad_as_ssh_keygen_says() {
    if !installed(&["ssh-keygen", "sh"]) {
        return;
    }
    let signed = Signed::new(&[]);
    signed.ssh_key("ed", "-t ed25519");
    signed.sign_by_ssh("ed", "file");
    let (manifest, signature) = (signed.at(MANIFEST), signed.at(&format!("{MANIFEST}.sig")));
    let good = fs::read(&signature).unwrap();
    let is_good_to_ssh = || {
        let mut ssh = Command::new("ssh-keygen");
        ssh.args(["-Y", "verify", "-n", "file", "-I", "ed@example.org"]);
        ssh.arg("-f").arg(signed.at("ed.signers")).arg("-s").arg(&signature);
        ssh.stdin(Stdio::from(fs::File::open(&manifest).unwrap()));
        ssh.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(is_good_to_ssh());
    for at in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&signature, &bad).unwrap();
        let is_good = signed.verify(&["--signers={}/ed.signers"]).code == Some(0);
        assert_eq!((is_good, at), (is_good_to_ssh(), at));
    }
    // A signature that begins well and goes on for megabytes.
    fs::write(&signature, [&*good, &*vec![b'A'; 3 << 20]].concat()).unwrap();
    signed.refused(&["--signers={}/ed.signers"], "SIG001", "not a signature by an SSH key");
    fs::write(&signature, &good).unwrap();
    let text = fs::read_to_string(&manifest).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    fs::write(&manifest, format!("{rest}{first}\n")).unwrap();
    // The files still agree with the list, whose lines are in another order.
    signed.verify(&[]).exits(0);
    signed.refused(&["--signers={}/ed.signers"], "SIG001", "does not match the manifest");
}

#[test]
fn signatures_in_the_pack_and_next_to_a_manifest_elsewhere_are_checked() {
    if !installed(&["ssh-keygen", "sh"]) {
        return;
    }
    let signed = Signed::new(&[]);
    signed.ssh_key("ed", "-t ed25519");
    signed.sign_by_ssh("ed", "file");
    signed.shell(&format!("mkdir safe; mv {MANIFEST} {MANIFEST}.sig safe"));
    signed.refused(&["--signers={}/ed.signers"], "SIG003", "no signature");
    let elsewhere = format!("--manifest={{}}/safe/{MANIFEST}");
    signed.verify(&["--signers={}/ed.signers", &elsewhere]).exits(0).says(&["(good, by ed"]);
    // The directory has the manifest and its signature.
    let out = signed.at("out");
    ra("extract", &[&signed.at("x.zip")], &["-C", out.to_str().unwrap()]).exits(0);
    signed.shell(&format!("cp safe/{MANIFEST}.sig out/manifest-sha256.txt.sig"));
    let signers = signed.fill("--signers={}/ed.signers");
    ra("verify", &[&out], &[&signers]).exits(0).says(&["manifest-sha256.txt.sig (good"]);
    // A stronger manifest that nobody signed lists a file more.
    fs::write(out.join("added.txt"), "added").unwrap();
    signed.shell("cd out; find . -type f ! -name 'manifest-*' -printf '%P\\0' | sort -z | xargs -0 sha512sum > manifest-sha512.txt");
    ra("verify", &[&out], &[&signers]).exits(1).says(&["MAN006", "added.txt"]);
    ra("verify", &[&out.join("run1/temperature.ra")], &[&signers]).exits(1).says(&["SIG003"]);
}

#[test]
fn signatures_by_minisign_are_checked() {
    if !installed(&["minisign", "sh"]) {
        return;
    }
    let signed = Signed::new(&[]);
    signed.shell("for key in lab other; do minisign -G -W -p $key.pub -s $key.key; done");
    signed.pack(&["--force", "--sign-with", "minisign -S -s {}/lab.key -m"]);
    signed.verify(&["--minisign-key={}/lab.pub"]).exits(0).says(&["(good, by RW"]);
    let key = fs::read_to_string(signed.at("lab.pub")).unwrap();
    let key = format!("--minisign-key={}", key.lines().last().unwrap());
    signed.verify(&["--minisign-key={}/other.pub", &key]).exits(0).says(&["(good, by RW"]);
    signed.refused(&["--minisign-key={}/other.pub"], "SIG002", "another key of minisign");
    signed
        .verify(&["--minisign-key={}/lab.key"])
        .exits(2)
        .says(&["is not a public key of minisign"]);
    let signature = signed.at(&format!("{MANIFEST}.minisig"));
    let good = fs::read(&signature).unwrap();
    let keys = ["--minisign-key={}/lab.pub"];
    for at in (40..good.len()).step_by(11) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&signature, &bad).unwrap();
        let mut minisign = Command::new("minisign");
        minisign
            .args(["-V", "-q", "-m"])
            .arg(signed.at(MANIFEST))
            .arg("-p")
            .arg(signed.at("lab.pub"));
        let is_good = signed.verify(&keys).code == Some(0);
        assert_eq!((is_good, at), (complaint(&mut minisign).is_ok(), at));
    }
    fs::write(&signature, "garbage").unwrap();
    signed.refused(&keys, "SIG001", "not a signature by minisign");
}

#[test]
fn time_stamps_are_checked() {
    if !installed(&["openssl", "sh"]) {
        return;
    }
    let signed = Signed::new(&[]);
    signed.authority("tsa", 2090);
    signed.authority("other", 2090);
    signed.authority("old", 2021);
    let token = signed.at(&format!("{MANIFEST}.tsr"));
    let report = signed.directory.path().join("x.zip");
    let command = signed.fill("--time-with=sh {}/tsa/stamp");
    create(Experiment::standard().path(), &report, &["--force", &command])
        .exits(0)
        .says(&["time-stamp: ", "x.zip.manifest-sha256.txt.tsr"]);
    let ca = ["--time-ca={}/tsa/root.pem"];
    let ran = signed.verify(&ca).exits(0);
    ran.says(&["(good; the manifest existed at 20", "according to CN=Time tsa)"]);
    signed.verify(&[]).exits(0).says(&["(not checked; `ra-pack verify --time-ca` checks it)"]);
    let time = signed.verify(&[&ca[..], &["--json"]].concat()).exits(0).json();
    let time = time["signatures"][0]["time"].as_str().unwrap().to_owned();
    let shown = Command::new("openssl").args(["ts", "-reply", "-text", "-in"]).arg(&token).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    let clock = &time[11..19];
    assert!(shown.contains(clock), "{time}, but:\n{shown}");

    let good = fs::read(&token).unwrap();
    signed.refused(
        &["--time-ca={}/other/root.pem"],
        "SIG002",
        "no trusted authority issued for time-stamps",
    );
    signed.shell("cat other/root.pem tsa/root.pem > both.pem");
    signed.verify(&["--time-ca={}/both.pem"]).exits(0);
    signed.verify(&["--time-ca={}/tsa/root.key"]).exits(2).says(&["expected certificates"]);
    // A token alone, without the status of the response.
    signed.shell(&format!(
        "openssl ts -reply -in {MANIFEST}.tsr -token_out -out t; mv t {MANIFEST}.tsr"
    ));
    signed.verify(&ca).exits(0);
    signed.stamp("old");
    signed.refused(
        &["--time-ca={}/old/root.pem"],
        "SIG002",
        "had expired when the time-stamp was made",
    );
    fs::write(&token, [&*good, &*vec![0; 3 << 20]].concat()).unwrap();
    signed.refused(&ca, "SIG001", "cannot be read");
    fs::remove_file(&token).unwrap();
    signed.refused(&ca, "SIG003", "no time-stamp");
    // A time-stamp of another manifest.
    signed.pack(&["--force", "--attribute", "title=another"]);
    fs::write(&token, &good).unwrap();
    signed.refused(&ca, "SIG001", "is of something else");
}

#[test]
#[ignore = "slow"]
fn a_changed_byte_makes_a_time_stamp_bad_as_openssl_says() {
    if !installed(&["openssl", "sh"]) {
        return;
    }
    let signed = Signed::new(&[]);
    signed.authority("tsa", 2090);
    signed.stamp("tsa");
    let token = signed.at(&format!("{MANIFEST}.tsr"));
    let good = fs::read(&token).unwrap();
    let is_good_to_openssl = |at: &Path| {
        let mut openssl = Command::new("openssl");
        openssl.args(["ts", "-verify", "-data"]).arg(signed.at(MANIFEST)).arg("-in").arg(at);
        complaint(openssl.arg("-CAfile").arg(signed.at("tsa/root.pem"))).is_ok()
    };
    assert!(is_good_to_openssl(&token));
    let mut refused = 0;
    for at in (0..good.len()).step_by(13) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&token, &bad).unwrap();
        let is_good = signed.verify(&["--time-ca={}/tsa/root.pem"]).code == Some(0);
        // Certificates that are not needed may be damaged, and OpenSSL reads forms that are not canonical.
        assert!(!is_good || is_good_to_openssl(&token), "byte {at}");
        refused += usize::from(!is_good);
    }
    assert!(refused > good.len() / 13 / 2, "{refused}");
}

#[test]
fn an_audit_lists_signers_and_times() {
    if !installed(&["openssl", "ssh-keygen", "sh"]) {
        return;
    }
    let signed = Signed::new(&[]);
    signed.authority("tsa", 2090);
    signed.ssh_key("ed", "-t ed25519");
    signed.sign_by_ssh("ed", "file");
    signed.stamp("tsa");
    let log = signed.at("log.jsonl");
    let checks = ["--signers={}/ed.signers", "--time-ca={}/tsa/root.pem", "--log={}/log.jsonl"];
    signed.verify(&checks).exits(0);
    let page = signed.fill("--html={}/audit.html");
    let ran = ra("audit", &[&log], &["--all", &page]).exits(0);
    ran.says(&["signed by ed@example.org, SHA256:", ", existed at 20"]);
    let page = fs::read_to_string(signed.at("audit.html")).unwrap();
    assert!(page.contains("<td>ed@example.org, SHA256:"), "{page}");
    let report = ra("audit", &[&log], &["--json"]).exits(0).json();
    let target = &report["targets"][0];
    assert!(target["signed_by"][0].as_str().unwrap().starts_with("ed@example.org"), "{target}");
    assert!(target["existed_at"].is_string(), "{target}");
}

#[test]
fn an_archive_is_repaired_by_its_parity_files() {
    if !installed(&["par2", "sh"]) {
        return;
    }
    let signed = Signed { directory: TempDir::new().unwrap() };
    let archive = signed.at("x.zip");
    let protect = "--parity-with=par2 create -q -q -b100 -r10";
    let ran = create(Experiment::standard().path(), &archive, &[protect]).exits(0);
    ran.says(&["parity: ", "x.zip.par2", "x.zip.vol"]);
    signed.verify(&[]).exits(0).says(&["parity: ", "x.zip.par2 and "]);
    let good = fs::read(&archive).unwrap();
    // The middle, the start, and the end are damaged.
    for at in [good.len() / 2, 0, good.len() - 4] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&archive, &bad).unwrap();
        let said = signed.verify(&[]).exits(1).said();
        let line = said.lines().find(|line| line.contains("repair: `par2 repair ")).unwrap();
        let command = line.split('`').nth(1).unwrap();
        signed.shell(&command.replace("repair ", "repair -q -q "));
        signed.verify(&[]).exits(0);
        assert_eq!(fs::read(&archive).unwrap(), good);
        signed.shell("rm -f x.zip.[0-9]");
    }
    // Old parity files would repair a new archive to the old one.
    fs::remove_file(&archive).unwrap();
    fs::remove_file(signed.at(MANIFEST)).unwrap();
    create(Experiment::standard().path(), &archive, &[]).exits(2).says(&["x.zip.par2` exists"]);
    fs::write(&archive, &good).unwrap();
    fs::write(signed.at("more.txt"), "more").unwrap();
    let home = signed.fill("{}");
    ra("add", &[&archive], &["-C", &home, "more.txt"]).exits(0);
    let names = fs::read_dir(signed.directory.path()).unwrap();
    let names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.contains(".par2")), "{names:?}");
    create(Experiment::standard().path(), &archive, &["--force", "--parity-with=true"])
        .exits(2)
        .says(&["the archive is complete, but lacks its parity: `true` created none"]);
    create(Experiment::standard().path(), Path::new("s3://bucket/x.zip"), &[protect])
        .exits(2)
        .says(&["--parity-with needs an archive that is a file"]);
}
