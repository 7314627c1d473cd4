"use strict";
// Moves the page of something that runs: figures of the last interval that is over, and charts with one cursor across all.
(() => {
  const box = document.getElementById("charts");
  if (!box || !window.EventSource) return;
  document.documentElement.classList.add("can");
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const KEPT = 3600;
  const number = (value, digits = 3) => value == null ? "–" : Number(value.toPrecision(digits)).toLocaleString("en", { maximumFractionDigits: value < 1 ? 4 : value < 10 ? 2 : value < 100 ? 1 : 0 });
  const time = (us) => us == null ? "–" : us < 1e3 ? number(us) + " µs" : us < 1e6 ? number(us / 1e3) + " ms" : number(us / 1e6) + " s";
  const span = (s) => { s = Math.max(0, Math.round(s)); const [h, m] = [Math.floor(s / 3600), Math.floor(s / 60) % 60]; return h ? `${h} h ${m} min` : m ? `${m} min ${s % 60} s` : `${s} s`; };
  const says = document.getElementById("says"), done = document.getElementById("done");
  const set = (name, text) => { const place = document.querySelector(`[data-live=${name}]`); if (place) place.textContent = text; };

  // One column for each interval; waits and heat come beside them, by the interval's begin.
  const data = { at: [], rate: [], p50: [], p99: [], max: [], cpu: [], iowait: [], reads: [], redo: [], commits: [], active: [], waits: new Map(), heat: [] };
  const columns = ["rate", "p50", "p99", "max", "cpu", "iowait", "reads", "redo", "commits", "active"];
  const isWatch = box.dataset.kind === "watch";
  let waits = { samples: 0, classes: new Map() }, window_s = null, phase = "", marks = [], dirty = false;
  const clear = () => {
    data.at = []; data.heat = []; data.waits = new Map(); marks = [];
    columns.forEach((name) => { data[name] = []; });
    waits = { samples: 0, classes: new Map() };
    ["rate", "p50", "p99", "max", "commits", "active", "reads", "redo", "cpu"].forEach((name) => set(name, "–"));
    if (done) done.value = 0;
    dirty = true;
  };

  // The wait classes of reports, in the order of their colors.
  const CLASSES = ["CPU", "User I/O", "Commit", "Row locks", "Concurrency", "Network and client", "Other", "Locks"];
  const order = (name) => { const at = CLASSES.indexOf(name); return at < 0 ? CLASSES.length : at; };
  const colour = (name) => css("s" + (8 + Math.min(order(name), CLASSES.length - 1)));

  const charts = [];
  const figure = (title, about) => {
    const figure = document.createElement("figure"), head = document.createElement("h3"), caption = document.createElement("figcaption");
    head.textContent = title;
    caption.textContent = about;
    figure.append(head, caption);
    box.append(figure);
    return figure;
  };
  const sync = "live";
  const shade = {
    hooks: { drawClear: (u) => {
      // Warm-up is what is left of zero, and no figure is of it.
      const left = u.valToPos(Math.max(0, u.scales.x.min), "x", true), right = u.valToPos(Math.min(window_s ?? u.scales.x.max, u.scales.x.max), "x", true);
      u.ctx.save();
      u.ctx.fillStyle = css("grid");
      u.ctx.globalAlpha = 0.35;
      u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
      u.ctx.globalAlpha = 1;
      u.ctx.strokeStyle = css("s1");
      u.ctx.setLineDash([3, 3]);
      for (const mark of marks) {
        const x = u.valToPos(mark, "x", true);
        u.ctx.beginPath(); u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height); u.ctx.stroke();
      }
      u.ctx.restore();
    } },
  };
  const paint = (name) => () => css(name);
  const axis = (values, size, more) => ({ stroke: paint("dim"), grid: { stroke: paint("grid"), width: 1 }, ticks: { stroke: paint("grid") }, values, size, ...more });
  // Whole powers of ten around the values.
  const decades = (low, high) => low > 0 ? [10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(Math.max(high, low * 1.01)))] : [1, 10];
  const linear = { range: (u, low, high) => [0, high > 0 ? high * 1.08 : 1] };
  const powers = (u, at, low, high) => { const all = []; for (let power = Math.round(Math.log10(low)); 10 ** power <= high * 1.001; power++) all.push(10 ** power); return all; };
  const logarithmic = { distr: 3, log: 10, range: (u, low, high) => decades(low, high) };
  const chart = (title, about, series, values, picks, { y = linear, height = 190, hooks = {} } = {}) => {
    const place = figure(title, about);
    const options = {
      width: Math.max(280, place.clientWidth), height, cursor: { sync: { key: sync } }, plugins: [shade, { hooks }],
      scales: { x: { time: false, range: () => [warm(), until()] }, y },
      axes: [axis((u, all) => all.map((s) => s + " s"), 34), axis((u, all) => all.map((v) => v == null ? "" : values(v)), 64, y.distr === 3 ? { splits: powers } : {})],
      series: [{ label: isWatch ? "s in the watch" : "s in the window", value: (u, s) => s == null ? "–" : number(s) }, ...series.map((one) => ({ width: 1.75, points: { show: false }, value: (u, v) => v == null ? "–" : values(v), spanGaps: false, ...one }))],
    };
    const made = new uPlot(options, [[], ...series.map(() => [])], place);
    place.querySelector(".u-wrap").setAttribute("role", "img");
    place.querySelector(".u-wrap").setAttribute("aria-label", title);
    // Colours and figures of one moment; the table beneath has them with heads.
    place.querySelector(".u-legend")?.setAttribute("role", "presentation");
    charts.push({ made, place, picks, height });
    return made;
  };
  let warmup_s = 0, interval_s = 1;
  const warm = () => -Math.min(warmup_s, 600);
  // A watch may last for days, of which what was seen so far is of interest.
  const until = () => Math.max(isWatch ? 60 : window_s ?? 10, data.at.at(-1) ?? 0);
  chart("Throughput", "Shaded: the window. Dashed: intervals below half of the median.", [{ label: "operations/s", stroke: paint("s0") }], (v) => number(v), () => [data.rate]);
  chart("Response time", "Median, 99th percentile and longest of each interval.", [{ label: "p50", stroke: paint("s2") }, { label: "p99", stroke: paint("s1") }, { label: "max", stroke: paint("s7"), width: 1 }], time, () => [data.p50, data.p99, data.max].map((all) => all.map((us) => us > 0 ? us : null)), { y: logarithmic });
  // Response times of each interval as a heat map with the axes of the other charts: six bands for each power of ten.
  const edge = (row) => 10 ** (row / 6);
  const heat = (u) => {
    u.ctx.save();
    u.ctx.beginPath(); u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height); u.ctx.clip();
    u.ctx.fillStyle = css("s0");
    data.at.forEach((at, i) => {
      const column = data.heat[i];
      if (!column) return;
      const most = Math.max(...column.map(([, count]) => count));
      const left = u.valToPos(at - interval_s / 2, "x", true), right = u.valToPos(at + interval_s / 2, "x", true);
      for (const [row, count] of column) {
        const top = u.valToPos(edge(row + 1), "y", true), bottom = u.valToPos(edge(row), "y", true);
        u.ctx.globalAlpha = 0.12 + 0.88 * Math.sqrt(count / most);
        u.ctx.fillRect(left, top, Math.max(1, right - left + 0.5), bottom - top);
      }
    });
    u.ctx.restore();
  };
  const busiest = (column) => column?.reduce((most, band) => band[1] > most[1] ? band : most);
  const bands = { distr: 3, log: 10, range: () => {
    const rows = data.heat.flatMap((column) => column ? column.map(([row]) => row) : []);
    return rows.length ? decades(edge(rows.reduce((a, b) => Math.min(a, b))), edge(rows.reduce((a, b) => Math.max(a, b)) + 1)) : [1, 10];
  } };
  chart("Distribution of response times", "The stronger the color of a band, the more operations took so long.",
    [{ label: "most operations in", stroke: paint("s0"), paths: () => null, value: (u, v, s, i) => { const band = busiest(data.heat[i]); return band ? time(edge(band[0])) + " to " + time(edge(band[0] + 1)) : "–"; } }],
    time, () => [data.heat.map((column) => { const band = busiest(column); return band ? edge(band[0] + 0.5) : null; })], { y: bands, hooks: { draw: heat } });
  chart("Processors", "Of this machine, in percent.", [{ label: "busy", stroke: paint("s2") }, { label: "waiting for I/O", stroke: paint("s5") }], (v) => number(v) + " %", () => [data.cpu, data.iowait]);
  // Quantities of different units have charts of their own.
  for (const [title, about, name, unit] of [
    ["Physical reads", "Blocks per second that the database read from outside its cache.", "reads", "blocks/s"],
    ["Redo", "MB per second that the database wrote to its log.", "redo", "MB/s"],
    ["Commits", "Per second, by the database's counters.", "commits", "commits/s"],
  ]) chart(title, about, [{ label: unit, stroke: paint("s0") }], (v) => number(v), () => [data[name]], { height: 130 });

  // Sessions by class of waits, each on top of those before it; classes are known only when they come.
  let stack = null, stackPlace = null, stacked = [];
  const waitChart = () => {
    const names = [...data.waits.keys()].sort((a, b) => order(a) - order(b));
    if (!names.length) return;
    if (stack && names.join() === stacked.join()) return;
    if (stack) { stack.destroy(); stackPlace.remove(); charts.splice(charts.findIndex((one) => one.made === stack), 1); }
    stacked = names;
    const bands = names.slice(1).map((_, i) => ({ series: [i + 2, i + 1] }));
    stack = chart("Waits over time", "Sessions in each wait class, from samples since the previous interval; CPU means running or waiting for a processor.",
      names.map((name) => ({ label: name, stroke: () => colour(name), fill: () => colour(name) + "aa", value: (u, v, s, at) => number(at == null ? null : data.waits.get(name)?.[at]) })),
      (v) => number(v), () => {
        const sums = data.at.map(() => 0);
        // The next run has no waits of these classes yet.
        return names.map((name) => data.at.map((_, i) => { const v = data.waits.get(name)?.[i]; return v == null ? null : (sums[i] += v); }));
      });
    // Each class is filled down to the one below it, and not to zero.
    bands.forEach((band) => stack.addBand(band));
    stackPlace = stack.root.parentNode;
  };

  const metric = (point, ...names) => { for (const name of names) if (point.metrics[name] !== undefined) return point.metrics[name]; return null; };
  const interval = (point) => {
    if (data.at.length && point.at_s + point.seconds / 2 <= data.at.at(-1)) return;
    interval_s = point.seconds || interval_s;
    data.at.push(point.at_s + point.seconds / 2);
    data.rate.push(point.seconds > 0 && point.ops != null ? point.ops / point.seconds : null);
    data.p50.push(point.p50_us ?? null); data.p99.push(point.p99_us ?? null); data.max.push(point.max_us ?? null);
    data.cpu.push(metric(point, "cpu_busy_pct")); data.iowait.push(metric(point, "cpu_iowait_pct"));
    data.reads.push(metric(point, "physical_reads_per_s")); data.commits.push(metric(point, "commits_per_s"));
    const redo = metric(point, "redo_bytes_per_s");
    data.redo.push(redo == null ? null : redo / 1e6);
    data.active.push(metric(point, "average_active_sessions"));
    data.heat.push(null);
    for (const values of data.waits.values()) values.push(null);
    set("rate", number(data.rate.at(-1), 4)); set("p50", time(point.p50_us)); set("p99", time(point.p99_us)); set("max", time(point.max_us));
    set("commits", number(data.commits.at(-1), 4)); set("active", number(data.active.at(-1))); set("reads", number(data.reads.at(-1), 4)); set("redo", number(data.redo.at(-1), 4));
    set("cpu", data.cpu.at(-1) == null ? "–" : number(data.cpu.at(-1)) + " %");
    if (data.at.length > KEPT) {
      data.at.shift(); data.heat.shift(); columns.forEach((name) => data[name].shift());
      for (const values of data.waits.values()) values.shift();
    }
  };
  const place_of = (at_s) => data.at.findLastIndex((middle) => Math.abs(middle - interval_s / 2 - at_s) < interval_s / 2);
  // Of a database that is only looked at each interval has its own samples; what is not among them was not waited for.
  const watched = (told) => {
    interval(told);
    const at = place_of(told.at_s);
    if (at < 0 || !told.waits) return;
    const sessions = new Map(told.waits);
    for (const name of sessions.keys()) if (!data.waits.has(name)) data.waits.set(name, data.at.map(() => null));
    for (const [name, values] of data.waits) values[at] = sessions.get(name) ?? 0;
  };
  const complete = (told) => {
    const at = place_of(told.at_s);
    if (at >= 0) data.heat[at] = told.heat;
    if (told.samples > waits.samples && at >= 0) {
      const fresh = told.samples - waits.samples, sums = new Map(told.waits.map(([name, mean]) => [name, mean * told.samples]));
      for (const [name, sum] of sums) {
        if (!data.waits.has(name)) data.waits.set(name, data.at.map(() => null));
        data.waits.get(name)[at] = Math.max(0, (sum - (waits.classes.get(name) ?? 0)) / fresh);
      }
      for (const [name, values] of data.waits) if (!sums.has(name)) values[at] = 0;
      waits = { samples: told.samples, classes: sums };
    }
    const audit = document.getElementById("live-audit");
    if (audit) audit.textContent = told.found.length ? told.found.join("; ") : `${told.looks} snapshots compared, nothing changed`;
  };
  const stalls = () => {
    const rates = data.rate.filter((rate) => rate != null), sorted = [...rates].sort((a, b) => a - b), median = sorted[sorted.length >> 1] ?? 0;
    marks = sorted.length < 5 ? [] : data.at.filter((_, i) => data.rate[i] != null && data.rate[i] < median / 2);
  };

  // The same as figures, for those who do not see the charts.
  const body = document.querySelector("#intervals tbody");
  const table = () => {
    if (!body || !body.closest("details").open) return;
    body.replaceChildren(...data.at.slice(-30).map((at, i, all) => {
      const place = data.at.length - all.length + i, row = document.createElement("tr");
      const own = isWatch ? [number(data.active[place])] : [number(data.rate[place], 4), time(data.p50[place]), time(data.p99[place]), time(data.max[place])];
      const cells = [number(at, 4), ...own, number(data.cpu[place]), number(data.reads[place], 4), number(data.redo[place], 4), number(data.commits[place], 4)];
      row.append(...cells.map((text) => { const cell = document.createElement("td"); cell.className = "n"; cell.textContent = text; return cell; }));
      return row;
    }));
  };

  let run = "", asked = false;
  const say = (text) => { if (says) says.textContent = (run ? run + ", " : "") + text; };
  // What is not moved here stands on the page anew: steps of a sweep, and that it is over.
  const reload = () => { if (!asked) { asked = true; setTimeout(() => location.reload(), 300); } };
  let live = false;
  const hear = (told) => {
    switch (told.event) {
      case "phase":
        phase = told.phase;
        if (phase === "warm-up") { clear(); warmup_s = told.seconds ?? 0; window_s = null; }
        say(phase + (told.seconds ? ` of ${span(told.seconds)}` : ""));
        break;
      case "loaded": say(`${phase}, ${told.rows.toLocaleString("en")} rows`); break;
      case "progress":
        window_s = told.total_s ?? null;
        say(`${isWatch ? "watch" : "window"}, ${span(told.elapsed_s)}${told.total_s ? ` of ${span(told.total_s)}, ${span(told.total_s - told.elapsed_s)} left` : ""}`);
        if (done) done.value = told.done;
        set("errors", told.errors.toLocaleString("en"));
        break;
      case "interval": interval(told); dirty = true; break;
      case "watched": watched(told); dirty = true; break;
      // A line across the time of which nothing is known would be a figure.
      case "away":
        if (told.why) { say("the database does not answer: " + told.why); if (data.at.length) interval({ at_s: data.at.at(-1) + interval_s / 2, seconds: interval_s, metrics: {} }); }
        dirty = true;
        break;
      case "late": { const at = place_of(told.at_s); if (at >= 0) { data.rate[at] += told.ops / interval_s; dirty = true; } break; }
      case "complete": complete(told); dirty = true; break;
      case "next":
        clear();
        run = `run ${told.step.number}${told.of ? ` of ${told.of}` : ""}`;
        say("connects");
        if (live) reload();
        break;
      case "ended": if (live) reload(); break;
      case "paused": say(told.paused ? "paused before the next run" : "continues"); if (live) reload(); break;
    }
  };
  const draw = () => {
    if (!dirty || document.hidden) return;
    dirty = false;
    stalls();
    waitChart();
    for (const { made, place, picks } of charts) {
      const values = picks(), has = values.some((one) => one.some((v) => v != null));
      place.hidden = !has;
      if (!has) continue;
      made.setData([data.at, ...values]);
      // Nobody points at anything: the last interval is told.
      if (made.cursor.idx == null) made.setLegend({ idx: data.at.length - 1 });
    }
    table();
  };
  setInterval(draw, 500);
  document.addEventListener("visibilitychange", () => { dirty = true; draw(); });
  const redraw = () => { for (const { made } of charts) made.redraw(false); dirty = true; draw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("resize", () => { for (const { made, place, height } of charts) if (place.clientWidth) made.setSize({ width: place.clientWidth, height }); dirty = true; });

  const source = new EventSource(box.dataset.events);
  // What has happened before is not news.
  setTimeout(() => { live = true; }, 1500);
  source.onmessage = (event) => hear(JSON.parse(event.data));
  source.addEventListener("over", () => { source.close(); reload(); });
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) say("the server does not answer; running jobs continue"); };
})();
