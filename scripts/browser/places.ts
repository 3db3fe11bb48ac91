/** Every place of the page that has a look of its own: its name, its address, and what to do there first. */
import type { Page } from "playwright-core";
import { LOOKED_AT } from "./stores.ts";

export interface Place {
  readonly name: string;
  readonly address: string;
  /** In an empty store there is nothing to open or choose. */
  readonly prepare?: (page: Page) => Promise<void>;
}

const inThread = (view: string) => `/threads/${LOOKED_AT}/${view}`;

export const PLACES: readonly Place[] = [
  { name: "threads", address: "/threads" },
  { name: "search", address: "/threads?find=lamp" },
  { name: "window", address: inThread("window") },
  { name: "timeline", address: inThread("timeline") },
  { name: "chat", address: inThread("chat") },
  { name: "map", address: inThread("map") },
  { name: "rules", address: inThread("rules") },
  { name: "memory", address: "/memory" },
  { name: "requests", address: "/requests" },
  { name: "lab", address: "/lab" },
  // Ten policies over 5,000 messages take as long as the machine needs.
  {
    name: "lab-report",
    address: `/lab?thread=${LOOKED_AT}`,
    prepare: (page) => page.getByRole("table").waitFor({ timeout: 0 }),
  },
  { name: "palette", address: "/threads", prepare: (page) => page.keyboard.press("Control+k") },
  { name: "nowhere", address: "/threads/one/kitchen" },
];

/** The views of a thread without one, as a person in an empty store meets them. */
export const PLACES_WITHOUT_THREAD: readonly Place[] = PLACES.filter(({ prepare }) => prepare === undefined).map(
  ({ name, address }) => ({ name, address: address.replace(`/threads/${LOOKED_AT}`, "") }),
);

/** Shown, and done with asking. */
export async function visit(page: Page, { address, prepare }: Place): Promise<void> {
  await page.goto(address);
  await page.getByRole("main").waitFor();
  await prepare?.(page);
  await page.waitForLoadState("load");
  // The policy of the page lets `waitForFunction` evaluate nothing.
  while (!(await page.evaluate<boolean>(IS_QUIET))) await page.waitForTimeout(50);
}

/** Runs in the page: nothing has been asked for in the last half second (the streams of changes never end). */
const IS_QUIET = `(() => {
  const all = performance.getEntriesByType("resource");
  const last = Math.max(0, ...all.map(({ responseEnd }) => responseEnd));
  return performance.now() - last > 500;
})()`;
