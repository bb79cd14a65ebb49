//! Declarations of parameters: every variant, queue discipline and stack lists its parameters as [`Spec`]s. The check
//! of a scenario, the command line, the docs and the builders use this list.

use crate::parse::{self, Length, Size};
use crate::{Bytes, Dur, Rate};
use std::fmt;

/// The kind of a parameter's values, with their range if it is limited.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A number within the range, including both ends.
    Float {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
    },
    /// An integer within the range, including both ends.
    Int {
        /// Minimum.
        min: u64,
        /// Maximum.
        max: u64,
    },
    /// True or false.
    Bool,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A time with its unit.
    Duration,
    /// A bit rate with its unit.
    Rate,
    /// A number of bytes.
    Bytes,
    /// Bytes or packets.
    Size,
    /// A queue length: packets, bytes, a time or a multiple of the bandwidth-delay product.
    Length,
    /// A probability in percent.
    Probability,
    /// A row of another registry, with its own parameters.
    Part(&'static Part),
    /// This keyword, or a value of another kind: `"auto"` or a length, `"none"` or a time.
    Or(&'static str, &'static Kind),
}

/// A parameter that names a row of a registry: the name alone, or a table with the name under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Description with its article: `"a queue discipline"`.
    pub what: &'static str,
    /// Key of the name in the table.
    pub key: &'static str,
}

/// A name from a registry and the given parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The parameters as given.
    pub params: Vec<(String, Raw)>,
}

/// The declaration of one parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    /// Name in a scenario.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: Kind,
    /// Default, in the text form of a scenario.
    pub default: &'static str,
    /// One sentence on its effect, with its source.
    pub doc: &'static str,
}

/// Declares parameters as a slice of [`Spec`]s: the comment of a parameter is its `doc`; name, default and kind follow.
/// A name alone is that of a constant, a parameter that several slices have; a comment before it replaces its `doc`.
///
/// ```
/// use dumbbell_units::param::{Kind, Spec, specs};
///
/// const LIMIT: Spec = Spec { name: "limit", kind: Kind::Length, default: "100 packets", doc: "maximum backlog" };
/// const PARAMS: &[Spec] = specs! {
///     /// factor of the window
///     /// after a loss
///     decrease = "0.5", Kind::Float { min: 0.1, max: 0.9 };
///     LIMIT;
/// };
/// assert_eq!((PARAMS[0].name, PARAMS[0].doc, PARAMS[1]), ("decrease", "factor of the window after a loss", LIMIT));
/// ```
#[macro_export]
macro_rules! specs {
    (@one [] $shared:ident) => { $shared };
    (@one [$($doc:literal)+] $shared:ident) => {
        $crate::param::Spec { doc: concat!($($doc),+).trim_ascii_start(), ..$shared }
    };
    (@one [$($doc:literal)+] $name:ident $default:expr, $kind:expr) => {
        $crate::param::Spec {
            name: stringify!($name),
            kind: $kind,
            default: $default,
            doc: concat!($($doc),+).trim_ascii_start(),
        }
    };
    ($($(#[doc = $doc:literal])* $name:ident $(= $default:expr, $kind:expr)?;)*) => {
        const { &[$($crate::specs!(@one [$($doc)*] $name $($default, $kind)?)),*] as &[$crate::param::Spec] }
    };
}

/// Declares a struct of values and the function that reads them: each field with its type and where it comes from.
///
/// ```
/// use dumbbell_units::param::{Params, settings};
///
/// settings! {
///     /// The parameters of AIMD.
///     struct Settings;
///     fn read(params: &Params);
///     decrease: f64 = params.float("decrease");
/// }
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])* $vis:vis struct $name:ident;
        $read_vis:vis fn $read:ident($($argument:ident: $type:ty),+);
        $($(#[$doc:meta])* $field_vis:vis $field:ident: $field_type:ty = $value:expr;)+
    ) => {
        $(#[$meta])*
        $vis struct $name {
            $($(#[$doc])* $field_vis $field: $field_type,)+
        }

        impl $name {
            $read_vis fn $read($($argument: $type),+) -> $name {
                $name { $($field: $value,)+ }
            }
        }
    };
}

pub use crate::{settings, specs};

/// Returns the specs with other defaults: name, default.
pub fn with_defaults(mut specs: Vec<Spec>, defaults: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<Spec> {
    for (name, default) in defaults {
        if let Some(spec) = specs.iter_mut().find(|spec| spec.name == name) {
            spec.default = default;
        }
    }
    specs
}

/// The value of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// See [`Kind::Float`].
    Float(f64),
    /// See [`Kind::Int`].
    Int(u64),
    /// See [`Kind::Bool`].
    Bool(bool),
    /// See [`Kind::Choice`].
    Choice(&'static str),
    /// See [`Kind::Duration`].
    Duration(Dur),
    /// See [`Kind::Rate`].
    Rate(Rate),
    /// See [`Kind::Bytes`].
    Bytes(Bytes),
    /// See [`Kind::Size`].
    Size(Size),
    /// See [`Kind::Length`].
    Length(Length),
    /// See [`Kind::Probability`].
    Probability(f64),
    /// See [`Kind::Part`].
    Part(Named),
    /// The keyword of [`Kind::Or`].
    Word(&'static str),
}

/// A value as given in a scenario, before its kind is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// A bare number.
    Number(f64),
    /// Text.
    Text(String),
    /// True or false.
    Bool(bool),
    /// Values by name.
    Table(Vec<(String, Raw)>),
}

/// An error in a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Name of the parameter.
    pub name: String,
    /// The given value and the allowed values.
    pub message: String,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for ParamError {}

/// Returns the known name that is nearest to `given`, if one is near.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .map(|name| (strsim::damerau_levenshtein(&given, &name.to_lowercase()), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= 1.max(name.chars().count() / 3))
        .map(|(_, name)| name)
}

/// Returns "did you mean 'x'?" with the nearest known name, if one is near.
pub fn suggestion<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    nearest(given, known).map(|name| format!("did you mean '{name}'?"))
}

/// The message for a name that is not known: it suggests the nearest known name, or lists all of them.
pub fn unknown_name<'a>(what: &str, given: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match suggestion(given, known.clone()) {
        Some(suggestion) => format!("unknown {what} '{given}': {suggestion}"),
        None => format!("unknown {what} '{given}' (known: {})", known.collect::<Vec<_>>().join(", ")),
    }
}

