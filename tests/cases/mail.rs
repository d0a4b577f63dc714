//! Figure 12: mails of rings, hung from their border and from their corners, with a ball.

use super::*;
use drystone::scenes::chainmail;

/// Rings that have left a neighbour they hung in: flat rings and links stand 0.7 m apart at the start, and reach 0.99
/// m.
fn lost(simulation: &mut Simulation, links: &[(BodyHandle, BodyHandle)]) -> usize {
    let states: std::collections::BTreeMap<_, _> = simulation.bodies().unwrap().into_iter().collect();
    let apart = |(a, b): &&(BodyHandle, BodyHandle)| {
        let far = (states[a].position - states[b].position).length();
        far.is_nan() || far > 1.15
    };
    links.iter().filter(apart).count()
}

/// How many rings a mail loses in a time on a device, at the worst, and in which step the first.
pub fn most_lost(device: Device, world: World, settings: Settings, seconds: f32) -> (usize, Option<u32>) {
    let named: std::collections::BTreeMap<String, BodyHandle> =
        world.names().map(|(name, body)| (name.to_owned(), body)).collect();
    let mut links = Vec::new();
    for (name, body) in &named {
        let Some(place) = name.strip_prefix("link ") else { continue };
        let (place, way) = place.split_once(' ').unwrap();
        let (row, column) = place.split_once('.').unwrap();
        let (row, column): (u32, u32) = (row.parse().unwrap(), column.parse().unwrap());
        let next = if way == "x" { (row + 1, column) } else { (row, column + 1) };
        for (row, column) in [(row, column), next] {
            links.push((*body, named[&format!("ring {row}.{column}")]));
        }
    }
    let mut simulation = Simulation::new(world, settings, device).unwrap();
    let (mut lost_at, mut most) = (None, 0);
    for step in 0..(seconds / DT) as u32 {
        simulation.step(DT).unwrap();
        if step % 10 == 9 {
            most = lost(&mut simulation, &links).max(most);
            if most > 0 && lost_at.is_none() {
                lost_at = Some(step);
            }
        }
    }
    (most, lost_at)
}

#[test]
fn mails_lose_no_ring() {
    let mut table = Table::new("mail");
    for (side, corners, ball, substeps, iterations, seconds) in [
        (5, false, 0.0, 1, 15, 5.0),
        (5, false, 500.0, 1, 15, 5.0),
        (5, false, 5000.0, 1, 15, 5.0),
        (5, false, 5e4, 3, 5, 5.0),
        (5, true, 500.0, 1, 15, 5.0),
        (5, true, 5e4, 3, 5, 3.0),
        (7, false, 0.0, 1, 15, 5.0),
        (7, false, 500.0, 1, 15, 5.0),
        (7, false, 5000.0, 1, 15, 5.0),
        (7, false, 5e4, 3, 5, 5.0),
        (7, true, 5e4, 3, 5, 3.0),
        (7, true, 0.0, 1, 15, 5.0),
        (7, true, 500.0, 1, 15, 5.0),
        (7, true, 5000.0, 1, 15, 5.0),
        (12, false, 0.0, 1, 15, 5.0),
        (12, false, 500.0, 1, 15, 5.0),
        (12, false, 5000.0, 1, 15, 5.0),
        (12, true, 0.0, 1, 15, 5.0),
        (12, true, 500.0, 1, 15, 5.0),
        (12, true, 5000.0, 1, 15, 5.0),
        (20, false, 0.0, 1, 15, 4.0),
        (20, false, 5000.0, 1, 15, 4.0),
        // Falls by its own width until it is taut, at 18 m/s, and rings are thrown deeper into each other than they are
        // thick.
        (16, true, 0.0, 1, 15, 3.0),
        (18, true, 500.0, 1, 15, 3.0),
        (20, true, 0.0, 1, 15, 4.0),
        (20, true, 500.0, 1, 15, 4.0),
        (20, true, 5000.0, 1, 15, 4.0),
        (20, true, 0.0, 3, 5, 4.0),
    ] {
        let settings = iterating(iterations).with(|s| s.substeps = substeps);
        let (most, lost_at) = most_lost(CPU, chainmail(side, ball, corners).unwrap(), settings, seconds);
        let hung = if corners { "corners" } else { "border" };
        let what =
            format!("{side} a side from its {hung}, {ball} kg, {substeps} x {iterations}: {most} lost {lost_at:?}");
        table.row(what, most == 0);
    }
    // Of 1,520 links these lose one, in a step in which a ring is hit by one neighbour and goes farther than both are
    // thick into another before the two have a contact. Named in the README; more than one would be another cause.
    for (ball, substeps, iterations) in [(500.0, 3, 5), (5000.0, 3, 5), (5000.0, 1, 30)] {
        let settings = iterating(iterations).with(|s| s.substeps = substeps);
        let (most, lost_at) = most_lost(CPU, chainmail(20, ball, true).unwrap(), settings, 4.0);
        let what = format!("20 a side from its corners, {ball} kg, {substeps} x {iterations}: {most} lost {lost_at:?}");
        table.row(what, most <= 1);
    }
    table.check();
}
