// The keyboard, and what has to happen by itself. Every page works without this file.
"use strict";
(() => {
  const root = document.body.dataset.root;
  const all = (what, from = document) => Array.from(from.querySelectorAll(what));
  const one = (what, from = document) => from.querySelector(what);

  // While something takes its time: ask how far it is, and show the page when it is done.
  const busy = one("[data-busy]");
  if (busy) {
    const bytes = (n) => (n < 1e6 ? `${(n / 1e3).toFixed(1)} kB` : n < 1e9 ? `${(n / 1e6).toFixed(1)} MB` : `${(n / 1e9).toFixed(1)} GB`);
    const ask = async () => {
      try {
        const told = await (await fetch(`${root}progress`)).json();
        if (!told.busy) return location.reload();
        const bar = one("#progress");
        one("#what").textContent = told.what;
        bar.setAttribute("aria-label", told.what);
        if (told.total > 0) {
          bar.max = told.total;
          bar.value = Math.min(told.done, told.total);
          const shown = told.what === "Reading" ? bytes : (n) => n.toLocaleString("en");
          one("#amount").textContent = `${shown(told.done)} of ${shown(told.total)}`;
        } else {
          bar.removeAttribute("value");
          one("#amount").textContent = "";
        }
      } catch {
        one("#what").textContent = "Twicetold has ended. Start it again to go on.";
        return;
      }
      setTimeout(ask, 300);
    };
    setTimeout(ask, 200);
  }

  // Lists: the row that the keys mean.
  const rows = all("[data-row]");
  let at = rows.findIndex((row) => `#${row.id}` === location.hash);
  const stand = (next) => {
    if (!rows.length) return;
    rows[at]?.classList.remove("here");
    at = Math.max(0, Math.min(rows.length - 1, next));
    rows[at].classList.add("here");
    one("[data-open]", rows[at])?.focus({ preventScroll: true });
    rows[at].scrollIntoView({ block: "nearest" });
  };
  if (at >= 0) stand(at);
  rows.forEach((row, n) => row.addEventListener("focusin", () => {
    rows[at]?.classList.remove("here");
    at = n;
    row.classList.add("here");
  }));

  // Side by side: a passage and its counterpart light up together.
  const pairs = all("a.tag[data-pair]");
  const other = (tag) => document.getElementById(tag.dataset.pair);
  const light = (tag, on) => [tag, other(tag)].forEach((side) => side?.closest("mark")?.classList.toggle("hot", on));
  const show = (tag) => {
    const box = other(tag)?.closest(".mail");
    const mark = other(tag)?.closest("mark");
    if (!box || !mark) return;
    const inner = mark.getBoundingClientRect();
    const outer = box.getBoundingClientRect();
    if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - outer.height / 3;
  };
  pairs.forEach((tag) => {
    const mark = tag.closest("mark");
    mark.addEventListener("mouseenter", () => { light(tag, true); show(tag); });
    mark.addEventListener("mouseleave", () => light(tag, false));
    tag.addEventListener("focus", () => { light(tag, true); show(tag); });
    tag.addEventListener("blur", () => light(tag, false));
    mark.addEventListener("click", (event) => {
      if (event.target.closest("a") || String(getSelection())) return;
      tag.click();
    });
    tag.addEventListener("click", (event) => {
      event.preventDefault();
      show(tag);
      other(tag)?.focus({ preventScroll: true });
      other(tag)?.closest("mark")?.scrollIntoView({ block: "nearest" });
    });
  });
  const passages = pairs.filter((tag) => tag.id.startsWith("h"));
  let passage = -1;
  const step = (by) => {
    if (!passages.length) return;
    passage = (passage + by + passages.length) % passages.length;
    passages[passage].focus();
  };

  const keys = one("#keys");
  const help = one("[data-help]");
  if (help) {
    help.hidden = false;
    help.addEventListener("click", () => keys.showModal());
  }

  const press = (key) => {
    const row = at >= 0 ? rows[at] : null;
    const found = (row && one(`[data-key="${key}"]`, row)) || all(`[data-key="${key}"]`).find((b) => !b.closest("[data-row]"));
    found?.click();
    return Boolean(found);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys?.open) return;
    const typing = event.target.matches("input, select, textarea");
    if (event.key === "Escape" && typing) return event.target.blur();
    if (typing) return;
    const done = {
      "?": () => keys.showModal(),
      "/": () => one("#search")?.focus(),
      j: () => (rows.length ? stand(at + 1) : press("j")),
      k: () => (rows.length ? stand(at - 1) : press("k")),
      o: () => rows[at] && one("[data-open]", rows[at])?.click(),
      n: () => step(1),
      p: () => step(-1),
      x: () => press("x"),
      s: () => press("s"),
      u: () => press("u"),
      t: () => press("t"),
      g: () => press("g"),
    }[event.key];
    if (done) {
      event.preventDefault();
      done();
    }
  });
})();
