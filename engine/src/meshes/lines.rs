//! Words of a text, line by line, with errors that name the line.

use super::MeshError;
use crate::glam::Vec3;
use std::str::{FromStr, SplitAsciiWhitespace};

/// Lines of a text that have words, without comments.
pub(super) struct Lines<'a> {
    rest: std::iter::Enumerate<std::str::Lines<'a>>,
    comment: Option<char>,
    /// Of the last line, from 1 on.
    line: usize,
}

/// The words of a line.
pub(super) struct Words<'a> {
    words: SplitAsciiWhitespace<'a>,
    line: usize,
}

impl<'a> Lines<'a> {
    /// Of a text. What follows `comment` in a line is none of it.
    pub fn new(bytes: &'a [u8], comment: Option<char>) -> Result<Self, MeshError> {
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            MeshError::Line { line, problem: "this is no text; binary files are not read".to_owned() }
        })?;
        Ok(Self { rest: text.lines().enumerate(), comment, line: 0 })
    }

    /// The next line with words.
    pub fn next(&mut self) -> Option<Words<'a>> {
        for (index, text) in self.rest.by_ref() {
            self.line = index + 1;
            let text = self.comment.map_or(text, |mark| text.split(mark).next().unwrap_or_default());
            if !text.trim_ascii().is_empty() {
                return Some(Words { words: text.split_ascii_whitespace(), line: self.line });
            }
        }
        None
    }

    /// The next line with words, which must be there.
    pub fn need(&mut self, what: &str) -> Result<Words<'a>, MeshError> {
        let line = self.line + 1;
        self.next().ok_or_else(|| MeshError::Line { line, problem: format!("the file ends where {what} should be") })
    }
}

impl<'a> Words<'a> {
    /// An error about this line.
    pub fn wrong(&self, problem: impl Into<String>) -> MeshError {
        MeshError::Line { line: self.line, problem: problem.into() }
    }

    /// The next word.
    pub fn word(&mut self, what: &str) -> Result<&'a str, MeshError> {
        self.words.next().ok_or_else(|| self.wrong(format!("{what} is missing")))
    }

    /// The next word as a number.
    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, MeshError> {
        let word = self.word(what)?;
        let shown: String = word.chars().take(40).collect();
        word.parse().map_err(|_| self.wrong(format!("{what} is `{shown}`, which is no number that it can be")))
    }

    /// Three numbers.
    pub fn point(&mut self) -> Result<Vec3, MeshError> {
        let p = Vec3::new(self.number("x")?, self.number("y")?, self.number("z")?);
        if p.is_finite() { Ok(p) } else { Err(self.wrong("the point is not finite")) }
    }
}
