//! Tables of what a compiler says, as text that can be read again.

use std::fmt::Write as _;

/// What the compiler says of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    pub name: String,
    /// Vector registers.
    pub vgprs: u64,
    /// Vector registers that hold something at the same time before the compiler moves fetches ahead. It uses more, as
    /// long as that costs no wave.
    pub needed: u64,
    /// Scalar registers.
    pub sgprs: u64,
    /// Registers of both kinds that had no place and lie in memory.
    pub spills: u64,
    /// Bytes of memory a lane has for them and for arrays.
    pub scratch: u64,
    /// Bytes of workgroup memory.
    pub lds: u64,
    /// Subgroups that fit on a SIMD unit at a time.
    pub waves: u64,
    /// Machine instructions.
    pub instructions: u64,
    /// Cycles that a wave takes by the compiler's own estimate.
    pub latency: u64,
}

/// The kernels on one GPU with one subgroup size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The GPU as RADV calls it.
    pub family: String,
    /// Lanes a subgroup.
    pub wave: u32,
    /// The driver's version. Only the same one compiles to the same numbers.
    pub driver: String,
    pub kernels: Vec<Kernel>,
}

const COLUMNS: &str =
    "| kernel | VGPRs | needed | SGPRs | spills | scratch | LDS | waves a SIMD | instructions | latency |";

impl Table {
    /// Heading, line of columns, and a row a kernel.
    pub fn text(&self) -> String {
        let mut text = format!("## {} wave{}, {}\n\n{COLUMNS}\n|---|", self.family, self.wave, self.driver);
        text += &"---:|".repeat(COLUMNS.matches(" | ").count());
        for k in &self.kernels {
            let numbers = [k.vgprs, k.needed, k.sgprs, k.spills, k.scratch, k.lds, k.waves, k.instructions, k.latency];
            // Writing to a string cannot fail.
            let _ = write!(text, "\n| `{}` |", k.name);
            for number in numbers {
                let _ = write!(text, " {number} |");
            }
        }
        text + "\n"
    }

    /// The tables in a text; whatever else is in it is skipped.
    pub fn parse(text: &str) -> Vec<Self> {
        let mut tables: Vec<Self> = Vec::new();
        for line in text.lines() {
            let heading = line.strip_prefix("## ").and_then(|rest| rest.split_once(" wave"));
            if let Some((family, (wave, driver))) = heading.and_then(|(f, rest)| Some((f, rest.split_once(", ")?))) {
                let Ok(wave) = wave.parse() else { continue };
                tables.push(Self { family: family.to_owned(), wave, driver: driver.to_owned(), kernels: Vec::new() });
            } else if let (Some(kernel), Some(table)) = (Kernel::parse(line), tables.last_mut()) {
                table.kernels.push(kernel);
            }
        }
        tables
    }

    /// In what the kernels of `self` are worse than those of `before`: fewer waves, more spills or scratch memory. A
    /// kernel that was not there before is worse if it spills.
    pub fn worse_than(&self, before: &Self) -> Vec<String> {
        let mut worse = Vec::new();
        for k in &self.kernels {
            let was = before.kernels.iter().find(|was| was.name == k.name);
            let (spills, scratch) = was.map_or((0, 0), |was| (was.spills, was.scratch));
            let waves = was.map_or(0, |was| was.waves);
            if k.waves < waves || k.spills > spills || k.scratch > scratch {
                let vgprs = was.map_or(0, |was| was.vgprs);
                worse.push(format!(
                    "{} on {} wave{}: {} waves a SIMD (were {waves}), {} VGPRs ({vgprs}), {} registers spilled \
                     ({spills}), {} bytes of scratch memory ({scratch})",
                    k.name, self.family, self.wave, k.waves, k.vgprs, k.spills, k.scratch
                ));
            }
        }
        worse
    }
}

impl Kernel {
    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.strip_prefix("| `")?.strip_suffix(" |")?.split(" | ");
        let name = cells.next()?.strip_suffix('`')?.to_owned();
        let numbers: Vec<u64> = cells.map(str::parse).collect::<Result<_, _>>().ok()?;
        let [vgprs, needed, sgprs, spills, scratch, lds, waves, instructions, latency] = numbers.try_into().ok()?;
        Some(Self { name, vgprs, needed, sgprs, spills, scratch, lds, waves, instructions, latency })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let kernel = |name: &str, waves| Kernel {
            name: name.to_owned(),
            vgprs: 84,
            needed: 80,
            sgprs: 32,
            spills: 0,
            scratch: 0,
            lds: 512,
            waves,
            instructions: 1000,
            latency: 5000,
        };
        let kernels = vec![kernel("primal", 6), kernel("dual", 8)];
        Table { family: "navi21".to_owned(), wave: 64, driver: "Mesa 22.3.6".to_owned(), kernels }
    }

    #[test]
    fn tables_are_read_as_they_were_written() {
        let other = Table { wave: 32, ..table() };
        let text = format!("# Words\n\n{}\nMore words.\n\n{}", table().text(), other.text());
        assert_eq!(Table::parse(&text), [table(), other]);
    }

    #[test]
    fn fewer_waves_and_spills_are_worse_and_more_instructions_are_not() {
        let mut now = table();
        now.kernels[0].instructions += 100;
        now.kernels[0].waves = 7;
        assert!(now.worse_than(&table()).is_empty());
        now.kernels[0].waves = 5;
        now.kernels[1].spills = 1;
        let worse = now.worse_than(&table());
        assert_eq!(worse.len(), 2);
        assert!(worse[0].contains("5 waves a SIMD (were 6)") && worse[1].contains("1 registers spilled (0)"));
        // One that is new.
        now = table();
        now.kernels[1].name = "new".to_owned();
        now.kernels[1].scratch = 16;
        assert_eq!(now.worse_than(&table()).len(), 1);
    }
}