impl Kind {
    /// Reads a raw value as this kind.
    ///
    /// # Errors
    /// A value of another kind or out of range.
    pub fn read(&self, raw: &Raw) -> Result<Value, String> {
        use Raw::{Number, Text};
        match (self, raw) {
            (Kind::Float { min, max }, Number(x)) if (min..=max).contains(&x) => Ok(Value::Float(*x)),
            (Kind::Int { min, max }, Number(x)) if x.fract() == 0.0 && *x >= *min as f64 && *x <= *max as f64 => {
                Ok(Value::Int(*x as u64))
            }
            (Kind::Bool, Raw::Bool(b)) => Ok(Value::Bool(*b)),
            (Kind::Choice(names), Text(t)) => match names.iter().find(|n| *n == t) {
                Some(name) => Ok(Value::Choice(name)),
                None => {
                    let hint = suggestion(t, names.iter().copied()).map_or(String::new(), |s| format!(": {s}"));
                    Err(format!("'{t}' is not one of {}{hint}", names.join(", ")))
                }
            },
            (Kind::Duration, Text(t)) => parse::duration(t).map(Value::Duration),
            (Kind::Rate, Text(t)) => parse::rate(t).map(Value::Rate),
            (Kind::Bytes, Text(t)) => parse::bytes(t).map(Value::Bytes),
            (Kind::Size, Text(t)) => parse::size(t).map(Value::Size),
            (Kind::Length, Text(t)) => parse::length(t).map(Value::Length),
            (Kind::Probability, Text(t)) => parse::probability(t).map(|p| Value::Probability(p.get())),
            (Kind::Part(_), Text(name)) => Ok(Value::Part(Named { name: name.clone(), params: Vec::new() })),
            (Kind::Part(part), Raw::Table(given)) => {
                let is_name = |(key, _): &&(String, Raw)| key == part.key;
                let Some((_, Text(name))) = given.iter().find(is_name) else {
                    return Err(format!("needed: the name of {} as '{}'", part.what, part.key));
                };
                let params = given.iter().filter(|entry| !is_name(entry)).cloned().collect();
                Ok(Value::Part(Named { name: name.clone(), params }))
            }
            (Kind::Or(word, _), Text(t)) if t == word => Ok(Value::Word(word)),
            (Kind::Or(word, kind), given) => kind.read(given).map_err(|e| format!("{e}, or \"{word}\"")),
            (_, given) => Err(format!("{given} given, {self} is needed")),
        }
    }

