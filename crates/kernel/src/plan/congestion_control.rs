//! Congestion control by the kernel's names, and the parameters of its modules
//! [Linux include/net/tcp.h tcp_congestion_ops; tcp_cubic.c and tcp_vegas.c module_param].

use crate::error::KernelError;
use dumbbell_plan::Named;
use serde_json::Value;

/// Congestion control of the kernel: scenario name, kernel name.
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

/// The form of a module parameter.
#[derive(Clone, Copy)]
enum Form {
    /// A whole number.
    Whole,
    /// A fraction in 1024ths.
    Per1024,
    /// 0 or 1.
    Flag,
}

/// Parameters with the same meaning in the module: kernel name, parameter, module parameter, its form.
const PARAMETERS: &[(&str, &str, &str, Form)] = &[
    ("cubic", "beta", "tcp_cubic.beta", Form::Per1024),
    ("cubic", "fast_convergence", "tcp_cubic.fast_convergence", Form::Flag),
    ("cubic", "reno_friendly", "tcp_cubic.tcp_friendliness", Form::Flag),
    ("vegas", "alpha", "tcp_vegas.alpha", Form::Whole),
    ("vegas", "beta", "tcp_vegas.beta", Form::Whole),
    ("vegas", "gamma", "tcp_vegas.gamma", Form::Whole),
];

/// A congestion control algorithm of the kernel.
pub(crate) struct KernelVariant {
    /// Its name in the kernel.
    pub(crate) name: &'static str,
    /// Options of the kernel's command line that set the module's parameters, sorted.
    pub(crate) boot: Vec<String>,
}

/// Translates a flow's variant.
pub(crate) fn kernel_variant(flow: &str, variant: &Named) -> Result<KernelVariant, KernelError> {
    let place = |key: &str| format!("flows.{flow}.variant{key}");
    let Some((_, name)) = VARIANTS.iter().find(|(ours, _)| *ours == variant.name) else {
        let known = VARIANTS.iter().map(|(ours, _)| *ours).collect::<Vec<_>>().join(", ");
        let message = format!("'{}' given: the kernel doesn't have it (it has {known})", variant.name);
        return Err(KernelError::refused(&place(""), message));
    };
    let mut boot = Vec::new();
    for (key, value) in &variant.params {
        let found = PARAMETERS.iter().find(|(v, ours, ..)| v == name && ours == key);
        let Some((_, _, option, form)) = found else {
            let message = "the kernel's module doesn't have it";
            return Err(KernelError::refused(&place(&format!(".{key}")), message));
        };
        let number = match (form, value) {
            (Form::Flag, Value::Bool(on)) => u64::from(*on) as f64,
            (Form::Whole, Value::Number(n)) => n.as_f64().unwrap_or(f64::NAN),
            (Form::Per1024, Value::Number(n)) => (n.as_f64().unwrap_or(f64::NAN) * 1024.0).round(),
            _ => f64::NAN,
        };
        if number.fract() != 0.0 || !(0.0..1e9).contains(&number) {
            let message = format!("{value} given: the kernel's module takes whole numbers");
            return Err(KernelError::refused(&place(&format!(".{key}")), message));
        }
        boot.push(format!("{option}={number}"));
    }
    boot.sort();
    Ok(KernelVariant { name, boot })
}
