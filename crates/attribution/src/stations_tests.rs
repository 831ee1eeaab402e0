use super::*;

/// A simple generator of numbers in [0, 1): tests need no more.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Requests with random gaps through k places, first come, first served.
fn through(places: usize, gap_ns: f64, service: impl Fn(&mut Numbers) -> (u16, u64)) -> Vec<Visit> {
    let mut numbers = Numbers(7);
    let mut free = vec![0_u64; places];
    let mut at = 1_000_000;
    let mut all = Vec::new();
    for _ in 0..3_000 {
        at += (-(1.0 - numbers.next()).ln() * gap_ns) as u64;
        let (class, takes) = service(&mut numbers);
        let next = (0..places).min_by_key(|&k| free[k]).unwrap();
        let done = at.max(free[next]) + takes;
        free[next] = done;
        all.push(Visit {
            arrival: at,
            done,
            class,
            line: 0,
            slow: done - at > 2 * takes,
            measured: true,
        });
    }
    all
}

fn spread(numbers: &mut Numbers, takes: f64) -> u64 {
    (takes * (0.8 + 0.4 * numbers.next())) as u64
}

#[test]
fn the_number_of_places_is_found() {
    for places in [1, 2, 3, 5, 8] {
        let gap = 20e6 / places as f64 / 0.75;
        let visits = through(places, gap, |n| (0, spread(n, 20e6)));
        let fit = fit(&visits).unwrap_or_else(|| panic!("{places}"));
        assert_eq!(fit.places as usize, places);
        assert!(fit.explained > 0.8, "{}", fit.explained);
    }
}

#[test]
fn a_class_that_keeps_the_places_is_named() {
    let visits = through(2, 12e6, |n| {
        if n.next() < 0.05 {
            (1, spread(n, 200e6))
        } else {
            (0, spread(n, 1e6))
        }
    });
    let fit = fit(&visits).unwrap();
    assert_eq!(fit.places, 2);
    assert_eq!(fit.held_by[0].0, 1);
    assert!(fit.held_by[0].1 > 0.9);
}

#[test]
fn the_places_of_one_class_are_found_beside_requests_that_need_them_for_a_moment() {
    // Most requests need a place for a moment, so that with too few places nearly all of them seem to take nothing.
    let visits = through(5, 15e6, |n| {
        if n.next() < 0.26 {
            (1, spread(n, 210e6))
        } else {
            (0, spread(n, 1e6))
        }
    });
    let fit = fit_places_of(&visits, 1).unwrap();
    assert_eq!(fit.places, 5, "{:?}", fit.plausible);
    assert!(fit.explained > 0.8, "{}", fit.explained);
}

#[test]
fn too_few_places_are_passed_over_for_a_valley() {
    // The first is of no number of places.
    let errors = [0.33, 0.33, 0.28, 0.52, 0.79, 0.33, 0.70, 0.78];
    assert_eq!(fewest(&errors, |_| false), Some(1));
    assert_eq!(fewest(&errors, |k| k < 5), Some(5));
    assert_eq!(fewest(&errors, |k| k < 6), None, "it is no valley");
    assert_eq!(fewest(&errors[..1], |_| false), None);
}

#[test]
fn where_requests_do_not_wait_for_each_other_nothing_fits() {
    let visits = through(500, 4e6, |n| (0, (20e6 * (0.2 + 3.0 * n.next())) as u64));
    assert_eq!(fit(&visits), None);
}

#[test]
fn a_class_that_all_others_wait_for_is_found_though_these_drain_at_once() {
    let mut visits = through(500, 10e6, |n| {
        if n.next() < 0.03 {
            (1, spread(n, 120e6))
        } else {
            (0, spread(n, 2e6))
        }
    });
    let holders: Vec<Visit> = visits.iter().filter(|v| v.class == 1).copied().collect();
    for visit in visits.iter_mut().filter(|visit| visit.class == 0) {
        let ahead = holders
            .iter()
            .filter(|h| h.arrival <= visit.arrival && h.done > visit.arrival);
        if let Some(last) = ahead.map(|holder| holder.done).max() {
            visit.done += last - visit.arrival;
            visit.slow = true;
        }
    }
    assert_eq!(fit(&visits), None);
    let fit = fit_behind(&visits, 1).unwrap();
    assert_eq!((fit.places, fit.held_by[0].0), (1, 1));
    assert!(fit.explained > 0.8, "{}", fit.explained);
    let alone = through(500, 10e6, |n| (u16::from(n.next() < 0.03), spread(n, 20e6)));
    assert_eq!(fit_behind(&alone, 1), None);
}

#[test]
fn a_class_that_has_some_of_the_places_does_not_keep_all_others_waiting() {
    let visits = through(4, 12e6, |n| {
        if n.next() < 0.15 {
            (1, spread(n, 200e6))
        } else {
            (0, spread(n, 2e6))
        }
    });
    assert_eq!(fit_behind(&visits, 1), None);
    assert_eq!(fit(&visits).map(|fit| fit.places), Some(4));
}

