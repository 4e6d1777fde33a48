// Keys for what the form and its buttons do, each as its data-keys says. Without it, the form works by itself.
"use strict";
(() => {
  const TOO_SOON = 200; // milliseconds: a key pressed twice must not label the next item, which nobody has read
  const began = performance.now();
  const controls = new Map();
  for (const each of document.querySelectorAll("[data-keys]")) for (const key of each.dataset.keys.split(" ")) controls.set(key, each);
  const heading = document.querySelector("h1");
  const form = document.querySelector("form.answer");
  let sent = false;
  if (form) form.addEventListener("submit", (event) => {
    if (sent) event.preventDefault(); // a second click while the first is on its way
    sent = true;
  });
  addEventListener("pageshow", () => { sent = false; });

  const marks = [...document.querySelectorAll(".sources .text")].map((text) => [...text.querySelectorAll("mark.other")]);
  for (const [first] of marks.filter((of) => of.length)) {
    const box = first.closest(".text");
    const below = first.getBoundingClientRect().top - box.getBoundingClientRect().top;
    if (below > box.clientHeight - 40) box.scrollTop += below - 80; // the first quote is in sight
  }
  let at = -1;
  const nextQuote = () => {
    const all = marks.flat();
    if (!all.length) return;
    if (at >= 0) all[at].classList.remove("here-now");
    at = (at + 1) % all.length;
    all[at].classList.add("here-now");
    all[at].scrollIntoView({ block: "center" });
  };
  const act = (control) => {
    if (control.matches("summary")) {
      const details = control.parentElement, field = details.querySelector("textarea");
      details.open = Boolean(field) || !details.open;
      (field || control).focus();
    } else {
      control.click();
    }
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && heading) {
      for (const help of document.querySelectorAll("details.help[open]")) help.open = false;
      heading.focus();
    }
    if (event.target.closest("input, select, textarea")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "q") nextQuote();
    const control = controls.get(key);
    if (!control) return;
    event.preventDefault();
    if (event.repeat || (control.matches("button, a") && performance.now() - began < TOO_SOON)) return;
    act(control);
  });
  if (heading) heading.focus({ preventScroll: true });
})();