    /// Reads the text form of a default.
    fn read_default(&self, text: &'static str) -> Option<Value> {
        let raw = match self {
            Kind::Or(word, kind) if text != *word => return kind.read_default(text),
            Kind::Float { .. } | Kind::Int { .. } => Raw::Number(text.parse().ok()?),
            Kind::Bool => Raw::Bool(text.parse().ok()?),
            _ => Raw::Text(text.to_owned()),
        };
        self.read(&raw).ok()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Float { min, max } => match (min.is_finite(), max.is_finite()) {
                (true, true) => write!(f, "a number from {min} to {max}"),
                (true, false) => write!(f, "a number of at least {min}"),
                _ => write!(f, "a number"),
            },
            Kind::Int { min, max } if *max == u64::MAX => write!(f, "a whole number of at least {min}"),
            Kind::Int { min, max } => write!(f, "a whole number from {min} to {max}"),
            Kind::Bool => write!(f, "true or false"),
            Kind::Choice(names) => write!(f, "one of {}", names.join(", ")),
            Kind::Duration => write!(f, "a time such as \"40 ms\""),
            Kind::Rate => write!(f, "a rate such as \"10 Mbit/s\""),
            Kind::Bytes => write!(f, "a size such as \"1000 bytes\""),
            Kind::Size => write!(f, "a size such as \"20 packets\" or \"64 KiB\""),
            Kind::Length => write!(f, "a length such as \"10 packets\", \"64 kB\", \"20 ms\" or \"1 bdp\""),
            Kind::Probability => write!(f, "a percentage such as \"0.1 %\""),
            Kind::Part(part) => f.write_str(part.what),
            Kind::Or(word, kind) => write!(f, "{kind}, or \"{word}\""),
        }
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Raw::Number(x) => write!(f, "{x}"),
            Raw::Text(t) => write!(f, "'{t}'"),
            Raw::Bool(b) => write!(f, "{b}"),
            Raw::Table(_) => f.write_str("a table"),
        }
    }
}

/// A complete set of parameter values: the given values and the defaults of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(Vec<(&'static str, Value)>);

impl Params {
    /// Reads `given` with the declarations; a parameter that is not given has its default.
    ///
    /// # Errors
    /// An undeclared name (the message suggests the nearest declared one) or a value that does not fit its kind.
    ///
    /// # Panics
    /// If the default of a declaration does not fit its kind: an error that the registry tests find.
    pub fn read(specs: &[Spec], given: &[(String, Raw)]) -> Result<Params, ParamError> {
        for (name, _) in given {
            if !specs.iter().any(|s| s.name == name) {
                return Err(ParamError { name: name.clone(), message: unknown_parameter(name, specs) });
            }
        }
        let value = |spec: &Spec| match given.iter().find(|(name, _)| name == spec.name) {
            Some((name, raw)) => spec.kind.read(raw).map_err(|message| ParamError { name: name.clone(), message }),
            None => Ok(spec
                .kind
                .read_default(spec.default)
                .unwrap_or_else(|| panic!("default of {} does not fit its kind", spec.name))),
        };
        specs.iter().map(|spec| Ok((spec.name, value(spec)?))).collect::<Result<_, _>>().map(Params)
    }

    fn get(&self, name: &str) -> &Value {
        match self.0.iter().find(|(n, _)| *n == name) {
            Some((_, value)) => value,
            None => panic!("parameter {name} is not declared"),
        }
    }

    /// Returns the value of a parameter of [`Kind::Or`] with the getter of its inner kind; None if the value is the
    /// keyword: `params.unless_word("min_th", Params::length)`.
    ///
    /// # Panics
    /// See the getter.
    pub fn unless_word<T>(&self, name: &str, get: impl Fn(&Params, &str) -> T) -> Option<T> {
        match self.get(name) {
            Value::Word(_) => None,
            _ => Some(get(self, name)),
        }
    }
}

fn unknown_parameter(name: &str, specs: &[Spec]) -> String {
    if specs.is_empty() {
        return format!("unknown parameter '{name}': no parameters can be set here");
    }
    unknown_name("parameter", name, specs.iter().map(|s| s.name))
}

macro_rules! getter {
    ($name:ident, $variant:ident, $t:ty) => {
        impl Params {
            /// Returns the value of a parameter declared with this kind.
            ///
            /// # Panics
            /// If no such parameter was declared, or with another kind.
            #[must_use]
            pub fn $name(&self, name: &str) -> $t {
                match self.get(name) {
                    Value::$variant(v) => v.clone(),
                    other => panic!("parameter {name} holds {other:?}"),
                }
            }
        }
    };
}

