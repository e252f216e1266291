//! When Wasm ends in the middle of a call, everybody who waits gets an answer and the next call works.

use e2e::Worker;

#[test]
fn a_panic_in_the_worker_is_answered_and_the_next_call_works() {
    let worker = Worker::start_with_modules(&[
        ("build/index.js", "faulty.mjs"),
        ("build/glue.js", "/build/index.js"),
    ]);
    assert_eq!(worker.get("/healthz").status, 200);
    let fault = [("x-fault", "worker panic")];
    let reply = worker.client().send("POST", "/healthz", &fault, b"{}");
    assert_eq!(reply.status, 500);
    assert_eq!(reply.json()["error"], "internal_error");
    assert_eq!(worker.get("/healthz").status, 200);
}
