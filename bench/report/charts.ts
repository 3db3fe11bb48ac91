/**
 * Charts of the published figures as SVG, made of the same results as the tables beside them: `npm run bench -- all --only none`
 * writes them to `docs/charts`. Self-contained, readable in light and dark, every series named at its end instead of in a legend.
 */
export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  /** Ours is drawn in the accent color. */
  readonly isOurs: boolean;
}

export interface ChartOptions {
  readonly title: string;
  /** One sentence under the title: what is better, and where the figures come from. */
  readonly subtitle: string;
  readonly x: Axis;
  readonly y: Axis;
}

export interface Axis {
  readonly label: string;
  readonly scale: "linear" | "log";
  readonly ticks: readonly number[];
  show(value: number): string;
}

const WIDTH = 760;
const HEIGHT = 400;
const PLOT = { left: 64, right: 236, top: 92, bottom: 46 };

/** Lines with a dot at each figure. */
export function lineChart(series: readonly Series[], options: ChartOptions): string {
  const { x, y } = scales(options);
  const ends = spread(series.map(({ points }) => y(points.at(-1)![1])));
  const lines = series.map(({ name, points, isOurs }, index) => {
    const places = points.map(([px, py]) => `${round(x(px))},${round(y(py))}`);
    const dots = places.map((place) => {
      const [cx, cy] = place.split(",");
      return `<circle cx="${cx}" cy="${cy}" r="3.5"/>`;
    });
    const [endX] = places.at(-1)!.split(",");
    const last = options.y.show(points.at(-1)![1]);
    return `<g class="${isOurs ? "ours" : "other"}"><polyline points="${places.join(" ")}"/>${dots.join("")}<text x="${Number(endX) + 10}" y="${round(ends[index]! + 4)}">${escaped(name)}: ${escaped(last)}</text></g>`;
  });
  return frame(options, lines);
}

export interface Dot {
  readonly x: number;
  readonly y: number;
  /** Written beside the dot; null where the group's name in the legend is enough. */
  readonly label: string | null;
  /** Measured on data not used for tuning. */
  readonly isHeldOut: boolean;
}

export interface DotGroup {
  readonly name: string;
  readonly isOurs: boolean;
  readonly dots: readonly Dot[];
}

/** A dot for each policy, filled where the data was kept back. Groups differ in color and are named on the right. */
export function scatterChart(groups: readonly DotGroup[], options: ChartOptions): string {
  const { x, y } = scales(options);
  const marks = groups.map(({ name, isOurs, dots }, index) => {
    const color = isOurs ? "ours" : `group${index % 4}`;
    const circles = dots.map((dot) => {
      const [cx, cy] = [round(x(dot.x)), round(y(dot.y))];
      const text = dot.label === null ? "" : `<text x="${cx + 9}" y="${cy + 4}">${escaped(dot.label)}</text>`;
      return `<circle class="${dot.isHeldOut ? "filled" : "hollow"}" cx="${cx}" cy="${cy}" r="${isOurs ? 7 : 5}"/>${text}`;
    });
    const row = PLOT.top + 20 * index;
    const left = WIDTH - PLOT.right + 30;
    const legend = `<circle class="filled" cx="${left}" cy="${row}" r="5"/><text x="${left + 12}" y="${row + 4}">${escaped(name)}</text>`;
    return `<g class="${color}">${circles.join("")}${legend}</g>`;
  });
  // The first group is drawn last, above the others.
  return frame(options, marks.toReversed());
}

export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

/** The same axes side by side, one panel for each data set. Series are told apart by color and dashes, and named once below. */
export function panelChart(panels: readonly Panel[], options: ChartOptions): string {
  const room = WIDTH - PLOT.left - 24;
  const width = room / panels.length;
  const y = position(options.y, HEIGHT - PANEL_BOTTOM, PLOT.top + 14);
  const names = [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))];
  const drawn = panels.map(({ title, series }, index) => {
    const left = PLOT.left + index * width;
    const x = position(options.x, left + 14, left + width - PANEL_GAP - 14);
    return [
      `<text class="panel" x="${round(left + width / 2 - PANEL_GAP / 2)}" y="${PLOT.top}" text-anchor="middle">${escaped(title)}</text>`,
      panelAxes(options, { x, y, left: round(left), right: round(left + width - PANEL_GAP), isFirst: index === 0 }),
      ...series.map(({ name, points, isOurs }) => {
        const places = points.map(([px, py]) => `${round(x(px))},${round(y(py))}`);
        const dots = places.map((place) => `<circle cx="${place.split(",")[0]}" cy="${place.split(",")[1]}" r="3.5"/>`);
        return `<g class="${isOurs ? "ours" : `group${names.indexOf(name) % 4}`}"><polyline points="${places.join(" ")}"/>${dots.join("")}</g>`;
      }),
    ].join("");
  });
  const isOurs = (name: string) => panels.some(({ series }) => series.some((one) => one.name === name && one.isOurs));
  const legend = names.map((name, index) => {
    const left = PLOT.left + index * (room / names.length);
    const row = HEIGHT - 14;
    return `<g class="${isOurs(name) ? "ours" : `group${index % 4}`}"><polyline points="${round(left)},${row - 4} ${round(left + 22)},${row - 4}"/><text x="${round(left + 28)}" y="${row}">${escaped(name)}</text></g>`;
  });
  return sheet(options, [...drawn, ...legend]);
}

const PANEL_BOTTOM = 78;
/** Wide enough for the last figure of one axis beside the first of the next. */
const PANEL_GAP = 40;

