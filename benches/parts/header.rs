//! Parsing the header of an array.

use divan::Bencher;
use divan::counter::BytesCount;
use ra_pack::ElementType;
use ra_pack::ra::Header;

#[divan::bench]
fn parse(bencher: Bencher<'_, '_>) {
    let bytes = Header::new(ElementType::COMPLEX64, vec![149, 6, 2]).unwrap().encode();
    assert_eq!(Header::parse(&bytes).unwrap().dims(), [149, 6, 2]);
    bencher
        .counter(BytesCount::of_slice(&bytes))
        .bench(|| Header::parse(divan::black_box(&bytes)).unwrap());
}
