//! What was found, as a page, as JSON, and as a table in Markdown.

use super::super::html::STYLE;
use super::super::plot::{COLOURS, Series, escaped, lines, number};
use super::case::{Case, Outcome};
use super::figure::{Claim, Figure, Found, Judged, Plot, Results, Row, Said, Verdict};
use super::figures::Size;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A figure in a line.
pub struct Summary {
    pub verdict: Verdict,
    so: usize,
    of: usize,
    fewest: Vec<String>,
    claims: Vec<Claim>,
}

impl Summary {
    fn of(figure: &Figure, results: &Results) -> Self {
        let claims = (figure.judge)(results);
        let (verdict, so, of) = Verdict::of(figure, results, &claims);
        let rows = figure.rows.iter().zip(&results.rows).filter(|(row, found)| row.most > 0 && found.complete);
        let fewest = rows.map(|(row, found)| match found.fewest() {
            Some((count, _)) => format!("{} {count}", row.method.name()),
            None => format!("{} more than {}", row.method.name(), row.most),
        });
        Self { verdict, so, of, fewest: fewest.collect(), claims }
    }

    fn statements(&self) -> String {
        if self.of == 0 { String::new() } else { format!("{} of {} statements", self.so, self.of) }
    }

    pub fn line(&self) -> String {
        let parts = [self.verdict.text().to_owned(), self.statements(), self.fewest.join(", ")];
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

/// All that was found.
pub struct Page<'a> {
    size: &'a Size,
    figures: &'a [Figure],
    results: &'a [Results],
    pub summaries: Vec<Summary>,
}

fn said(said: Said) -> &'static str {
    match said {
        Said::Holds => "holds",
        Said::Fails => "fails",
        Said::Nothing => "not in the paper",
    }
}

fn holds(holds: bool) -> &'static str {
    if holds { "holds" } else { "fails" }
}

fn value(v: f64, unit: &str) -> String {
    if v.is_finite() { format!("{} {unit}", number(v)) } else { "no number".to_owned() }
}

fn verdict(row: &Row, found: &Found) -> &'static str {
    match (found.holds(), Verdict::of_row(row.said, found.holds())) {
        (None, _) => "not run",
        (_, None) => "",
        (_, Some(true)) => "as published",
        (_, Some(false)) => "differs",
    }
}

/// A cell that is coloured by what it says.
fn cell(text: &str) -> String {
    let class = match text {
        "as published" => " class=\"so\"",
        "differs" => " class=\"not\"",
        _ => "",
    };
    format!("<td{class}>{}</td>", escaped(text))
}

fn table(heads: &[&str], rows: &[String]) -> String {
    let heads: String = heads.iter().map(|h| format!("<th>{}</th>", escaped(h))).collect();
    let rows: String = rows.iter().map(|r| format!("<tr>{r}</tr>\n")).collect();
    format!("<table><tr>{heads}</tr>\n{rows}</table>")
}

/// What a search came to.
fn searched(row: &Row, found: &Found) -> String {
    if row.most == 0 {
        return String::new();
    }
    let mut tried = found.tried.clone();
    tried.sort_by_key(|t| t.0);
    let first = |j: &Judged| j.values.first().copied().filter(|v| v.is_finite()).map_or("no number".to_owned(), number);
    let told: Vec<String> = tried.iter().map(|(n, j, _)| format!("{n}: {}", first(j))).collect();
    let fewest = match (found.complete, found.fewest()) {
        (false, _) => "not searched to the end".to_owned(),
        (_, Some((count, frame))) => format!("{count}, {} ms a frame", number(frame)),
        (_, None) => format!("more than {}", row.most),
    };
    format!("{fewest} ({})", told.join("; "))
}

fn plot(plot: &Plot, runs: &[(&str, &Outcome)]) -> String {
    let chosen = runs.iter().filter(|(label, _)| label.starts_with(plot.prefix)).take(COLOURS.len());
    let series = chosen.map(|(label, of)| {
        // What has come apart would flatten everything else.
        Series::new(label, of.all(&plot.watch).map(|(t, v)| (t, v * plot.scale)))
    });
    let all: Vec<Series> = series.filter(|s| !s.points.is_empty()).collect();
    if all.is_empty() { String::new() } else { lines(plot.title, plot.unit, &bounded(all)) }
}

/// Curves that leave the others far behind end where they do.
fn bounded(mut all: Vec<Series>) -> Vec<Series> {
    let reach = |s: &Series| s.points.iter().map(|p| p.1.abs()).fold(0.0, f64::max);
    let mut reaches: Vec<f64> = all.iter().map(reach).collect();
    reaches.sort_by(f64::total_cmp);
    let most = 20.0 * reaches[reaches.len() / 2].max(1e-12);
    for series in &mut all {
        let end = series.points.iter().position(|p| p.1.abs() > most).unwrap_or(series.points.len());
        series.points.truncate(end);
    }
    all
}

