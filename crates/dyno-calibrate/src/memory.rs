//! Measures memory bandwidth beyond the caches: read, write and copy, with one thread and with several.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use dyno_engine::Cancel;
use dyno_record::{RawFigure, RawTest};

/// Least amount of memory to use, bytes.
const LEAST: u64 = 256 << 20;
/// Divisor of the available memory: at most this part of it is used.
const PART: u64 = 4;

/// Bytes to use: `times` the size of the caches, limited by the available memory. Adds a note where that is
/// not much more than the caches hold.
pub(crate) fn size(available: u64, caches: u64, times: u64) -> (u64, Option<String>) {
    let bytes = (caches * times).max(LEAST).min(available / PART);
    let is_small = bytes < caches * 2 || bytes < LEAST / 4;
    let note = is_small.then(|| {
        format!(
            "{} MiB of memory were used, and the caches hold {} MiB: the caches served part of it",
            bytes >> 20,
            caches >> 20
        )
    });
    (bytes, note)
}

/// Size of the last-level caches of all processors together, from the kernel's files; 0 where they do not
/// state it.
pub(crate) fn cache_bytes() -> u64 {
    let Ok(processors) = std::fs::read_dir("/sys/devices/system/cpu") else { return 0 };
    let mut last: Vec<(u32, String, u64)> = Vec::new();
    for processor in processors.flatten() {
        for index in std::fs::read_dir(processor.path().join("cache")).into_iter().flatten().flatten() {
            let read = |file: &str| {
                std::fs::read_to_string(index.path().join(file)).unwrap_or_default().trim().to_owned()
            };
            let size = read("size").parse::<dyno_plan::Bytes>().map_or(0, |bytes| bytes.0);
            let cache_entry = (read("level").parse().unwrap_or(0), read("shared_cpu_list"), size);
            if !last.contains(&cache_entry) {
                last.push(cache_entry);
            }
        }
    }
    let level = last.iter().map(|(level, ..)| *level).max().unwrap_or(0);
    last.iter().filter(|(own, ..)| *own == level).map(|(.., size)| size).sum()
}

const TESTS: [RawTest; 3] = [RawTest::MemoryRead, RawTest::MemoryWrite, RawTest::MemoryCopy];

/// The three figures for this number of threads, which share `bytes` of memory; `None` after a stop request.
pub(crate) fn measure(threads: u32, bytes: u64, repeats: usize, cancel: &Cancel) -> Option<Vec<RawFigure>> {
    // Each thread reads from one half of its memory and writes to the other.
    let words = usize::try_from(bytes / 16 / u64::from(threads)).ok()?.max(1);
    let barrier = Barrier::new(threads as usize);
    let work = |number: u64| {
        let mut from: Vec<u64> = (0..words as u64).map(|word| word ^ number).collect();
        let mut to = vec![number; words];
        let mut spans = Vec::with_capacity(repeats * TESTS.len());
        for repeat in 0..repeats as u64 {
            for test in TESTS {
                // All threads must read the same flag, so none may read it while another has already passed
                // the next barrier.
                barrier.wait();
                let begin = Instant::now();
                match test {
                    RawTest::MemoryRead => {
                        black_box(&mut sum(black_box(&from)).wrapping_add(sum(black_box(&to))));
                    }
                    RawTest::MemoryWrite => {
                        from.fill(black_box(repeat));
                        to.fill(black_box(number));
                    }
                    _ => to.copy_from_slice(black_box(&from)),
                }
                black_box((&mut from, &mut to));
                spans.push((begin, Instant::now()));
            }
        }
        spans
    };
    if cancel.is_cancelled() {
        return None;
    }
    let spans: Vec<Vec<(Instant, Instant)>> = thread::scope(|scope| {
        let running: Vec<_> =
            (0..u64::from(threads)).map(|number| scope.spawn(move || work(number))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().expect("a thread that adds and copies does not panic"))
            .collect()
    });
    let moved = (words * 16) as f64 * f64::from(threads);
    let figure = |(at, test): (usize, &RawTest)| {
        let seconds = |repeat: usize| {
            let span_of = |own: &Vec<(Instant, Instant)>| own[repeat * TESTS.len() + at];
            let begin = spans.iter().map(|own| span_of(own).0).min();
            let end = spans.iter().map(|own| span_of(own).1).max();
            begin.zip(end).map_or(0.0, |(begin, end)| (end - begin).as_secs_f64())
        };
        let mut rates: Vec<f64> = (0..repeats).map(|repeat| moved / 1e6 / seconds(repeat)).collect();
        rates.sort_by(f64::total_cmp);
        let empty_figure = RawFigure::of(*test, None, threads, threads);
        match rates.last() {
            Some(best) if best.is_finite() => RawFigure {
                mb_per_s: Some(*best),
                median_mb_per_s: Some(rates[rates.len() / 2]),
                ..empty_figure
            },
            _ => empty_figure.refused("it took no time".to_owned()),
        }
    };
    Some(TESTS.iter().enumerate().map(figure).collect())
}

/// Sum of all words in eight accumulators, so that no addition waits for the previous one.
fn sum(words: &[u64]) -> u64 {
    let mut sums = [0u64; 8];
    let (eights, rest) = words.as_chunks::<8>();
    for eight in eights {
        for (sum, word) in sums.iter_mut().zip(eight) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter().chain(rest).fold(0, |all, word| all.wrapping_add(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_test_exceeds_caches_and_leaves_most_memory_free() {
        assert_eq!(size(64 << 30, 32 << 20, 4), (LEAST, None));
        assert_eq!(size(64 << 30, 480 << 20, 4).0, 1920 << 20);
        let (bytes, note) = size(1 << 30, 480 << 20, 2);
        assert_eq!(bytes, 256 << 20);
        assert!(note.unwrap().contains("the caches hold 480 MiB"));
    }

    #[test]
    fn each_memory_test_has_best_and_median() {
        let figures = measure(2, 4 << 20, 3, &Cancel::default()).unwrap();
        assert_eq!(figures.iter().map(|figure| figure.test).collect::<Vec<_>>(), TESTS);
        for figure in figures {
            let (best, median) = (figure.mb_per_s.unwrap(), figure.median_mb_per_s.unwrap());
            assert!(best >= median, "{best} {median}");
            assert!(median > 0.0, "{best} {median}");
        }
    }

    #[test]
    fn memory_sum_includes_all_words() {
        assert_eq!(sum(&(0..1003).collect::<Vec<_>>()), 1002 * 1003 / 2);
    }
}
