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

export const button = (text, run, options = {}) => made("button", { type: "button", text, on: { click: run }, ...options });

export const percent = chance => {
  if (chance > 0.9995 && chance < 1) return "> 99.9 %";
  if (chance > 0 && chance < 0.0005) return "< 0.1 %";
  return `${(100 * chance).toFixed(1)} %`;
};

export const number = n => n.toLocaleString("en");

export const timeLeft = seconds => {
  if (seconds < 1.5) return "about a second left";
  if (seconds < 90) return `about ${Math.round(seconds)} s left`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min left`;
  return `about ${Math.round(seconds / 3600)} h left`;
};

let hiding = null;
export const say = text => {
  const said = document.getElementById("said");
  if (!said) return;
  said.textContent = text;
  said.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { said.hidden = true; }, 8000);
};

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

const answered = async answer => {
  if (answer.ok) return answer.json();
  const text = await answer.text();
  let message = text;
  try { message = JSON.parse(text).error; } catch { /* the gate answers in plain text */ }
  throw new Refused(answer.status, message || `The server answered ${answer.status}.`);
};

const GONE = "The server does not answer. Is xordal serve still running?";
const asked = async (path, options) => {
  let answer;
  try { answer = await fetch(path, options); } catch { throw new Refused(0, GONE); }
  return answered(answer);
};

export const get = path => asked(path, {});
export const post = (path, body) => asked(path, { method: "POST", body: JSON.stringify(body ?? null) });
export const remove = path => asked(path, { method: "DELETE" });

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

// Server-sent events by POST, so that the browser always says where the request comes from. A stream that breaks is
// opened anew; it then begins with everything that still matters.
export const listen = (path, onEvent, signal, onState = () => {}) => {
  const once = async () => {
    const answer = await fetch(path, { method: "POST", signal });
    if (!answer.ok) await answered(answer);
    onState(true);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let waiting = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      waiting += value;
      const parts = waiting.split("\n\n");
      waiting = parts.pop();
      for (const part of parts) {
        const line = part.split("\n").find(text => text.startsWith("data: "));
        if (line) onEvent(JSON.parse(line.slice(6)));
      }
    }
  };
  const keepOn = async () => {
    while (!signal.aborted) {
      try { await once(); } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refused && error.status >= 400) { onState(false, error); return; }
      }
      onState(false, null);
      await new Promise(resolve => setTimeout(resolve, 1000));
    }
  };
  keepOn();
};
