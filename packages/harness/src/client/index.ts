export type { ClientError, FollowedRun, FollowOptions, NewRun } from "./create-client.ts";
export { type Client, type ClientOptions, createClient } from "./create-client.ts";
export type { Routes } from "./routes.ts";
