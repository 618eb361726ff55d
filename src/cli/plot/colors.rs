//! Colour maps, as a few colours with straight lines between them.

use clap::ValueEnum;

use super::scene::{Rgb, float, whole};

/// Colours from the least to the greatest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorMap {
    /// From dark blue over green to yellow, as bright as the value is great.
    Viridis,
    /// From blue to yellow, the same to those who do not see red or green.
    Cividis,
    /// From black over purple to pale yellow.
    Magma,
    /// From black over red to yellow.
    Inferno,
    /// From blue over red to yellow.
    Plasma,
    /// From black to white.
    Gray,
    /// From blue over white to red; white is 0 unless --range says otherwise, then its middle.
    #[value(name = "RdBu", alias = "rdbu")]
    RdBu,
}

const VIRIDIS: [u32; 11] = [
    0x44_01_54, 0x48_24_75, 0x41_44_87, 0x35_5F_8D, 0x2A_78_8E, 0x21_91_8C, 0x22_A8_84, 0x44_BF_70,
    0x7A_D1_51, 0xBD_DF_26, 0xFD_E7_25,
];
const CIVIDIS: [u32; 10] = [
    0x00_20_4D, 0x00_33_6F, 0x39_48_6B, 0x57_5C_6D, 0x70_71_73, 0x8A_87_79, 0xA6_9D_75, 0xC4_B5_6C,
    0xE4_CF_5B, 0xFF_EA_46,
];
const MAGMA: [u32; 11] = [
    0x00_00_04, 0x14_0E_36, 0x3B_0F_70, 0x64_1A_80, 0x8C_29_81, 0xB7_37_79, 0xDE_49_68, 0xF7_70_5C,
    0xFE_9F_6D, 0xFE_CF_92, 0xFC_FD_BF,
];
const INFERNO: [u32; 11] = [
    0x00_00_04, 0x16_0B_39, 0x42_0A_68, 0x6A_17_6E, 0x93_26_67, 0xBC_37_54, 0xDD_51_3A, 0xF3_78_19,
    0xFC_A5_0A, 0xF6_D7_46, 0xFC_FF_A4,
];
const PLASMA: [u32; 11] = [
    0x0D_08_87, 0x41_04_9D, 0x6A_00_A8, 0x8F_0D_A4, 0xB1_2A_90, 0xCC_47_78, 0xE1_64_62, 0xF2_84_4B,
    0xFC_A6_36, 0xFC_CE_25, 0xF0_F9_21,
];
const GRAY: [u32; 2] = [0x00_00_00, 0xFF_FF_FF];
const RDBU: [u32; 11] = [
    0x05_30_61, 0x21_66_AC, 0x43_93_C3, 0x92_C5_DE, 0xD1_E5_F0, 0xF7_F7_F7, 0xFD_DB_C7, 0xF4_A5_82,
    0xD6_60_4D, 0xB2_18_2B, 0x67_00_1F,
];

/// How many names have colours of their own.
pub(crate) const MAX_NAMED: usize = 10;

/// Colours for names.
const NAMED: [u32; MAX_NAMED] = [
    0x44_77_AA, 0x22_88_33, 0xCC_BB_44, 0xEE_99_33, 0xEE_66_77, 0xAA_33_77, 0x66_CC_EE, 0x8C_56_4B,
    0x33_22_88, 0x99_99_33,
];

impl ColorMap {
    fn colors(self) -> &'static [u32] {
        match self {
            Self::Viridis => &VIRIDIS,
            Self::Cividis => &CIVIDIS,
            Self::Magma => &MAGMA,
            Self::Inferno => &INFERNO,
            Self::Plasma => &PLASMA,
            Self::Gray => &GRAY,
            Self::RdBu => &RDBU,
        }
    }

    /// The colour at a part from 0 to 1.
    pub(crate) fn color(self, part: f64) -> Rgb {
        let colors = self.colors();
        let last = colors.len().saturating_sub(1);
        let place = part.clamp(0.0, 1.0) * float(last);
        let below = usize::try_from(whole(place)).unwrap_or(0).min(last);
        let rest = place - float(below);
        let get = |nth: usize| rgb(colors.get(nth.min(last)).copied().unwrap_or(0));
        mix(get(below), get(below.saturating_add(1)), rest)
    }

    /// The colour of what has no value: grey, where the map has none itself.
    pub(crate) fn nothing(self) -> Rgb {
        match self {
            Self::Gray => [0xC8, 0x28, 0xA0],
            Self::RdBu => [0x80, 0x80, 0x80],
            _ => [0xBD, 0xBD, 0xBD],
        }
    }
}

/// The colour of the name of that number.
pub(crate) fn of_name(nth: usize) -> Rgb {
    let colors = NAMED.len();
    rgb(NAMED.get(nth.checked_rem(colors).unwrap_or(0)).copied().unwrap_or(0))
}

fn rgb(color: u32) -> Rgb {
    let [_, red, green, blue] = color.to_be_bytes();
    [red, green, blue]
}

/// A colour between two.
pub(crate) fn mix(from: Rgb, to: Rgb, part: f64) -> Rgb {
    let mut mixed = from;
    for (channel, to) in mixed.iter_mut().zip(to) {
        let between = f64::from(*channel) + (f64::from(to) - f64::from(*channel)) * part;
        *channel = u8::try_from(whole(between + 0.5)).unwrap_or(u8::MAX);
    }
    mixed
}
