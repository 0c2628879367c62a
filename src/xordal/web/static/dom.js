// Small things every part of the page uses. Names and values only ever become text nodes.

export const made = (tag, options = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") element.textContent = value;
    else if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
    else if (name === "class") element.className = value;
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
};

// What begins something new begins it once, however often it is clicked before that is there.
export const once = run => {
  let isBusy = false;
  return async () => {
    if (isBusy) return;
    isBusy = true;
    try { await run(); } finally { isBusy = false; }
  };
};

export const button = (text, run, options = {}) => made("button", { type: "button", text, on: { click: run }, ...options });

// With blanks at which no line is broken.
export const percent = chance => {
  if (chance > 0.9995 && chance < 1) return ">\u00a099.9\u00a0%";
  if (chance > 0 && chance < 0.0005) return "<\u00a00.1\u00a0%";
  return `${(100 * chance).toFixed(1)}\u00a0%`;
};

// A long text without its middle: names such as questions of a survey often begin alike, and differ at their ends.
export const brief = (text, most) => {
  const letters = [...text], tail = Math.floor(0.38 * most);
  return letters.length <= most ? text : `${letters.slice(0, most - tail - 1).join("")}…${letters.slice(-tail).join("")}`;
};

export const number = n => n.toLocaleString("en");

export const timeLeft = seconds => {
  if (seconds < 1.5) return "about a second left";
  if (seconds < 90) return `about ${Math.round(seconds)} s left`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min left`;
  return `about ${Math.round(seconds / 3600)} h left`;
};

let hiding = null;
export const hush = () => { const said = document.getElementById("said"); if (said) said.hidden = true; };
export const say = text => {
  const said = document.getElementById("said");
  if (!said) return;
  said.textContent = text;
  said.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(hush, 8000);
};

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

const accepted = async answer => {
  if (answer.ok) return answer;
  const text = await answer.text();
  let message = text;
  try { message = JSON.parse(text).error; } catch { /* the gate answers in plain text */ }
  throw new Refused(answer.status, message || `The server answered ${answer.status}.`);
};

const GONE = "The server does not answer. Is xordal serve still running?";
const asked = async (path, options) => {
  let answer;
  try { answer = await fetch(path, options); } catch { throw new Refused(0, GONE); }
  return accepted(answer);
};
const told = async (path, options) => (await asked(path, options)).json();

export const get = path => told(path, {});
export const post = (path, body) => told(path, { method: "POST", body: JSON.stringify(body ?? null) });
export const remove = path => told(path, { method: "DELETE" });

// A file to keep, and its name: a link alone would say nothing where the server refuses it.
export const fetchFile = async path => {
  const answer = await asked(path, {});
  const [, name] = /filename="([^"]*)"/.exec(answer.headers.get("content-disposition"));
  return [await answer.blob(), name];
};

export const upload = (file, onProgress) => new Promise((resolve, reject) => {
  const request = new XMLHttpRequest();  // fetch does not tell how far an upload is
  request.open("POST", "/api/runs");
  request.setRequestHeader("x-file-name", encodeURIComponent(file.name));
  request.upload.addEventListener("progress", event => onProgress(event.loaded / Math.max(event.total, 1)));
  request.addEventListener("load", () => {
    let told = {};
    try { told = JSON.parse(request.responseText); } catch { told = { error: request.responseText }; }
    if (request.status === 201) resolve(told); else reject(new Refused(request.status, told.error));
  });
  request.addEventListener("error", () => reject(new Refused(0, "The upload broke off: the file may be too large, or the server has ended.")));
  request.send(file);
});

// A browser keeps six connections to a server, for all of its tabs together; a stream holds one for as long as it is
// open. So at most three tabs have a stream at a time, and three connections are left for clicks. The other tabs ask
// once a second what is new, and take over a stream when a tab lets go of one.
const STREAMS = 3, BETWEEN = 1000;

// Run while this tab has one of the streams; false where all are taken.
const withStream = async run => {
  if (!navigator.locks) return false;  // browsers have locks for pages of this computer, or that are encrypted
  for (let n = 0; n < STREAMS; n++) {
    const had = await navigator.locks.request(`xordal-stream-${n}`, { ifAvailable: true }, async lock => { if (lock) await run(); return lock !== null; });
    if (had) return true;
  }
  return false;
};

// Server-sent events by POST, so that the browser always says where the request comes from. Each is told once: what
// breaks is opened anew after the last one that came.
export const listen = (path, onEvent, signal, onState = () => {}) => {
  let last = "", isOver = false;
  const hear = part => {
    const field = name => (part.split("\n").find(text => text.startsWith(`${name}: `)) || "").slice(name.length + 2);
    last = field("id") || last;
    if (!field("data")) return;
    const event = JSON.parse(field("data"));
    isOver = event.event === "closed";
    onEvent(event);
  };
  const follow = async how => {
    const answer = await fetch(`${path}${how}`, { method: "POST", signal, headers: { "last-event-id": last } });
    await accepted(answer);
    onState(true);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      waiting += value;
      const parts = waiting.split("\n\n");
      waiting = parts.pop();
      parts.forEach(hear);
    }
  };
  const keepOn = async () => {
    while (!signal.aborted && !isOver) {
      try { if (!await withStream(() => follow(""))) await follow("?now"); } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refused && error.status >= 400) { onState(false, error); return; }
        onState(false, null);
      }
      if (!isOver) await new Promise(resolve => setTimeout(resolve, BETWEEN));
    }
  };
  keepOn();
};
