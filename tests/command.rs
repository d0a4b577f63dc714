//! The `drystone` command as a user meets it.

use serde_json::Value;
use std::process::{Command, Output};

fn drystone(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_drystone")).args(arguments).output().expect("the command starts")
}

fn report(arguments: &[&str]) -> Value {
    let output = drystone(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("standard output is the report and nothing else")
}

#[test]
fn the_report_has_what_it_promises() {
    let run = ["run", "stack", "--backend", "cpu", "--steps", "30", "--set", "bodies=3", "--json", "-", "--state"];
    let report = report(&run);
    assert_eq!(report["scene"], "stack");
    assert_eq!(report["backend"], "cpu");
    assert_eq!(report["bodies"], 4);
    assert_eq!(report["steps"], 30);
    assert_eq!(report["settings"]["iterations"], 20, "as in the paper's figure");
    assert_eq!(report["counts"]["manifolds"], 3);
    assert_eq!(report["counts"]["contacts"], 12);
    assert_eq!(report["counts"]["colours"], 2);
    assert_eq!(report["state"].as_array().unwrap().len(), 4);
    assert!(report["step_ms"]["median"].as_f64().unwrap() > 0.0);
    assert!(report["memory"]["by_buffer"]["poses"].as_u64().unwrap() >= 4 * 28);
    assert!((report["metrics"]["end"]["top"].as_f64().unwrap() - 2.5).abs() < 0.05);
    assert_eq!(report["pose_hash"].as_str().unwrap().len(), 16);
    let primal = report["passes"].as_array().unwrap().iter().find(|p| p["name"] == "primal").expect("every pass");
    assert_eq!(primal["dispatches"], 20 * 17, "20 iterations of sixteen colours and the fallback");
    let stabilise = report["passes"].as_array().unwrap().iter().find(|p| p["name"] == "stabilise").expect("every pass");
    assert_eq!(stabilise["dispatches"], 17, "the pass behind them");
    for field in ["name", "driver", "subgroup_size"] {
        assert!(!report["device"][field].is_null(), "device.{field}");
    }
    for field in ["mean", "median", "p95"] {
        assert!(report["step_ms"][field].as_f64().unwrap() > 0.0, "step_ms.{field}");
    }
    for pass in report["passes"].as_array().unwrap() {
        for field in ["name", "ms_mean", "ms_median", "dispatches"] {
            assert!(!pass[field].is_null(), "{field} of {pass}");
        }
    }
    for field in ["pairs", "manifolds", "contacts", "colours", "fallback_bodies", "overflow"] {
        assert!(report["counts"][field].is_u64(), "counts.{field}");
    }
    let by_buffer = report["memory"]["by_buffer"].as_object().unwrap();
    assert_eq!(report["memory"]["total"], by_buffer.values().map(|b| b.as_u64().unwrap()).sum::<u64>());
    let metrics = &report["metrics"];
    for field in [
        "kinetic_energy",
        "potential_energy",
        "energy",
        "momentum",
        "angular_momentum",
        "max_penetration",
        "mean_penetration",
        "max_speed",
        "top",
        "quarantined",
    ] {
        let (end, worst) = (&metrics["end"][field], &metrics["worst"][field]);
        let size = |v: &Value| match v.as_array() {
            Some(v) => v.iter().map(|c| c.as_f64().unwrap().powi(2)).sum::<f64>().sqrt(),
            None => v.as_f64().unwrap_or_else(|| panic!("{field}: {v}")),
        };
        let (end, worst) = (size(end), size(worst));
        let as_bad = if field == "top" { worst <= end } else { worst >= end };
        assert!(as_bad, "{field}: {worst} at worst, {end} at the end");
        assert!(metrics["worst_step"][field].as_u64().unwrap() <= 30, "{field}");
    }
    for field in ["kinetic_energy", "potential_energy", "energy"] {
        let [least, start, end] = ["least", "start", "end"].map(|when| metrics[when][field].as_f64().unwrap());
        assert!(least <= start.min(end), "{field}: {least} at least, {start} and {end}");
        assert!(metrics["least_step"][field].as_u64().unwrap() <= 30, "{field}");
    }
    let change = |kind: &str, when: &str| metrics[kind][when].as_f64().unwrap();
    let [start, end] = ["start", "end"].map(|when| metrics[when]["energy"].as_f64().unwrap());
    assert_eq!(change("energy_change", "end"), end - start);
    assert_eq!(change("energy_change_relative", "end"), (end - start) / start.abs());
    assert_eq!(change("energy_change", "lowest"), metrics["least"]["energy"].as_f64().unwrap() - start);
    assert_eq!(change("energy_change", "highest"), metrics["worst"]["energy"].as_f64().unwrap() - start);
    assert_eq!(metrics["fastest"]["speed"], metrics["worst"]["max_speed"]);
    assert_eq!(metrics["fastest"]["step"], metrics["worst_step"]["max_speed"]);
    assert!(metrics["start"]["fastest"].is_null(), "nothing moves");
    assert!(["box 1", "box 2", "top"].iter().any(|name| metrics["end"]["fastest"]["name"] == *name), "{metrics}");
    assert_eq!(metrics["end"]["pose_hash"], report["pose_hash"]);
    assert!(report["events"].is_array());
    let ball = &report["state"][3];
    for field in ["position", "rotation", "linear_velocity", "angular_velocity"] {
        assert!(ball[field].is_array(), "{field} of {ball}");
    }
    assert_eq!((&ball["enabled"], &ball["name"]), (&true.into(), &"top".into()));
    assert_eq!((&report["joints"]["count"], &report["joint_state"]), (&0.into(), &Value::Array(Vec::new())));
}

/// Events of a kind.
fn events<'a>(report: &'a Value, kind: &str) -> Vec<&'a Value> {
    report["events"].as_array().unwrap().iter().filter(|e| e["event"] == kind).collect()
}

