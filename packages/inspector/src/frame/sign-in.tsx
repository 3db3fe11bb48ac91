/** Asks for a key where the gateway has some. It goes once to the gateway, which gives a cookie for it, and is kept nowhere. */
import { useState } from "preact/hooks";
import { type ApiProblem, ask } from "../api/ask.ts";
import { Form } from "../parts/form.tsx";
import { ProblemNote } from "../parts/problem.tsx";

export function SignIn() {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const submit = async () => {
    const outcome = await ask("POST /api/session", { body: { key: key.trim() } });
    setKey("");
    if (outcome.kind === "failed") return setProblem(outcome.problem);
    // The page may hold what another user saw before.
    location.reload();
  };
  return (
    <Form class="empty sign-in" onSend={submit}>
      <h1>This gateway has keys</h1>
      <label for="key">
        Yours opens it for twelve hours in this browser. It is made by <code>palimpsest keys create --user NAME</code>.
      </label>
      <p>
        Threads from before there were keys belong to the user <code>default</code>: a key made for that name shows
        them.
      </p>
      <div class="row">
        <input
          id="key"
          class="field mono search"
          type="password"
          autocomplete="off"
          placeholder="pal_…"
          required
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <button type="submit" class="button hot">
          Open
        </button>
      </div>
      {problem !== null && <ProblemNote problem={problem} />}
    </Form>
  );
}
