// Keys that lead to the page before and behind, and a page that is loaded again while something is still going on.
"use strict";
(() => {
  const follow = (rel) => {
    const link = document.querySelector(`a[rel="${rel}"]`);
    if (link) location.assign(link.href);
  };
  const keys = { j: "next", ArrowRight: "next", k: "prev", ArrowLeft: "prev", u: "up" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const at = event.target;
    if (at.closest("input, select, textarea")) return;
    if (event.key.startsWith("Arrow") && at.closest(".wide, .text, figure, nav")) return; // there they scroll
    if (Object.hasOwn(keys, event.key)) follow(keys[event.key]);
  });
  const again = document.querySelector("[data-again]");
  if (again) setTimeout(() => location.reload(), Number(again.dataset.again));
})();