#[test]
fn overflow_fallback_and_bodies_that_are_taken_out_are_told() {
    let run = ["run", "drop", "--backend", "cpu", "--steps", "90", "--set", "bodies=300", "--json", "-"];
    let heap = report(&run);
    let overflow = heap["counts"]["overflow"].as_u64().unwrap();
    let grown = events(&heap, "grown");
    assert!(overflow > 0 && grown.len() as u64 >= overflow, "{overflow} overflows, {grown:?}");
    assert!(grown.iter().all(|e| e["to"].as_u64() > e["from"].as_u64() && e["step"].as_u64().unwrap() < 90));

    let run = ["run", "pyramid", "--backend", "cpu", "--steps", "30", "--json", "-", "--set", "base=12"];
    let crowded = report(&[&run[..], &["--set", "colours=2"]].concat());
    assert!(crowded["counts"]["fallback_bodies"].as_u64().unwrap() > 0);
    assert_eq!(events(&crowded, "fallback").len(), 1, "the first time only");
    assert!(events(&report(&run), "fallback").is_empty());

    let path = std::env::temp_dir().join(format!("drystone-bad-{}.json", std::process::id()));
    let bad = r#"{"seconds": 12, "dt": 1, "bodies": [
        {"colliders": [{"shape": "sphere", "radius": 1}]},
        {"position": [5, 0, 0], "linear_velocity": [3e38, 3e38, 3e38], "colliders": [{"shape": "sphere", "radius": 1}]}
    ]}"#;
    std::fs::write(&path, bad).unwrap();
    let bad = report(&["run", path.to_str().unwrap(), "--backend", "cpu", "--json", "-"]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!((&bad["steps"], &bad["metrics"]["end"]["quarantined"]), (&12.into(), &1.into()));
    let out = events(&bad, "quarantined");
    assert_eq!((out.len(), &out[0]["step"], &out[0]["body"]), (1, &1.into(), &1.into()), "{out:?}");
}

#[test]
fn the_table_is_for_people_and_never_in_the_way_of_the_report() {
    let run = ["run", "stack", "--backend", "cpu", "--steps", "5"];
    let table = |text: &[u8]| String::from_utf8_lossy(text).contains("median [ms]");
    let plain = drystone(&run);
    assert!(table(&plain.stdout) && !table(&plain.stderr));
    let both = drystone(&[&run[..], &["--json", "-"]].concat());
    assert!(table(&both.stderr) && !table(&both.stdout));
    let path = std::env::temp_dir().join(format!("drystone-report-{}.json", std::process::id()));
    let file = drystone(&[&run[..], &["--json", path.to_str().unwrap()]].concat());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(table(&file.stdout) && serde_json::from_str::<Value>(&text).unwrap()["scene"] == "stack");
}

