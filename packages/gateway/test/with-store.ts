/** A gateway whose store fails as a test wants it. */
import type { TestContext } from "node:test";
import { openHome } from "palimpsest/home";
import type { Store } from "palimpsest/stores";
import { createGateway, type GatewayOptions } from "../src/index.ts";
import { PATIENT } from "./running.ts";

/** Another gateway on the same home, with another store in the place of its own. */
export async function withStore(
  t: TestContext,
  directory: string,
  change: (store: Store) => Store,
  options: Pick<GatewayOptions, "storeSilenceMs"> = {},
): Promise<string> {
  const home = await openHome({ home: directory, cwd: directory, env: { HOME: directory } });
  const changed = (store: Store): Store => ({ ...change(store), forUser: (name) => changed(store.forUser(name)) });
  const store = changed(home.store);
  const wrapped = { ...home, store, forUser: () => wrapped };
  const gateway = createGateway({ home: wrapped as typeof home, ...PATIENT, ...options });
  const { url } = await gateway.listen({ port: 0 });
  t.after(async () => {
    await gateway.close();
    await home.close();
  });
  return url;
}
