/* Light, dark, or as the system has it; each click goes on to the next. */
const THEMES = ["auto", "light", "dark"];

function themeButton() {
  const root = document.documentElement;
  const theme = button(
    say("theme_auto"),
    () => {
      root.dataset.theme = THEMES[(THEMES.indexOf(root.dataset.theme ?? "auto") + 1) % THEMES.length];
      fill(theme, say(`theme_${root.dataset.theme}`));
    },
    { id: "theme" },
  );
  return theme;
}
