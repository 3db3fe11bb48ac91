/** Who asks, as the server knows it by the key that came with the request. */
import { z } from "zod";
import { type Route, route } from "../http/route.ts";

export const userRoute: Route = route({
  method: "GET",
  path: "/api/user",
  summary: "Who the caller is",
  access: "user",
  answer: z.strictObject({
    user: z.string(),
    role: z.string(),
    key: z.string().nullable().describe("The id of the key that came with it; null where none is needed."),
  }),
  handle: async ({ caller: { userId, role, key } }) => ({ user: userId, role, key }),
});
