// Runs before the first paint: light or dark and presentation mode, so that the page does not flash.
{
  const wanted = new URLSearchParams(location.hash.slice(1));
  const stored = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname + location.hash); // the token is a cookie by now: keep it off the screen
  const theme = stored("headwright-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  if (wanted.get("view") === "projector") document.documentElement.dataset.view = "projector";
  if (location.protocol === "file:") addEventListener("DOMContentLoaded", () => document.getElementById("loading")?.replaceChildren("Browsers do not run this page from a file. Serve its folder: python -m http.server -d FOLDER, and open http://localhost:8000."));
  if (wanted.has("hide")) document.documentElement.dataset.hide = "controls";
}
