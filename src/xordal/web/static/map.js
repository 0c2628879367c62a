// The map of a network: it is marked, and grows while a search runs.
import { brief, made } from "./dom.js";
import { MapView } from "./view.js";

const SVG = "http://www.w3.org/2000/svg";
const drawn = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const LONGEST = 22, HALF = 13;
const pen = document.createElement("canvas").getContext("2d");
const widthOf = text => { pen.font = "600 13px system-ui, sans-serif"; return pen.measureText(text).width; };  // as evidence is written
// A mixed colour is computed as color(srgb ...), which few programs that read SVG know.
const plainColour = text => text.replace(/color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)[^)]*\)/, (_, ...parts) => `rgb(${parts.slice(0, 3).map(part => Math.round(255 * part)).join(", ")})`);
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class NetworkMap {
  constructor(parent, { onChoose = () => {} } = {}) {
    this.onChoose = onChoose;
    this.lines = drawn("g");
    this.boxes = drawn("g");
    this.world = drawn("g", { class: "world" }, this.lines, this.boxes);
    this.title = drawn("title");
    this.svg = drawn("svg", { class: "map", role: "img", viewBox: "0 0 600 400", "font-size": 13, "text-anchor": "middle" }, this.title, this.world);
    this.frame = made("div", { class: "frame", tabindex: 0, role: "group", "aria-label": "Map of the network. Plus and minus zoom, 0 shows all, arrows move the map, Alt and arrows move the chosen variable." }, this.svg);
    const tool = (text, label, run) => made("button", { type: "button", text, "aria-label": label, title: label, on: { click: run } });
    this.tools = made("div", { class: "tools" },
      tool("+", "Zoom in", () => this.view.zoom(1.4)), tool("−", "Zoom out", () => this.view.zoom(1 / 1.4)), tool("Show all", "Show all of the network", () => this.fit()));
    parent.append(this.tools, this.frame);
    this.size = [600, 400];
    this.nodes = []; this.places = []; this.links = new Map(); this.linksOf = [];
    this.chosen = null; this.marked = null; this.given = new Set(); this.moving = 0;
    this.view = new MapView(this.svg, this.frame, this);
    this.frame.addEventListener("keydown", event => this.key(event));
    this.resized = new ResizeObserver(() => this.view.look());
    this.resized.observe(this.frame);
  }

  end() { this.resized.disconnect(); cancelAnimationFrame(this.moving); }

  // What is drawn

  setVariables(names) {
    this.names = names;
    this.boxes.replaceChildren(); this.lines.replaceChildren(); this.links.clear();
    this.places = names.map(() => [0, 0]);
    this.linksOf = names.map(() => new Set());
    this.nodes = names.map((name, v) => {
      const text = brief(name, LONGEST), half = widthOf(text) / 2 + 8;
      const node = drawn("g", { class: "node", "data-v": v },
        Object.assign(drawn("title"), { textContent: name }),
        drawn("rect", { x: -half, y: -HALF, width: 2 * half, height: 2 * HALF, rx: 8 }),
        Object.assign(drawn("text", { "dominant-baseline": "central" }), { textContent: text }));
      this.boxes.append(node);
      return node;
    });
  }

  place(places, size, animate = false) {
    cancelAnimationFrame(this.moving);
    const from = this.places.map(at => [...at]);
    this.size = size;
    this.svg.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    if (!animate || calm()) {
      this.places = places.map(at => [...at]);
      this.nodes.forEach((_, v) => this.put(v));
      this.fit();
      return;
    }
    const began = performance.now();
    const step = now => {
      const t = Math.min((now - began) / 450, 1), eased = 1 - (1 - t) ** 3;
      places.forEach(([x, y], v) => {
        this.places[v] = [from[v][0] + (x - from[v][0]) * eased, from[v][1] + (y - from[v][1]) * eased];
        this.put(v);
      });
      if (t < 1) this.moving = requestAnimationFrame(step);
    };
    this.fit();
    this.moving = requestAnimationFrame(step);
  }

  setLinks(links, fresh = []) {
    const key = ([u, v]) => `${u}-${v}`;
    const wanted = new Map(links.map(link => [key(link), link]));
    const isFresh = new Set(fresh.map(key));
    for (const [name, line] of this.links) {
      if (wanted.has(name)) continue;
      line.remove(); this.links.delete(name);
      const [u, v] = name.split("-").map(Number);
      this.linksOf[u].delete(name); this.linksOf[v].delete(name);
    }
    for (const [name, [u, v, kind = "black"]] of wanted) {
      let line = this.links.get(name);
      if (!line) {
        line = drawn("line");
        this.lines.append(line);
        this.links.set(name, line);
        this.linksOf[u].add(name); this.linksOf[v].add(name);
        this.putLink(name);
      }
      line.setAttribute("class", `link ${kind}${isFresh.has(name) ? " new" : ""}`);
    }
    const ends = new Set(fresh.flatMap(([u, v]) => [u, v]));
    this.nodes.forEach((node, v) => node.classList.toggle("fresh", ends.has(v)));
    this.title.textContent = `Network of ${this.nodes.length} variables and ${links.filter(([, , kind]) => kind !== "rule").length} links`;
    if (this.marked) this.mark(this.marked);
  }

  put(v) {
    const [x, y] = this.places[v];
    this.nodes[v].setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    for (const name of this.linksOf[v]) this.putLink(name);
  }

  putLink(name) {
    const [u, v] = name.split("-").map(Number), line = this.links.get(name);
    line.setAttribute("x1", this.places[u][0].toFixed(1)); line.setAttribute("y1", this.places[u][1].toFixed(1));
    line.setAttribute("x2", this.places[v][0].toFixed(1)); line.setAttribute("y2", this.places[v][1].toFixed(1));
  }

  // What is marked: some variables, the chosen one, evidence and what it moved

  mark(variables) {
    this.marked = variables && variables.size ? variables : null;
    const inside = this.marked || new Set();
    this.nodes.forEach((node, v) => node.classList.toggle("near", inside.has(v)));
    for (const [name, line] of this.links) line.classList.toggle("near", name.split("-").every(v => inside.has(Number(v))));
    this.svg.classList.toggle("picking", this.marked !== null);
    this.view.declutter();
  }

  isNamed(v) { return v === this.chosen || this.given.has(v) || Boolean(this.marked && this.marked.has(v)); }

  pick(v) { this.choose(v); this.onChoose(v); }

  choose(v, { center = false } = {}) {
    if (this.chosen !== null) this.nodes[this.chosen].classList.remove("chosen");
    this.chosen = v;
    if (v === null) { this.mark(null); return; }
    this.nodes[v].classList.add("chosen");
    const near = new Set([v]);
    for (const name of this.linksOf[v]) name.split("-").forEach(end => near.add(Number(end)));
    this.mark(near);
    if (center) this.view.center(v);
  }

  tone(given, moved) {
    this.given = given;
    this.nodes.forEach((node, v) => {
      node.classList.toggle("given", given.has(v));
      node.style.setProperty("--moved", given.has(v) ? "0" : Math.min(moved[v] || 0, 1).toFixed(3));
    });
    this.view.declutter();
  }

  focusOn(variables) { this.view.frameOn(variables); }

  fit() { this.view.fit(); }

  key(event) {
    if (event.ctrlKey || event.metaKey) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (way && event.altKey && this.chosen !== null) {
      this.places[this.chosen][0] += way[0] * 24 / this.view.k; this.places[this.chosen][1] += way[1] * 24 / this.view.k;
      this.put(this.chosen);
    } else if (way) this.view.pan(-40 * way[0], -40 * way[1]);
    else if (event.key === "+" || event.key === "=") this.view.zoom(1.4);
    else if (event.key === "-") this.view.zoom(1 / 1.4);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") this.pick(null);
    else return;
    event.preventDefault();
  }

  // A picture to keep: the same drawing with its looks written into it

  picture() {
    const copy = this.svg.cloneNode(true);
    const looks = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "visibility", "display"];
    const ours = [...this.svg.querySelectorAll("line, rect, text")], theirs = [...copy.querySelectorAll("line, rect, text")];
    ours.forEach((element, place) => {
      const style = getComputedStyle(element);
      looks.forEach(name => theirs[place].setAttribute(name, plainColour(style.getPropertyValue(name))));
    });
    copy.querySelectorAll("[class], [style], [data-v]").forEach(element => ["class", "style", "data-v"].forEach(name => { if (!element.matches(".world")) element.removeAttribute(name); }));
    const world = copy.querySelector(".world");
    world.removeAttribute("transform"); world.removeAttribute("class");
    copy.removeAttribute("style"); copy.removeAttribute("class");
    copy.setAttribute("xmlns", SVG);
    copy.setAttribute("width", this.size[0]); copy.setAttribute("height", this.size[1]);
    copy.setAttribute("font-family", "system-ui, sans-serif");
    const ground = drawn("rect", { width: this.size[0], height: this.size[1], fill: getComputedStyle(this.frame).backgroundColor });
    copy.insertBefore(ground, world);
    return new XMLSerializer().serializeToString(copy);
  }

  async pictureAsPng() {
    const image = new Image();
    const address = URL.createObjectURL(new Blob([this.picture()], { type: "image/svg+xml" }));
    await new Promise((resolve, reject) => { image.onload = resolve; image.onerror = reject; image.src = address; });
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = this.size.map(side => Math.round(side * 2));
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    return new Promise(resolve => canvas.toBlob(resolve, "image/png"));
  }
}
