import { createHash } from 'node:crypto';

export type StixObject = { type: string; id: string; [property: string]: unknown };

/** Namespace of observables' ids (STIX 2.1, section 2.9). */
export const observableNamespace = '00abedb4-aa42-466c-9c01-fed23315a9b7';
/** Namespace of what is the same in every installation. */
const ownNamespace = '5d4b4bd2-5b8c-4e04-9f5e-8f5d6f0b7c31';

/** A UUID version 5 (RFC 9562, section 5.5). */
export function uuidv5(namespace: string, name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/**
 * Microseconds of every `modified`: the number of the form that objects are written in. Whoever changes what an object says of the same item
 * counts it up, so that other bytes always have another `modified`.
 */
const form = '002';

/** ISO text in milliseconds → a time of an object, which no new form moves: `created` never changes (STIX 2.1, section 3.2). */
export const stamp = (iso: string): string => iso.replace(/Z$/, '002Z');

/** The same for `modified`, which never lies before `created`. */
export const stampModified = (iso: string): string => iso.replace(/Z$/, `${form}Z`);

/** Who published: the same object wherever the name is the same. */
export function identityOf(publisher: string): StixObject {
  const at = '2026-01-01T00:00:00.000Z';
  return {
    type: 'identity',
    spec_version: '2.1',
    id: `identity--${uuidv5(ownNamespace, `identity ${publisher}`)}`,
    created: stamp(at),
    modified: stampModified(at),
    name: publisher,
    identity_class: 'organization',
  };
}

/** What all objects of an item have in common; `idOf` makes one out of what tells an object from the item's others. */
export type Common = { properties: Record<string, unknown>; idOf: (type: string, key: string) => string };

/** STIX counts confidence in whole percents. */
export const percent = (confidence: number): number => Math.round(confidence * 100);
