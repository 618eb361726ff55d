//! Plots the cost per member against the number of members. Both axes are logarithmic, so a constant cost is a
//! horizontal line.

use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
/// Margins for labels.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 84.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 44.0;
/// Smallest distance between the names at the ends of lines.
const LINE_HEIGHT: f64 = 15.0;

/// Colours that are distinct on white and on black.
const COLOURS: [&str; 5] = ["#2f81d6", "#d9730d", "#2f9e57", "#b558c9", "#d1495b"];

/// An axis: its first and last power of ten, and their positions.
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn around(values: impl Iterator<Item = f64> + Clone, from: f64, to: f64) -> Self {
        let low = libm::log10(values.clone().fold(f64::MAX, f64::min)).floor();
        let high = libm::log10(values.fold(f64::MIN, f64::max)).ceil();
        Self { low, high: high.max(low + 1.0), from, to }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (libm::log10(value) - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    fn powers(&self) -> impl Iterator<Item = f64> {
        (self.low as i32..=self.high as i32).map(|power| 10_f64.powi(power))
    }
}

/// Draws lines from their names and points.
pub(crate) fn draw(lines: &[(String, Vec<(f64, f64)>)]) -> String {
    let points = lines.iter().flat_map(|(_, points)| points);
    let x = Axis::around(points.clone().map(|point| point.0), LEFT, WIDTH - RIGHT);
    let y = Axis::around(points.map(|point| point.1), HEIGHT - BOTTOM, TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">\n\
         <title>Microseconds per member against the number of members</title>\n\
         <style>\n\
         text {{ font: 12px sans-serif; fill: #444 }}\n\
         .grid {{ stroke: #8884; stroke-width: 1 }}\n\
         .line {{ fill: none; stroke-width: 2 }}\n\
         @media (prefers-color-scheme: dark) {{ text {{ fill: #ccc }} }}\n\
         </style>\n"
    );
    for value in x.powers() {
        let at = x.at(value);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{:.1}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 16.0,
            plain(value)
        );
    }
    for value in y.powers() {
        let at = y.at(value);
        let _ = writeln!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            plain(value)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"16\">µs per member</text>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">members</text>",
        WIDTH - RIGHT,
        HEIGHT - 8.0
    );
    let mut ends: Vec<(f64, usize)> = Vec::new();
    for (index, (_, points)) in lines.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let path: Vec<String> = points
            .iter()
            .map(|point| format!("{:.1} {:.1}", x.at(point.0), y.at(point.1)))
            .collect();
        let _ =
            writeln!(svg, "<path class=\"line\" stroke=\"{colour}\" d=\"M{}\"/>", path.join("L"));
        for point in points {
            let (at_x, at_y) = (x.at(point.0), y.at(point.1));
            let _ = writeln!(
                svg,
                "<circle cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" r=\"3\" fill=\"{colour}\"/>"
            );
        }
        ends.extend(points.last().map(|point| (y.at(point.1), index)));
    }
    ends.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut above = f64::MIN;
    for (at, index) in ends {
        above = at.max(above + LINE_HEIGHT);
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" style=\"fill:{}\">{}</text>",
            WIDTH - RIGHT + 8.0,
            above + 4.0,
            COLOURS[index % COLOURS.len()],
            lines[index].0
        );
    }
    svg + "</svg>\n"
}

fn plain(value: f64) -> String {
    if value >= 1e6 {
        format!("{} million", value / 1e6)
    } else if value >= 1e3 {
        format!("{} 000", value / 1e3)
    } else {
        format!("{value}")
    }
}
