import { describe, expect, test } from 'vitest';
import { BlocklistQuery } from '../../src/feed/exports/exports-query.ts';
import { renderIndicators } from '../../src/feed/exports/misp-attributes.ts';
import { toObservable } from '../../src/feed/exports/stix/stix-indicators.ts';
import { toPattern } from '../../src/feed/exports/stix/stix-patterns.ts';
import { createObservable } from '../../src/feed/extraction/observable.ts';
import { readTypedValue } from '../../src/feed/formats/csv/recognize-value.ts';
import { findNotedType, toObservables } from '../../src/feed/formats/misp/misp-attributes.ts';
import { findPatternValues } from '../../src/feed/formats/stix/stix-indicators.ts';
import { classifyProperty } from '../../src/feed/formats/stix/stix-observables.ts';
import { normalizeValue, typeEntries } from '../../src/feed/model/values/indicator-types.ts';
import { canonicalForms } from '../../src/feed/model/values/indicator-forms.ts';
import { itemOf } from '../support/feed/stix-items.ts';

type MispAttribute = { type: string; value: string; comment?: string; object_relation?: string };

describe.each(typeEntries)('%s', (type, { example, isRecognized, csv, stix, misp }) => {
  const indicator = { type, value: example, normalizedValue: example };
  const expected = expect.objectContaining({ kind: 'indicator', type, normalizedValue: example }) as unknown;

  test('keeps the canonical form of its example, under which a look-up finds it', () => {
    expect(normalizeValue(type, example)).toBe(example);
    expect(normalizeValue(type, ` ${example} `)).toBe(example);
    expect(normalizeValue(type, '')).toBeUndefined();
    expect(createObservable(type, example)).toEqual(expected);
    const forms = canonicalForms(example);
    expect(forms).toContainEqual(expect.objectContaining({ type, form: example }));
    if (isRecognized) expect(forms[0]).toMatchObject({ type, isStrict: true });
  });

  test('is read from the STIX pattern and the observable that it is exported as', () => {
    expect(findPatternValues(toPattern(indicator))).toEqual([expected]);
    const observable = toObservable(indicator);
    expect(observable !== undefined).toBe(stix.hasObservable(example));
    const steps = stix.path.filter((step) => step !== undefined);
    if (observable) expect(classifyProperty(observable.type, steps, example)).toEqual(expected);
    for (const path of stix.readFrom) {
      const [object = '', rest = ''] = path.split(':');
      expect(classifyProperty(object, rest.split('.'), example), path).toEqual(expected);
    }
  });

  test('is read from the MISP attribute or object that it is exported as', () => {
    const { attributes, objects } = renderIndicators(
      itemOf([{ ...indicator, status: 'active', confidence: 1, ttlDays: 1 }]),
    );
    const object = objects[0] as { name: string; Attribute: MispAttribute[] } | undefined;
    const [attribute] = object ? object.Attribute : (attributes as MispAttribute[]);
    expect(attribute).toMatchObject({ type: misp.type, value: example });
    const { type: kind, value, comment, object_relation: relation } = attribute!;
    const noted = findNotedType(kind, comment);
    expect(noted ?? type).toBe(type);
    const read = toObservables(kind, value, object && `${object.name} ${relation}`);
    if (noted === undefined || object) expect(read).toEqual([expected]);
    for (const from of misp.readFrom) expect(toObservables(from, value, undefined), from).toEqual([expected]);
    for (const from of misp.relations) expect(toObservables('text', value, from), from).toEqual([expected]);
  });

  test('has the names by which lists of values state it, and can be in a block list', () => {
    if (csv.column) expect(type).toMatch(csv.column);
    if (csv.word) expect(readTypedValue(type, example)).toEqual([expected]);
    expect(BlocklistQuery.safeParse({ type }).success).toBe(true);
  });
});