#[test]
fn joints_are_told_with_their_forces_errors_and_names() {
    // The lower of two weights of 2 kg on hooks hangs from a hook that bears 30 N, and is pushed down with 20 N after a
    // while.
    let path = std::env::temp_dir().join(format!("drystone-hooks-{}.json", std::process::id()));
    let hooks = r#"{"seconds": 2, "settings": {"iterations": 20}, "bodies": [
        {"name": "upper", "mass": 2, "inertia": [1, 1, 1]},
        {"position": [0, -1, 0], "name": "lower", "mass": 2, "inertia": [1, 1, 1]}
    ], "joints": [
        {"type": "ball", "name": "hook", "a": "upper"},
        {"type": "fixed", "a": "lower", "b": "upper", "anchor_b": [0, -1, 0], "max_force": 30}
    ], "later": [{"at": 1, "force": {"body": "lower", "force": [0, -20, 0]}}]}"#;
    std::fs::write(&path, hooks).unwrap();
    let run = ["run", path.to_str().unwrap(), "--backend", "cpu", "--json", "-", "--state"];
    let before = report(&[&run[..], &["--steps", "60"]].concat());
    let after = report(&run);
    std::fs::remove_file(&path).unwrap();
    let weight = 2.0 * 9.81;
    let number = |v: &Value| v.as_f64().unwrap_or_else(|| panic!("{v}"));
    let near = |v: &Value, expected: f64| assert!((number(v) / expected - 1.0).abs() < 0.01, "{v}, not {expected}");
    let joints = &before["joints"];
    assert_eq!((&joints["count"], &joints["broken"]), (&2.into(), &0.into()));
    assert_eq!((&joints["end"]["force"]["joint"], &joints["end"]["force"]["name"]), (&0.into(), &"hook".into()));
    near(&joints["end"]["force"]["max"], 2.0 * weight);
    near(&joints["end"]["force"]["mean"], 1.5 * weight);
    for metric in ["force", "torque", "linear_error", "angular_error"] {
        let (end, worst) = (&joints["end"][metric], &joints["worst"][metric]);
        assert!(number(&worst["max"]) >= number(&end["max"]), "{metric}: {joints}");
        assert!(number(&worst["mean"]) >= 0.0 && worst["step"].as_u64().unwrap() <= 60, "{metric}: {joints}");
    }
    let state = before["joint_state"].as_array().unwrap();
    assert_eq!((&state[0]["name"], &state[0]["bodies"]), (&"hook".into(), &serde_json::json!([0, null])));
    assert_eq!((&state[1]["name"], &state[1]["bodies"]), (&Value::Null, &serde_json::json!([1, 0])));
    // What acts on the first body of each: up.
    near(&state[0]["force"][1], 2.0 * weight);
    near(&state[1]["force"][1], weight);
    for joint in state {
        assert!(number(&joint["linear_error"]) < 1e-3 && number(&joint["angular_error"]) < 1e-3, "{joint}");
        assert!(joint["torque"].is_array() && joint["broken"] == false, "{joint}");
    }
    // The force it broke at is the greatest of that joint; the other goes back to one weight.
    let broken = events(&after, "broken");
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert_eq!((&broken[0]["joint"], &broken[0]["bodies"]), (&1.into(), &serde_json::json!([1, 0])));
    assert!(broken[0].get("name").is_none() && number(&broken[0]["force"]) > 30.0, "{broken:?}");
    assert_eq!((&after["joints"]["broken"], &after["joint_state"][1]["broken"]), (&1.into(), &true.into()));
    near(&after["joints"]["end"]["force"]["max"], weight);
    near(&after["joints"]["end"]["force"]["mean"], weight);
    assert!(number(&after["joints"]["worst"]["force"]["max"]) > 2.0 * weight);
}

#[test]
fn events_name_what_comes_and_what_breaks() {
    let wall = report(&["run", "wall", "--backend", "cpu", "--steps", "75", "--json", "-"]);
    let added: Vec<_> = events(&wall, "added").iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(added, ["ball 1", "ball 2", "ball 3"]);
    let broken = events(&wall, "broken");
    assert!(
        !broken.is_empty() && broken.iter().all(|e| e["name"].as_str().unwrap().starts_with("brick ")),
        "{broken:?}"
    );
    let fastest = &wall["metrics"]["fastest"];
    assert!(
        fastest["name"].as_str().unwrap().starts_with("ball ") && fastest["step"].as_u64() >= Some(60),
        "{fastest}"
    );
}

