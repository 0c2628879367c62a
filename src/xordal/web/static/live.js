// A run while it learns, and what it has learned.
import { button, fetchFile, get, listen, made, number, once, post, timeLeft } from "./dom.js";
import { NetworkMap } from "./map.js";
import { Workbench, thatHide, whatHides } from "./workbench.js";

const PACE = 650, LONGEST = 5000, A_FRAME = 16;  // milliseconds between steps, for all that wait, and of a picture

// Events are shown in their order, steps no faster than one can watch; those that wait, however many, take five
// seconds together.
const paced = (signal, show) => {
  const waiting = [];
  let timer = null, longest = 0;  // steps that waited at once, since none did
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const next = () => {
    timer = null;
    for (let pause = 0; waiting.length && !signal.aborted;) {
      const event = waiting.shift();
      show(event);
      if (event.event !== "step" || calm) continue;
      const steps = waiting.filter(other => other.event === "step").length;
      longest = steps ? Math.max(longest, steps + 1) : 0;
      pause += Math.min(PACE, LONGEST / Math.max(longest, 1));
      if (pause < A_FRAME) continue;
      timer = setTimeout(next, pause);
      return;
    }
  };
  return event => { waiting.push(event); if (timer === null) next(); };
};

export const showLearning = ({ content, run, signal, reload }) => {
  const trouble = made("p", { class: "warning", role: "alert", hidden: true });  // with the server, not with the search
  const heading = made("h1", { text: run.status === "looking" ? `Reading ${run.label}` : `Learning from ${run.label}` });
  const words = made("p", { class: "lead", role: "status", text: "Getting ready" });
  const bar = made("progress", { max: 1, "aria-label": "Progress" }), left = made("span", { class: "quiet" });
  const stopping = () => {  // what was told of the search and its time no longer holds
    isStopping = true;
    stop.textContent = "Stop now";
    words.textContent = "Stopping; what is found is kept";
    left.textContent = "";
    passing.textContent = "";
    bar.removeAttribute("value");
  };
  const KEEP = "Stop, and keep what is found";
  const stop = button(KEEP, async () => { stopping(); await post(`/api/runs/${run.id}/stop`); }, { hidden: true, id: "stop" });
  let isStopping = false;
  const steps = made("ol", { class: "steps-list", "aria-label": "What was found so far" }), notes = made("div", { class: "notes" });
  const passing = made("p", { class: "small", role: "status" });  // what holds until there is something new
  const stage = made("div", { class: "stage" }), side = made("div", { class: "side-panel" }, made("h2", { text: "Found so far" }), steps, passing, notes);
  const workbench = made("div", { class: "workbench live", hidden: true }, stage, side);
  content.append(heading, trouble, words, made("div", { class: "go" }, bar, left, stop), workbench);
  const map = new NetworkMap(stage);
  signal.addEventListener("abort", () => map.end());
  let links = new Map(), placed = false;
  const handle = {
    status: event => {
      if (["done", "looked", "failed"].includes(event.status)) { reload(); return; }
      const isWaiting = event.status === "waiting";
      if (isWaiting) words.textContent = "Other searches are running; this one waits its turn";
      if (!isStopping) stop.textContent = isWaiting ? "Do not wait: back to its settings" : KEEP;
      stop.hidden = event.status === "looking";
    },
    begin: event => {
      workbench.hidden = false;
      links = new Map(); placed = false;
      steps.replaceChildren(); notes.replaceChildren(); passing.textContent = "";
      map.setVariables(event.names);
      words.textContent = `Looking at ${number(event.names.length)} columns of ${number(event.n_rows)} rows`;
    },
    places: event => { map.place(event.places, event.size, placed); placed = true; },
    step: event => {
      if (event.places) handle.places(event);
      for (const link of event.links) if (event.action === "remove") links.delete(String(link)); else links.set(String(link), link);
      map.setLinks([...links.values()], event.action === "add" ? event.links : []);
      const how = event.action !== "add" ? "" : event.at_once > 1 ? `${event.at_once} links at once` : "1 link";
      steps.prepend(made("li", { value: steps.children.length + 1 }, made("b", { text: event.words }), made("span", { class: "small", text: [how, event.p || ""].filter(Boolean).join(", ") })));
    },
    progress: event => {
      passing.textContent = "";
      if (isStopping && event.is_searching) return;  // told before the search heard of it
      if (event.share === null) bar.removeAttribute("value"); else bar.value = event.share;  // what follows the scans has no known length
      words.textContent = event.words.charAt(0).toUpperCase() + event.words.slice(1);
      left.textContent = event.left === null ? "" : timeLeft(event.left);
    },
    stopping,
    passing: event => { if (!isStopping) passing.textContent = event.words; },
    note: event => notes.append(made("p", { class: "small", text: event.words })),
    failed: () => {},
    closed: () => {
      stopping();
      stop.hidden = bar.hidden = true;
      words.textContent = "This run was removed.";
    },
  };
  listen(`/api/runs/${run.id}/events`, paced(signal, event => (handle[event.event] || (() => {}))(event)), signal, (isOpen, error) => {
    const said = isOpen ? "" : !error ? "The server does not answer; trying again." : error.status === 401 ? "The server was started anew. Open the address that it printed, then reload this page." : error.message;
    if (trouble.textContent === said) return;
    trouble.textContent = said;
    trouble.hidden = isOpen;
  });
};

