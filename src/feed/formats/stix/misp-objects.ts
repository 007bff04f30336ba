import type { Observable } from '../../extraction/observable.ts';
import { asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { toObservables } from '../misp/misp-types.ts';
import { readTextField, type StixSourceObject } from './stix-objects.ts';

/**
 * Returns whether an object is a custom one of MISP, which exports attributes without a STIX type as such objects. Many vendors publish
 * them.
 */
export const isMispMember = ({ type }: StixSourceObject): boolean =>
  type === 'x-misp-attribute' || type === 'x-misp-object';

/** Returns the observables of a `x-misp-attribute` or `x-misp-object`. */
export function readMispValues(object: StixSourceObject): Observable[] {
  if (object.type === 'x-misp-attribute')
    return toValues(readTextField(object, 'x_misp_type'), readTextField(object, 'x_misp_value'), undefined);
  const name = readTextField(object, 'x_misp_name');
  return asObjects(object['x_misp_attributes']).flatMap((attribute: JsonObject) =>
    toValues(
      asText(attribute['type']) ?? '',
      asText(attribute['value']) ?? '',
      `${name} ${asText(attribute['object_relation']) ?? ''}`,
    ),
  );
}

/** An actor is a name, not an observable. */
const toValues = (type: string, value: string, relation: string | undefined): Observable[] =>
  type === '' || type === 'threat-actor' ? [] : toObservables(type, value, relation);

/** Returns the actor that a `x-misp-attribute` names. */
export const findMispActor = (object: StixSourceObject): string | undefined =>
  object.type === 'x-misp-attribute' && object['x_misp_type'] === 'threat-actor'
    ? asText(object['x_misp_value'])
    : undefined;

const contextLabel = /^misp:category="(?:Targeting data|Internal reference|Support Tool|Person)"$/;
const analysisLabel = 'misp:category="External analysis"';

const attachmentLabel = 'misp:type="attachment"';

/**
 * Returns whether an attribute of MISP is not meant for detection: the address of an analysis, an attached file, the victim, or a reference of
 * the analysts.
 */
export function isMispContext(object: StixSourceObject): boolean {
  const labels = asTexts(object['labels']);
  if (labels.some((label) => /^misp:to_ids="true"$/i.test(label))) return false;
  const isLink = labels.some((label) => /^misp:type="(?:url|link|uri)"$/.test(label));
  const isAnalysis = isLink && labels.includes(analysisLabel);
  return isAnalysis || labels.some((label) => label === attachmentLabel || contextLabel.test(label));
}