/// Rows of a CSV by column.
fn columns(text: &str) -> std::collections::BTreeMap<String, Vec<f64>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()).collect();
    assert!(rows.iter().all(|row| row.len() == header.len()));
    header.iter().enumerate().map(|(i, name)| ((*name).to_owned(), rows.iter().map(|r| r[i]).collect())).collect()
}

#[test]
fn traces_follow_bodies_and_joints_step_by_step() {
    let path = std::env::temp_dir().join(format!("drystone-trace-{}.csv", std::process::id()));
    let file = path.to_str().unwrap();
    let run = ["run", "pendulum", "--set", "links=3", "--set", "ratio=10", "--backend", "cpu", "--steps", "30"];
    let trace = ["--trace-body", "ball", "--trace-body", "#1", "--trace-joint", "joint 1", "--trace-body", "ball"];
    let with = report(&[&run[..], &trace, &["--trace-csv", file, "--json", "-", "--state"]].concat());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let plain = report(&[&run[..], &["--json", "-"]].concat());
    assert_eq!(with["pose_hash"], plain["pose_hash"], "looking changes nothing");
    assert!(plain.get("traces").is_none());

    let traces = &with["traces"];
    let (bodies, joints) = (traces["bodies"].as_array().unwrap(), traces["joints"].as_array().unwrap());
    assert_eq!((bodies.len(), joints.len()), (2, 1), "what is asked for twice is there once");
    assert_eq!(
        (&bodies[0]["asked"], &bodies[0]["name"], &bodies[0]["body"]),
        (&"ball".into(), &"ball".into(), &3.into())
    );
    assert_eq!(
        (&bodies[1]["asked"], &bodies[1]["name"], &bodies[1]["body"]),
        (&"#1".into(), &"link 2".into(), &1.into())
    );
    assert_eq!((&joints[0]["name"], &joints[0]["joint"]), (&"joint 1".into(), &0.into()));
    assert_eq!(traces["step"], serde_json::json!((0..=30).collect::<Vec<u32>>()));
    for field in ["position", "rotation", "linear_velocity", "angular_velocity"] {
        let values = bodies[0][field].as_array().unwrap();
        assert_eq!((values.len(), &values[30]), (31, &with["state"][3][field]), "{field}");
    }
    for field in ["force", "torque", "linear_error", "angular_error", "broken"] {
        let values = joints[0][field].as_array().unwrap();
        assert_eq!((values.len(), &values[30]), (31, &with["joint_state"][0][field]), "{field}");
    }
    // The CSV has the same numbers.
    let csv = columns(&text);
    assert_eq!(csv.len(), 2 + 2 * 13 + 9, "{:?}", csv.keys());
    let same = |column: &str, values: &Value, component: Option<usize>| {
        for (step, value) in values.as_array().unwrap().iter().enumerate() {
            let value = component.map_or(value, |c| &value[c]).as_f64().unwrap();
            let found = csv[column][step];
            assert!((found - value).abs() <= 1e-6 * value.abs(), "{column}, step {step}: {found}, not {value}");
        }
    };
    for (c, (place, speed)) in [("x", "vx"), ("y", "vy"), ("z", "vz")].into_iter().enumerate() {
        same(&format!("ball.{place}"), &bodies[0]["position"], Some(c));
        same(&format!("#1.{speed}"), &bodies[1]["linear_velocity"], Some(c));
        same(&format!("joint 1.f{place}"), &joints[0]["force"], Some(c));
    }
    same("joint 1.linear_error", &joints[0]["linear_error"], None);
    same("time", &traces["time"], None);
    assert!((csv["time"][30] - 0.5).abs() < 1e-6);
    // A velocity is what the place changes by, as the method has it.
    let way: f64 = (1..=30).map(|i| csv["ball.vy"][i] / 60.0).sum();
    let fell = csv["ball.y"][30] - csv["ball.y"][0];
    assert!(fell < -0.1 && (way / fell - 1.0).abs() < 0.02, "{fell} m, and {way} m by its velocity");
    // People are told where it is in the end.
    let said = drystone(&[&run[..], &trace].concat());
    let table = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(table.lines().any(|l| l.starts_with("body ") && l.contains("`ball` at (") && l.contains("m/s")), "{table}");
    assert!(
        table.lines().any(|l| l.starts_with("joint ") && l.contains("`joint 1`") && l.contains("off by")),
        "{table}"
    );
}

