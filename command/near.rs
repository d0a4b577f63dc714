//! Finds names similar to an unknown one, for error messages.

/// Names that are shown, at most.
const SHOWN: usize = 5;

/// Insertions, deletions, substitutions and swaps of neighbours that make one word of another (restricted Damerau-
/// Levenshtein distance), whatever the case of its letters.
fn distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|word| word.to_lowercase().chars().collect::<Vec<_>>());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// The names nearest to `wanted`, nearest first: a third of it may be other letters, or the one begins with the other.
pub fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let most = (wanted.chars().count() / 3).max(2);
    let begins = |name: &str| !wanted.is_empty() && (name.starts_with(wanted) || wanted.starts_with(name));
    let mut found: Vec<(usize, &str)> = names
        // A name that is longer by more than may differ cannot be near, and a million of them are looked at quickly.
        .filter(|name| begins(name) || name.len().abs_diff(wanted.len()) <= 4 * most)
        .map(|name| (distance(wanted, name), name))
        .filter(|(distance, name)| *distance <= most || begins(name))
        .collect();
    found.sort();
    found.into_iter().take(SHOWN).map(|(_, name)| name).collect()
}

/// What to say beside "there is no such name": those that are near, or the first few.
pub fn instead<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let quoted = |names: Vec<&str>| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let near = near(wanted, names.clone());
    if !near.is_empty() {
        return format!("did you mean {}?", quoted(near));
    }
    let count = names.clone().count();
    match count {
        0 => "none has a name".to_owned(),
        _ if count <= SHOWN => format!("there are {}", quoted(names.collect())),
        _ => format!("there are {} and {} more", quoted(names.take(SHOWN).collect()), count - SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_edits() {
        for (a, b, edits) in [("", "", 0), ("ball", "Ball", 0), ("ball", "bal", 1), ("ball", "balls", 1)]
            .into_iter()
            .chain([("lnik 3", "link 3", 1), ("ball", "wall", 1), ("", "abc", 3), ("kitten", "sitting", 3)])
        {
            assert_eq!((distance(a, b), distance(b, a)), (edits, edits), "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_come_first_and_the_far_ones_not_at_all() {
        let names = ["floor", "ball", "link 1", "link 2", "link 10", "top"];
        assert_eq!(near("bal", names.into_iter()), ["ball"]);
        assert_eq!(near("link", names.into_iter()), ["link 1", "link 2", "link 10"]);
        assert_eq!(near("zzzzzz", names.into_iter()), [""; 0]);
        assert_eq!(instead("zzzzzz", names.into_iter().take(2)), "there are `floor`, `ball`");
        assert_eq!(instead("x", [].into_iter()), "none has a name");
        assert!(instead("zzzzzz", names.into_iter()).ends_with("`link 10` and 1 more"));
    }
}
