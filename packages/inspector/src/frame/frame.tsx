/** What stands around every view: where one can go, whether the page is live, who one is, and the keyboard. */
import { useEffect, useRef } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type AskAnswer, access, ask } from "../api/ask.ts";
import { followThreads } from "../api/threads.ts";
import { isTyping, offered } from "../keyboard/actions.ts";
import { Empty } from "../parts/empty.tsx";
import { go, place } from "../router/navigate.ts";
import { addressOf, isOfThread, type PageView, SHOWS, VIEWS } from "../router/place.ts";
import { threadName } from "../views/thread-name.ts";
import { views } from "../views/views.tsx";
import { isPaletteOpen, moves, Palette, threadOfLinks } from "./palette.tsx";
import { Rail } from "./rail.tsx";
import { SignIn } from "./sign-in.tsx";
import { nextTheme } from "./theme.ts";

export function Frame() {
  const user = useAnswer("user", () => ask("GET /api/user"));
  const main = useRef<HTMLElement>(null);
  useKeys();
  // Sent together with the request for the session, so that the threads arrive one round trip earlier.
  useEffect(followThreads, []);
  const { view, id } = place.value;
  const name = view === "nowhere" ? "" : `${id === null ? views[view].title : threadName(id)} · `;
  useEffect(() => {
    document.title = `${name}Palimpsest`;
  }, [name]);
  return (
    <div class="frame">
      <button type="button" class="button skip" onClick={() => main.current?.focus()}>
        To the view
      </button>
      <Top user={user.value} />
      <div class="body">
        {access.value !== "key-needed" && <Rail />}
        <main id="view" class="view" ref={main} tabIndex={-1}>
          {access.value === "key-needed" ? <SignIn /> : <Current />}
        </main>
      </div>
      {isPaletteOpen.value && <Palette />}
    </div>
  );
}

function Top({ user }: { readonly user: AskAnswer<"GET /api/user"> | null }) {
  return (
    <header class="top">
      <a class="brand" href="/">
        palimpsest
      </a>
      <nav aria-label="Views">
        {VIEWS.map((name) => (
          <NavLink key={name} view={name} />
        ))}
      </nav>
      <button type="button" class="button find push" onClick={openPalette} aria-keyshortcuts="Control+K">
        <span class="cut">Jump to…</span> <kbd>Ctrl K</kbd>
      </button>
      <button type="button" class="button plain" onClick={nextTheme} title="Light, dark or as the system">
        ◐<span class="hidden">Change the theme</span>
      </button>
      <span class={`live ${access.value === "away" ? "away" : ""}`} role="status">
        {access.value === "away" ? "out of reach" : (user?.user ?? "")}
      </span>
      {user !== null && user.key !== null && <Leave />}
    </header>
  );
}

/** Loads the page again, so that nothing of this user is left in it. */
function Leave() {
  const leave = async () => {
    const { kind } = await ask("DELETE /api/session");
    if (kind === "ok") location.reload();
  };
  return (
    <button type="button" class="button plain" onClick={leave}>
      Sign out
    </button>
  );
}

function NavLink({ view }: { readonly view: PageView }) {
  const current = place.value;
  const id = isOfThread(view) ? threadOfLinks() : null;
  const link = useRef<HTMLAnchorElement>(null);
  const isCurrent = current.view === view;
  useEffect(() => {
    if (!isCurrent) return;
    const row = link.current!.parentElement!;
    // Where the row of views is wider than the screen, also after the screen was turned. `scrollIntoView` would also move
    // where the Tab key begins.
    const observer = new ResizeObserver(() => {
      const [{ left, width }, all] = [link.current!.getBoundingClientRect(), row.getBoundingClientRect()];
      row.scrollLeft += left + width / 2 - all.left - all.width / 2;
    });
    observer.observe(row);
    return () => observer.disconnect();
  }, [isCurrent]);
  return (
    <a ref={link} href={addressOf(view, id)} aria-current={isCurrent ? "page" : undefined} title={SHOWS[view]}>
      {views[view].title}
    </a>
  );
}

function Current() {
  const { view } = place.value;
  if (view === "nowhere")
    return (
      <Empty of="view" title="Nothing is at this address">
        <p>
          The{" "}
          <a class="link" href="/threads">
            threads
          </a>{" "}
          are a good place to start.
        </p>
      </Empty>
    );
  const { component: Component } = views[view];
  return <Component />;
}

function openPalette(): void {
  isPaletteOpen.value = true;
}

const SEARCH_OPENS_MS = 1500;

/** Ctrl-K works everywhere; single letters and digits only outside of text fields. */
function useKeys(): void {
  useEffect(() => {
    let searchedAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return openPalette();
      }
      if (isTyping(event)) return;
      if (event.key === "?") return openPalette();
      if (event.key === "/") {
        event.preventDefault();
        searchedAt = event.timeStamp;
        go("threads", null, { find: "" });
        return;
      }
      const { find } = place.value.query;
      if (event.key.length === 1 && find !== undefined && event.timeStamp - searchedAt < SEARCH_OPENS_MS) {
        // The field isn't there yet, and more keys may follow the slash.
        event.preventDefault();
        go("threads", null, { find: find + event.key });
        return;
      }
      const action = [...offered.value, ...moves()].find(({ key }) => key === event.key);
      if (action === undefined) return;
      event.preventDefault();
      action.run();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
