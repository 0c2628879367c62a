// The map of a network: drag, zoom, mark, and grow while a search runs.
import { made } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const drawn = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const LONGEST = 22, HALF = 13;
// Long names often begin alike, and differ at their ends.
const short = name => name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 9)}…${name.slice(-8)}`;
const pen = document.createElement("canvas").getContext("2d");
const widthOf = text => { pen.font = "13px system-ui, sans-serif"; return pen.measureText(text).width; };
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
      tool("+", "Zoom in", () => this.zoom(1.4)), tool("−", "Zoom out", () => this.zoom(1 / 1.4)), tool("Show all", "Show all of the network", () => this.fit()));
    parent.append(this.tools, this.frame);
    this.view = { x: 0, y: 0, k: 1 };
    this.size = [600, 400];
    this.nodes = []; this.places = []; this.links = new Map(); this.linksOf = [];
    this.chosen = null; this.marked = null; this.moving = 0; this.dirty = new Set(); this.frameAsked = false;
    this.watchPointer();
    this.frame.addEventListener("keydown", event => this.key(event));
    this.resized = new ResizeObserver(() => this.look());
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
      const half = widthOf(short(name)) / 2 + 9;
      const node = drawn("g", { class: "node", "data-v": v },
        Object.assign(drawn("title"), { textContent: name }),
        drawn("rect", { x: -half, y: -HALF, width: 2 * half, height: 2 * HALF, rx: 8 }),
        Object.assign(drawn("text", { "dominant-baseline": "central" }), { textContent: short(name) }));
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
    this.title.textContent = `Network of ${this.nodes.length} variables and ${this.links.size} links`;
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
    this.declutter();
  }

  choose(v, { center = false } = {}) {
    if (this.chosen !== null) this.nodes[this.chosen].classList.remove("chosen");
    this.chosen = v;
    if (v === null) { this.mark(null); return; }
    this.nodes[v].classList.add("chosen");
    const near = new Set([v]);
    for (const name of this.linksOf[v]) name.split("-").forEach(end => near.add(Number(end)));
    this.mark(near);
    if (center) this.center(v);
  }

  tone(given, moved) {
    this.nodes.forEach((node, v) => {
      node.classList.toggle("given", given.has(v));
      node.style.setProperty("--moved", given.has(v) ? "0" : Math.min(moved[v] || 0, 1).toFixed(3));
    });
  }

  focusOn(variables) {
    const points = [...variables].map(v => this.places[v]);
    const xs = points.map(at => at[0]), ys = points.map(at => at[1]);
    const width = Math.max(...xs) - Math.min(...xs) + 160, height = Math.max(...ys) - Math.min(...ys) + 120;
    const k = Math.min(this.size[0] / width, this.size[1] / height, this.largest());
    const cx = (Math.max(...xs) + Math.min(...xs)) / 2, cy = (Math.max(...ys) + Math.min(...ys)) / 2;
    Object.assign(this.view, { k, x: this.size[0] / 2 - cx * k, y: this.size[1] / 2 - cy * k });
    this.look();
  }

  // Where one looks

  scale() { const matrix = this.svg.getScreenCTM(); return matrix ? matrix.a : 1; }
  largest() { return Math.max(1.6 / this.scale(), 0.05); }

  look() {
    const { x, y, k } = this.view;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${k})`);
    const scale = this.scale() * k;
    this.svg.classList.toggle("far", scale * 13 < 6.5);
    this.svg.style.setProperty("--label", `${(12 / scale).toFixed(1)}px`);
    this.declutter();
  }

  declutter() {  // of far names that would lie over each other, the first is shown
    if (!this.svg.classList.contains("far")) return;
    const scale = this.scale() * this.view.k, shown = [];
    this.nodes.forEach((node, v) => {
      const wanted = node.classList.contains("chosen") || node.classList.contains("given") || (this.marked && this.marked.has(v));
      node.classList.toggle("hit", Boolean(wanted));
      if (!wanted) return;
      const half = short(this.names[v]).length * 4.2 / scale, high = 14 / scale, [x, y] = this.places[v];
      const over = shown.some(([a, b, w]) => Math.abs(a - x) < half + w && Math.abs(b - y) < high);
      node.classList.toggle("mute", over);
      if (!over) shown.push([x, y, half]);
    });
  }

  fit() {
    Object.assign(this.view, { x: 0, y: 0, k: 1 });
    const k = Math.min(1, this.largest());  // a small network is not blown up
    Object.assign(this.view, { k, x: this.size[0] * (1 - k) / 2, y: this.size[1] * (1 - k) / 2 });
    this.look();
  }

  zoom(factor, at = [this.size[0] / 2, this.size[1] / 2]) {
    const k = Math.min(Math.max(this.view.k * factor, 0.2), 60);
    this.view.x = at[0] - (at[0] - this.view.x) * (k / this.view.k);
    this.view.y = at[1] - (at[1] - this.view.y) * (k / this.view.k);
    this.view.k = k;
    this.look();
  }

  center(v) {
    this.view.k = Math.max(this.view.k, 0.9 / this.scale());
    this.view.x = this.size[0] / 2 - this.places[v][0] * this.view.k;
    this.view.y = this.size[1] / 2 - this.places[v][1] * this.view.k;
    this.look();
  }

  // Pointer and keys

  watchPointer() {
    let drag = null;
    const fingers = new Map();
    const within = event => {
      const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      return [point.x, point.y];
    };
    const apart = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
    this.svg.addEventListener("pointerdown", event => {
      const node = event.target.closest(".node");
      fingers.set(event.pointerId, within(event));
      drag = { v: node ? Number(node.dataset.v) : null, last: within(event), moved: 0, apart: fingers.size === 2 ? apart() : 0 };
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointermove", event => {
      if (!drag || !fingers.has(event.pointerId)) return;
      const [x, y] = within(event);
      fingers.set(event.pointerId, [x, y]);
      if (fingers.size === 2) {
        const now = apart(), [a, b] = [...fingers.values()];
        if (drag.apart) this.zoom(now / drag.apart, [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]);
        drag.apart = now; drag.moved = 99;
        return;
      }
      const dx = x - drag.last[0], dy = y - drag.last[1];
      drag.moved += Math.hypot(dx, dy) * this.scale();
      drag.last = [x, y];
      if (drag.v === null) { this.view.x += dx; this.view.y += dy; } else {
        this.places[drag.v][0] += dx / this.view.k; this.places[drag.v][1] += dy / this.view.k;
        this.dirty.add(drag.v);
      }
      if (this.frameAsked) return;  // one change of the picture a frame, however often the pointer moves
      this.frameAsked = true;
      requestAnimationFrame(() => {
        this.frameAsked = false;
        this.dirty.forEach(v => this.put(v));
        if (!this.dirty.size) this.look();
        this.dirty.clear();
      });
    });
    const drop = event => {
      fingers.delete(event.pointerId);
      if (drag && drag.moved < 4 && event.type === "pointerup") { this.choose(drag.v); this.onChoose(drag.v); }
      drag = null;
    };
    this.svg.addEventListener("pointerup", drop);
    this.svg.addEventListener("pointercancel", drop);
    this.svg.addEventListener("wheel", event => {
      if (!event.ctrlKey && !this.frame.contains(document.activeElement)) return;  // the page scrolls otherwise
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), within(event));
    }, { passive: false });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey) return;
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (way && event.altKey && this.chosen !== null) {
      this.places[this.chosen][0] += way[0] * 24 / this.view.k; this.places[this.chosen][1] += way[1] * 24 / this.view.k;
      this.put(this.chosen);
    } else if (way) { this.view.x -= way[0] * 40; this.view.y -= way[1] * 40; this.look();
    } else if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.fit();
    else if (event.key === "Escape") { this.choose(null); this.onChoose(null); }
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
