import type { Tlp } from '../../model/vocabulary.ts';
import type { StixObject } from './stix-object.ts';

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
