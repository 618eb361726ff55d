//! Colours of pictures: colour maps for numbers, and colours for names.

use super::super::text::{count, float};

/// Colour: red, green, blue.
pub type Rgb = [u8; 3];

/// Colours from the smallest to the largest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColorMap(&'static [u32]);

/// Colour maps, each with its name and what it is for.
pub const COLOR_MAPS: &[(&str, ColorMap, &str)] = &[
    ("viridis", VIRIDIS, "Dark blue, green, yellow; brightness grows with the value"),
    ("cividis", CIVIDIS, "Blue to yellow; suitable for colour-blind readers"),
    ("magma", MAGMA, "Black, purple, pale yellow"),
    ("inferno", INFERNO, "Black, red, yellow"),
    ("plasma", PLASMA, "Blue, red, yellow"),
    ("gray", GRAY, "Black to white"),
    ("RdBu", RD_BU, "Blue, white, red; white is 0, or the middle of --range"),
    ("twilight", TWILIGHT, "Pale, blue, black, red, pale; both ends are equal, for phases"),
];

pub const VIRIDIS: ColorMap = ColorMap(&[
    0x44_01_54, 0x48_24_75, 0x41_44_87, 0x35_5F_8D, 0x2A_78_8E, 0x21_91_8C, 0x22_A8_84, 0x44_BF_70,
    0x7A_D1_51, 0xBD_DF_26, 0xFD_E7_25,
]);
const CIVIDIS: ColorMap = ColorMap(&[
    0x00_20_4D, 0x00_33_6F, 0x39_48_6B, 0x57_5C_6D, 0x70_71_73, 0x8A_87_79, 0xA6_9D_75, 0xC4_B5_6C,
    0xE4_CF_5B, 0xFF_EA_46,
]);
const MAGMA: ColorMap = ColorMap(&[
    0x00_00_04, 0x14_0E_36, 0x3B_0F_70, 0x64_1A_80, 0x8C_29_81, 0xB7_37_79, 0xDE_49_68, 0xF7_70_5C,
    0xFE_9F_6D, 0xFE_CF_92, 0xFC_FD_BF,
]);
const INFERNO: ColorMap = ColorMap(&[
    0x00_00_04, 0x16_0B_39, 0x42_0A_68, 0x6A_17_6E, 0x93_26_67, 0xBC_37_54, 0xDD_51_3A, 0xF3_78_19,
    0xFC_A5_0A, 0xF6_D7_46, 0xFC_FF_A4,
]);
const PLASMA: ColorMap = ColorMap(&[
    0x0D_08_87, 0x41_04_9D, 0x6A_00_A8, 0x8F_0D_A4, 0xB1_2A_90, 0xCC_47_78, 0xE1_64_62, 0xF2_84_4B,
    0xFC_A6_36, 0xFC_CE_25, 0xF0_F9_21,
]);
const GRAY: ColorMap = ColorMap(&[0x00_00_00, 0xFF_FF_FF]);
pub const RD_BU: ColorMap = ColorMap(&[
    0x05_30_61, 0x21_66_AC, 0x43_93_C3, 0x92_C5_DE, 0xD1_E5_F0, 0xF7_F7_F7, 0xFD_DB_C7, 0xF4_A5_82,
    0xD6_60_4D, 0xB2_18_2B, 0x67_00_1F,
]);

pub const TWILIGHT: ColorMap = ColorMap(&[
    0xE2_D9_E2, 0xC4_CE_D4, 0x95_B5_C7, 0x72_97_C1, 0x62_76_BA, 0x5E_51_AD, 0x59_2A_8F, 0x45_13_5C,
    0x2F_14_36, 0x4A_13_42, 0x74_1E_4F, 0x98_35_50, 0xB2_56_52, 0xC2_7C_63, 0xCC_A3_89, 0xD8_C7_BE,
    0xE2_D9_E2,
]);

/// Largest number of names with their own colours.
pub const MAX_NAMED: usize = 10;

/// Colour of numbers without a name, where others have names.
pub const UNNAMED: Rgb = [0x33, 0x33, 0x33];

/// Colours for names.
const NAMED: [u32; MAX_NAMED] = [
    0x44_77_AA, 0x22_88_33, 0xCC_BB_44, 0xEE_99_33, 0xEE_66_77, 0xAA_33_77, 0x66_CC_EE, 0x8C_56_4B,
    0x33_22_88, 0x99_99_33,
];

impl ColorMap {
    /// Returns the name of the colour map.
    pub fn name(self) -> &'static str {
        let same = COLOR_MAPS.iter().find(|(_, map, _)| *map == self);
        same.map(|(name, ..)| *name).unwrap_or_default()
    }

    /// Returns the SVG gradient of a vertical bar, with this id.
    pub fn gradient(self, id: &str) -> String {
        let Self(colors) = self;
        let stop = |(nth, rgb_of): (usize, &u32)| {
            let offset = float(nth) / float(colors.len() - 1);
            format!(r#"<stop offset="{offset:.4}" stop-color="{}"/>"#, color(rgb(*rgb_of)))
        };
        let stops: String = colors.iter().enumerate().map(stop).collect();
        format!(r#"<linearGradient id="{id}" x1="0" y1="1" x2="0" y2="0">{stops}</linearGradient>"#)
    }

    /// Returns the colour at a position from 0 to 1.
    pub fn color(self, part: f64) -> Rgb {
        let Self(colors) = self;
        let place = part.clamp(0.0, 1.0) * float(colors.len() - 1);
        let below = count(place);
        let get = |nth: usize| rgb(colors.get(nth).or(colors.last()).copied().unwrap_or(0));
        mix(get(below), get(below + 1), place - float(below))
    }

    /// Returns the colour of missing values: grey unless the map itself has grey.
    pub fn nothing(self) -> Rgb {
        match self {
            GRAY => [0xC8, 0x28, 0xA0],
            RD_BU | TWILIGHT => [0x80, 0x80, 0x80],
            _ => [0xBD, 0xBD, 0xBD],
        }
    }
}

/// Returns the colour of the n-th name.
pub fn of_name(nth: usize) -> Rgb {
    rgb(NAMED.get(nth % MAX_NAMED).copied().unwrap_or(0))
}

fn rgb(color: u32) -> Rgb {
    let [_, red, green, blue] = color.to_be_bytes();
    [red, green, blue]
}

/// Interpolates between two colours.
pub fn mix(from: Rgb, to: Rgb, part: f64) -> Rgb {
    let mut mixed = from;
    for (channel, to) in mixed.iter_mut().zip(to) {
        let between = f64::from(*channel) + (f64::from(to) - f64::from(*channel)) * part;
        *channel = u8::try_from(count(between + 0.5)).unwrap_or(u8::MAX);
    }
    mixed
}

/// Formats a colour as `#rrggbb`.
pub fn color([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
