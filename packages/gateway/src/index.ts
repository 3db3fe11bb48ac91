export { type Address, createGateway, type Gateway, type GatewayOptions } from "./create-gateway.ts";
export { startWorker, type Worker, type WorkerOptions } from "./server/background.ts";
export type { GatewayError } from "./server/listen.ts";
export type { Log, LogLine, RequestLine } from "./server/log.ts";
