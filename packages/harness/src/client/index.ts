export type { ClientError } from "./client-error.ts";
export { type Client, type ClientOptions, createClient } from "./create-client.ts";
export type { FollowedRun, FollowOptions, NewRun } from "./followed-run.ts";
export type { Routes } from "./routes.ts";
