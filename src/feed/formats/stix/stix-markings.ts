import { asObject, asObjects, asText, asTexts, isObject, ownValue } from '../../../platform/lib/json/json-values.ts';
import { findTlp } from '../../extraction/tlp.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import { strictestTlp } from '../record-fields.ts';
import { listRefs, type StixBundle, type StixSourceObject } from './stix-objects.ts';

/** The marking definitions of STIX 2.0 and 2.1 for TLP 1.0 and of the OASIS extension for TLP 2.0. */
const tlpById: Record<string, Tlp> = {
  '613f2e26-407d-48c7-9eca-b8e91df99dc9': 'CLEAR',
  '34098fce-860f-48ae-8e50-ebd3cc5e41da': 'GREEN',
  'f88d31f6-486f-44da-b317-01333bde0b82': 'AMBER',
  '5e57c739-391a-4eb3-b6be-7d15ca92d5ed': 'RED',
  '94868c89-83c2-464b-929b-a1a8aa3c8487': 'CLEAR',
  'bab4a63c-aed9-4cf5-a766-dfca5abac2bb': 'GREEN',
  '55d920b0-5e8b-4f79-9ee9-91f868d9b421': 'AMBER',
  '939a9414-2ddd-4d32-a0cd-375ea402b003': 'AMBER+STRICT',
  'e828b379-4e03-4974-9ac4-e53a884c97c1': 'RED',
};

/** Returns the strictest TLP of the objects from marking references, granular markings and labels. */
export const findObjectTlp = (objects: StixSourceObject[], bundle: StixBundle): Tlp | undefined =>
  strictestTlp(objects.flatMap((object) => listTlpMarkings(object, bundle)));

function listTlpMarkings(object: StixSourceObject, bundle: StixBundle): Tlp[] {
  const refs = [
    ...listRefs(object, 'object_marking_refs'),
    ...asObjects(object['granular_markings']).flatMap((marking) => asText(marking['marking_ref']) ?? []),
  ];
  const labels = asTexts(object['labels']).filter((label) => /^tlp:/i.test(label.trim()));
  return [...refs.map((ref) => resolveTlp(ref, bundle)), ...labels.map(findTlp)].filter((tlp) => tlp !== undefined);
}

function resolveTlp(ref: string, bundle: StixBundle): Tlp | undefined {
  const known = ownValue(tlpById, ref.replace(/^marking-definition--/, '').toLowerCase());
  const marking = bundle.objects.get(ref);
  if (known || !marking) return known;
  const extensions = Object.values(asObject(marking['extensions'])).filter(isObject);
  const words = [
    asObject(marking['definition'])['tlp'],
    ...extensions.map((extension) => extension['tlp_2_0']),
    marking['name'],
  ];
  return words.map((word) => (typeof word === 'string' ? findTlp(word) : undefined)).find((tlp) => tlp !== undefined);
}
