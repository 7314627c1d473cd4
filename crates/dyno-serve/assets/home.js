"use strict";
// Comfort only: the button says how many are ticked, and waits until there are two.
(() => {
  const form = document.getElementById("pick");
  if (!form) return;
  const button = form.querySelector("button[type=submit]");
  const boxes = [...form.querySelectorAll("input[name=run]")];
  const show = () => {
    const ticked = boxes.filter((box) => box.checked).length;
    button.disabled = ticked < 2;
    button.textContent = ticked < 2 ? "Select two to compare" : `Compare ${ticked} selected`;
  };
  form.addEventListener("change", show);
  window.addEventListener("pageshow", show);
  show();
})();
