//! The page about the language and `explain` agree with the code.

use ra_pack::ndl;

use crate::experiment::ra_pack;
use crate::page::read;

#[test]
fn explain_knows_every_code_and_suggests_the_nearest_one() {
    let explain = |args: &[&str]| ra_pack().arg("explain").args(args).assert();
    let printed = |args: &[&str]| {
        String::from_utf8(explain(args).success().get_output().stdout.clone()).unwrap()
    };
    let list = printed(&[]);
    for code in ra_pack::Code::ALL {
        assert!(list.lines().any(|line| line.starts_with(code.id())), "{}", code.id());
    }
    let page = printed(&["ndl040"]);
    assert!(page.starts_with("NDL040: An unknown datatype\n"), "{page}");
    assert!(
        page.contains("\n        type: double\n") && page.contains("\n        type: float64\n")
    );
    let json: serde_json::Value = serde_json::from_str(&printed(&["--json", "MAN003"])).unwrap();
    assert_eq!(json["code"], "MAN003");
    assert!(json["wrong"]["sketch"].is_string() && json["source"].is_string());
    let codes: serde_json::Value = serde_json::from_str(&printed(&["--json"])).unwrap();
    assert_eq!(codes.as_array().unwrap().len(), ra_pack::Code::ALL.len());
    let unknown = explain(&["NDL088"]).code(2);
    let message = String::from_utf8_lossy(&unknown.get_output().stderr).into_owned();
    assert!(message.contains("the nearest is `NDL087`"), "{message}");
}

#[test]
fn the_page_about_the_language_lists_all_decisions() {
    let page = read("docs/ndl.md");
    let open = |number: usize| page.lines().any(|line| line.starts_with(&format!("| {number} | ")));
    assert!((1..=20).all(open));
    for word in ["float16", "bfloat16", "float128", "complex64", "complex128", "int128", "uint128"]
    {
        assert!(ndl::Datatype::from_word(word).is_some_and(|word| word.is_extension()));
        assert!(page.contains(&format!("`{word}`")), "{word}");
    }
}
