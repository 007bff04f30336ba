import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/**
 * Writes src/detection/analysis/rows/countries.tsv: for each country its codes of two and three letters (ISO 3166-1), a radius in kilometers, and
 * points. Every place of the country is within the radius of one of them. FOLDER is one in which the npm packages world-atlas (here 2.0.2),
 * topojson-client, d3-geo and i18n-iso-countries are installed. Usage: node scripts/countries-table.ts FOLDER
 */
const folder = process.argv[2];
if (!folder) throw new Error('Usage: node scripts/countries-table.ts FOLDER');

type Point = [longitude: number, latitude: number];
type Shape = { id?: string; geometry: { type: 'Polygon' | 'MultiPolygon'; coordinates: never } };
const installed = createRequire(join(resolve(folder), 'package.json'));
const { feature } = installed('topojson-client') as {
  feature: (atlas: unknown, object: unknown) => { features: Shape[] };
};
const { geoDistance, geoArea, geoCentroid } = installed('d3-geo') as {
  geoDistance: (a: Point, b: Point) => number;
  geoArea: (shape: Shape) => number;
  geoCentroid: (shape: Shape) => Point;
};
const codes = installed('i18n-iso-countries') as Record<'numericToAlpha2' | 'alpha2ToAlpha3', (code: string) => string>;
const atlas = JSON.parse(readFileSync(join(folder, 'node_modules/world-atlas/countries-50m.json'), 'utf8'));

/** Where the parts of a country are that ISO 3166-1 does not list as countries of their own, such as French Guiana: south, west, north and east. */
const bounds: Record<string, [number, number, number, number]> = {
  FR: [41, -6, 52, 10],
  NL: [50, 3, 54, 8],
  NO: [57, 4, 72, 32],
};

const earthRadiusKm = 6371;
const distanceKm = (a: Point, b: Point): number => earthRadiusKm * geoDistance(a, b);

/** Returns the corners of a country, and a point for each degree inside. */
function listPoints({ geometry: { type, coordinates } }: Shape, code: string): Point[] {
  const [south, west, north, east] = bounds[code] ?? [-90, -180, 90, 180];
  const all = (type === 'Polygon' ? coordinates : (coordinates as never[]).flat()) as Point[][];
  const rings = all.filter(
    ([[longitude, latitude] = [0, 0]]) =>
      latitude >= south && latitude <= north && longitude >= west && longitude <= east,
  );
  const inside = rings.flatMap((ring) => {
    const [longitudes, latitudes] = [ring.map(([longitude]) => longitude), ring.map(([, latitude]) => latitude)];
    return listDegrees(latitudes).flatMap((latitude) =>
      listDegrees(longitudes).flatMap((longitude): Point[] =>
        isInside(ring, [longitude, latitude]) ? [[longitude, latitude]] : [],
      ),
    );
  });
  return [...rings.flat(), ...inside];
}

function listDegrees(values: number[]): number[] {
  const from = Math.ceil(Math.min(...values));
  return Array.from({ length: Math.max(0, Math.floor(Math.max(...values)) - from + 1) }, (_, n) => from + n);
}

/** Counts the sides of the ring that a line to the west crosses. */
function isInside(ring: Point[], [longitude, latitude]: Point): boolean {
  const sides = ring.map((corner, n) => [corner, ring[n - 1] ?? ring.at(-1)!] as const);
  const crossed = sides.filter(
    ([a, b]) =>
      a[1] > latitude !== b[1] > latitude && longitude > a[0] + ((latitude - a[1]) / (b[1] - a[1])) * (b[0] - a[0]),
  );
  return crossed.length % 2 === 1;
}

/** Adds the point farthest from all others until every point is near one. */
function cover(points: Point[], middle: Point, radiusKm: number): { centers: Point[]; radius: number } {
  const first = points.reduce((near, point) => (distanceKm(point, middle) < distanceKm(near, middle) ? point : near));
  const centers = [first];
  const distances = points.map((point) => distanceKm(point, first));
  for (;;) {
    const radius = Math.max(...distances);
    if (radius <= radiusKm) return { centers, radius };
    const next = points[distances.indexOf(radius)]!;
    centers.push(next);
    for (const [n, point] of points.entries()) distances[n] = Math.min(distances[n]!, distanceKm(point, next));
  }
}

const rows = new Map<string, string>();
for (const shape of feature(atlas, atlas.objects.countries).features) {
  const code = shape.id === undefined ? undefined : codes.numericToAlpha2(shape.id);
  if (!code) continue;
  const sizeKm = earthRadiusKm * Math.sqrt(geoArea(shape));
  const { centers, radius } = cover(
    listPoints(shape, code),
    geoCentroid(shape),
    Math.min(Math.max(sizeKm / 4, 50), 400),
  );
  const text = centers.map(([longitude, latitude]) => `${latitude.toFixed(1)},${longitude.toFixed(1)}`).join(' ');
  rows.set(code, [code, codes.alpha2ToAlpha3(code), Math.ceil(radius) + 10, text].join('\t'));
}
writeFileSync(
  resolve(import.meta.dirname, '../src/detection/analysis/rows/countries.tsv'),
  `${[...rows.keys()]
    .toSorted()
    .map((code) => rows.get(code)!)
    .join('\n')}\n`,
);
