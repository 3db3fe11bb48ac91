export type KeyRole = "user" | "admin" | "delegate";
