// Keys that lead to the page before and behind and to what differs; a page is loaded again while something goes on.
"use strict";
(() => {
  const follow = (rel) => {
    const link = document.querySelector(`a[rel="${rel}"]`);
    if (link) location.assign(link.href);
  };
  const keys = { j: "next", ArrowRight: "next", k: "prev", ArrowLeft: "prev", u: "up" };
  const differing = [...document.querySelectorAll("tr.marked")];
  let at = -1;
  const step = (by) => {
    at = at < 0 && by < 0 ? differing.length - 1 : (at + by + differing.length) % differing.length;
    if (differing.length) differing[at].focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const within = (selector) => event.target.closest(selector);
    if (within("input, select, textarea")) return;
    if (event.key.startsWith("Arrow") && within(".wide, .text, figure, nav")) return; // there they scroll
    if (event.key === "n" || event.key === "p") step(event.key === "n" ? 1 : -1);
    if (Object.hasOwn(keys, event.key)) follow(keys[event.key]);
  });
  const again = document.querySelector("[data-again]");
  if (again) setTimeout(() => location.reload(), Number(again.dataset.again));
})();
