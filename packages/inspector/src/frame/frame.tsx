/** What stands around every view: where one can go, whether the page is live, who one is, and the keyboard. */
import { useEffect, useRef } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type AskAnswer, access, ask } from "../api/ask.ts";
import { followThreads } from "../api/threads.ts";
import { isTyping, offered } from "../keyboard/actions.ts";
import { Empty } from "../parts/empty.tsx";
import { place } from "../router/navigate.ts";
import { addressOf, isOfThread, type PageView, SHOWS, VIEWS } from "../router/place.ts";
import { threadName } from "../views/thread-name.ts";
import { views } from "../views/views.tsx";
import { moves, Palette, palette, threadOfLinks } from "./palette.tsx";
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
      {palette.value !== "closed" && <Palette key={palette.value} />}
    </div>
  );
}

function Top({ user }: { readonly user: AskAnswer<"GET /api/user"> | null }) {
  return (
    <header class="top">
      <a class="brand" href="/">
        palimpsest
      </a>
      {access.value !== "key-needed" && (
        <>
          <nav aria-label="Views">
            {VIEWS.map((name) => (
              <NavLink key={name} view={name} />
            ))}
          </nav>
          <button type="button" class="button find push" onClick={openPalette} aria-keyshortcuts="Control+K">
            <span class="cut">Jump to…</span> <kbd>Ctrl K</kbd>
          </button>
        </>
      )}
      <button type="button" class="button plain theme" onClick={nextTheme} title="Light, dark or as the system">
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
  return (
    <a href={addressOf(view, id)} aria-current={current.view === view ? "page" : undefined} title={SHOWS[view]}>
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
  palette.value = "all";
}

/** Ctrl-K works everywhere; single letters and digits only outside of text fields. */
function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return openPalette();
      }
      if (event.defaultPrevented || isTyping(event)) return;
      const action = [...offered.value, ...moves()].find(({ key }) => key === event.key);
      if (action === undefined) return;
      event.preventDefault();
      action.run();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
