//! Tables for the terminal.

/// Rows under a header, columns as wide as they need to be: the first to the left, the others to the right.
pub fn text(header: &[String], rows: &[Vec<String>]) -> String {
    let columns = header.len();
    let width = |c: usize| {
        rows.iter().chain([&header.to_vec()]).filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &[String]| {
        let cells = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(c, (text, width))| if c == 0 { format!("{text:<width$}") } else { format!("{text:>width$}") });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let rule = widths.iter().map(|w| "-".repeat(*w)).collect::<Vec<_>>();
    [line(header), line(&rule)].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}
