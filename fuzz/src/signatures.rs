//! Targets for signatures, time-stamps and files of keys.
//!
//! `signed/` has keys, and signatures and a time-stamp by them of the text "signed".

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use ra_pack::signature::TrustedKeys;
use ra_pack::verify;
use ra_pack::verify::VerifyOptions;

use crate::seeds::Add;
use crate::verified::scratch;

/// The keys, as files: signers of OpenSSH, a key of minisign, and a time-stamp authority.
const KEYS: [(&str, &[u8]); 3] = [
    ("signers", include_bytes!("signed/signers")),
    ("lab.pub", include_bytes!("signed/lab.pub")),
    ("root.pem", include_bytes!("signed/root.pem")),
];
const SIGNATURES: [(&str, &[u8]); 3] = [
    ("sig", include_bytes!("signed/m.sig")),
    ("minisig", include_bytes!("signed/m.minisig")),
    ("tsr", include_bytes!("signed/m.tsr")),
];

/// Reads any bytes as a signature of each kind, and as a file of keys of each kind. They are never a good signature of a
/// manifest that the keys did not sign.
pub fn signature(bytes: &[u8]) {
    static TRUSTED: LazyLock<TrustedKeys> = LazyLock::new(|| {
        let keys = KEYS.map(|(name, key)| {
            let path = scratch().join(name);
            fs::write(&path, key).unwrap();
            path
        });
        read_keys(&keys).unwrap().unwrap()
    });
    let pack = scratch().join("signed-pack");
    fs::create_dir_all(&pack).unwrap();
    for (manifest, is_other) in [("signed\n", false), ("another\n", true)] {
        let path = pack.join("manifest-sha256.txt");
        fs::write(&path, manifest).unwrap();
        for (extension, _) in SIGNATURES {
            fs::write(path.with_added_extension(extension), bytes).unwrap();
        }
        let options = VerifyOptions { trusted: Some(TRUSTED.clone()), ..Default::default() };
        let report = verify(&pack, &options).unwrap();
        assert_eq!(report.signatures.len(), SIGNATURES.len());
        let is_good = report.signatures.iter().any(|it| it.is_good());
        assert!(!is_other || !is_good, "{report:?}");
        let is_ours = SIGNATURES.iter().any(|(_, signature)| *signature == bytes);
        assert!(is_other || is_good || !is_ours, "{report:?}");
    }
    let file = scratch().join("keys");
    fs::write(&file, bytes).unwrap();
    // Errors are expected.
    let _ = read_keys(&[file.clone(), file.clone(), file]);
}

fn read_keys(
    [signers, minisign_key, time_ca]: &[PathBuf; 3],
) -> ra_pack::Result<Option<TrustedKeys>> {
    let [one, other, third] = [
        TrustedKeys::read(Some(signers), &[], None),
        TrustedKeys::read(None, std::slice::from_ref(minisign_key), None),
        TrustedKeys::read(None, &[], Some(time_ca)),
    ];
    one.and(other).and(third)?;
    TrustedKeys::read(Some(signers), std::slice::from_ref(minisign_key), Some(time_ca))
}

/// Adds the keys and the signatures.
pub(crate) fn seeds(add: &mut Add<'_>) {
    for (name, bytes) in KEYS.into_iter().chain(SIGNATURES) {
        add("signature", name, bytes.to_vec());
    }
}
