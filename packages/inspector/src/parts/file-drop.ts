/** Files that are dropped on an element: whether one hovers over it, and the listeners that the element needs. */
import { useState } from "preact/hooks";

export interface FileDrop {
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
