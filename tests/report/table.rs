//! The table.

use pipeaudit::report::table::{Options, render};

use super::samples;

fn at(width: u16) -> Options {
    Options { width: Some(width), ..Options::default() }
}

#[test]
fn a_person_reads_each_outcome_at_80_columns() {
    for (name, report) in samples::SAMPLES {
        insta::assert_snapshot!(*name, render(&report(), &at(80)));
    }
}

#[test]
fn verbose_shows_epochs_evidence_and_every_worker() {
    insta::assert_snapshot!(render(&samples::missing_init(), &Options { verbose: true, ..at(80) }));
}

#[test]
fn verbose_lists_all_512_workers_of_a_job() {
    let mut report = samples::many_ranks();
    report.arms.remove(0);
    let shown = render(&report, &Options { verbose: true, ..at(80) });
    for rank in 0..8 {
        for worker in 0..64 {
            assert!(shown.contains(&format!(" rank {rank} worker {worker} ")), "rank {rank} worker {worker}\n{shown}");
        }
    }
}

#[test]
fn a_job_of_512_workers_is_read_on_one_screen() {
    let shown = render(&samples::many_ranks(), &at(80));
    assert!(shown.lines().count() < 60, "{shown}");
    assert!(shown.contains("rank 3 worker 12") & shown.contains("rank 0 worker 63"), "{shown}");
}

#[test]
fn colours_are_put_on_the_verdict_and_the_severities() {
    let shown = render(&samples::live_findings(), &Options { color: true, ..at(80) });
    insta::assert_snapshot!(shown.replace('\u{1b}', "ESC"));
}

#[test]
fn colour_changes_nothing_but_colour() {
    for (name, report) in samples::SAMPLES {
        let report = report();
        for verbose in [false, true] {
            let plain = render(&report, &Options { verbose, ..at(80) });
            let colored = render(&report, &Options { verbose, color: true, ..at(80) });
            assert_eq!(without_colors(&colored), plain, "{name}");
        }
    }
}

/// Takes out `ESC [ digits m` and nothing else.
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (codes, rest) = part.split_once('m').expect("every escape is a colour");
        assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "{codes:?}");
        plain.push_str(rest);
    }
    plain
}

#[test]
fn lines_fit_the_width_that_was_given() {
    for (name, report) in samples::SAMPLES {
        for (width, verbose) in [(80, false), (80, true), (100, false), (120, true), (200, false)] {
            let shown = render(&report(), &Options { verbose, ..at(width) });
            for line in shown.lines() {
                assert!(line.chars().count() <= usize::from(width), "{name} at {width}: {line}");
            }
        }
    }
}

#[test]
fn a_narrow_terminal_still_shows_everything() {
    for width in [0, 1, 20, 40, 60] {
        let shown = render(&samples::two_arms_clean(), &at(width));
        assert!(shown.ends_with("PASS: no findings (with init)\n"), "{shown}");
        assert!(shown.contains("0.41"), "{shown}");
    }
}

#[test]
fn nothing_from_outside_reaches_the_terminal_as_a_control() {
    for (name, report) in samples::SAMPLES {
        for (color, verbose) in [(false, false), (false, true), (true, true)] {
            let shown = render(&report(), &Options { color, verbose, ..at(80) });
            let shown = if color { without_colors(&shown) } else { shown };
            let bad = shown.chars().find(|c| *c != '\n' && (c.is_control() || *c == '\u{202e}'));
            assert_eq!(bad, None, "{name}: {shown:?}");
            assert!(!shown.contains("owned") & !shown.contains("2J"), "{name}: {shown}");
        }
    }
}

#[test]
fn a_name_longer_than_the_screen_stands_on_its_own_line() {
    let mut report = samples::live_clean();
    report.arms[0].numbers[0].loader = format!("{}/train.py:61", "directory/".repeat(20));
    let shown = render(&report, &at(80));
    assert!(shown.contains("/train.py:61\n  4 workers, 2 epochs, 2 048 samples delivered"), "{shown}");
    assert!(shown.lines().skip(1).all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn no_line_ends_in_blanks_and_the_report_in_one_line_break() {
    for (name, report) in samples::SAMPLES {
        let shown = render(&report(), &at(80));
        assert!(shown.ends_with('\n') & !shown.ends_with("\n\n"), "{name}");
        assert!(shown.lines().all(|line| line == line.trim_end()), "{name}: {shown}");
    }
}

#[test]
fn the_data_is_exonerated_only_by_two_equal_runs_and_a_pass() {
    let says = |report: &_| render(report, &at(80)).contains("The data is identical in both runs");
    assert!(says(&samples::live_clean()));
    assert!(!says(&samples::missing_init()));
    assert!(!says(&samples::inconclusive()));
    let mut once = samples::live_clean();
    once.arms[0].numbers[0].reproduces = None;
    assert!(!says(&once));
    let mut one_differs = samples::live_clean();
    let mut other = one_differs.arms[0].numbers[0].clone();
    other.reproduces = Some(false);
    one_differs.arms[0].numbers.push(other);
    assert!(!says(&one_differs));
}

#[test]
fn a_comparison_does_not_decide() {
    let shown = render(&samples::two_arms_clean(), &at(80));
    assert!(shown.contains("✗ fail") & shown.contains("(comparison)"), "{shown}");
    assert!(shown.ends_with("PASS: no findings (with init)\n"), "{shown}");
}

#[test]
fn more_than_twelve_transforms_are_cut_and_said_so() {
    let mut report = samples::live_findings();
    let applied = &mut report.arms[0].numbers[0].applied;
    let one = applied[2].clone();
    for i in 0..20 {
        let mut another = one.clone();
        another.transform = format!("Transform{i}");
        applied.push(another);
    }
    let shown = render(&report, &at(80));
    assert!(shown.contains("\n and 10 more transforms (-v shows all)\n"), "{shown}");
    assert!(!shown.contains("Transform19"), "{shown}");
    let all = render(&report, &Options { verbose: true, ..at(80) });
    assert!(all.contains("Transform19"), "{all}");
}
