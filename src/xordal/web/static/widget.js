// The widget: what the page shows of a network; questions go to the kernel.
const render = ({ model, el }) => {
  el.classList.add("xordal-widget");
  const network = model.get("network"), mine = Math.random().toString(36).slice(2), waiting = new Map();
  let n = 0;
  const hear = message => {
    const resolve = waiting.get(message.id);
    if (!resolve) return;
    waiting.delete(message.id);
    resolve(message.answer);
  };
  model.on("msg:custom", hear);
  const ask = question => new Promise((resolve, reject) => {
    const id = `${mine}-${++n}`;
    waiting.set(id, answer => answer.error ? reject(new Error(answer.error)) : resolve(answer));
    model.send({ id, question });
  });
  const asking = made("div");
  let own = "";
  const bench = new Workbench(asking, network, ask, given => {
    own = JSON.stringify(given);
    model.set("given", given);
    model.save_changes();
  });
  const words = thatHide(network);
  if (words) el.append(made("details", { class: "what-hides" }, made("summary", { text: words }), whatHides(network, bench, mine)));
  el.append(asking);
  bench.open();
  const follow = () => { if (JSON.stringify(model.get("given")) !== own) bench.panel.set(new Map(model.get("given"))); };
  bench.panel.begin(model.get("given")).then(() => model.on("change:given", follow));
  return () => { model.off("msg:custom", hear); model.off("change:given", follow); bench.end(); };
};
export default { render };
