/** The cost of a kind of work by size. Both are positive, and the sizes are powers of ten. */
export type Curve = { name: string; points: { size: number; cost: number }[] };

const [width, height, left, right, top, bottom] = [720, 380, 60, 200, 20, 50];
const colors = ['#1f77b4', '#d1495b', '#2a9d58'];
const darkColors = ['#6cb6ff', '#ff8a98', '#5fd38d'];

const style = `text { font: 13px sans-serif; fill: #24292f } .grid { stroke: #d0d7de } .curve { fill: none; stroke-width: 2.5 }
${colors.map((color, n) => `.c${n} { stroke: ${color} } .t${n} { fill: ${color} }`).join(' ')}
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .grid { stroke: #444c56 }
${darkColors.map((color, n) => `.c${n} { stroke: ${color} } .t${n} { fill: ${color} }`).join(' ')} }`;

/** Returns an SVG with curves on logarithmic axes, readable on light and dark pages. The unit of cost is that of the caller. */
export function drawCurves(curves: readonly Curve[], { xTitle, yTitle }: { xTitle: string; yTitle: string }): string {
  const points = curves.flatMap((curve) => curve.points);
  const logs = (values: number[]): [number, number] => [
    Math.floor(Math.log10(Math.min(...values))),
    Math.ceil(Math.log10(Math.max(...values))),
  ];
  const [x0, x1] = logs(points.map(({ size }) => size));
  const [y0, y1] = logs(points.map(({ cost }) => cost));
  const toX = (size: number): number => left + ((Math.log10(size) - x0) / (x1 - x0)) * (width - left - right);
  const toY = (cost: number): number =>
    height - bottom - ((Math.log10(cost) - y0) / (y1 - y0)) * (height - top - bottom);
  const powers = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n));
  const text = (x: number, y: number, label: string, more = ''): string =>
    `<text x="${x}" y="${y}" ${more}>${label}</text>`;
  const line = (from: [number, number], to: [number, number]): string =>
    `<line class="grid" x1="${from[0]}" y1="${from[1]}" x2="${to[0]}" y2="${to[1]}"/>`;
  const parts = [
    ...powers(x0, x1).flatMap((size) => [
      line([toX(size), top], [toX(size), height - bottom]),
      text(toX(size), height - bottom + 18, size.toLocaleString('en'), 'text-anchor="middle"'),
    ]),
    ...powers(y0, y1).flatMap((cost) => [
      line([left, toY(cost)], [width - right, toY(cost)]),
      text(left - 8, toY(cost) + 4, String(cost), 'text-anchor="end"'),
    ]),
    text((left + width - right) / 2, height - 10, xTitle, 'text-anchor="middle"'),
    text(left, top - 7, yTitle),
    ...curves.flatMap((curve, n) => {
      const at = curve.points.map(({ size, cost }) => `${toX(size).toFixed(1)},${toY(cost).toFixed(1)}`);
      const [x, y] = at.at(-1)!.split(',').map(Number) as [number, number];
      return [
        `<polyline class="curve c${n}" points="${at.join(' ')}"/>`,
        ...curve.points.map(({ size, cost }) => `<circle class="t${n}" cx="${toX(size)}" cy="${toY(cost)}" r="4"/>`),
        text(Math.min(x + 10, width - right + 10), y + 4, curve.name, `class="t${n}"`),
      ];
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">\n<style>${style}</style>\n${parts.join('\n')}\n</svg>\n`;
}
