export { type PalimpsestMiddlewareOptions, palimpsestMiddleware } from "./palimpsest-middleware.ts";
