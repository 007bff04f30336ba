import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isIP, isIPv4 } from 'node:net';
import { join } from 'node:path';
import { Reader, type Response } from 'mmdb-lib';
import type { Logger } from '../lib/logging/logger.ts';

/** What is known of an address: where it is, and whose network it belongs to. Nothing else of a database is shown to anybody. */
export type AddressFacts = {
  country?: string;
  city?: string;
  latitude?: number;
  longitude?: number;
  asn?: number;
  organization?: string;
};

/** The databases of this process. Like other reference data, they are read once, when it starts. */
let databases: readonly Reader<Response>[] = [];

/**
 * Opens the databases in the MMDB format of MaxMind at `paths`, or by default all in the folder `enrichment` of the data directory. A file that cannot be
 * read is left out, and the log says why.
 */
export function openGeoDatabases(
  { dataDir, paths }: { dataDir: string; paths: readonly string[] },
  log: Pick<Logger, 'warn'>,
): void {
  const folder = join(dataDir, 'enrichment');
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.mmdb')) : [];
  const files = paths.length > 0 ? paths : found.toSorted().map((name) => join(folder, name));
  databases = files.flatMap((file) => {
    try {
      return new Reader(readFileSync(file));
    } catch (error) {
      log.warn({ err: error, file }, 'a database of addresses cannot be read');
      return [];
    }
  });
}

export const hasGeoDatabases = (): boolean => databases.length > 0;

/**
 * Returns what the databases know of an address, or undefined if they know nothing. Where several know the same, the first one counts. Reads the
 * forms of MaxMind and DB-IP, with names in English, and of IPinfo.
 */
export function findAddressFacts(address: string): AddressFacts | undefined {
  if (databases.length === 0 || isIP(address) === 0) return undefined;
  // A database of IPv4 addresses only would read the start of an IPv6 address as an IPv4 address.
  const able = databases.filter(({ metadata }) => metadata.ipVersion === 6 || isIPv4(address));
  const facts = able.map((database) => readFacts(database.get(address))).reduceRight((a, b) => ({ ...a, ...b }), {});
  return Object.keys(facts).length === 0 ? undefined : facts;
}

function readFacts(record: unknown): AddressFacts {
  const read = (...path: string[]): unknown =>
    path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], record);
  const text = (...values: unknown[]) => values.find((value) => typeof value === 'string' && value !== '') as string;
  const number = (...values: unknown[]): number | undefined =>
    values
      // Some vendors write an empty text for unknown. It is not a 0.
      .map((value) => (typeof value === 'string' && value !== '' ? Number(value.replace(/^AS/i, '')) : value))
      .find(isFinite);
  const facts = {
    country: text(read('country', 'iso_code'), read('country_code'), read('country')),
    city: text(read('city', 'names', 'en'), read('city')),
    latitude: number(read('location', 'latitude'), read('latitude'), read('lat')),
    longitude: number(read('location', 'longitude'), read('longitude'), read('lng')),
    asn: number(read('autonomous_system_number'), read('asn')),
    organization: text(read('autonomous_system_organization'), read('as_name')),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

const isFinite = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
