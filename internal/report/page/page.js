"use strict";
(() => {
  // The page is whole without this script: it only adds the filter, the panel
  // and the arrow keys.
  const $ = (id) => document.getElementById(id);
  document.documentElement.classList.add("scripted");
  const grids = [...document.querySelectorAll("table.grid")];
  const rows = grids.flatMap((g) => [...g.querySelectorAll("tbody tr[data-words]")].map((tr) => ({
    tr, words: tr.dataset.words.toLowerCase(), same: "same" in tr.dataset, kind: tr.parentNode.dataset.kind || "",
  })));
  const tools = $("tools");

  if (tools) {
    const value = (id) => ($(id) ? $(id).value : "");
    const filter = () => {
      const words = value("text").toLowerCase().replace(/[-_]/g, " ").split(/\s+/).filter(Boolean);
      const kind = value("kind"), changed = $("changed").checked, runtime = value("runtime");
      let shown = 0;
      for (const r of rows) {
        const hide = (kind !== "" && r.kind !== kind) || (changed && r.same) || !words.every((w) => r.words.includes(w));
        if (r.tr.hidden !== hide) r.tr.hidden = hide;
        if (!hide) shown++;
      }
      for (const body of document.querySelectorAll("tbody[data-kind]")) {
        body.hidden = !body.querySelector("tr[data-words]:not([hidden])");
      }
      for (const g of grids) {
        g.classList.toggle("only-containerd", runtime === "containerd");
        g.classList.toggle("only-cri-o", runtime === "cri-o");
      }
      $("count").textContent = shown + " of " + rows.length + " rows";
    };
    tools.hidden = false;
    tools.addEventListener("input", filter);
    tools.addEventListener("submit", (e) => e.preventDefault());
    document.addEventListener("keydown", (e) => {
      if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName) && !$("panel").open) {
        e.preventDefault();
        $("text").focus();
      }
    });
    filter();
  }

  // A cell can span columns. The first column is the name.
  const start = (cell) => [...cell.parentNode.cells].slice(0, cell.cellIndex).reduce((n, c) => n + c.colSpan, 0);

  // The panel shows the section that a link of the grid leads to.
  const panel = $("panel"), body = $("panel-body");
  let from = null;
  const show = (id, cell, opener) => {
    const entry = id && $(id);
    if (!entry || !entry.classList.contains("entry")) return false;
    const copy = entry.cloneNode(true);
    copy.removeAttribute("id");
    $("panel-title").textContent = entry.querySelector("h3").textContent;
    for (const tr of copy.querySelectorAll("tr[data-columns]")) {
      const first = cell ? start(cell) - 1 : -1;
      tr.classList.toggle("here", cell !== null && tr.dataset.columns.split(" ").some((n) => n !== "" && n >= first && n < first + cell.colSpan));
    }
    body.replaceChildren(copy);
    for (const tr of document.querySelectorAll("tr.here[data-id]")) tr.classList.remove("here");
    const row = document.querySelector('tr[data-id="' + CSS.escape(id) + '"]');
    if (row) row.classList.add("here");
    from = opener || (row && row.querySelector("a"));
    if (!panel.open) panel.showModal();
    panel.scrollTop = 0;
    body.focus({ preventScroll: true });
    const marked = copy.querySelector("tr.here");
    if (marked) marked.scrollIntoView({ block: "nearest" });
    return true;
  };
  const target = () => decodeURIComponent(location.hash.slice(1));
  document.addEventListener("click", (e) => {
    const a = e.target.closest('.grid a[href^="#"]') || e.target.closest(".grid td")?.querySelector("a");
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
    if (show(decodeURIComponent(a.hash.slice(1)), a.closest("td"), a)) {
      e.preventDefault();
      history.replaceState(null, "", a.hash);
    }
  });
  $("panel-close").addEventListener("click", () => panel.close());
  panel.addEventListener("click", (e) => { if (e.target === panel) panel.close(); });
  panel.addEventListener("close", () => {
    history.replaceState(null, "", location.pathname + location.search);
    if (from) from.focus();
  });
  const arrive = () => {
    if (!show(target(), null, null)) return;
    const row = document.querySelector("tr.here[data-id]");
    if (row) row.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", arrive);
  arrive();

  // One link of each grid is in the order of the tab key; arrows do the rest.
  for (const g of grids) {
    let column = null; // where up and down came from
    const links = g.querySelectorAll("tbody a");
    links.forEach((a, i) => { a.tabIndex = i ? -1 : 0; });
    g.addEventListener("focusin", (e) => {
      const a = e.target.closest("tbody a");
      if (!a) return;
      for (const other of g.querySelectorAll('tbody a[tabindex="0"]')) other.tabIndex = -1;
      a.tabIndex = 0;
    });
    g.addEventListener("mousedown", () => { column = null; });
    g.addEventListener("keydown", (e) => {
      const at = e.target.closest("td,th");
      if (!at || !at.closest("tbody") || e.ctrlKey || e.metaKey || e.altKey) return;
      const visible = [...g.querySelectorAll("tbody tr[data-words]")].filter((tr) => !tr.hidden);
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageUp: [-15, 0], PageDown: [15, 0], Home: [0, -999], End: [0, 999] }[e.key];
      if (!step) return;
      e.preventDefault();
      const y = visible.indexOf(at.parentNode) + step[0];
      const tr = visible[Math.min(Math.max(y, 0), visible.length - 1)];
      const cells = [...tr.cells].filter((c) => c.offsetParent !== null && c.querySelector("a"));
      // Up and down stay in the column, left and right go from cell to cell.
      if (step[0]) column = column ?? start(at); else column = null;
      let nx = step[0] ? cells.findLastIndex((c) => start(c) <= column) : cells.indexOf(at) + step[1];
      nx = Math.min(Math.max(nx, 0), cells.length - 1);
      if (cells.length === 0) return;
      const link = cells[nx].querySelector("a");
      link.focus({ preventScroll: true });
      cells[nx].scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  }
})();
