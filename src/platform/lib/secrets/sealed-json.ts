import type { Secretbox } from './secretbox.ts';

/** The database record that a sealed value belongs to. */
export type SealedRecord = { organization_id: string; id: string };

/** A column of sealed values. `kind` is part of what they are bound to. */
export type SealedColumn = { table: string; column: string; kind: string };

/** Returns a sealed value under the current key, or undefined if it is under that key already. */
export const resealJson = (
  secrets: Secretbox,
  kind: string,
  record: SealedRecord,
  sealed: Buffer,
): Buffer | undefined => secrets.reseal(sealed, sealContext(kind, record));

/** Seals a value as JSON. It opens only with the same kind, organization and record ID. */
export function sealJson(secrets: Secretbox, kind: string, record: SealedRecord, value: unknown): Buffer {
  return secrets.seal(JSON.stringify(value), sealContext(kind, record));
}

export function openJson<T>(secrets: Secretbox, kind: string, record: SealedRecord, sealed: Buffer): T {
  return JSON.parse(secrets.open(sealed, sealContext(kind, record))) as T;
}

const sealContext = (kind: string, { organization_id, id }: SealedRecord): string => `${kind}/${organization_id}/${id}`;
