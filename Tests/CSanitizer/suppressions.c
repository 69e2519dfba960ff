// What the thread sanitizer, which asks for this by its name, is to keep to itself.
//
// It knows nothing of Swift's `Mutex`, which waits in the kernel by itself, and so takes what swift-subprocess guards by
// one for unguarded. The tests start PostgreSQL with that package; the code that is tested has no part in it.
__attribute__((disable_sanitizer_instrumentation)) const char *__tsan_default_suppressions(void) {
    return "race:swift-subprocess/Sources/Subprocess/\n";
}
