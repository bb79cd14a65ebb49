//! Scenario names of congestion control in the kernel's words, and what of a stack the kernel can take on.

use crate::error::EmuError;
use dumbbell_sim::Named;

type Settings = Vec<(&'static str, String)>;

/// Congestion control that the kernel has: scenario name, kernel name.
pub const VARIANTS: &[(&str, &str)] = &[
    ("reno", "reno"),
    ("newreno", "reno"),
    ("sack", "reno"),
    ("cubic", "cubic"),
    ("bbr", "bbr"),
    ("bbr1", "bbr"),
    ("bic", "bic"),
    ("cdg", "cdg"),
    ("dctcp", "dctcp"),
    ("highspeed", "highspeed"),
    ("htcp", "htcp"),
    ("hybla", "hybla"),
    ("illinois", "illinois"),
    ("lp", "lp"),
    ("nv", "nv"),
    ("scalable", "scalable"),
    ("vegas", "vegas"),
    ("veno", "veno"),
    ("westwood", "westwood"),
    ("yeah", "yeah"),
];

/// The kernel's name of a flow's variant, and the settings that its hosts need.
pub(crate) fn kernel_variant(
    flow: &str,
    variant: &Named,
    stack: &Named,
) -> Result<(&'static str, Settings), EmuError> {
    let place = |key: &str| format!("flows.{flow}.{key}");
    let Some((_, name)) = VARIANTS.iter().find(|(ours, _)| *ours == variant.name) else {
        let known = VARIANTS.iter().map(|(ours, _)| *ours).collect::<Vec<_>>().join(", ");
        let message = format!("'{}' given: the kernel doesn't have it (it has {known})", variant.name);
        return Err(EmuError::refused(&place("variant"), message));
    };
    if let Some(key) = variant.params.keys().next() {
        let message = "the kernel's modules run with their own parameters";
        return Err(EmuError::refused(&place(&format!("variant.{key}")), message));
    }
    let mut settings = Settings::new();
    match stack.name.as_str() {
        "linux" | "rfc" => {}
        other => {
            let message =
                format!("'{other}' given: the kernel has its own stack; leave it out, or use 'linux'");
            return Err(EmuError::refused(&place("stack"), message));
        }
    }
    if variant.name == "newreno" {
        settings.push(("tcp_sack", "0".into()));
    }
    if *name == "dctcp" {
        settings.push(("tcp_ecn", "1".into()));
    }
    for (key, value) in &stack.params {
        let on = |v: &serde_json::Value| v.as_bool().map(|b| String::from(if b { "1" } else { "0" }));
        match (key.as_str(), on(value)) {
            ("timestamps", Some(on)) => settings.push(("tcp_timestamps", on)),
            ("ecn", Some(on)) => settings.push(("tcp_ecn", on)),
            _ => {
                let message = "the kernel back ends can't set it";
                return Err(EmuError::refused(&place(&format!("stack.{key}")), message));
            }
        }
    }
    Ok((name, settings))
}
