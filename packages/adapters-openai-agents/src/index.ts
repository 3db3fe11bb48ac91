export { PalimpsestSession, type PalimpsestSessionOptions } from "./palimpsest-session.ts";
