import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { QueryRow } from '../../siem/connector.ts';
import { findAddressFacts } from '../../../platform/enrichment/geo-databases.ts';
import { plainFieldName } from '../../../platform/lib/text/canonical-text.ts';
import { parseNumber, flattenRow } from './fields.ts';

type Point = [latitude: number, longitude: number];
/** Every place of an area is within the radius of one of its points. */
type Area = { radiusKm: number; points: Point[] };

/** How precisely the coordinates of an address are known. */
const coordinatesRadiusKm = 50;
const earthRadiusKm = 6371;
const displayNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

const readPoint = (text: string): Point => text.split(',').map(Number) as Point;
const { areas, codeByName } = readCountries();

function readCountries(): { areas: Map<string, Area>; codeByName: Map<string, string> } {
  const table = { areas: new Map<string, Area>(), codeByName: new Map<string, string>() };
  for (const line of readFileSync(resolve(import.meta.dirname, 'countries.tsv'), 'utf8')
    .trimEnd()
    .split('\n')) {
    const [code = '', longCode = '', radius, points = ''] = line.split('\t');
    table.areas.set(code, { radiusKm: Number(radius), points: points.split(' ').map(readPoint) });
    for (const name of [code, longCode, displayNames.of(code) ?? code]) table.codeByName.set(name.toLowerCase(), code);
  }
  return table;
}

/** Fields that state where somebody is, by their last name, and fields about another place than that. */
const countryField = /^(?:country(?:iso)?(?:code)?|countryname|countryorregion)$/;
const latitudeField = /^lat(?:itude)?$/;
const longitudeField = /^(?:lon|lng|long|longitude)$/;
const addressField = /^(?:src|source|client|remote|caller)?(?:ip|ipaddr|ipaddress|address)$/;
const otherPlace = /dest|dst|target|server|recipient|resource|home|registered/i;

/**
 * Returns the place that a row states: its coordinates as `52.5,13.4` with one decimal, else the code of its country (ISO 3166-1), which the
 * row may state as a code of two or three letters or as an English name. Otherwise the place of its address, where a database of addresses knows it.
 * Undefined for a row without a known place.
 */
export function findPlace(row: QueryRow): string | undefined {
  const fields = flattenRow(row).filter(([field]) => !otherPlace.test(field));
  const find = (pattern: RegExp): unknown => fields.find(([field]) => pattern.test(plainFieldName(field)))?.[1];
  const stated = toPlace(find(latitudeField), find(longitudeField), find(countryField));
  if (stated !== undefined) return stated;
  const address = find(addressField);
  const facts = typeof address === 'string' ? findAddressFacts(address.trim()) : undefined;
  return facts && toPlace(facts.latitude, facts.longitude, facts.country);
}

function toPlace(latitudeOf: unknown, longitudeOf: unknown, country: unknown): string | undefined {
  const [latitude, longitude] = [parseNumber(latitudeOf), parseNumber(longitudeOf)];
  // Software that does not know a place often writes 0,0.
  if (latitude !== undefined && longitude !== undefined && (latitude !== 0 || longitude !== 0))
    if (Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180) return `${latitude.toFixed(1)},${longitude.toFixed(1)}`;
  return typeof country === 'string' ? findCountry(country.trim()) : undefined;
}

function findCountry(text: string): string | undefined {
  const code = codeByName.get(text.toLowerCase());
  if (code !== undefined || !/^[a-z]{2}$/i.test(text)) return code;
  // A withdrawn code or an alias, such as UK.
  return codeByName.get(new Intl.Locale(`und-${text}`).region?.toLowerCase() ?? '');
}

/** Returns the English name of a country, or coordinates as they are. */
export const namePlace = (place: string): string => (areas.has(place) ? displayNames.of(place) : undefined) ?? place;

/** Returns the least distance in kilometers that two places can have: 0 for the same or neighboring countries. */
export function measureLeastDistance(one: string, other: string): number {
  const [a, b] = [toArea(one), toArea(other)];
  let least = Infinity;
  for (const point of a.points) for (const end of b.points) least = Math.min(least, measureDistance(point, end));
  return Math.max(0, least - a.radiusKm - b.radiusKm);
}

const toArea = (place: string): Area =>
  areas.get(place) ?? { radiusKm: coordinatesRadiusKm, points: [readPoint(place)] };

/** The distance on a sphere (haversine formula). */
function measureDistance([latitude, longitude]: Point, [toLatitude, toLongitude]: Point): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const across = Math.sin(radians(toLatitude - latitude) / 2) ** 2;
  const along = Math.sin(radians(toLongitude - longitude) / 2) ** 2;
  const half = across + Math.cos(radians(latitude)) * Math.cos(radians(toLatitude)) * along;
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(half)));
}
