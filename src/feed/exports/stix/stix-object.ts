import { createHash } from 'node:crypto';
import type { Tlp } from '../../model/vocabulary.ts';

export type StixObject = { type: string; id: string; [property: string]: unknown };

/** The namespace of observable ids (STIX 2.1, section 2.9). */
export const observableNamespace = '00abedb4-aa42-466c-9c01-fed23315a9b7';
/** The namespace of objects that are equal in every installation. */
export const sharedNamespace = '5d4b4bd2-5b8c-4e04-9f5e-8f5d6f0b7c31';

/** Returns a UUID version 5 (RFC 9562, section 5.5). */
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
 * The version of the object format, stored in the microseconds of every `modified`. Increase it with every change of what an item's objects
 * contain, so that different bytes always have a different `modified`.
 */
export const formatVersion = '010';

/**
 * Converts ISO text with milliseconds to a time of an object. The result does not depend on `formatVersion`: `created` never changes
 * (STIX 2.1, section 3.2).
 */
export const toStixTime = (iso: string): string => iso.replace(/Z$/, '002Z');

/** Converts ISO text with milliseconds to a `modified` time, which is never before `created`. */
export const toModifiedTime = (iso: string): string => iso.replace(/Z$/, `${formatVersion}Z`);

/** When the objects that belong to no item were made. */
export const sharedObjectsAt = '2026-01-01T00:00:00.000Z';

/** Returns the identity of a publisher. Equal names have equal objects in every installation. */
export function toIdentity(publisher: string): StixObject {
  return {
    type: 'identity',
    spec_version: '2.1',
    id: `identity--${uuidv5(sharedNamespace, `identity ${publisher}`)}`,
    created: toStixTime(sharedObjectsAt),
    modified: toModifiedTime(sharedObjectsAt),
    name: publisher,
    identity_class: 'organization',
  };
}

/** The properties that all objects of an item share, and the function that derives an id from a key unique within type and item. */
export type ObjectContext = { properties: Record<string, unknown>; toId: (type: string, key: string) => string };

/** Returns the id of an object that belongs to an item. */
export const toItemObjectId = (itemId: string, type: string, key: string): string =>
  `${type}--${uuidv5(itemId, JSON.stringify([type, key]))}`;

/** STIX expresses confidence as an integer from 0 to 100. */
export const toPercent = (confidence: number): number => Math.round(confidence * 100);

/** The TLP 2.0 extension that OASIS published (cti-stix-common-objects). */
const extension = 'extension-definition--60a3c5c5-0d10-413e-aab3-9e08dde9e88d';
const idByTlp: Record<Tlp, string> = {
  CLEAR: '94868c89-83c2-464b-929b-a1a8aa3c8487',
  GREEN: 'bab4a63c-aed9-4cf5-a766-dfca5abac2bb',
  AMBER: '55d920b0-5e8b-4f79-9ee9-91f868d9b421',
  'AMBER+STRICT': '939a9414-2ddd-4d32-a0cd-375ea402b003',
  RED: 'e828b379-4e03-4974-9ac4-e53a884c97c1',
};

/** Returns the marking definition that OASIS published for a TLP level. */
export function toTlpMarking(tlp: Tlp): StixObject {
  return {
    type: 'marking-definition',
    spec_version: '2.1',
    id: `marking-definition--${idByTlp[tlp]}`,
    created: '2022-10-01T00:00:00.000Z',
    name: `TLP:${tlp}`,
    extensions: { [extension]: { extension_type: 'property-extension', tlp_2_0: tlp.toLowerCase() } },
  };
}
