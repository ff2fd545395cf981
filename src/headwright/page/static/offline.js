// The service worker: every file of this folder, kept for use without a network.
const KEPT = "headwright";

self.addEventListener("install", (event) => event.waitUntil((async () => {
  const manifest = await (await fetch("manifest.json", { cache: "no-store" })).json();
  const cache = await caches.open(`${KEPT}-${manifest.version}`);
  await cache.addAll(["./", "manifest.json", ...Object.keys(manifest.files)]);
  await self.skipWaiting();
})()));

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  const names = (await caches.keys()).filter((name) => name.startsWith(`${KEPT}-`)).sort();
  const manifest = await (await fetch("manifest.json")).json().catch(() => null);
  await Promise.all(names.filter((name) => manifest && name !== `${KEPT}-${manifest.version}`).map((name) => caches.delete(name)));
  await self.clients.claim();
})()));

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== self.location.origin) return;
  event.respondWith((async () => {
    const kept = await caches.match(event.request, { ignoreSearch: true });
    return kept ?? fetch(event.request);
  })());
});
