// How one looks at a map, in the report and on the live page: moving, zooming, dragging, and names from afar.
//
// A map is an SVG with one group in it, the world, which is moved and scaled. Whoever draws the map says what is in it:
// nodes and places by variable, put(v) to draw a variable at its place, isNamed(v) whether its name is wanted from afar,
// and pick(v) when it was clicked; pick(null) when the ground was.

const SMALLEST_NAME = 6.5, NAME = 13, LARGEST = 1.6;  // pixels: names below are not read; times the size they are drawn in

export class MapView {
  constructor(svg, frame, drawn) {
    Object.assign(this, { svg, frame, drawn, world: svg.querySelector(".world"), x: 0, y: 0, k: 1 });
    this.watchPointer();
    svg.addEventListener("wheel", event => {
      if (!event.ctrlKey && !frame.contains(document.activeElement)) return;  // the page scrolls otherwise
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), this.within(event));
    }, { passive: false });
  }

  scale() { const matrix = this.svg.getScreenCTM(); return matrix ? matrix.a : 1; }  // pixels a unit of the drawing

  look() {
    this.world.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.k})`);
    const scale = this.scale() * this.k;
    this.svg.classList.toggle("far", scale * NAME < SMALLEST_NAME);  // names too small to read: those asked for only
    this.svg.style.setProperty("--label", `${(12 / scale).toFixed(1)}px`);
    this.declutter();
  }

  declutter() {  // of far names that would lie over each other, the first is shown
    const scale = this.scale() * this.k, high = 14 / scale, named = [];
    this.drawn.nodes.forEach((node, v) => {
      const isNamed = this.drawn.isNamed(v);
      node.classList.toggle("named", isNamed);
      if (!isNamed) return;
      const half = node.querySelector("text").textContent.length * 4.2 / scale, [x, y] = this.drawn.places[v];
      const over = named.some(([a, b, w]) => Math.abs(a - x) < half + w && Math.abs(b - y) < high);
      node.classList.toggle("mute", over);
      if (!over) named.push([x, y, half]);
    });
  }

  // Where one looks

  middle() { const box = this.svg.viewBox.baseVal; return [box.width / 2, box.height / 2]; }

  pan(dx, dy) { this.x += dx; this.y += dy; this.look(); }

  zoom(factor, at = this.middle()) {
    const k = Math.min(Math.max(this.k * factor, 0.2), 60);
    this.x = at[0] - (at[0] - this.x) * (k / this.k);
    this.y = at[1] - (at[1] - this.y) * (k / this.k);
    this.k = k;
    this.look();
  }

  fit() {  // all of it, but a small network is not blown up
    Object.assign(this, { x: 0, y: 0, k: 1 });
    this.zoom(Math.min(1, LARGEST / this.scale()));
  }

  to([x, y], k) {
    const [cx, cy] = this.middle();
    Object.assign(this, { k, x: cx - x * k, y: cy - y * k });
    this.look();
  }

  center(v) { this.to(this.drawn.places[v], Math.max(this.k, 0.9 / this.scale())); }

  frameOn(variables) {  // with room for the boxes beyond the places
    const xs = [...variables].map(v => this.drawn.places[v][0]), ys = [...variables].map(v => this.drawn.places[v][1]);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const k = Math.min(this.svg.clientWidth / (right - left + 190), this.svg.clientHeight / (bottom - top + 60), LARGEST) / this.scale();
    this.to([(left + right) / 2, (top + bottom) / 2], k);
  }

  within(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [point.x, point.y];
  }

  // A finger or the mouse drags a variable, or the ground; two fingers zoom

  watchPointer() {
    let drag = null, isAsked = false;
    const fingers = new Map(), dragged = new Set();
    const apart = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
    const redraw = () => {  // once a frame, however often the pointer moves
      isAsked = false;
      dragged.forEach(v => this.drawn.put(v));
      if (!dragged.size) this.look();
      dragged.clear();
    };
    this.svg.addEventListener("pointerdown", event => {
      const node = event.target.closest(".node");
      fingers.set(event.pointerId, this.within(event));
      drag = { v: node ? Number(node.dataset.v) : null, last: this.within(event), moved: 0, apart: fingers.size === 2 ? apart() : 0 };
      this.svg.setPointerCapture(event.pointerId);
      this.svg.classList.add("moving");
    });
    this.svg.addEventListener("pointermove", event => {
      if (!drag || !fingers.has(event.pointerId)) return;
      const [x, y] = this.within(event);
      fingers.set(event.pointerId, [x, y]);
      if (fingers.size === 2) {
        const now = apart(), [a, b] = [...fingers.values()];
        if (drag.apart) this.zoom(now / drag.apart, [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]);
        drag.apart = now; drag.moved = Infinity;
        return;
      }
      const dx = x - drag.last[0], dy = y - drag.last[1];
      drag.moved += Math.hypot(dx, dy) * this.scale();
      drag.last = [x, y];
      if (drag.v === null) { this.x += dx; this.y += dy; } else {
        const place = this.drawn.places[drag.v];
        place[0] += dx / this.k; place[1] += dy / this.k;
        dragged.add(drag.v);
      }
      if (!isAsked) { isAsked = true; requestAnimationFrame(redraw); }
    });
    const drop = event => {
      fingers.delete(event.pointerId);
      if (drag && drag.moved < 4 && event.type === "pointerup") this.drawn.pick(drag.v);
      drag = null;
      this.svg.classList.remove("moving");
    };
    this.svg.addEventListener("pointerup", drop);
    this.svg.addEventListener("pointercancel", drop);
  }
}
