// SPDX-License-Identifier: Apache-2.0
// The page is whole without this: it sorts tables, unfolds them for print, and saves charts.
(() => {
  "use strict";
  const make = (words, label, action) => {
    const button = Object.assign(document.createElement("button"), { type: "button", title: label });
    button.append(...words);
    button.addEventListener("click", () => action(button));
    return button;
  };

  function sortBy(table, column, button) {
    const body = table.tBodies[0], down = button.dataset.order !== "down";
    const key = (row) => {
      const cell = row.cells[column];
      const number = parseFloat(cell.dataset.value ?? cell.textContent);
      return isNaN(number) ? cell.textContent : number;
    };
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => {
      if (typeof a !== typeof b) {
        return typeof a === "number" ? -1 : 1;
      }
      const order = typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
      return down ? -order : order;
    });
    for (const other of table.querySelectorAll("th button")) {
      delete other.dataset.order;
      other.parentElement.removeAttribute("aria-sort");
    }
    button.dataset.order = down ? "down" : "up";
    button.parentElement.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows.map(([, row]) => row));
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      cell.append(make([...cell.childNodes], "sort", (button) => sortBy(table, column, button)));
    });
  }

  // a chart as it looks now, with the style in each element, for programs that know no CSS
  const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray",
    "stroke-linecap", "stroke-linejoin", "stop-color", "font-family", "font-size", "text-anchor"];
  function save(svg) {
    const copy = svg.cloneNode(true), { width, height } = svg.viewBox.baseVal;
    const drawn = (one) => [...one.querySelectorAll("path, text, stop")];
    const copies = drawn(copy);
    drawn(svg).forEach((element, i) => {
      const style = getComputedStyle(element);
      copies[i].setAttribute("style", kept.map((name) => name + ":" + style[name]).join(";"));
    });
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const text = new XMLSerializer().serializeToString(copy), link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    link.download = svg.querySelector("title").textContent.replace(/[^\p{L}\p{N}]+/gu, "-") + ".svg";
    link.click();
    URL.revokeObjectURL(link.href);
  }
  for (const svg of document.querySelectorAll("svg.plot")) {
    svg.after(make(["\u2913"], "save this chart as SVG", () => save(svg)));
  }

  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details:not([open])")) {
      folded.open = true;
      folded.dataset.folded = "";
    }
  });
  addEventListener("afterprint", () => {
    for (const folded of document.querySelectorAll("details[data-folded]")) {
      folded.open = false;
    }
  });
})();
