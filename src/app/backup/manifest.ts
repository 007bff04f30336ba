import { createHash } from 'node:crypto';
import { z } from 'zod';

/**
 * A backup is a tar archive with these entries, in this order: the header, the generated key, the rows of each table in pieces, the log
 * files, and the checksums. An archive without checksums is incomplete.
 */
export const headerEntry = 'tocsin-backup.json';
export const keyEntry = 'secret.key';
export const checksumsEntry = 'checksums.json';
export const tableEntry = (name: string, piece: number): string =>
  `tables/${name}/${String(piece).padStart(8, '0')}.copy`;
export const logEntry = (orgId: string, path: string): string => `logs/${orgId}/${path}`;

/** A table with its columns. `months` lists the partitions of one that has a partition per month, such as `202611`. */
const Table = z.object({ name: z.string(), columns: z.array(z.string()).min(1), months: z.array(z.string()) });
export type Table = z.infer<typeof Table>;

/** A migration. Backups of development versions list names only. */
const Migration = z.union([
  z.object({ name: z.string(), sha256: z.string() }),
  z.string().transform((name) => ({ name, sha256: '' })),
]);

/** `keyCheck` is a text sealed with the key of the installation, in base64. Null if it has no key. */
export const Header = z.object({
  format: z.literal(1, 'is not known to this version: use a newer one'),
  version: z.string(),
  createdAt: z.iso.datetime(),
  migrations: z.array(Migration),
  tables: z.array(Table),
  logs: z.enum(['copied', 'listed']),
  keyCheck: z.string().nullable(),
});
export type Header = z.infer<typeof Header>;

const Tally = z.object({ bytes: z.number(), lines: z.number(), sha256: z.string() });
/** Checksum of each table by name. `lines` is its number of rows. */
export const Checksums = z.object({
  tables: z.record(z.string(), Tally),
  logs: z.object({ files: z.number(), bytes: z.number(), sha256: z.string() }),
});
export type Checksums = z.infer<typeof Checksums>;

/** Counts and hashes bytes. */
export type RunningTally = { add: (bytes: Uint8Array) => void; end: () => z.infer<typeof Tally> };

export function createTally(): RunningTally {
  const hash = createHash('sha256');
  let [bytes, lines] = [0, 0];
  return {
    add: (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
    },
    end: () => ({ bytes, lines, sha256: hash.digest('hex') }),
  };
}

/** Counts and hashes log files with their names, one after the other. */
export type LogTally = {
  start: (name: string) => void;
  add: (bytes: Uint8Array) => void;
  count: () => number;
  end: () => Checksums['logs'];
};

export function createLogTally(): LogTally {
  const hash = createHash('sha256');
  let [files, bytes] = [0, 0];
  return {
    start: (name) => {
      hash.update(`${name}\n`);
      files += 1;
    },
    add: (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
    },
    count: () => files,
    end: () => ({ files, bytes, sha256: hash.digest('hex') }),
  };
}
