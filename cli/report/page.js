// SPDX-License-Identifier: Apache-2.0
// Draws the charts in the colours of the page, sorts tables, and counts what it did in
// <html data-drawn data-failed>, for tests.
(() => {
  "use strict";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();

  function config() {
    const ink = colour("ink"), soft = colour("soft"), line = colour("line");
    const font = getComputedStyle(document.body).fontFamily;
    return {
      background: colour("card"),
      font,
      padding: 4,
      view: { stroke: null },
      axis: {
        labelColor: soft, titleColor: soft, labelFontSize: 11, titleFontSize: 12,
        titleFontWeight: "normal", gridColor: line, domainColor: line, tickColor: line,
        labelOverlap: true, tickCount: 5, titlePadding: 8, labelLimit: 110,
      },
      legend: {
        labelColor: soft, titleColor: soft, labelFontSize: 11, titleFontSize: 12,
        titleFontWeight: "normal", orient: "top", gradientLength: 160, labelLimit: 220,
      },
      title: { color: ink, fontSize: 13, fontWeight: 600, anchor: "start" },
      text: { color: ink },
      bar: { color: colour("first") },
      line: { color: colour("second") },
      point: { color: colour("first"), filled: true },
      rule: { color: soft },
      area: { color: colour("second") },
      range: {
        category: ["first", "second", "third", "fourth", "fifth"].map(colour),
        diverging: [colour("low"), colour("zero"), colour("high")],
        heatmap: [colour("zero"), colour("high")],
        ramp: [colour("zero"), colour("high")],
      },
    };
  }

  // {"style": "NAME"} in a spec is that colour of the page
  const marks = ["first", "second", "third", "fourth", "fifth", "ink", "soft", "line", "hidden"];
  function styles() {
    const all = {};
    for (const name of marks) {
      all[name] = { color: colour(name) };
    }
    return all;
  }

  async function draw(figure) {
    const plot = figure.querySelector(".plot");
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const meta = spec.usermeta || {};
    const { width } = plot.getBoundingClientRect();
    if (meta.aspect) {
      spec.height = Math.round(Math.max(180, Math.min(meta.most || 720, width * meta.aspect)));
    }
    const caption = figure.querySelector("figcaption");
    if (caption && !spec.description) {
      spec.description = caption.textContent;
    }
    const result = await vegaEmbed(plot, spec, {
      renderer: meta.renderer || "svg",
      actions: { export: true, source: false, compiled: false, editor: false },
      config: { ...config(), style: styles() },
      tooltip: { theme: dark.matches ? "dark" : "light" },
    });
    figure.drawn = result;
  }

  async function drawAll() {
    let drawn = 0, failed = 0;
    for (const figure of document.querySelectorAll("figure.chart")) {
      try {
        if (figure.drawn) {
          figure.drawn.finalize();
        }
        await draw(figure);
        drawn++;
      } catch (error) {
        failed++;
        figure.querySelector(".plot").textContent =
          typeof vegaEmbed === "undefined"
            ? "The chart library could not be loaded; the tables hold the numbers."
            : "This chart could not be drawn: " + error.message;
      }
    }
    root.dataset.drawn = drawn;
    root.dataset.failed = failed;
    root.dataset.overflow = root.scrollWidth - root.clientWidth;
  }

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
      const button = document.createElement("button");
      button.type = "button";
      button.append(...cell.childNodes);
      button.addEventListener("click", () => sortBy(table, column, button));
      cell.append(button);
    });
  }

  // all of a folded table is printed
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
  dark.addEventListener("change", drawAll);
  drawAll();
})();