interface PanelPlace {
  x(value: number): number;
  y(value: number): number;
  readonly left: number;
  readonly right: number;
  /** Only the first panel names the rows. */
  readonly isFirst: boolean;
}

function panelAxes(options: ChartOptions, { x, y, left, right, isFirst }: PanelPlace): string {
  const rows = options.y.ticks.map((tick) => {
    const place = round(y(tick));
    const text = isFirst
      ? `<text x="${left - 8}" y="${place + 4}" text-anchor="end">${escaped(options.y.show(tick))}</text>`
      : "";
    return `<line x1="${left}" y1="${place}" x2="${right}" y2="${place}"/>${text}`;
  });
  const columns = options.x.ticks.map(
    (tick) =>
      `<text x="${round(x(tick))}" y="${HEIGHT - PANEL_BOTTOM + 18}" text-anchor="middle">${escaped(options.x.show(tick))}</text>`,
  );
  const label = `<text x="${right}" y="${HEIGHT - PANEL_BOTTOM + 36}" text-anchor="end">${escaped(options.x.label)}</text>`;
  return `<g class="axis">${rows.join("")}${columns.join("")}${label}</g>`;
}

function scales({ x, y }: ChartOptions): { x(value: number): number; y(value: number): number } {
  const across = position(x, PLOT.left, WIDTH - PLOT.right);
  const down = position(y, HEIGHT - PLOT.bottom, PLOT.top);
  return { x: across, y: down };
}

function position({ scale, ticks }: Axis, from: number, to: number): (value: number) => number {
  const at = scale === "log" ? Math.log10 : (value: number) => value;
  const [least, most] = [at(ticks[0]!), at(ticks.at(-1)!)];
  return (value) => from + ((at(value) - least) / (most - least)) * (to - from);
}

/** Labels at least a line apart, in their order, moved as little as that needs. */
function spread(places: readonly number[], apart = 17): readonly number[] {
  const order = places.map((place, index) => ({ place, index })).sort((one, other) => one.place - other.place);
  for (let at = 1; at < order.length; at += 1)
    order[at]!.place = Math.max(order[at]!.place, order[at - 1]!.place + apart);
  return order.sort((one, other) => one.index - other.index).map(({ place }) => place);
}

function frame(options: ChartOptions, marks: readonly string[]): string {
  const { x, y } = options;
  const at = scales(options);
  const bottom = HEIGHT - PLOT.bottom;
  const right = WIDTH - PLOT.right;
  const rows = y.ticks.map((tick) => {
    const place = round(at.y(tick));
    return `<line x1="${PLOT.left}" y1="${place}" x2="${right}" y2="${place}"/><text x="${PLOT.left - 8}" y="${place + 4}" text-anchor="end">${escaped(y.show(tick))}</text>`;
  });
  const columns = x.ticks.map(
    (tick) => `<text x="${round(at.x(tick))}" y="${bottom + 18}" text-anchor="middle">${escaped(x.show(tick))}</text>`,
  );
  const axis = `<g class="axis">${rows.join("")}${columns.join("")}<text x="${right}" y="${HEIGHT - 8}" text-anchor="end">${escaped(x.label)}</text><text x="20" y="${PLOT.top - 16}">${escaped(y.label)}</text></g>`;
  return sheet(options, [axis, ...marks]);
}

/** Title, ground and styles around what a chart draws. */
function sheet({ title, subtitle }: ChartOptions, marks: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(`${title}. ${subtitle}`)}">
<style>${STYLE}</style>
<rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="8"/>
<text class="title" x="20" y="30">${escaped(title)}</text>
<text class="subtitle" x="20" y="50">${escaped(subtitle)}</text>
${marks.join("\n")}
</svg>
`;
}

const STYLE = [
  "text{font:13px system-ui,sans-serif;fill:#3d4450}.title{font-weight:600;font-size:16px;fill:#14181f}.subtitle{fill:#5b6472}",
  ".ground{fill:#fff}.axis line{stroke:#dfe3e8}.axis text{fill:#5b6472;font-size:12px}",
  "polyline{fill:none;stroke-width:2.5}.ours polyline{stroke:#0f6f6a}.ours circle{fill:#0f6f6a}.ours text{fill:#0b5753;font-weight:600}",
  ".other polyline{stroke:#a4783c;stroke-dasharray:5 4}.other circle{fill:#a4783c}",
  ".panel{font-weight:600}.group0,.group1,.group2,.group3{--mark:#a4783c}.group1{--mark:#7a5ea8}.group2{--mark:#5b6472}.group3{--mark:#b0526a}.ours{--mark:#0f6f6a}",
  "g[class^=group] polyline{stroke:var(--mark);stroke-dasharray:5 4}g[class^=group] circle{fill:var(--mark)}.hollow{fill-opacity:0;stroke:var(--mark);stroke-width:2}.filled{fill:var(--mark)}",
  "@media (prefers-color-scheme:dark){.ground{fill:#12161c}text,.axis text,.subtitle{fill:#aab3c0}.title{fill:#eef1f5}.axis line{stroke:#2b323c}.ours polyline{stroke:#4fd1c5}.ours circle{fill:#4fd1c5}.ours text{fill:#7fe3d9}.other polyline{stroke:#d9a865}.other circle{fill:#d9a865}.group0{--mark:#d9a865}.group1{--mark:#b79ce0}.group2{--mark:#aab3c0}.group3{--mark:#e08aa0}.ours{--mark:#4fd1c5}}",
].join("");

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
