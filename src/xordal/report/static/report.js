// The report's map: search, filter, neighbours and replay; view.js stands before it. Names and values only ever become text nodes.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = id => document.getElementById(id);
  const map = find("map"), frame = find("frame"), workbench = find("workbench");
  const nodes = [...map.querySelectorAll(".node")];
  const lines = [...map.querySelectorAll(".link")];
  const places = data.places.map(place => [...place]);
  const linksOf = places.map(() => []);
  data.links.forEach(([u, v], place) => { linksOf[u].push(place); linksOf[v].push(place); });
  let around = null;  // the variables shown, where only a neighbourhood is
  let asking = new Set();  // those in its middle
  document.querySelectorAll(".needs-script").forEach(element => { element.hidden = false; });

  // Drawing

  const made = (tag, text, parent) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };
  const placeNode = v => {
    const [x, y] = places[v];
    nodes[v].setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    for (const place of linksOf[v]) {
      const end = data.links[place][0] === v ? 1 : 2;
      lines[place].setAttribute(`x${end}`, x.toFixed(1));
      lines[place].setAttribute(`y${end}`, y.toFixed(1));
    }
  };
  const view = new MapView(map, frame, {
    nodes, places, put: placeNode,
    isNamed: v => nodes[v].matches(".hit, .chosen"),
    pick: v => { if (v === null) forget(); else choose(v, false); },
  });
  const fit = () => { if (around === null) view.fit(); else view.frameOn(around); };
  find("zoom-in").addEventListener("click", () => view.zoom(1.4));
  find("zoom-out").addEventListener("click", () => view.zoom(1 / 1.4));
  find("fit").addEventListener("click", fit);
  find("full").addEventListener("click", () => {
    const full = workbench.classList.toggle("full");
    find("full").setAttribute("aria-pressed", String(full));
    view.look();
  });

  // Choosing a variable or a group

  const buttons = [...document.querySelectorAll("#names button")];
  const detail = find("detail");
  let chosen = null;
  const mark = (variables, links) => {
    nodes.forEach((node, v) => { node.classList.toggle("near", variables.has(v)); });
    lines.forEach((line, place) => { line.classList.toggle("near", links.has(place)); });
    map.classList.toggle("picking", variables.size > 0);
    view.declutter();
  };
  const clear = () => {
    chosen = null;
    nodes.forEach(node => node.classList.remove("chosen"));
    buttons.forEach(button => button.setAttribute("aria-pressed", "false"));
    mark(new Set(), new Set());
  };
  const forget = () => { clear(); detail.hidden = true; };
  const choose = (v, move) => {
    clear();
    chosen = v;
    nodes[v].classList.add("chosen");
    buttons[v].setAttribute("aria-pressed", "true");
    if (!move) buttons[v].scrollIntoView({ block: "nearest", inline: "nearest" });
    const links = linksOf[v].filter(place => !lines[place].classList.contains("off"));
    mark(new Set([v, ...links.flatMap(place => data.links[place])]), new Set(links));
    tell(v);
    if (around !== null) neighbourhood([v]); else if (move) view.center(v);
  };
  const tell = v => {
    const variable = data.variables[v];
    detail.replaceChildren();
    made("h3", variable.name, detail);
    const list = made("dl", undefined, detail);
    const most = Math.max(...variable.levels.map(level => level[1]), 1);
    for (const [level, count] of variable.levels) {
      made("dt", level, list);
      made("dd", count.toLocaleString("en"), list);
      made("i", "", made("dd", undefined, list)).style.width = `${100 * count / most}%`;
    }
    if (variable.others) made("p", `and ${variable.others} other levels`, detail);
    const joined = data.links.filter(([a, b], place) => (a === v || b === v) && data.final[place]);
    const near = made("p", joined.length ? "Linked to " : "No links.", detail);
    for (const [a, b] of joined) {
      const other = a === v ? b : a;
      made("button", data.variables[other].name, near).addEventListener("click", () => choose(other, true));
    }
    if (variable.groups.length) {
      const held = made("p", "In hidden groups ", detail);
      for (const group of variable.groups) {
        made("button", String(group + 1), held).addEventListener("click", () => chooseGroup(group));
      }
    }
    detail.hidden = false;
  };
  const chooseGroup = group => {
    forget();
    if (around !== null) neighbourhood(data.groups[group]);
    const variables = data.groups[group];
    const inside = new Set(variables);
    const between = [...data.links.keys()].filter(place => data.links[place].every(v => inside.has(v)));
    mark(inside, new Set(between));
    variables.forEach(v => nodes[v].classList.add("chosen"));
    fit();
  };
  document.querySelectorAll("button[data-group]").forEach(button => {
    button.addEventListener("click", () => {
      chooseGroup(Number(button.dataset.group));
      find("network").scrollIntoView();
      frame.focus({ preventScroll: true });
    });
  });
  buttons.forEach((button, v) => button.addEventListener("click", () => choose(v, true)));

  // Neighbours only: those in question in the middle, what they are linked to around them

  const near = find("near"), mostAround = 18;
  const home = data.places;
  const ring = (variables, cx, cy, rx, ry, turn) => variables.forEach((v, place) => {
    const angle = turn + 2 * Math.PI * place / variables.length;
    places[v] = [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)];
  });
  const neighbourhood = middle => {
    const inside = new Set(middle), best = new Map();
    for (const [place, [a, b]] of data.links.entries()) {
      if (!data.final[place] || inside.has(a) === inside.has(b)) continue;
      const other = inside.has(a) ? b : a;
      best.set(other, Math.max(best.get(other) || 0, data.strength[place]));
    }
    const outer = [...best.keys()].sort((a, b) => best.get(b) - best.get(a)).slice(0, mostAround);
    around = new Set([...middle, ...outer]);
    asking = inside;
    const cx = middle.reduce((sum, v) => sum + home[v][0], 0) / middle.length;
    const cy = middle.reduce((sum, v) => sum + home[v][1], 0) / middle.length;
    // In the order in which they lie around the middle, so that those linked to each other stay together.
    const angle = v => Math.atan2(home[v][1] - cy, home[v][0] - cx);
    outer.sort((a, b) => angle(a) - angle(b));
    const inner = middle.length > 1 ? 62 : 0;
    ring(middle, cx, cy, 1.6 * inner, inner, -Math.PI / 2);
    const reach = Math.max(inner + 80, 8.5 * outer.length);
    ring(outer, cx, cy, 1.7 * reach, reach, outer.length ? angle(outer[0]) : 0);
    near.setAttribute("aria-pressed", "true");
    nodes.forEach((node, v) => { node.classList.toggle("away", !around.has(v)); placeNode(v); });
    hideLinks();
    fit();
  };
  const everywhere = () => {
    around = null;
    asking = new Set();
    near.setAttribute("aria-pressed", "false");
    home.forEach((place, v) => { places[v] = [...place]; nodes[v].classList.remove("away"); placeNode(v); });
    hideLinks();
    fit();
  };
  const busiest = () => linksOf.reduce((most, links, v) => links.length > linksOf[most].length ? v : most, 0);
  const asked = () => chosen !== null ? [chosen] : data.groups.length ? data.groups[0] : [busiest()];
  near.addEventListener("click", () => { if (around === null) neighbourhood(asked()); else everywhere(); });

  // The strongest links only

  const strength = find("strength");
  const ranked = [...data.links.keys()].filter(place => data.final[place])
    .sort((a, b) => data.strength[b] - data.strength[a]);
  const hideLinks = () => {
    const weak = strength ? new Set(ranked.slice(Number(strength.value))) : new Set();
    lines.forEach((line, place) => {
      line.classList.toggle("weak", weak.has(place) && !data.links[place].some(v => asking.has(v)));
      line.classList.toggle("away", around !== null && !data.links[place].every(v => around.has(v)));
    });
    if (!strength) return;
    const words = weak.size ? `strongest ${strength.value} of ${ranked.length}` : `all ${ranked.length}`;
    find("strongest-of").textContent = words;
    strength.setAttribute("aria-valuetext", words);
  };
  if (strength) strength.addEventListener("input", hideLinks);

  // Search

  const search = find("search");
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLocaleLowerCase();
    let hits = 0;
    data.variables.forEach((variable, v) => {
      const hit = variable.name.toLocaleLowerCase().includes(wanted);
      buttons[v].parentElement.hidden = !hit;
      nodes[v].classList.toggle("hit", hit && wanted !== "");
      hits += hit;
    });
    map.classList.toggle("picking", wanted !== "");
    view.declutter();
    find("matches").textContent = wanted === "" ? `${hits} columns` : `${hits} of ${nodes.length} columns`;
  });
  search.addEventListener("keydown", event => {
    const first = buttons.find(button => !button.parentElement.hidden);
    if (event.key === "Enter" && first) choose(Number(first.dataset.v), true);
    if (event.key === "Escape") { search.value = ""; search.dispatchEvent(new Event("input")); forget(); }
  });

  // Replay

  const slider = find("slider"), single = find("single");
  let step = data.steps.length, quiet = true, timer = null;
  const there = () => {
    if (single && single.checked) return new Set(data.single);
    if (quiet || !slider) return new Set([...data.links.keys()].filter(place => data.final[place]));
    const present = new Set();
    for (const { links, action } of data.steps.slice(0, step)) {
      links.forEach(place => action === "add" ? present.add(place) : present.delete(place));
    }
    return present;
  };
  const draw = () => {
    const present = there();
    const now = quiet || step === 0 || (single && single.checked) ? [] : data.steps[step - 1].links;
    const fresh = new Set(now.flatMap(place => data.links[place]));
    lines.forEach((line, place) => {
      line.classList.toggle("off", !present.has(place));
      line.classList.toggle("new", now.includes(place));
    });
    nodes.forEach((node, v) => node.classList.toggle("fresh", fresh.has(v)));
    if (!slider) return;
    slider.value = String(step);
    const words = step === 0 ? "Before the first step: no links" : `Step ${step} of ${data.steps.length}: ${data.steps[step - 1].words}`;
    find("told").textContent = words;
    slider.setAttribute("aria-valuetext", words);
    document.querySelectorAll(".steps tr.current").forEach(row => row.classList.remove("current"));
    if (!quiet && step > 0) find(`step-${step}`).classList.add("current");
  };
  const go = to => {
    step = Math.min(Math.max(to, 0), data.steps.length);
    quiet = false;
    if (single) single.checked = false;
    draw();
  };
  const stop = () => {
    clearInterval(timer);
    timer = null;
    find("play").textContent = "Play";
    find("play").setAttribute("aria-label", "Play");
  };
  const play = () => {
    if (timer !== null) { stop(); return; }
    if (step === data.steps.length) go(0);
    find("play").textContent = "Pause";
    find("play").setAttribute("aria-label", "Pause");
    const pause = Math.max(120, Math.min(1200, 20000 / data.steps.length));
    timer = setInterval(() => { go(step + 1); if (step === data.steps.length) stop(); }, pause);
  };
  if (slider) {
    slider.addEventListener("input", () => { if (timer !== null) stop(); go(Number(slider.value)); });
    find("first").addEventListener("click", () => go(0));
    find("back").addEventListener("click", () => go(step - 1));
    find("next").addEventListener("click", () => go(step + 1));
    find("play").addEventListener("click", play);
  }
  if (single) single.addEventListener("change", draw);

  // Keys on the map

  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const key = event => {
    const way = ways[event.key], far = 24 / view.k;
    if (way && event.altKey && chosen !== null) {
      places[chosen][0] += way[0] * far; places[chosen][1] += way[1] * far; placeNode(chosen);
    } else if (way && event.shiftKey) {
      view.pan(-40 * way[0], -40 * way[1]);
    } else if (way && way[0] && slider && !event.altKey && !event.ctrlKey && !event.metaKey) {
      go(step + way[0]);
    } else if (event.key === "+" || event.key === "=") { view.zoom(1.4);
    } else if (event.key === "-") { view.zoom(1 / 1.4);
    } else if (event.key === "0") { fit();
    } else if (event.key === " " && slider) { play();
    } else if (event.key === "Escape") { forget();
    } else return;
    event.preventDefault();
  };
  frame.addEventListener("keydown", event => { if (!event.ctrlKey && !event.metaKey) key(event); });

  // Paper has no buttons: everything is opened, and the whole network is shown

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach(element => { element.open = true; });
    quiet = true;
    if (strength) strength.value = strength.max;
    everywhere();
    draw();
  });
  addEventListener("afterprint", () => closed.forEach(element => { element.open = false; }));
  addEventListener("resize", () => view.look());
  // A large network with many links is a tangle: it opens with its strongest part.
  const isTangle = nodes.length > 60 && ranked.length > 1.5 * nodes.length;
  if (isTangle) strength.value = String(Math.round(1.5 * nodes.length));
  hideLinks();
  if (isTangle) neighbourhood(asked()); else fit();
  draw();
})();
