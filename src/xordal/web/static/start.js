// The first screen: drop a table, choose a sample, or go back to what was learned before.
import { button, get, made, once, post, remove, upload } from "./dom.js";

const WORDS = { looking: "being read", looked: "ready to learn", waiting: "waiting its turn", learning: "learning", done: "done", failed: "did not work" };

// dropped are files that were dropped on another screen.
export const showStart = async ({ content, signal, go, dropped }) => {
  const told = await get("/api/start");
  if (signal.aborted) return;
  if (told.first && !sessionStorage.getItem(told.first)) {  // the file that the server was started with is shown first, once
    sessionStorage.setItem(told.first, "shown");
    go(`#/run/${told.first}`);
    return;
  }
  const megabytes = Math.round(told.most_bytes / 2 ** 20);
  const bar = made("progress", { max: 1, value: 0, hidden: true, "aria-label": "Upload" });
  const take = async file => {
    if (!file) return;
    refused.hidden = true;
    if (file.size === 0) { refuse(`${file.name} is empty: there is no table in it.`); return; }
    if (file.size > told.most_bytes) { refuse(`${file.name} has ${Math.round(file.size / 2 ** 20)} MB; at most ${megabytes} are taken here. Leave out columns or rows, or save it as Parquet.`); return; }
    bar.hidden = false;
    try {
      const run = await upload(file, share => { bar.value = share; });
      if (!signal.aborted) go(`#/run/${run.id}`);  // who has gone elsewhere meanwhile stays there
    } catch (error) { bar.hidden = true; refuse(error.message); }
  };
  const takeDropped = files => { if (files.length > 1) refuse(`${files.length} files were dropped; one table at a time can be looked at.`); else take(files[0]); };
  const refused = made("p", { class: "warning", role: "alert", hidden: true });  // it stays until another file is chosen
  const refuse = text => { input.value = ""; refused.textContent = text; refused.hidden = false; };
  const input = made("input", { type: "file", id: "file", class: "unseen", on: { change: () => take(input.files[0]) } });
  const zone = made("div", { class: "drop" },
    made("p", { class: "big", text: "Drop a table here" }),
    made("p", {}, made("label", { for: "file", class: "primary", text: "or choose a file" }), input),
    made("p", { class: "small", text: `CSV, TSV, JSON Lines, Excel or Parquet, up to ${megabytes} MB; a network learned earlier works too. Nothing leaves this computer.` }), bar, refused);
  const over = on => event => { event.preventDefault(); zone.classList.toggle("over", on); };
  for (const name of ["dragenter", "dragover"]) document.addEventListener(name, over(true), { signal });
  document.addEventListener("dragleave", over(false), { signal });
  document.addEventListener("drop", event => { over(false)(event); takeDropped(event.dataTransfer.files); }, { signal });
  content.append(
    made("h1", { text: "What hides in your table?" }),
    made("p", { class: "lead", text: "Some columns seem to have nothing to do with each other, two by two, and yet determine each other together. Drop a table and watch them being found." }),
    zone, samples(told.samples, go));
  if (told.runs.length) content.append(earlier(told.runs));
  takeDropped(dropped);
};

const samples = (all, go) => {
  const begin = sample => once(async () => { const run = await post(`/api/samples/${sample.name}`); go(`#/run/${run.id}`); });
  return made("section", { "aria-labelledby": "samples-title" }, made("h2", { id: "samples-title", text: "Or try one of these" }),
    made("div", { class: "samples" }, ...all.map(sample => made("button", { type: "button", class: "sample-card", "data-sample": sample.name, on: { click: begin(sample) } },
      made("b", { text: sample.title }), made("span", { text: sample.story.replace(/\s+/g, " ") })))));
};

const when = seconds => new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

// A button for what cannot be undone: the first click asks, the second does it, anything else takes the question back.
const asksTwice = (text, question, run, of) => {
  const ask = isAsking => {
    one.textContent = isAsking ? question : text;
    one.setAttribute("aria-label", `${one.textContent}: ${of}`);
    one.classList.toggle("asking", isAsking);
  };
  const one = button(text, () => { if (one.classList.contains("asking")) run(); else ask(true); });
  for (const name of ["blur", "mouseleave"]) one.addEventListener(name, () => ask(false));
  one.addEventListener("keydown", event => { if (event.key === "Escape") ask(false); });
  ask(false);
  return one;
};

// Takes a row away; who had the focus in it goes on from the row beside it.
const leave = row => {
  const beside = row.nextElementSibling || row.previousElementSibling;
  (beside || document).querySelector("a:not(.skip)").focus();
  if (beside) row.remove(); else row.closest("section").remove();
};

const earlier = runs => made("section", { "aria-labelledby": "earlier-title" }, made("h2", { id: "earlier-title", text: "Earlier" }),
  made("ul", { class: "earlier" }, ...runs.map(run => {
    const row = made("li", {}, made("a", { href: `#/run/${run.id}`, text: run.label }), made("span", { class: "quiet", text: `${WORDS[run.status]}, ${when(run.created)}` }),
      asksTwice("Remove", "Remove for good", async () => { await remove(`/api/runs/${run.id}`); leave(row); }, run.label));
    return row;
  })));