getter!(float, Float, f64);
getter!(int, Int, u64);
getter!(bool, Bool, bool);
getter!(choice, Choice, &'static str);
getter!(duration, Duration, Dur);
getter!(rate, Rate, Rate);
getter!(bytes, Bytes, Bytes);
getter!(size, Size, Size);
getter!(length, Length, Length);
getter!(probability, Probability, f64);
getter!(part, Part, Named);

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[Spec] = &[
        Spec { name: "alpha", kind: Kind::Float { min: 0.0, max: 10.0 }, default: "2", doc: "" },
        Spec { name: "limit", kind: Kind::Length, default: "1 bdp", doc: "" },
    ];

    #[test]
    fn parameters_that_are_not_given_have_their_defaults() {
        let p = Params::read(SPECS, &[("alpha".into(), Raw::Number(4.0))]).unwrap();
        assert_eq!(p.float("alpha"), 4.0);
        assert_eq!(p.length("limit"), Length::Bdp(1.0));
    }

    #[test]
    fn errors_name_parameter_value_and_allowed_values() {
        let refuse = |name: &str, raw| Params::read(SPECS, &[(name.into(), raw)]).unwrap_err().to_string();
        assert_eq!(refuse("alpah", Raw::Number(1.0)), "alpah: unknown parameter 'alpah': did you mean 'alpha'?");
        assert_eq!(refuse("alpha", Raw::Number(11.0)), "alpha: 11 given, a number from 0 to 10 is needed");
        assert!(refuse("limit", Raw::Number(20.0)).contains("20 given, a length such as \"10 packets\""));
    }

    #[test]
    fn a_keyword_or_a_value_is_accepted() {
        const KIND: Kind = Kind::Or("auto", &Kind::Length);
        let spec = |default| [Spec { name: "min_th", kind: KIND, default, doc: "" }];
        let read = |default, given: &[(String, Raw)]| {
            Params::read(&spec(default), given).map(|p| p.unless_word("min_th", Params::length))
        };
        assert_eq!(read("auto", &[]), Ok(None));
        assert_eq!(read("1 bdp", &[]), Ok(Some(Length::Bdp(1.0))));
        assert_eq!(read("auto", &[("min_th".into(), Raw::Text("1 bdp".into()))]), Ok(Some(Length::Bdp(1.0))));
        let refused = read("auto", &[("min_th".into(), Raw::Number(5.0))]).unwrap_err();
        assert!(refused.message.ends_with("\"1 bdp\" is needed, or \"auto\""), "{refused}");
    }

    #[test]
    fn a_part_has_a_name_and_parameters() {
        const KIND: Kind = Kind::Or("none", &Kind::Part(&Part { what: "a queue discipline", key: "discipline" }));
        let text = |t: &str| Raw::Text(t.into());
        let named = |name: &str, params| Ok(Value::Part(Named { name: name.into(), params }));
        assert_eq!(KIND.read(&text("codel")), named("codel", vec![]));
        let table = Raw::Table(vec![("discipline".into(), text("codel")), ("ecn".into(), Raw::Bool(true))]);
        assert_eq!(KIND.read(&table), named("codel", vec![("ecn".into(), Raw::Bool(true))]));
        assert_eq!(KIND.read(&text("none")), Ok(Value::Word("none")));
        let without = Raw::Table(vec![("ecn".into(), Raw::Bool(true))]);
        assert!(KIND.read(&without).unwrap_err().starts_with("needed: the name of a queue discipline"));
        assert!(KIND.read(&Raw::Number(1.0)).unwrap_err().contains("1 given, a queue discipline is needed"));
        assert!(Kind::Bool.read(&table).unwrap_err().starts_with("a table given"));
    }

    #[test]
    fn the_nearest_known_name_is_suggested() {
        let known = ["reno", "newreno", "vegas", "cubic", "bbr"];
        assert_eq!(nearest("brr", known.into_iter()), Some("bbr"));
        assert_eq!(nearest("Cubic", known.into_iter()), Some("cubic"));
        assert_eq!(nearest("quic", known.into_iter()), None);
        assert_eq!(unknown_name("variant", "brr", known.into_iter()), "unknown variant 'brr': did you mean 'bbr'?");
        let listed = unknown_name("variant", "quic", known.into_iter());
        assert_eq!(listed, "unknown variant 'quic' (known: reno, newreno, vegas, cubic, bbr)");
    }
}
