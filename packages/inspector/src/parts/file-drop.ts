/** Files of a person: chosen in the browser's dialog, or dropped on an element. */
import { useState } from "preact/hooks";

/** `only`: one file of these types; without it any number of any. Nothing happens if none is chosen. */
export function chooseFiles(take: (files: FileList) => unknown, only?: string): void {
  const field = document.createElement("input");
  field.type = "file";
  field.multiple = only === undefined;
  field.accept = only ?? "";
  field.onchange = () => take(field.files!);
  field.click();
}

export interface FileDrop {
  /** A file hovers over the element. */
  readonly isOver: boolean;
  readonly listeners: {
    readonly onDragOver: (event: DragEvent) => void;
    readonly onDragLeave: () => void;
    readonly onDrop: (event: DragEvent) => void;
  };
}

export function useFileDrop(take: (files: FileList | null | undefined) => Promise<void>): FileDrop {
  const [isOver, setOver] = useState(false);
  return {
    isOver,
    listeners: {
      onDragOver(event) {
        // Without this the browser opens the file in place of the page.
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop(event) {
        event.preventDefault();
        setOver(false);
        void take(event.dataTransfer?.files);
      },
    },
  };
}
