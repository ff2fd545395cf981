// A page that is read from the disk may start no worker and fetch no file: there this stands in for the search's worker.
if (location.protocol === "file:") {
  const load = (name) => new Promise((done, failed) => {
    const script = Object.assign(document.createElement("script"), { src: `${base_url}/search/${name}`, onload: done, onerror: failed });
    document.head.append(script);
  });
  window.Worker = class {
    async postMessage({ init, query }) {
      if (init) {
        await Promise.all([load("lunr.js"), load("search_index.js")]);
        lunr.tokenizer.separator = new RegExp(SEARCH_INDEX.config.separator);
        this.index = lunr(function () {
          this.field("title");
          this.field("text");
          this.ref("location");
          for (const page of SEARCH_INDEX.docs) this.add(page);
        });
        this.onmessage({ data: { config: SEARCH_INDEX.config } });
        this.onmessage({ data: { allowSearch: true } });
      } else if (query) {
        const found = this.index.search(query).map(({ ref }) => SEARCH_INDEX.docs.find((page) => page.location === ref));
        this.onmessage({ data: { results: found.map((page) => ({ ...page, summary: page.text.slice(0, 200) })) } });
      }
    }
  };
}
