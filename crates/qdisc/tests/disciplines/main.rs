//! Each discipline against numbers worked by hand, in the file of its name; the working is in the comments.

macro_rules! test_modules {
    ($($module:ident)+) => {
        $(mod $module;)+
    };
}

dumbbell_qdisc::with_disciplines!(test_modules);