fn strip(case: &Case, of: &Outcome, told: &str) -> String {
    if of.strip.is_empty() {
        return String::new();
    }
    let label = escaped(&case.label);
    format!(
        "<figure><img alt=\"{label}\" src=\"data:image/png;base64,{}\"><figcaption>{label}{}</figcaption></figure>",
        of.strip,
        escaped(told),
    )
}

impl<'a> Page<'a> {
    pub fn new(size: &'a Size, figures: &'a [Figure], results: &'a [Results]) -> Self {
        let summaries = figures.iter().zip(results).map(|(f, r)| Summary::of(f, r)).collect();
        Self { size, figures, results, summaries }
    }

    fn all(&self) -> impl Iterator<Item = (&Figure, &Results, &Summary)> {
        self.figures.iter().zip(self.results).zip(&self.summaries).map(|((f, r), s)| (f, r, s))
    }

    pub fn json(&self) -> Value {
        let figures = self.all().map(|(figure, results, summary)| {
            let rows: Vec<Value> = figure
                .rows
                .iter()
                .zip(&results.rows)
                .map(|(row, found)| {
                    let best = found.best();
                    let tried = found.tried.iter().map(|(count, judged, frame)| {
                    json!({ "count": count, "values": judged.values, "holds": judged.holds, "frame_ms": frame })
                });
                    json!({
                        "method": row.method.name(), "counts": row.method.counts(), "at": row.at,
                        "published": said(row.said),
                        // Where nothing is tested, nothing holds or fails.
                            "found": best.filter(|_| !figure.tests.is_empty()).map(|b| holds(b.2.holds)),
                        "best": best.map(|b| &b.0.label),
                        "values": best.map(|b| &b.2.values),
                        "verdict": verdict(row, found),
                        "most_tried": row.most,
                        "complete": found.complete,
                        "fewest": found.fewest().map(|f| f.0),
                        "frame_ms": found.fewest().map(|f| f.1),
                        "tried": tried.collect::<Vec<_>>(),
                    })
                })
                .collect();
            let tests = figure.tests.iter();
            let tests =
                tests.map(|t| json!({ "criterion": t.criterion, "unit": t.unit, "limit": t.limit, "above": t.above }));
            let claims = summary.claims.iter().map(
                |c| json!({ "published": c.published, "criterion": c.criterion, "found": c.found, "holds": c.holds }),
            );
            json!({
                "id": figure.id, "title": figure.title, "published": figure.published, "note": figure.note,
                "scene": figure.setting.scene, "parameters": parameters(figure), "seconds": figure.setting.seconds,
                "verdict": summary.verdict.text(), "missing": figure.missing,
                "tests": tests.collect::<Vec<_>>(), "claims": claims.collect::<Vec<_>>(), "rows": rows,
            })
        });
        figures.collect()
    }

    /// The summary.
    pub fn markdown(&self) -> String {
        let mut text = "| figure | verdict | statements found so | fewest that hold |\n|---|---|---|---|\n".to_owned();
        for (figure, _, s) in self.all() {
            let (verdict, so) = (s.verdict.text(), format!("{} of {}", s.so, s.of));
            // Writing to a string does not fail.
            let _ = writeln!(text, "| {} | {verdict} | {so} | {} |", figure.title, s.fewest.join(", "));
        }
        text
    }

