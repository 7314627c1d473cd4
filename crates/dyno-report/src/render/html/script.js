"use strict";
// Comfort only: the page says everything without this. Values under the pointer, series on and off, zoom, light and dark.
(() => {
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const SVG = "http://www.w3.org/2000/svg";
  root.classList.add("can");

  const theme = document.getElementById("theme");
  // A page that only contains the head of a report has no such button.
  if (theme) theme.hidden = false;
  theme?.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // An axis as the drawing described it: between places in the picture and values.
  const axis = (text) => {
    const [kind, low, high, from, to, size, suffix] = text.split(",");
    const log = kind === "log", f = log ? Math.log : (v) => v, g = log ? Math.exp : (v) => v;
    const [a, b, p, q] = [f(+low), f(+high), +from, +to];
    return { size: +size, suffix, from: p, to: q, value: (place) => g(a + ((place - p) / (q - p)) * (b - a)), place: (v) => p + ((f(v) - a) / (b - a)) * (q - p) };
  };
  const show = (value) => {
    const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
    return value.toLocaleString("en", { maximumFractionDigits: digits });
  };
  const round = (low, high) => {
    const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].find((digit) => digit * power >= rough) * power;
    const ticks = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-9; tick += step) ticks.push(tick);
    return ticks;
  };

  // Tables: a click on a head sorts, and a note says that there is more to the right.
  const UNITS = { "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400, "k": 1e3, "M": 1e6, "G": 1e9, "KiB": 1024, "MiB": 1048576, "GiB": 1073741824 };
  const number = (text) => {
    const found = /^\s*[+<]?\s*(-?[\d,]+(?:\.\d+)?)\s*([^\s\d†]*)/.exec(text);
    return found ? +found[1].replaceAll(",", "") * (UNITS[found[2]] || 1) : NaN;
  };
  const order = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
    return Number.isNaN(x) ? a.localeCompare(b, "en") : x - y;
  };
  for (const table of document.querySelectorAll(".scroll table")) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 2 || table.querySelector("[colspan]")) continue;
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      // A screen reader could not name the button of a column without a heading.
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].sort((a, b) => order(a.cells[at].textContent, b.cells[at].textContent));
        body.replaceChildren(...(up ? rows : rows.reverse()));
      });
    });
  }
  const more = () => {
    for (const box of document.querySelectorAll(".scroll")) {
      const is = box.scrollWidth > box.clientWidth + 4, note = box.previousElementSibling;
      const there = note && note.classList.contains("more");
      if (is && !there) {
        const told = document.createElement("p");
        told.className = "more"; told.textContent = "More columns to the right: scroll the table →";
        box.before(told);
      } else if (!is && there) note.remove();
    }
  };
  more();
  addEventListener("resize", more);
  document.addEventListener("toggle", more, true);

  // A printed page has all its sections, also in browsers whose style cannot open them.
  addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details:not(.figures)")) part.open = true; });

  for (const svg of document.querySelectorAll("svg.chart")) {
    const plot = svg.querySelector(".plot"), x = axis(svg.dataset.x), y = axis(svg.dataset.y);
    const series = [...svg.querySelectorAll(".plot .series")];
    const ordinal = svg.querySelector("rect.ar") !== null;
    const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const inside = (p) => p.x >= x.from && p.x <= x.to && p.y <= y.from && p.y >= y.to;
    // What zoom shows of the picture: places u of it lie at k * u + d.
    let view = { kx: 1, dx: 0, ky: 1, dy: 0 };

    // Legend: a click takes a series away or brings it back.
    for (const key of svg.querySelectorAll(".key[data-i]")) {
      const toggle = () => {
        const off = key.classList.toggle("dimmed");
        series.filter((g) => g.dataset.i === key.dataset.i).forEach((g) => g.classList.toggle("off", off));
        svg.querySelectorAll(`.labels [data-i="${key.dataset.i}"]`).forEach((g) => g.classList.toggle("off", off));
        key.setAttribute("aria-pressed", String(!off));
      };
      key.setAttribute("tabindex", "0");
      key.setAttribute("role", "button");
      key.addEventListener("click", toggle);
      key.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); } });
    }

    // The browser's own title would cover the value shown here.
    for (const title of svg.querySelectorAll("title")) {
      title.parentNode.dataset.title = title.textContent;
      title.closest("a")?.setAttribute("aria-label", title.textContent);
      title.remove();
    }
    const places = (group) => {
      // Of many points only some have a marker; those without are told from the line.
      const marked = [...group.querySelectorAll("path.m")].map((m) => { const t = m.transform.baseVal[0].matrix; return { x: t.e, y: t.f, text: m.dataset.title }; });
      const line = group.querySelector("path.w,path.ln,path.fit");
      const points = line ? [...line.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g)].map((m) => ({ x: +m[1], y: +m[2] })) : [];
      return points.length > marked.length ? marked.concat(points) : marked;
    };
    const told = (event) => {
      const p = at(event);
      const hit = event.target.dataset && event.target.dataset.title;
      if (hit) return hit;
      if (!inside(p)) return "";
      let best = { far: 24 };
      for (const group of series.filter((g) => !g.classList.contains("off"))) {
        for (const q of places(group)) {
          const far = Math.hypot(q.x - p.x, q.y - p.y);
          if (far < best.far) best = { far, q, name: group.dataset.name };
        }
      }
      if (!best.q) return "";
      if (best.q.text) return best.q.text;
      const back = { x: (best.q.x - view.dx) / view.kx, y: (best.q.y - view.dy) / view.ky };
      return `${best.name}: ${show(y.value(back.y) / y.size)}${y.suffix} at ${show(x.value(back.x) / x.size)}${x.suffix}`;
    };
    const tell = (event) => {
      const text = told(event);
      tip.hidden = !text;
      if (!text) return;
      tip.textContent = text;
      const box = tip.getBoundingClientRect();
      tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4))}px`;
      tip.style.top = `${Math.max(4, event.clientY - box.height - 12)}px`;
    };
    svg.addEventListener("pointermove", tell);
    svg.addEventListener("pointerdown", tell);
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });

    // Zoom: drag over a part with the mouse; columns are not zoomed.
    if (ordinal) continue;
    const caption = svg.parentNode.querySelector("figcaption");
    const first = { paths: [], marks: [], x: svg.querySelector(".axis-x").cloneNode(true), y: svg.querySelector(".axis-y").cloneNode(true), grid: svg.querySelector("path.g").getAttribute("d") };
    for (const path of plot.querySelectorAll("path:not(.m)")) first.paths.push([path, path.getAttribute("d")]);
    for (const mark of plot.querySelectorAll("path.m")) { const t = mark.transform.baseVal[0].matrix; first.marks.push([mark, t.e, t.f]); }
    const tiles = [...plot.querySelectorAll("rect.ht")].map((tile) => [tile, ...["x", "y", "width", "height"].map((name) => +tile.getAttribute(name))]);
    const rings = [...plot.querySelectorAll("circle.ring")].map((ring) => [ring, +ring.getAttribute("cx"), +ring.getAttribute("cy")]);
    const labels = [...svg.querySelectorAll(".labels text")].map((text) => [text, +text.getAttribute("x"), +text.getAttribute("y")]);
    const fix = (n) => Math.round(n * 10) / 10;
    const moved = (d) => d.replace(/([MLHVh])\s*([-\d.]+)(?: ([-\d.]+))?/g, (all, command, a, b) => {
      if (command === "h") return all;
      if (command === "V") return `V${fix(view.ky * a + view.dy)}`;
      if (command === "H") return `H${fix(view.kx * a + view.dx)}`;
      return `${command}${fix(view.kx * a + view.dx)} ${fix(view.ky * b + view.dy)}`;
    });
    const ticks = (group, of, scale, horizontal) => {
      const k = horizontal ? view.kx : view.ky, d = horizontal ? view.dx : view.dy;
      const ends = [of.from, of.to].map((place) => of.value((place - d) / k) / of.size);
      const sample = group.querySelector("text");
      if (!sample) return "";
      let grid = "";
      const texts = round(Math.min(...ends), Math.max(...ends)).map((tick) => {
        const place = fix(k * of.place(tick * of.size) + d), text = sample.cloneNode(false);
        text.setAttribute(horizontal ? "x" : "y", horizontal ? place : place + 4);
        text.textContent = show(tick) + of.suffix;
        grid += horizontal ? `M${place} ${y.to}V${y.from}` : `M${x.from} ${place}H${x.to}`;
        return text;
      });
      group.replaceChildren(...texts);
      return grid;
    };
    const apply = (zoomed) => {
      for (const [path, d] of first.paths) path.setAttribute("d", zoomed ? moved(d) : d);
      for (const [mark, e, f] of first.marks) mark.setAttribute("transform", `translate(${fix(view.kx * e + view.dx)} ${fix(view.ky * f + view.dy)})`);
      for (const [tile, a, b, w, h] of tiles) {
        const box = { x: view.kx * a + view.dx, y: view.ky * b + view.dy, width: view.kx * w, height: view.ky * h };
        for (const name in box) tile.setAttribute(name, fix(box[name]));
      }
      for (const [ring, a, b] of rings) { ring.setAttribute("cx", fix(view.kx * a + view.dx)); ring.setAttribute("cy", fix(view.ky * b + view.dy)); }
      // A label keeps its distance to its point; outside of the plot it is not shown.
      for (const [text, a, b] of labels) {
        const [p, q] = [view.kx * a + view.dx, view.ky * b + view.dy];
        text.setAttribute("x", fix(p)); text.setAttribute("y", fix(q));
        text.classList.toggle("off", p < x.from - 6 || p > x.to || q < y.to || q > y.from + 6);
      }
      svg.classList.toggle("zoomed", zoomed);
      const [gx, gy] = [svg.querySelector(".axis-x"), svg.querySelector(".axis-y")];
      const grid = zoomed ? ticks(gy, y, view, false) + ticks(gx, x, view, true) : first.grid;
      svg.querySelector("path.g").setAttribute("d", grid);
      if (!zoomed) { gx.replaceWith(first.x.cloneNode(true)); gy.replaceWith(first.y.cloneNode(true)); }
      back.hidden = !zoomed;
    };
    const back = document.createElement("button");
    back.className = "back"; back.type = "button"; back.textContent = "whole chart"; back.hidden = true;
    back.addEventListener("click", () => { view = { kx: 1, dx: 0, ky: 1, dy: 0 }; apply(false); });
    if (caption) caption.append(back);
    let begin = null, frame = null;
    svg.addEventListener("pointerdown", (event) => {
      const p = at(event);
      if (event.pointerType !== "mouse" || event.button !== 0 || !inside(p)) return;
      begin = p;
      frame = document.createElementNS(SVG, "rect");
      frame.setAttribute("class", "frame");
      svg.append(frame);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!begin) return;
      const p = at(event);
      const box = { x: Math.min(p.x, begin.x), y: Math.min(p.y, begin.y), width: Math.abs(p.x - begin.x), height: Math.abs(p.y - begin.y) };
      for (const name in box) frame.setAttribute(name, box[name]);
    });
    const end = (event) => {
      if (!begin) return;
      const p = at(event), from = begin;
      frame.remove(); begin = null; frame = null;
      if (Math.abs(p.x - from.x) < 12 || Math.abs(p.y - from.y) < 12) return;
      const clamp = (v, a, b) => Math.max(Math.min(a, b), Math.min(Math.max(a, b), v));
      const [x0, x1] = [p.x, from.x].map((v) => clamp(v, x.from, x.to)).sort((a, b) => a - b);
      const [y0, y1] = [p.y, from.y].map((v) => clamp(v, y.from, y.to)).sort((a, b) => a - b);
      const kx = (x.to - x.from) / (x1 - x0), ky = (y.from - y.to) / (y1 - y0);
      view = { kx: view.kx * kx, dx: kx * (view.dx - x0) + x.from, ky: view.ky * ky, dy: ky * (view.dy - y0) + y.to };
      apply(true);
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("dragstart", (event) => event.preventDefault());
  }
})();
