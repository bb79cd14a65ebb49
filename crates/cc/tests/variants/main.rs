//! Each variant against numbers worked by hand, in the file of its name; the working is in the comments. The other
//! files test rules that variants share.

macro_rules! test_modules {
    ($($module:ident { $($row:ident),+ })+) => {
        $(mod $module;)+
    };
}

dumbbell_cc::with_variants!(test_modules);

mod segment_counting;
mod slow_start;
mod undo;
