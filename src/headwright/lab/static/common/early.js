// Before the first paint: the look that was chosen, so that nothing flashes.
{
  const wanted = new URLSearchParams(location.hash.slice(1));
  const stored = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname + location.hash); // it is a cookie by now, and nothing to be projected
  const theme = stored("headwright-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  if (wanted.get("view") === "projector") document.documentElement.dataset.view = "projector";
  if (wanted.has("hide")) document.documentElement.dataset.hide = "controls";
}
