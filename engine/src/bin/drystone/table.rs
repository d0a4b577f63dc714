//! Tables for the terminal.

/// Prints rows under a header, columns as wide as they need to be: the first to the left, the others to the right.
pub fn print(header: &[String], rows: &[Vec<String>]) {
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
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    };
    line(header);
    line(&widths.iter().map(|w| "-".repeat(*w)).collect::<Vec<_>>());
    for row in rows {
        line(row);
    }
}
