// The service worker: every file of this folder, kept for use without a network. A changed folder has another version.
const MINE = `headwright ${self.registration.scope} `; // other pages may live on the same server
const KEPT = `${MINE}VERSION`;

self.addEventListener("install", (event) => event.waitUntil((async () => {
  const { files } = await (await fetch("manifest.json", { cache: "no-cache" })).json();
  const cache = await caches.open(KEPT);
  await cache.addAll(["./", "manifest.json", ...files].map((name) => new Request(name, { cache: "no-cache" })));
})()));

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith(MINE) && name !== KEPT) await caches.delete(name);
  await self.clients.claim();
})()));

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== self.location.origin) return;
  event.respondWith((async () => (await (await caches.open(KEPT)).match(event.request, { ignoreSearch: true })) ?? fetch(event.request))());
});
