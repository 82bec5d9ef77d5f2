// Elements, made without a line of HTML in a string.

const SVG = "http://www.w3.org/2000/svg";

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export const h = (name, attributes = {}, ...children) => made(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => made(document.createElementNS(SVG, name), attributes, children);

// Changes the text in place: what is shown changes for days, and leaves nothing behind.
export function setText(element, text) {
  const wanted = String(text);
  const { firstChild } = element;
  if (element.childNodes.length !== 1 || firstChild.nodeType !== Node.TEXT_NODE) element.textContent = wanted;
  else if (firstChild.data !== wanted) firstChild.data = wanted;
}

let clearing;

// Says something to whoever looks or listens; it goes away by itself.
export function say(text, isBad = false) {
  const said = document.getElementById("said");
  clearTimeout(clearing);
  said.classList.toggle("bad", isBad);
  setText(said, text);
  clearing = setTimeout(() => setText(said, ""), 6000);
}

// A list of terms and what they are now.
export function facts() {
  const element = h("dl", { class: "facts" });
  const shown = new Map();
  return {
    element,
    update(entries) {
      for (const [term, dd] of shown) {
        if (!entries.some(([name]) => name === term)) {
          dd.parentElement.remove();
          shown.delete(term);
        }
      }
      for (const [term, value, isBad = false] of entries) {
        if (!shown.has(term)) {
          const dd = h("dd");
          element.append(h("div", {}, h("dt", {}, term), dd));
          shown.set(term, dd);
        }
        const dd = shown.get(term);
        dd.classList.toggle("bad", Boolean(isBad));
        setText(dd, value);
      }
    },
  };
}

// Large numbers with their names, always as many; those that want to be looked at stand out.
export function tiles() {
  const element = h("ul", { class: "tiles" });
  const shown = [];
  return {
    element,
    update(entries) {
      entries.forEach(({ name, value, href, alarm = false }, place) => {
        if (!shown[place]) {
          const tile = { number: h("b"), name: href ? h("a", { href }) : h("span") };
          tile.item = h("li", {}, tile.number, tile.name);
          element.append(tile.item);
          shown[place] = tile;
        }
        const tile = shown[place];
        tile.item.classList.toggle("alarm", alarm);
        setText(tile.number, value);
        setText(tile.name, name);
      });
    },
  };
}

// A table whose rows stay the same elements as long as they stand for the same thing, so that nobody loses their place.
//
// A column is { head, value(row), kind?: "number" | "text" | "code", href?(row), act?: { label, run(row) }, sort? }.
export function table({ caption, columns, key, empty, sorted = null, onsort = null }) {
  const body = h("tbody");
  const heads = columns.map((column) => {
    const text = column.sort && onsort
      ? h("button", { type: "button", onclick: () => onsort(column.sort) }, column.head)
      : column.head;
    return h("th", { scope: "col", class: column.kind === "number" ? "number" : null }, text);
  });
  const nothing = h("p", { class: "empty" }, empty);
  const whole = h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, heads)), body);
  const element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, whole, nothing);
  const rows = new Map();

  function build() {
    const row = { current: null };
    row.cells = columns.map((column) => {
      const cell = h("td", { class: column.kind ?? null });
      if (column.act) cell.append(h("button", { type: "button", onclick: () => column.act.run(row.current) }, column.act.label));
      else if (column.href) cell.append(h("a"));
      return cell;
    });
    row.element = h("tr", {}, row.cells);
    return row;
  }

  function fill(row, of) {
    row.current = of;
    columns.forEach((column, place) => {
      const cell = row.cells[place];
      if (column.act) cell.firstChild.hidden = column.act.when ? !column.act.when(of) : false;
      else if (column.href) {
        setText(cell.firstChild, column.value(of));
        cell.firstChild.setAttribute("href", column.href(of));
      } else setText(cell, column.value(of));
    });
  }

  return {
    element,
    sort(by) {
      columns.forEach((column, place) => {
        const direction = by && column.sort === by.sort ? (by.order === "asc" ? "ascending" : "descending") : null;
        if (direction) heads[place].setAttribute("aria-sort", direction);
        else heads[place].removeAttribute("aria-sort");
      });
    },
    update(list) {
      const wanted = new Set();
      list.forEach((of, place) => {
        const name = key(of, place);
        wanted.add(name);
        if (!rows.has(name)) rows.set(name, build());
        const row = rows.get(name);
        fill(row, of);
        if (body.children[place] !== row.element) body.insertBefore(row.element, body.children[place] ?? null);
      });
      for (const [name, row] of rows) {
        if (!wanted.has(name)) {
          // Whoever was there by keyboard stays at the table.
          if (row.element.contains(document.activeElement)) element.focus();
          row.element.remove();
          rows.delete(name);
        }
      }
      nothing.hidden = list.length > 0;
      whole.hidden = list.length === 0;
      if (sorted) this.sort(sorted());
    },
  };
}
