// Makes tables sortable and searchable, and the list of samples filterable. Without it, everything can be read.
"use strict";
(() => {
  const make = (tag, attributes, ...content) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...content);
    return made;
  };
  const inOrder = new Intl.Collator(undefined, { numeric: true }).compare;
  const fold = (text) => text.normalize("NFKC").toLowerCase();

  // Tables.
  const SORTED = 4, SEARCHED = 10; // rows: a shorter table is seen at once
  const key = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.key !== undefined) return cell.dataset.key === "" ? null : Number(cell.dataset.key);
    const text = cell.textContent.trim();
    return text === "" ? null : text;
  };
  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null); // what is undefined comes last
    if (typeof one === "number" && typeof other === "number") return one - other;
    return inOrder(String(one), String(other));
  };
  const sort = (table, head, column) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const isTotal = (row) => row.cells[0].textContent.trim() === "total"; // it stays last
    const rows = [...table.tBodies[0].rows].map((row) => [isTotal(row) ? null : key(row, column), row]);
    rows.sort(([one], [other]) => (down && one !== null && other !== null ? -compare(one, other) : compare(one, other)));
    table.tBodies[0].append(...rows.map(([, row]) => row));
    for (const each of table.tHead.querySelectorAll("[aria-sort]")) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  const search = (table, wanted, said) => {
    const parts = fold(wanted).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = fold(row.textContent);
      row.hidden = !parts.every((part) => text.includes(part));
      shown += !row.hidden;
    }
    said.textContent = parts.length ? `${shown} of ${table.tBodies[0].rows.length} rows` : "";
  };
  for (const table of document.querySelectorAll("main > section > .wide > table.data, main > section > details table.data")) {
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    const rows = table.tBodies[0].rows.length;
    if (rows < SORTED) continue;
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = make("button", { type: "button" }, ...head.childNodes);
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    });
    if (rows < SEARCHED) continue;
    const name = table.parentElement.getAttribute("aria-label");
    const box = make("input", { type: "search", placeholder: "Search", "aria-label": `Search in ${name}` });
    const said = make("span", { class: "said", role: "status" });
    box.addEventListener("input", () => search(table, box.value, said));
    table.parentElement.before(make("div", { class: "search" }, box, said));
  }

  // Samples.
  const values = (facets, facet) => (Object.hasOwn(facets, facet) ? facets[facet] : []);
  const units = [...document.querySelectorAll("details.unit")];
  const place = document.getElementById("filters");
  const follow = () => {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return;
    }
    const unit = target && target.closest("details.unit");
    if (!unit) return;
    if (unit.hidden) clear();
    unit.open = unit.parentElement.open = true;
    unit.scrollIntoView();
    unit.querySelector("summary").focus({ preventScroll: true });
  };
  let clear = () => {};
  if (place && units.length > 1) {
    const known = units.map((unit) => ({ unit, facets: JSON.parse(unit.dataset.facets), text: null }));
    const chosen = new Map();
    const more = document.querySelector(".units > details.detail");
    const said = make("p", { class: "said", role: "status" });
    const box = make("input", { type: "search", placeholder: "Id or text", "aria-label": "Search in samples" });
    const show = () => {
      const parts = fold(box.value).split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const each of known) {
        if (parts.length && each.text === null) each.text = fold(each.unit.textContent);
        const fits =
          [...chosen].every(([facet, select]) => !select.value || values(each.facets, facet).includes(select.value)) &&
          parts.every((part) => each.text.includes(part));
        each.unit.hidden = !fits;
        shown += fits;
      }
      said.textContent = `${shown} of ${known.length} shown`;
      const active = [...chosen].filter(([, select]) => select.value).map(([facet, select]) => `${facet} ${select.value}`);
      place.firstElementChild.textContent = active.length ? `Filters: ${active.join(", ")} (${said.textContent})` : "Filters";
      if (more && shown < known.length) more.open = true;
    };
    clear = () => {
      box.value = "";
      for (const select of chosen.values()) select.value = "";
      show();
    };
    const line = make("div", { class: "line" });
    for (const facet of JSON.parse(place.dataset.facets)) {
      const counts = new Map();
      for (const { facets } of known) for (const value of values(facets, facet)) counts.set(value, (counts.get(value) || 0) + 1);
      if (!counts.size) continue;
      const sorted = [...counts.keys()].sort(inOrder);
      const select = make("select", { "aria-label": facet }, make("option", { value: "" }, "any"));
      for (const value of sorted) select.append(make("option", { value }, `${value} (${counts.get(value)})`));
      select.addEventListener("change", show);
      chosen.set(facet, select);
      line.append(make("label", {}, facet, select));
    }
    const button = (text, act) => {
      const made = make("button", { type: "button" }, text);
      made.addEventListener("click", act);
      return made;
    };
    const openAll = (open) => () => known.forEach(({ unit }) => { if (!unit.hidden) unit.open = open; });
    box.addEventListener("input", show);
    line.append(make("label", {}, "search", box));
    place.append(line, make("div", { class: "line" }, button("Clear", clear), button("Open all", openAll(true)), button("Close all", openAll(false)), said));
    place.hidden = false;
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-facet]");
      const select = link && chosen.get(link.dataset.facet);
      if (!select) return;
      clear();
      select.value = link.dataset.value;
      show();
      const first = units.find((unit) => !unit.hidden);
      if (first && units.every((unit) => unit.hidden || !unit.open)) first.open = true;
    });
    show();
  }
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#sample-"]');
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  follow();
})();
