/** Light, dark, or as the system is: the only thing the page keeps in the browser. */
const THEMES: readonly (string | null)[] = ["system", "light", "dark"];
const NAME = "palimpsest-theme";

export function applyTheme(theme = localStorage.getItem(NAME)): void {
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
  else delete document.documentElement.dataset["theme"];
}

export function nextTheme(): void {
  const now = THEMES.indexOf(localStorage.getItem(NAME));
  const theme = THEMES[(Math.max(now, 0) + 1) % THEMES.length]!;
  localStorage.setItem(NAME, theme);
  applyTheme(theme);
}