#[test]
fn the_places_of_one_class_are_found_though_what_waits_for_them_drains_at_once() {
    // Four places, each kept for 0.3 s; others need one for no time, and take 0.4 ms besides.
    let mut visits = through(4, 100e6, |_| (1, 300_000_000));
    let held = visits.clone();
    let mut numbers = Numbers(9);
    for n in 0..20_000_u64 {
        let arrival = 5_000_000 + n * 10_000_000 + (numbers.next() * 9e6) as u64;
        let mut ends: Vec<u64> = held
            .iter()
            .filter(|h| h.arrival <= arrival && h.done > arrival)
            .map(|h| h.done)
            .collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        let start = ends.get(3).copied().unwrap_or(arrival);
        let takes = if start > arrival { 60_000 } else { 400_000 };
        visits.push(Visit {
            arrival,
            done: start + takes,
            class: 0,
            line: 0,
            slow: start > arrival,
            measured: true,
        });
    }
    visits.sort_by_key(|visit| visit.arrival);
    visits.truncate(4_000);
    let fit = fit_places_of(&visits, 1).unwrap();
    assert_eq!((fit.places, fit.held_by[0].0), (4, 1));
    assert!(fit.explained > 0.8, "{}", fit.explained);
    // Beside requests of another class that wait for none of them.
    for visit in visits.iter_mut().filter(|visit| visit.class == 0) {
        let slow = numbers.next() < 0.2;
        visit.done = visit.arrival + if slow { 100_000_000 } else { 400_000 };
        visit.slow = slow;
    }
    let fit = fit_places_of(&visits, 1);
    assert!(fit.is_none_or(|fit| fit.explained < 0.3));
}

#[test]
fn what_stands_still_and_drains_at_once_is_no_station() {
    let mut visits = through(500, 4e6, |n| (0, spread(n, 2e6)));
    for visit in &mut visits {
        let stall = visit.done / 500_000_000 * 500_000_000 + 100_000_000;
        if visit.done < stall {
            visit.done = stall + (visit.done % 1_000);
            visit.slow = true;
        }
    }
    assert_eq!(fit(&visits), None);
}

#[test]
fn lines_wait_for_themselves_only() {
    let mut numbers = Numbers(3);
    let mut free = [0_u64; 4];
    let mut at = 1_000_000;
    let mut visits = Vec::new();
    for _ in 0..3_000 {
        at += (-(1.0 - numbers.next()).ln() * 8e6) as u64;
        let line = (numbers.next() * 4.0) as usize;
        let takes = spread(&mut numbers, 20e6);
        let done = at.max(free[line]) + takes;
        free[line] = done;
        visits.push(Visit {
            arrival: at,
            done,
            class: 0,
            line: line as u32,
            slow: done - at > 2 * takes,
            measured: true,
        });
    }
    assert_eq!(fit(&visits).map(|fit| fit.places), Some(1));
    for visit in &mut visits {
        visit.line = 0;
    }
    assert_eq!(fit(&visits), None);
}

/// So many clients that each send again soon after they are answered, so that the queue hardly ever empties, through ten places.
fn without_end(clients: usize) -> Vec<Visit> {
    let mut numbers = Numbers(5);
    let mut free = [1_000_000_u64; 10];
    let mut next: Vec<u64> = (0..clients as u64).collect();
    let mut all = Vec::new();
    for n in 0..2_000 {
        let client = (0..clients).min_by_key(|&client| next[client]).unwrap();
        let (class, takes) = if numbers.next() < 0.8 {
            (0, spread(&mut numbers, 130e6))
        } else {
            (1, spread(&mut numbers, 16e6))
        };
        let place = (0..10).min_by_key(|&place| free[place]).unwrap();
        let done = next[client].max(free[place]) + takes;
        free[place] = done;
        all.push(Visit {
            arrival: next[client],
            done,
            class,
            line: 0,
            slow: n % 3 == 0,
            measured: n > 200,
        });
        // Half of the time they are in less of a hurry.
        let pause = if n / 250 % 2 == 0 { 1e6 } else { 500e6 };
        next[client] = done + (numbers.next() * pause) as u64;
    }
    all
}

#[test]
fn the_places_of_a_queue_that_hardly_empties_are_found() {
    let fit = fit(&without_end(64)).unwrap();
    assert_eq!((fit.places, fit.plausible), (10, (10, 10)));
}

#[test]
fn a_multiple_of_the_places_fits_as_well_and_is_no_steep_valley() {
    let errors = [1.0, 1.0, 0.39, 0.056, 0.12, 0.13, 0.1, 0.06, 0.05, 0.046];
    let choice = choice(&errors, 1, |_| false).unwrap();
    assert_eq!((choice.places, choice.plausible), (3, (3, 3)));
    // One side alone is none.
    let errors = [1.0, 1.0, 0.39, 0.056, 0.06, 0.07, 0.06, 0.05];
    let choice = super::choice(&errors, 1, |_| false).unwrap();
    assert_eq!((choice.places, choice.plausible), (7, (3, 7)));
}

#[test]
fn a_steep_number_of_places_is_meant_if_it_is_nearly_as_good() {
    let fit = |is_steep, explained, error_ratio| Fit {
        places: 10,
        plausible: (10, 10),
        is_steep,
        starts: Vec::new(),
        queued: 100,
        error_ratio,
        explained,
        held_by: Vec::new(),
    };
    let flat = fit(false, 1.0, 0.16);
    assert_eq!(fit(true, 1.0, 0.23).compare(&flat), Ordering::Greater);
    assert_eq!(fit(true, 0.4, 0.2).compare(&flat), Ordering::Less);
}

#[test]
fn a_steep_number_has_the_best_one_as_a_multiple() {
    // 10 is no multiple of 4, nor next to one.
    let errors = [1.0, 1.0, 0.9, 0.8, 0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.07];
    let chosen = choice(&errors, 1, |_| false).unwrap();
    assert_eq!((chosen.places, chosen.is_steep), (10, false));
    let errors = [1.0, 1.0, 0.9, 0.8, 0.1, 0.2, 0.2, 0.2, 0.07];
    let chosen = choice(&errors, 1, |_| false).unwrap();
    assert_eq!((chosen.places, chosen.is_steep), (4, true));
}
