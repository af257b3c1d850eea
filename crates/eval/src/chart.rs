//! Pictures of numbers, as SVG.

use plotters::prelude::*;

use crate::EvalError;

/// How large a picture is, in pixels.
const SIZE: (u32, u32) = (860, 430);
/// How much of it is the legend's.
const LEGEND: u32 = 200;
/// Colours that can be told apart, by people who see fewer colours, too (after Okabe and Ito).
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
    RGBColor(150, 110, 30),
];

/// A line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<(f64, f64)>,
    /// Whether the points are drawn thin, without marks: for what is predicted or printed in a paper.
    pub thin: bool,
}

impl Line {
    /// A line with a mark at each point.
    pub fn new(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let finite = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        Self {
            name: name.to_owned(),
            points: points.into_iter().filter(finite).collect(),
            thin: false,
        }
    }

    /// A thin line, for what a paper or a formula says.
    pub fn thin(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self {
            thin: true,
            ..Self::new(name, points)
        }
    }
}

/// Lines over an axis.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// What its file is called, without an ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What the axis to the right is.
    pub x: String,
    /// What the axis upwards is.
    pub y: String,
    /// From where to where the axis upwards goes; what the points need if `None`.
    pub range: Option<(f64, f64)>,
    /// The lines.
    pub lines: Vec<Line>,
}

impl Chart {
    /// A chart without lines.
    pub fn new(name: &str, title: &str, x: &str, y: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            x: x.to_owned(),
            y: y.to_owned(),
            ..Self::default()
        }
    }

    /// The picture.
    ///
    /// # Errors
    /// If it cannot be drawn.
    pub fn svg(&self) -> Result<String, EvalError> {
        let mut svg = String::new();
        self.draw(&mut svg).map_err(|why| EvalError::Chart {
            name: self.name.clone(),
            why,
        })?;
        Ok(svg)
    }

    fn draw(&self, svg: &mut String) -> Result<(), String> {
        let told = |error: DrawingAreaErrorKind<_>| error.to_string();
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(told)?;
        let all = || self.lines.iter().flat_map(|line| &line.points);
        let (left, right) = ends(all().map(|point| point.0), 0.02);
        let (low, high) = self
            .range
            .unwrap_or_else(|| ends(all().map(|point| point.1), 0.06));
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 17))
            .margin(12)
            .margin_right(LEGEND)
            .x_label_area_size(46)
            .y_label_area_size(62)
            .build_cartesian_2d(left..right, low..high)
            .map_err(told)?;
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .axis_desc_style(("sans-serif", 15))
            .label_style(("sans-serif", 14))
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(226, 226, 226))
            .x_label_formatter(&plain)
            .y_label_formatter(&plain)
            .draw()
            .map_err(told)?;
        for (line, color) in self.lines.iter().zip(COLORS.iter().cycle()) {
            let color = *color;
            let width = if line.thin { 1 } else { 2 };
            chart
                .draw_series(LineSeries::new(
                    line.points.iter().copied(),
                    color.stroke_width(width),
                ))
                .map_err(told)?;
            if !line.thin && line.points.len() <= 40 {
                let marks = line.points.iter();
                chart
                    .draw_series(marks.map(|&point| Circle::new(point, 3, color.filled())))
                    .map_err(told)?;
            }
        }
        // The legend stands beside the plot, where it hides no point.
        let left = (SIZE.0 - LEGEND + 12) as i32;
        for (at, (line, color)) in (0..).zip(self.lines.iter().zip(COLORS.iter().cycle())) {
            let (y, width) = (52 + 21 * at, if line.thin { 2 } else { 4 });
            let sample = [(left, y), (left + 22, y)];
            area.draw(&PathElement::new(sample, color.stroke_width(width)))
                .map_err(told)?;
            let words = Text::new(line.name.as_str(), (left + 29, y - 7), ("sans-serif", 14));
            area.draw(&words).map_err(told)?;
        }
        area.present().map_err(told)
    }
}

/// From where to where an axis goes, with some room; never nothing.
fn ends(values: impl Iterator<Item = f64>, room: f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if low > high {
        return (0.0, 1.0);
    }
    let room = ((high - low) * room).max(1e-9 + (high.abs() * 1e-6));
    (low - room, high + room)
}

/// A number without needless zeros.
fn plain(value: &f64) -> String {
    let shown = format!("{value:.3}");
    let shown = shown.trim_end_matches('0').trim_end_matches('.');
    if shown == "-0" {
        "0".to_owned()
    } else {
        shown.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_shows_its_words_and_lines() {
        let mut chart = Chart::new("c", "Recall & precision", "window", "%");
        chart.lines = vec![
            Line::new("ours", [(1.0, 97.0), (2.0, f64::NAN), (3.0, 98.0)]),
            Line::thin("paper", [(1.0, 96.0), (3.0, 97.0)]),
        ];
        let svg = chart.svg().unwrap();
        for word in [
            "Recall &amp; precision",
            "window",
            "ours",
            "paper",
            "<polyline",
        ] {
            assert!(svg.contains(word), "{word}\n{svg}");
        }
        assert_eq!(chart.lines[0].points.len(), 2);
    }

    #[test]
    fn a_chart_without_points_is_still_a_picture() {
        assert!(
            Chart::new("c", "t", "x", "y")
                .svg()
                .unwrap()
                .contains("</svg>")
        );
        let mut chart = Chart::new("c", "t", "x", "y");
        chart.lines = vec![Line::new("one", [(0.0, 0.0)])];
        assert!(chart.svg().unwrap().contains("one"));
    }

    #[test]
    fn numbers_on_axes() {
        assert_eq!(plain(&0.5), "0.5");
        assert_eq!(plain(&100.0), "100");
        assert_eq!(plain(&-0.0), "0");
    }
}