    /// One file, without scripts, which needs no network.
    pub fn html(&self) -> String {
        let rows: Vec<String> = self
            .all()
            .map(|(figure, _, s)| {
                let link = format!("<td><a href=\"#{}\">{}</a></td>", figure.id, escaped(figure.title));
                link + &cell(s.verdict.text()) + &cell(&s.statements()) + &cell(&s.fewest.join(", "))
            })
            .collect();
        let summary =
            table(&["figure", "verdict", "found to be so", "fewest iterations or sub-steps that hold"], &rows);
        let figures: String = self.all().map(|(figure, results, s)| self.figure(figure, results, s)).collect();
        let size = if self.size.quick { "Small scenes and short times (--quick). " } else { "" };
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width\"><title>The papers in drystone</title><link rel=\"icon\" href=\"data:,\">\
             <style>{STYLE}{MORE}</style></head><body><h1>The papers in drystone {version}</h1>\
             <p class=\"sub\">\"Augmented Vertex Block Descent\" (Giles, Diaz, Yuksel 2025) and \"Adaptive \
             Sub-stepping for Constrained Rigid Body Simulations\" (Giles, Andrews 2024). {size}Every method runs on \
             the CPU backend, with the same detection, contacts, joints and criteria, at 1/60 s. A verdict compares \
             what was published with what meets the criterion here. Of VBD every stiffness of three is run, and the \
             best counts. The fewest are searched by doubling and halving; in brackets stands what was tried, with \
             the value of the first criterion.</p>\
             {summary}{figures}</body></html>\n",
            version = env!("CARGO_PKG_VERSION"),
        )
    }

    fn figure(&self, figure: &Figure, results: &Results, summary: &Summary) -> String {
        let mut page = format!("<h2 id=\"{}\">{}</h2>", figure.id, escaped(figure.title));
        let _ = write!(page, "<p><b>Published:</b> {}</p>", escaped(figure.published));
        let verdict_text = [summary.verdict.text().to_owned(), summary.statements()].join(" ");
        let _ = write!(page, "<p><b>Here:</b> {}. {}</p>", escaped(verdict_text.trim()), escaped(&figure.note));
        if let Some(why) = &figure.missing {
            let _ = write!(page, "<p>Not run: {}.</p>", escaped(why));
            return page;
        }
        let (scene, seconds) = (figure.setting.scene, number(figure.setting.seconds));
        let _ = write!(page, "<p class=\"sub\">Scene <code>{scene} {}</code>, {seconds} s.</p>", parameters(figure));
        let searched_any = figure.rows.iter().any(|row| row.most > 0);
        if !figure.rows.is_empty() && (searched_any || !figure.tests.is_empty()) {
            page += &rows(figure, results);
        }
        if !summary.claims.is_empty() {
            let claims: Vec<String> = summary
                .claims
                .iter()
                .map(|c| {
                    let verdict = if c.holds { "as published" } else { "differs" };
                    [&c.published, &c.criterion, &c.found, verdict].map(cell).concat()
                })
                .collect();
            page += &table(&["published", "criterion", "found", "verdict"], &claims);
        }
        let runs = results.rows.iter().flat_map(|found| found.cases.iter().map(|(case, of, _)| (case, of)));
        let others = figure.others.iter().zip(&results.others).filter_map(|(case, of)| Some((case, of.as_ref()?)));
        let runs: Vec<(&Case, &Outcome)> = others.chain(runs).collect();
        let told = |of: &Outcome| {
            if of.out > 0 { format!(": {} bodies are no number any more", of.out) } else { String::new() }
        };
        let strips: String = runs.iter().map(|(case, of)| strip(case, of, &told(of))).collect();
        // Of several stiffnesses the best.
        let best = results.rows.iter().filter_map(Found::best).map(|b| (b.0.label.as_str(), &b.1));
        let others = figure.others.iter().zip(&results.others);
        let others = others.filter_map(|(case, of)| Some((case.label.as_str(), of.as_ref()?)));
        let curves: Vec<(&str, &Outcome)> = others.chain(best).collect();
        let plots: String = figure.plots.iter().map(|p| plot(p, &curves)).collect();
        let _ = write!(page, "<div class=\"strips\">{strips}</div><div class=\"plots\">{plots}</div>");
        page
    }
}

const MORE: &str = "
table{width:auto;margin:12px 0}th{text-align:left;padding:4px 12px}td:last-child{text-align:left}
.so{color:#2e7d4f;font-weight:600}.not{color:#c0504a;font-weight:600}
.strips{display:grid;grid-template-columns:repeat(auto-fill,minmax(420px,1fr));gap:12px;margin:12px 0}
.strips img{width:100%;display:block}.strips figcaption{padding:6px 12px;font-size:13px}
";

fn parameters(figure: &Figure) -> String {
    let all = figure.setting.parameters.iter().map(|(name, value)| format!("{name}={value}"));
    all.collect::<Vec<_>>().join(" ")
}

/// The table of methods.
fn rows(figure: &Figure, results: &Results) -> String {
    let searched_any = figure.rows.iter().any(|row| row.most > 0);
    let run_any = figure.rows.iter().any(|row| row.at > 0);
    let mut heads = vec!["method"];
    if run_any {
        heads.extend(["published", "here", "verdict"]);
    }
    let criteria: Vec<&str> = figure.tests.iter().map(|t| t.criterion.as_str()).collect();
    if run_any {
        heads.extend(&criteria);
    }
    if searched_any {
        heads.push("fewest that hold (what was tried: first value)");
    }
    let row = |(row, found): (&Row, &Found)| {
        let name = if row.at > 0 {
            let best = found.best().map(|b| b.0.label.clone());
            best.unwrap_or_else(|| format!("{}, {} {}", row.method.name(), row.at, row.method.counts()))
        } else {
            format!("{}, {}", row.method.name(), row.method.counts())
        };
        let mut cells = cell(&name);
        if run_any {
            cells += &[said(row.said), found.holds().map_or("", holds), verdict(row, found)].map(cell).concat();
            let values = found.best().map(|b| b.2.values.clone()).unwrap_or_default();
            for (i, test) in figure.tests.iter().enumerate() {
                cells += &cell(&values.get(i).map_or(String::new(), |v| value(*v, test.unit)));
            }
        }
        if searched_any {
            cells += &cell(&searched(row, found));
        }
        cells
    };
    let rows: Vec<String> = figure.rows.iter().zip(&results.rows).map(row).collect();
    let criteria =
        if run_any { String::new() } else { format!("<p>Criterion: {}.</p>", escaped(&criteria.join("; "))) };
    criteria + &table(&heads, &rows)
}
