// Which screen is shown: the start, or one run. The address after # says which, so that reloading keeps it.
import { Refused, button, get, hush, made, post, say } from "./dom.js";
import { showStart } from "./start.js";
import { encodingOf, showLook } from "./look.js";
import { showLearning, showResult } from "./live.js";

const content = document.getElementById("content");
let leave = () => {};

export const go = where => { if (location.hash === where) show(); else location.hash = where; };

const titled = text => {
  document.title = text ? `${text} · xordal` : "xordal";
  document.getElementById("where").textContent = text;
};

const fresh = () => {
  leave();
  hush();  // what was said belongs to the screen that is left
  const ending = new AbortController();
  leave = () => ending.abort();
  content.replaceChildren();
  delete content.dataset.ready;
  return ending.signal;
};

// Whether a file was to be read in another way than by itself: another sheet, more words for missing values.
const isForm = form => Boolean(form.sheet || form.encoding || (form.missing || []).length);

const showRun = async (id, signal) => {
  const run = await get(`/api/runs/${encodeURIComponent(id) || "none"}`);
  if (signal.aborted) return;
  titled(run.label);
  const reload = () => { if (!signal.aborted) show(); };
  const parts = { content, run, signal, reload, go };
  if (run.status === "done") await showResult(parts);
  else if (run.status === "looked" || (run.status === "failed" && run.overview.columns)) showLook(parts);
  else if (run.status === "failed") {
    content.append(made("h1", { text: "This file cannot be used" }), made("p", { class: "lead", text: run.failed }),
      made("p", {}, made("a", { href: "#/", text: "Choose another" })), run.failed.includes("UTF-8") ? encodingOf(run, reload) : "", isForm(run.form) ? made("p", {}, button("Read it as before", async () => { await post(`/api/runs/${id}/look`, {}); reload(); })) : "");
  } else showLearning(parts);
};

let dropped = [];  // files that were let go of anywhere but on the first screen, which takes them in

const show = async () => {
  const signal = fresh();
  const [, kind, id] = location.hash.split("/");
  try {
    if (kind === "run") await showRun(id || "", signal);
    else if (kind) throw new Refused(404, "There is no such page.");
    else { titled(""); await showStart({ content, signal, go, dropped: dropped.splice(0) }); }
  } catch (error) {
    if (signal.aborted) return;
    titled("");
    content.replaceChildren(made("h1", { text: error.status === 404 ? "Not here any more" : "That did not work" }), made("p", { class: "lead", text: error.message }), made("p", {}, made("a", { href: "#/", text: "To the start" })));
  }
  if (!signal.aborted && document.activeElement === document.body) content.focus({ preventScroll: true });
};

// A browser would leave the page for a file that is dropped on it.
addEventListener("dragover", event => event.preventDefault());
addEventListener("drop", event => {
  if (event.defaultPrevented) return;  // the first screen has it
  event.preventDefault();
  dropped = [...event.dataTransfer.files];
  if (dropped.length) go("#/");
});
addEventListener("hashchange", () => { show(); scrollTo(0, 0); });
addEventListener("unhandledrejection", event => { if (event.reason && event.reason.message) say(event.reason.message); });
show();
