/**
 * Which models bind their thinking to the conversation it was made in: Claude from version 5.1 on, by its maker's pages.
 * `binds_reasoning` in the configuration says otherwise where a name hides the model.
 */
export function bindsReasoning(model: string): boolean {
  const version = /claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model.toLowerCase());
  if (version === null) return false;
  const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)];
  return major > 5 || (major === 5 && minor >= 1);
}