const kept = id => `xordal-given-${id}`;

export const showResult = async ({ content, run, signal, go }) => {
  const network = await get(`/api/runs/${run.id}/result`);
  if (signal.aborted) return;
  const ask = question => post(`/api/runs/${run.id}/ask`, question);
  const begin = ask({ given: [], want: "marginals" });
  content.append(...headline(network, run, go));
  let before = {};
  try { before = JSON.parse(sessionStorage.getItem(kept(run.id)) || "{}"); } catch { /* begin without */ }
  network.has_single = (await begin).single !== null && network.missed.length > 0;
  if (signal.aborted) return;
  const asking = made("section", { id: "ask", tabindex: -1, "aria-labelledby": "ask-title" }, made("h2", { id: "ask-title", text: "Ask it" }),
    made("p", { text: "Click a value: that is what you observed. All others move to what follows from it in the network." }));
  const bench = new Workbench(asking, network, ask, (given, history) => sessionStorage.setItem(kept(run.id), JSON.stringify({ given, history })));
  content.append(whatHides(network, bench), asking, stepsSection(network));
  bench.open();
  signal.addEventListener("abort", () => bench.end());
  await bench.panel.begin(before.given, before.history);
  downloads(content.querySelector("#downloads"), run, bench.map, signal);
  content.dataset.ready = "yes";
};

const headline = (network, run, go) => {
  const n = network.n_groups, text = thatHide(network) || (!network.is_complete ? "Stopped before the search was done" : !network.links.length ? "Nothing found" : n === 0 ? "No hidden groups" : "A network");
  const again = run.has_upload && run.kind === "table" ? button("Learn again with other settings", once(async () => go(`#/run/${(await post(`/api/runs/${run.id}/again`)).id}`))) : null;
  return [made("h1", { text }), made("p", { class: "lead", text: network.lead }),
    ...network.notes.map(note => made("p", { class: "small", text: note })),
    made("div", { class: "go" }, made("a", { class: "primary", href: "#ask", text: "Ask it", on: { click: event => { event.preventDefault(); const bench = document.getElementById("ask"); bench.focus({ preventScroll: true }); bench.scrollIntoView({ block: "start" }); } } }), made("details", { class: "menu", id: "downloads" }, made("summary", { text: "Download" })), again)];
};

const stepsSection = network => network.steps.length ? made("section", {}, made("details", {}, made("summary", { text: `How it was found, in ${network.steps.length} ${network.steps.length === 1 ? "step" : "steps"}` }), made("ol", { class: "steps-list" }, ...network.steps.map(step => made("li", { text: step.words }))))) : made("span");

const FILES = [["report", "Report (one HTML page)"], ["svg", "Picture (SVG)"], ["png", "Picture (PNG)"], ["json", "Network (xordal's model file)"], ["bif", "BIF"], ["xmlbif", "XMLBIF"], ["net", "Hugin NET"], ["uai", "UAI"], ["uai-names", "UAI: the names beside it"], ["uai-pgmpy", "UAI for pgmpy"], ["uai-pyagrum", "UAI for pyAgrum"], ["graphml", "GraphML"], ["dot", "DOT"], ["hif", "HIF (hidden groups)"]];

const downloads = (menu, run, map, signal) => {
  const save = (blob, name) => {
    const address = URL.createObjectURL(blob);
    made("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };
  const name = run.label.replace(/\.[^.]*$/, "");
  const pictures = { svg: () => save(new Blob([map.picture()], { type: "image/svg+xml" }), `${name}.svg`), png: async () => save(await map.pictureAsPng(), `${name}.png`) };
  const file = (what, text) => {
    const href = `/api/runs/${run.id}/download/${what}`, fetched = once(async () => save(...await fetchFile(href)));
    return made("a", { href, download: true, text, "data-what": what, on: { click: async event => { event.preventDefault(); await fetched(); } } });
  };
  const leaving = event => {
    if (!menu.open || (event.type === "click" ? menu.contains(event.target) : event.key !== "Escape")) return;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  };
  for (const kind of ["click", "keydown"]) document.addEventListener(kind, leaving, { signal });
  menu.append(made("ul", {}, ...FILES.map(([what, text]) => made("li", {}, pictures[what] ? button(text, pictures[what], { "data-what": what }) : file(what, text)))));
};
