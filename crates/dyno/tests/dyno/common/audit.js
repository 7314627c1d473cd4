// What WCAG 2.2 AA asks of a page and a program can count, as lines of what is wrong: contrast of texts, names of controls, places
// that a keyboard cannot reach. Run as an expression in the page.
(() => {
  const wrong = new Set();
  const spell = (element) => element.tagName.toLowerCase() + (element.id ? "#" + element.id : "") + (element.getAttribute("class") ? "." + element.getAttribute("class").trim().replace(/\s+/g, ".") : "");
  // Colours come as rgb(), rgba() or color(srgb …).
  const parts = (text) => {
    const numbers = text.match(/[\d.]+(e-?\d+)?/g).map(Number), srgb = text.startsWith("color(");
    return [...numbers.slice(0, 3).map((part) => (srgb ? part * 255 : part)), numbers[3] ?? 1];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => part * a + below[i] * (1 - a)).concat(1);
  const known = new Map();
  const behind = (element) => {
    if (!element) return [255, 255, 255, 1];
    if (!known.has(element)) known.set(element, over(parts(getComputedStyle(element).backgroundColor), behind(element.parentElement)));
    return known.get(element);
  };
  const luminance = (colour) => colour.slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility() || element.closest("svg, script, style, [disabled]")) continue;
    const style = getComputedStyle(element), below = behind(element), own = over(parts(style.color), below);
    const [light, dark] = [luminance(own), luminance(below)].sort((a, b) => b - a), ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize), is_large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (is_large ? 3 : 4.5)) wrong.add(`contrast ${ratio.toFixed(2)} of ${spell(element)}: ${texts.currentNode.data.trim().slice(0, 40)}`);
  }
  const is_named = (element) => [element.getAttribute("aria-label"), element.textContent, element.title, ...[...(element.labels ?? [])].map((label) => label.textContent)].some((text) => text?.trim()) || element.hasAttribute("aria-labelledby");
  for (const element of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary, [role=img], [role=region], progress"))
    if (!is_named(element) && !element.querySelector("title, [aria-label]")) wrong.add(`no name: ${spell(element)}, ${element.outerHTML.slice(0, 120)}`);
  for (const element of document.querySelectorAll("[tabindex]")) if (element.tabIndex > 0) wrong.add(`an order of its own: ${spell(element)}`);
  for (const element of document.querySelectorAll("[onclick], .scroll")) if (element.tabIndex < 0) wrong.add(`not for a keyboard: ${spell(element)}`);
  for (const element of document.querySelectorAll("a:not([href]), area:not([href])")) wrong.add(`leads nowhere: ${spell(element)}`);
  for (const table of document.querySelectorAll("table")) if (table.getAttribute("role") !== "presentation" && !table.querySelector("th[scope]")) wrong.add(`a table without heads: ${spell(table)}`);
  for (const figure of document.querySelectorAll("figure")) if (figure.querySelector("svg.chart") && !figure.querySelector("table") && !document.querySelector("table")) wrong.add(`a chart without its figures: ${spell(figure)}`);
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  ids.filter((id, at) => ids.indexOf(id) !== at).forEach((id) => wrong.add(`two of the name ${id}`));
  if (!document.documentElement.lang || !document.title) wrong.add("no language or no title");
  const heads = [...document.querySelectorAll("h1")].filter((head) => head.checkVisibility()).length;
  if (heads !== 1) wrong.add(`${heads} h1`);
  const skip = document.querySelector("a.skip");
  if (skip && !document.querySelector(skip.getAttribute("href"))) wrong.add("the content cannot be skipped to");
  return [...wrong];
})()
