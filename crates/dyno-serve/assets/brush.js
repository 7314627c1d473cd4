"use strict";
// Comfort only: what is drawn over in the chart is chosen in the table, first and last interval as A and B.
(() => {
  const svg = document.querySelector(".timeline svg"), said = document.getElementById("brushed");
  const rows = [...document.querySelectorAll("#pick tbody tr")];
  if (!svg || !svg.dataset.x || rows.length < 2) return;
  const [, low, high, from, to] = svg.dataset.x.split(",").map(Number);
  const place = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  const number = (x) => Math.min(rows.length - 1, Math.max(0, Math.round(low + ((x - from) / (to - from)) * (high - low)) - 1));
  const brush = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  brush.setAttribute("class", "brush");
  brush.setAttribute("y", "0");
  brush.setAttribute("height", "100%");
  let begin = null;
  const draw = (x) => {
    brush.setAttribute("x", String(Math.min(begin, x)));
    brush.setAttribute("width", String(Math.abs(x - begin)));
  };
  svg.addEventListener("pointerdown", (event) => {
    begin = place(event).x;
    svg.append(brush);
    svg.setPointerCapture(event.pointerId);
    draw(begin);
  });
  svg.addEventListener("pointermove", (event) => { if (begin !== null) draw(place(event).x); });
  svg.addEventListener("pointerup", (event) => {
    if (begin === null) return;
    const [a, b] = [number(begin), number(place(event).x)].sort((one, other) => one - other);
    begin = null;
    rows[a].querySelector("input[name=a]").checked = true;
    rows[b].querySelector("input[name=b]").checked = true;
    said.textContent = `A is interval ${a + 1}, B is interval ${b + 1}`;
  });
})();
