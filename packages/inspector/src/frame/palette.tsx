/** Everything that can be done from here, found by typing: views, actions of the view, and what others offer. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { threads } from "../api/threads.ts";
import { type Action, offered } from "../keyboard/actions.ts";
import { go, lastThread, place } from "../router/navigate.ts";
import { isOfThread, VIEWS } from "../router/place.ts";
import { visible } from "../text/format.ts";
import { views } from "../views/views.tsx";
import { nextTheme } from "./theme.ts";

/** `keys`: it begins with what has a key. */
export const palette = signal<"closed" | "all" | "keys">("closed");

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  // Before the next key comes: it is meant for the field.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const said = text.trim();
  const actions = [
    ...matching([...offered.value, ...moves(), THEME], text).filter(
      ({ key }) => key !== undefined || said !== "" || palette.value === "all",
    ),
    ...(said === "" ? [] : [...matching(threadMoves(), text).slice(0, MOST_THREADS), searchFor(said)]),
  ];
  const index = Math.min(chosen, actions.length - 1);
  const close = () => {
    palette.value = "closed";
  };
  const act = (action: Action | undefined) => {
    close();
    action?.run();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Jump to" onClose={close}>
      <input
        id="palette-field"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${index}`}
        aria-label="Jump to"
        placeholder="View, action, thread or words"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setChosen(Math.min(index + 1, actions.length - 1));
          else if (event.key === "ArrowUp") setChosen(Math.max(index - 1, 0));
          else if (event.key === "Enter") act(actions[index]);
          else return;
          event.preventDefault();
        }}
      />
      <div id="palette-list" role="listbox" aria-label="Actions">
        {actions.map((action, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's
          <div
            key={action.name}
            id={`palette-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === index}
            onClick={() => act(action)}
            onPointerMove={() => setChosen(at)}
          >
            <span class="cut">{action.name}</span>
            {action.key !== undefined && <kbd>{action.key}</kbd>}
          </div>
        ))}
      </div>
      <p class="dim small pad">
        <kbd>Ctrl Enter</kbd> sends a form.
      </p>
    </dialog>
  );
}

/** Where links to the views of a thread lead: to the one that is open, or was before a view without one. Null: it is to be chosen. */
export function threadOfLinks(): string | null {
  const { view, id } = place.value;
  if (isOfThread(view)) return id;
  const last = lastThread.value;
  return last !== null && threads.value.has(last) ? last : null;
}

/** The views by their numbers, and what has a key everywhere. */
export function moves(): readonly Action[] {
  const threadId = threadOfLinks();
  const ofViews = VIEWS.map((name, index) => ({
    name: `Go to ${views[name].title.toLowerCase()}`,
    key: String(index + 1),
    run: () => go(name, isOfThread(name) ? threadId : null),
  }));
  return [...ofViews, SEARCH, KEYS];
}

const SEARCH: Action = { name: "Search everything ever said", key: "/", run: () => go("threads", null, { find: "" }) };

const KEYS: Action = {
  name: "List the keys",
  key: "?",
  run: () => {
    palette.value = "keys";
  },
};

const THEME: Action = { name: "Change between light, dark and the system's theme", run: nextTheme };

function searchFor(text: string): Action {
  return { name: `Search everything ever said for “${visible(text)}”`, run: () => go("threads", null, { find: text }) };
}

/** The most rows shown at once; typing more finds the others. */
const MOST_THREADS = 20;

/** Each by its title and its id, the newest change first. */
function threadMoves(): readonly Action[] {
  return [...threads.value.values()]
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .map(({ id, title }) => ({
      name: title === null ? `Open ${visible(id)}` : `Open ${visible(title)} · ${visible(id)}`,
      run: () => go("window", id),
    }));
}

function matching(actions: readonly Action[], text: string): readonly Action[] {
  const words = text.toLowerCase().split(" ");
  return actions.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
}
