/**
 * Required into every process that runs test files, before the test runner is. The runner watches every promise, to tell
 * which test an error came from that nobody waited for; that is a sixth of all the time that tests take. Without it such
 * an error still fails the process, and guard.ts tells which test ran.
 */
const hooks = require("node:async_hooks");

const { createHook } = hooks;
// The runner's is the first one that is made: guard.ts sees to that.
hooks.createHook = (callbacks) => {
  hooks.createHook = createHook;
  return createHook({ ...callbacks, trackPromises: false });
};
