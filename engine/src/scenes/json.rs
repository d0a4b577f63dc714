//! Reading JSON with the place of every mistake: `bodies[3].colliders[0].radius`.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// JSON without duplicate keys. `serde_json` alone would silently take the last value of a repeated key.
pub struct Unique(pub Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Whole).map(Self)
    }
}

struct Whole;

impl<'de> Visitor<'de> for Whole {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_f64<E>(self, v: f64) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(v.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("`{key}` is there twice")));
            }
            let Unique(value) = fields.next_value()?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

/// What is wrong, and where. The place grows from the inside out on the way to the caller.
pub struct Problem {
    place: String,
    text: String,
}

impl Problem {
    /// With a text that goes on after the place: ` is missing`.
    pub fn new(text: impl Into<String>) -> Self {
        Self { place: String::new(), text: text.into() }
    }

    pub fn inside(mut self, part: &str) -> Self {
        let dot = if self.place.is_empty() || self.place.starts_with('[') { "" } else { "." };
        self.place = format!("{part}{dot}{}", self.place);
        self
    }

    pub fn at(self, index: usize) -> Self {
        self.inside(&format!("[{index}]"))
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.place.is_empty() { "the scene" } else { &self.place };
        write!(f, "{place}{}", self.text)
    }
}

pub type Checked<T> = Result<T, Problem>;

/// An object whose fields are taken one by one; what is left over is a mistake.
pub struct Object<'a> {
    fields: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Object<'a> {
    pub fn new(value: &'a Value) -> Checked<Self> {
        let fields = value.as_object().ok_or_else(|| kind_of(value, "an object"))?;
        Ok(Self { fields, known: Vec::new() })
    }

    pub fn get<T>(&mut self, key: &'static str, read: impl FnOnce(&'a Value) -> Checked<T>) -> Checked<Option<T>> {
        self.known.push(key);
        self.fields.get(key).map(|value| read(value).map_err(|p| p.inside(key))).transpose()
    }

    pub fn need<T>(&mut self, key: &'static str, read: impl FnOnce(&'a Value) -> Checked<T>) -> Checked<T> {
        self.get(key, read)?.ok_or_else(|| Problem::new(" is missing").inside(key))
    }

    pub fn fields(&self) -> &'a Map<String, Value> {
        self.fields
    }

    /// Says that these are known, whether they are taken or not.
    pub fn allow(&mut self, keys: &[&'static str]) {
        self.known.extend(keys);
    }

    fn unknown(&self) -> Option<Problem> {
        let key = self.fields.keys().find(|k| !self.known.contains(&k.as_str()))?;
        Some(Problem::new(format!(" is not known here; known are: {}", self.known.join(", "))).inside(key))
    }

    pub fn finish(self) -> Checked<()> {
        self.unknown().map_or(Ok(()), Err)
    }
}

/// What is said of a value of another kind.
pub fn kind_of(value: &Value, wanted: &str) -> Problem {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Problem::new(format!(" is {is}; it must be {wanted}"))
}

pub fn number(value: &Value) -> Checked<f64> {
    value.as_f64().ok_or_else(|| kind_of(value, "a number"))
}

pub fn single(value: &Value) -> Checked<f32> {
    let wide = number(value)?;
    let narrow = wide as f32;
    if narrow.is_finite() {
        Ok(narrow)
    } else {
        Err(Problem::new(format!(" is not finite in single precision: {wide:e}")))
    }
}

/// A number from `low` on (`low` itself only if `closed`) up to `high`.
pub fn within(value: &Value, low: f32, closed: bool, high: f32) -> Checked<f32> {
    let v = single(value)?;
    if (v > low || (closed && v == low)) && v <= high {
        return Ok(v);
    }
    let from = if closed { format!("{low} or more") } else { format!("greater than {low}") };
    Err(Problem::new(format!(" is out of range: {v}; it must be {from}, and at most {high}")))
}

pub fn integer(value: &Value) -> Checked<u32> {
    let found = value.as_u64().and_then(|v| u32::try_from(v).ok());
    found.ok_or_else(|| match value {
        Value::Number(n) => Problem::new(format!(" is {n}; it must be a whole number from 0 to {}", u32::MAX)),
        _ => kind_of(value, "a whole number"),
    })
}

pub fn switch(value: &Value) -> Checked<bool> {
    value.as_bool().ok_or_else(|| kind_of(value, "true or false"))
}

pub fn text(value: &Value) -> Checked<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| kind_of(value, "a string"))
}

pub fn list(value: &Value) -> Checked<&Vec<Value>> {
    value.as_array().ok_or_else(|| kind_of(value, "a list"))
}

/// A list of `N` values.
pub fn array<T: Copy + Default, const N: usize>(value: &Value, read: fn(&Value) -> Checked<T>) -> Checked<[T; N]> {
    let items = list(value)?;
    if items.len() != N {
        return Err(Problem::new(format!(" has {} values; it must have {N}", items.len())));
    }
    let mut found = [T::default(); N];
    for (i, (to, item)) in found.iter_mut().zip(items).enumerate() {
        *to = read(item).map_err(|p| p.at(i))?;
    }
    Ok(found)
}

/// One of several words.
pub fn one_of<T: Copy>(value: &Value, words: &[(&str, T)]) -> Checked<T> {
    let word = text(value)?;
    let found = words.iter().find(|(w, _)| *w == word).map(|(_, t)| *t);
    let known = || words.iter().map(|(w, _)| *w).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| Problem::new(format!(" is `{word}`; it must be one of: {}", known())))
}

/// Reads every item of a list.
pub fn each<T>(value: &Value, mut read: impl FnMut(&Value) -> Checked<T>) -> Checked<Vec<T>> {
    list(value)?.iter().enumerate().map(|(i, item)| read(item).map_err(|p| p.at(i))).collect()
}