#[test]
fn what_is_not_there_all_the_time_is_empty_in_its_trace() {
    // A body that comes after 0.03 s and goes after 0.07 s, with a name that needs quotes.
    let path = std::env::temp_dir().join(format!("drystone-comes-{}", std::process::id()));
    let (scene, file) = (path.with_extension("json"), path.with_extension("csv"));
    let comes = r#"{"seconds": 0.1, "dt": 0.01, "gravity": [0, 0, 0], "bodies": [], "later": [
        {"at": 0.03, "add": {"name": "a \"b\", c", "mass": 1, "inertia": [1, 1, 1]}},
        {"at": 0.07, "remove": "a \"b\", c"}
    ]}"#;
    std::fs::write(&scene, comes).unwrap();
    let (scene_path, file_path) = (scene.to_str().unwrap(), file.to_str().unwrap());
    let run = ["run", scene_path, "--backend", "cpu", "--trace-csv", file_path, "--json", "-"];
    let report = report(&[&run[..], &["--trace-body", "a \"b\", c", "--trace-body", "#0"]].concat());
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&scene).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(text.starts_with("step,time,\"a \"\"b\"\", c.x\","), "{text}");
    for body in report["traces"]["bodies"].as_array().unwrap() {
        let there: Vec<bool> = body["position"].as_array().unwrap().iter().map(|p| !p.is_null()).collect();
        assert_eq!(there, (0..=10).map(|step| (4..8).contains(&step)).collect::<Vec<_>>(), "{body}");
        assert_eq!(body["body"], 0);
    }
    let empty = format!("3,0.03{}", ",".repeat(26));
    assert!(text.lines().any(|line| line == empty), "`{empty}` in {text}");
}

#[test]
fn scenes_run_with_the_iterations_they_are_meant_for() {
    // Figures 2, 4, 6, 7, 10, 11, 12, 14 of the paper say how many; 9 and 13 do not.
    for (scene, substeps, iterations) in [
        ("pile", 1, 4),
        ("spring_ratio", 1, 5),
        ("spring_chain", 1, 5),
        ("cards", 5, 5),
        ("pendulum", 1, 20),
        ("chain_balls", 1, 20),
        ("stack", 1, 20),
        ("friction", 1, 4),
        ("chainmail", 1, 15),
        ("wall", 1, 10),
        ("bridge", 1, 25),
        ("swing_box", 1, 25),
    ] {
        let run = ["run", scene, "--backend", "cpu", "--steps", "1", "--json", "-"];
        let settings = &report(&run)["settings"];
        let wanted = (&substeps.into(), &iterations.into());
        assert_eq!((&settings["substeps"], &settings["iterations"]), wanted, "{scene}");
        let other = report(&[&run[..], &["--iterations", "7"]].concat());
        assert_eq!(other["settings"]["iterations"], 7, "{scene}");
    }
}

