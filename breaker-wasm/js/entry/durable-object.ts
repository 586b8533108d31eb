/** For workers whose circuits are shared by all isolates. */

// The platform's entry, which starts the module.
import "breaker-wasm";

export * from "../shared/index.js";
