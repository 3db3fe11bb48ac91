/** What the forms of the page share: a field that appears has the focus, and Ctrl+Enter sends the form from any of its fields. */

/** As the `ref` of a field: called once, when it appears. */
export function focusNew(field: HTMLElement | null): void {
  field?.focus();
}

/** As the `onKeyDown` of a form. */
export function submitOnKeys(event: KeyboardEvent & { readonly currentTarget: HTMLFormElement }): void {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  event.currentTarget.requestSubmit();
}