#[test]
fn sweeps_run_with_the_iterations_of_their_scene() {
    let sweep = |more: &[&str]| {
        let run = ["sweep", "pendulum", "--set", "links=4", "--param", "ratio=10,1000", "--steps", "20"];
        let output = drystone(&[&run[..], more].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let usual = sweep(&[]);
    assert_eq!(usual.lines().count(), 3, "a header and a line a value: {usual}");
    assert_eq!(sweep(&["--iterations", "20"]), usual);
    assert_ne!(sweep(&["--iterations", "2"]), usual);
    let unknown = drystone(&["sweep", "pendulum", "--param", "colour=1"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no parameter `colour`"), "{unknown:?}");
}

/// `drystone paper --quick` with more options: what it wrote as JSON.
fn paper(folder: &std::path::Path, more: &[&str]) -> Result<Value, String> {
    let file = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (html, json, markdown) = (file("paper.html"), file("paper.json"), file("paper.md"));
    let files = ["--html", &html, "--json", &json, "--markdown", &markdown];
    let output = drystone(&[&["paper", "--quick", "--max-minutes", "20"], more, &files[..]].concat());
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap())
}

#[test]
fn the_table_of_the_paper_is_searched_and_goes_on_where_it_ended() {
    let folder = std::env::temp_dir().join(format!("drystone-paper-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let table = ["--bodies", "16", "--levels", "2", "--only", "table"];
    let first = paper(&folder, &table).unwrap();
    let [table_1] = &first["figures"].as_array().unwrap()[..] else { panic!("one table") };
    let rows = table_1["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        // What is told is what was tried.
        let tried = row["tried"].as_array().unwrap();
        assert!(tried.iter().all(|t| t["holds"] == (t["values"][0].as_f64().unwrap() < 1.0)), "{row}");
        let holds = tried.iter().filter(|t| t["holds"] == true);
        assert_eq!(row["fewest"].as_u64(), holds.map(|t| t["count"].as_u64().unwrap()).min(), "{row}");
        assert!(row["fewest"].is_u64() && row["complete"] == true, "two levels stand with any: {row}");
    }
    let page = std::fs::read_to_string(folder.join("paper.html")).unwrap();
    assert!(page.contains("sequential impulse") && !page.contains("http"), "one page, without a network");
    // Every run is kept, with its times: nothing is run twice.
    assert_eq!(paper(&folder, &table).unwrap(), first);
    // Nor is a part that another run of the command has left out.
    let mut part = first.clone();
    let cases = part["cases"].as_object_mut().unwrap();
    let gone = cases.keys().next().unwrap().clone();
    let gone = (gone.clone(), cases.remove(&gone).unwrap());
    std::fs::write(folder.join("paper.json"), part.to_string()).unwrap();
    let again = paper(&folder, &table).unwrap();
    assert_eq!(again["cases"].as_object().unwrap().len(), first["cases"].as_object().unwrap().len());
    assert_eq!(again["cases"][&gone.0]["series"], gone.1["series"], "run again, and the same");
    // What another engine has found is of no use.
    for case in part["cases"].as_object_mut().unwrap().values_mut() {
        case["engine"] = "another".into();
    }
    std::fs::write(folder.join("paper.json"), part.to_string()).unwrap();
    let other = paper(&folder, &["--only", "figure_14"]).unwrap();
    assert!(other["cases"].as_object().unwrap().keys().all(|key| first["cases"].get(key).is_none()));
    std::fs::write(folder.join("paper.json"), "{").unwrap();
    let told = paper(&folder, &table).unwrap_err();
    assert!(told.contains("not a file of `drystone paper`"), "{told}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn verdicts_of_the_paper_follow_from_what_was_run() {
    let folder = std::env::temp_dir().join(format!("drystone-figure-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let found = paper(&folder, &["--only", "figure_4"]).unwrap();
    let figure = &found["figures"][0];
    let limit = figure["tests"][0]["limit"].as_f64().unwrap();
    let mut so = 0;
    for row in figure["rows"].as_array().unwrap() {
        let holds = row["values"][0].as_f64().unwrap() < limit;
        assert_eq!(row["found"], if holds { "holds" } else { "fails" }, "{row}");
        let alike = row["found"] == row["published"];
        assert_eq!(row["verdict"], if alike { "as published" } else { "differs" }, "{row}");
        so += usize::from(alike);
    }
    let all = figure["rows"].as_array().unwrap().len();
    let verdict = if so == all { "as published" } else { "as published in part" };
    assert!(so > 0 && figure["verdict"] == verdict, "{so} of {all}: {}", figure["verdict"]);
    // A curve and pictures of every method.
    let page = std::fs::read_to_string(folder.join("paper.html")).unwrap();
    assert!(page.matches("data:image/png").count() >= all && page.contains("<svg"), "pictures and a plot");
    let table = std::fs::read_to_string(folder.join("paper.md")).unwrap();
    assert!(table.lines().count() == 3 && table.contains(verdict), "{table}");
    let told = paper(&folder, &["--only", "figure_99"]).unwrap_err();
    assert!(told.contains("figure_4") && told.contains("table_1"), "{told}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn scene_files_run_with_their_settings_and_those_of_the_command() {
    let tour = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/scenes/tour.json");
    let run = ["run", tour, "--backend", "cpu", "--json", "-"];
    let whole = report(&run);
    assert_eq!((&whole["scene"], &whole["steps"], &whole["dt"]), (&"tour".into(), &400.into(), &0.01.into()));
    assert_eq!((&whole["bodies"], &whole["settings"]["iterations"]), (&33.into(), &6.into()));
    assert_eq!(events(&whole, "added").len(), 1);
    let more = ["--steps", "3", "--iterations", "2", "--set", "alpha=0.5", "--dt", "0.02"];
    let part = report(&[&run[..], &more].concat());
    assert_eq!((&part["steps"], &part["dt"]), (&3.into(), &0.02.into()));
    assert_eq!((&part["settings"]["iterations"], &part["settings"]["alpha"]), (&2.into(), &0.5.into()));
}

#[test]
fn runs_repeat_and_settings_reach_the_solver() {
    let run = ["run", "drop", "--backend", "cpu", "--steps", "60", "--set", "bodies=50", "--json", "-"];
    let hash = |more: &[&str]| report(&[&run[..], more].concat())["pose_hash"].as_str().unwrap().to_owned();
    let first = hash(&[]);
    assert_eq!(hash(&[]), first);
    assert_ne!(hash(&["--set", "k_load=30"]), first);
    assert_ne!(hash(&["--iterations", "5"]), first);
}

#[test]
fn the_same_scene_runs_on_vulkan() {
    let report = report(&["run", "stack", "--device", "llvmpipe", "--steps", "20", "--json", "-"]);
    assert_eq!(report["backend"], "vulkan");
    assert_eq!(report["device"]["subgroup_size"], 8);
    assert_eq!(report["counts"]["manifolds"], 10);
}

#[test]
fn mistakes_are_named_and_give_an_exit_status() {
    for (arguments, words) in [
        (&["run", "nonsense"][..], &["nonsense", "pile"][..]),
        (&["run", "pile", "--set", "colour=3"], &["colour", "bodies, levels, hit, balls"]),
        (&["run", "pile", "--set", "bodies=0"], &["bodies", "between 1"]),
        (&["run", "pile", "--set", "alpha=2"], &["alpha", "0 to 1"]),
        (&["run", "pile", "--set", "alpha"], &["KEY=VALUE"]),
        (&["run", "pile", "--set", "alpha=x"], &["not a number"]),
        (&["run", "stack", "--backend", "cpu", "--dt=-1"], &["time step"]),
        (&["run", "stack", "--backend", "cpu", "--dt=0"], &["time step", "at least 1e-6 s"]),
        (&["run", "stack", "--backend", "cpu", "--dt=nan"], &["time step"]),
        (&["run", "stack", "--backend", "cpu", "--dt=1e-30"], &["time step", "1e-30"]),
        (&["run", "stack", "--set", "iterations=nan"], &["iterations", "1 to 1000"]),
        (&["run", "/nonexistent/x.json"], &["/nonexistent/x.json", "No such file"]),
        (&["run", "examples/scenes/wall.json", "--set", "bodies=3"], &["no setting `bodies`"]),
        (&["run", "stack", "--device", "Voodoo"], &["Voodoo"]),
        (&["run", "stack", "--backend", "cpu", "--device", "llvmpipe"], &["--backend is cpu"]),
        (
            &["run", "pendulum", "--trace-body", "bal"],
            &["no body is called `bal`", "did you mean `ball`?", "#0 to #50"],
        ),
        (&["run", "pendulum", "--trace-body", "lnik 3"], &["did you mean `link 3`"]),
        (
            &["run", "pendulum", "--trace-joint", "ball"],
            &["no joint is called `ball`", "`joint 1`, `joint 10`", "more"],
        ),
        (&["run", "pendulum", "--trace-body", "#51"], &["--trace-body #51", "bodies are #0 to #50"]),
        (&["run", "pendulum", "--trace-body", "#-1"], &["bodies are #0 to #50"]),
        (&["run", "stack", "--trace-joint", "#0"], &["there are no joints here"]),
        (&["run", "stack", "--trace-csv", "x.csv"], &["--trace-body or --trace-joint"]),
        (
            &["run", "stack", "--trace-body", "top", "--trace-csv", "/nonexistent/x.csv"],
            &["cannot write", "/nonexistent/x.csv"],
        ),
        (
            &["run", "stack", "--backend", "cpu", "--steps", "1", "--json", "/nonexistent/x.json"],
            &["/nonexistent/x.json"],
        ),
    ] {
        let output = drystone(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked"), "{text}");
        for word in words {
            assert!(text.contains(word), "`{word}` in what {arguments:?} says: {text}");
        }
    }
}

#[test]
fn info_lists_devices() {
    let output = drystone(&["info"]);
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    for word in ["cpu backend", "llvmpipe", "8 reported, 8 measured", "maxStorageBufferRange", "usable           yes"] {
        assert!(text.contains(word), "`{word}` in: {text}");
    }
}

#[test]
fn the_step_of_any_scene_is_printed_with_its_barriers() {
    let output = drystone(&["passes", "ragdolls", "--set", "count=2", "--set", "substeps=1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    for word in
        ["recording step", "edits", "gate", "primal_joints x", "joints_break", "store", "---- barrier", "ragdolls:"]
    {
        assert!(text.contains(word), "`{word}` in: {text}");
    }
    let last = text.lines().last().unwrap();
    let barriers = text.lines().filter(|line| line.trim_start().starts_with("----")).count();
    assert!(last.contains(&format!("; {barriers} barriers")), "{last}");
    let output = drystone(&["passes", "ragdols"]);
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("ragdolls"));
}

#[test]
fn what_the_engine_logs_is_printed_on_demand() {
    let run = ["run", "drop", "--backend", "cpu", "--steps", "20", "--set", "bodies=30"];
    let said = |more: &[&str]| {
        let output = drystone(&[&run[..], more].concat());
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(!said(&[]).contains("prepare"));
    let spans = said(&["--log", "spans"]);
    assert_eq!(spans.lines().filter(|line| line.contains(" prepare dt=")).count(), 20, "{spans}");
    assert!(spans.contains(" load bytes="), "{spans}");
    assert!(!said(&["--log", "warnings"]).contains("prepare"));
    // Room for pairs is too short at first in a scene with many neighbours.
    let said = String::from_utf8_lossy(
        &drystone(&["run", "pile", "--backend", "cpu", "--steps", "1", "--log", "changes"]).stderr,
    )
    .into_owned();
    assert!(said.contains("WARN lists are too short for the step frame=1"), "{said}");
    assert!(said.contains("INFO a list has grown list=\"pairs\"") || said.contains("list=\"manifolds\""), "{said}");
}

#[test]
fn everything_works_without_a_vulkan_driver() {
    for arguments in
        [&["info"][..], &["run", "stack", "--steps", "5"], &["passes", "--elements", "1000", "--runs", "1"]]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_drystone"))
            .args(arguments)
            .env("VK_ICD_FILENAMES", "/nonexistent")
            .env("VK_DRIVER_FILES", "/nonexistent")
            .output()
            .expect("the command starts");
        let said = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&said);
        assert!(output.status.success(), "{arguments:?}: {text}");
        assert!(text.contains("apt install mesa-vulkan-drivers"), "how to get a driver, in: {text}");
    }
}

#[test]
fn a_scene_that_is_exported_runs_with_the_same_bits() {
    let path = std::env::temp_dir().join(format!("drystone-export-{}.json", std::process::id()));
    let file = path.to_str().unwrap();
    let set = ["--set", "links=8", "--set", "ratio=100"];
    let written = drystone(&[&["export", "pendulum", file, "--set", "iterations=9"][..], &set].concat());
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let run = |scene: &str, more: &[&str]| {
        report(&[&["run", scene, "--backend", "cpu", "--steps", "20", "--json", "-"][..], more].concat())
    };
    let (there, here) = (run(file, &[]), run("pendulum", &[&["--iterations", "9"][..], &set].concat()));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((&there["scene"], &there["pose_hash"]), (&here["scene"], &here["pose_hash"]));
    assert_eq!(there["settings"], here["settings"]);
    // To standard output, too, and a file as well as a scene's name.
    let same = drystone(&[&["export", "pendulum", "--set", "iterations=9"][..], &set].concat());
    assert_eq!(String::from_utf8_lossy(&same.stdout), text);
    let unwritten = drystone(&["export", "pendulum", "/nonexistent/x.json"]);
    assert!(String::from_utf8_lossy(&unwritten.stderr).contains("/nonexistent/x.json"), "{unwritten:?}");
}
