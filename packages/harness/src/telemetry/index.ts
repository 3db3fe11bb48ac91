export { type TelemetryOptions, telemetry } from "./telemetry.ts";
