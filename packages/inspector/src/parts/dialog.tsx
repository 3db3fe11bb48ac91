/** A question or a small form above the page: the browser's own dialog, which keeps the focus inside and gives it back. */
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Form } from "./form.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Before the next key comes: it is meant for the dialog.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={titleId} onClose={onClose}>
      <h3 id={titleId}>{title}</h3>
      {children}
    </dialog>
  );
}

interface QuestionProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** On the button that does it. */
  readonly yes: string;
  readonly danger?: boolean;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

/** Asks before what can't be taken back. */
export function Question({ title, children, yes, danger = false, onYes, onClose }: QuestionProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form class="dialog-form" onSend={onYes}>
        {children}
        <div class="row">
          <button type="button" class="button push" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={`button ${danger ? "bad" : "hot"}`}>
            {yes}
          </button>
        </div>
      </Form>
    </Dialog>
  );
}
