// The service worker: every file of this folder, kept for use without a network. A changed folder has another version.
const MINE = `headwright ${self.registration.scope} `; // other pages may live on the same server
const KEPT = `${MINE}VERSION`;
const FILES = FILES_AND_DIGESTS; // a folder that is being replaced has other digests, and is kept at a later visit

self.addEventListener("install", (event) => event.waitUntil((async () => {
  const cache = await caches.open(KEPT);
  await cache.add(new Request("./", { cache: "no-cache" })).catch(() => {}); // some servers know it only as index.html
  await cache.addAll(Object.entries(FILES).map(([name, integrity]) => new Request(name, { cache: "no-cache", integrity })));
  await self.skipWaiting(); // the page tells that it has a new version
})()));

self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith(MINE) && name !== KEPT) await caches.delete(name);
  await self.clients.claim();
})()));

self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== self.location.origin) return;
  event.respondWith((async () => (await caches.match(event.request, { cacheName: KEPT, ignoreSearch: true })) ?? fetch(event.request))());
});
