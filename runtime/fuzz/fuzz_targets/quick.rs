#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    trueform::testing::fuzz::quick(bytes);
});
