/** The address of what is shown, to keep or to send: copied, or shown to be copied where the browser allows no copying. */
import { useState } from "preact/hooks";

interface CopyLinkProps {
  /** Without the origin. */
  readonly address: string;
  readonly children: string;
}

export function CopyLink({ address, children }: CopyLinkProps) {
  const [state, setState] = useState<"idle" | "copied" | "shown">("idle");
  const whole = location.origin + address;
  const copy = async () => {
    const isCopied = await navigator.clipboard?.writeText(whole).then(
      () => true,
      () => false,
    );
    setState(isCopied === true ? "copied" : "shown");
    if (isCopied === true) setTimeout(() => setState("idle"), 2000);
  };
  return (
    <>
      <button type="button" class="button" onClick={() => void copy()}>
        {state === "copied" ? "Copied" : children}
      </button>
      <span class="hidden" role="status">
        {state === "copied" ? "The link is copied." : ""}
      </span>
      {state === "shown" && (
        <input
          class="field"
          aria-label="Link"
          readOnly
          value={whole}
          onFocus={(event) => event.currentTarget.select()}
        />
      )}
    </>
  );
}
