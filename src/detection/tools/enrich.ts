import { z } from 'zod';
import type { Candidate } from '../analysis/candidate.ts';
import { inferEntityType } from '../analysis/rows/entity-fields.ts';
import { findValueType } from '../../platform/enrichment/enricher-kinds.ts';
import { defineTool } from './tool-definition.ts';
import { createResult, toRow } from './tool-result.ts';

export const enrichTool = 'enrich_values';
const valuesMax = 20;
/** The values of a case that are looked up before it is judged. */
const ofCaseMax = 10;

/** Its results are of other parties, so they explain, and prove nothing. */
export const enrichValues = defineTool({
  description:
    'Returns what enrichers know of public addresses, domains and hashes, with the time of the look-up: of addresses for example the country, city, coordinates, network (ASN) and its organization.',
  input: z.strictObject({
    values: z
      .array(z.string().min(2).max(300))
      .min(1)
      .max(valuesMax)
      .describe('Values of the case or of earlier results.'),
  }),
  effect: 'read',
  source: 'outside',
  seesOtherEntities: false,
  findUrlProblem: null,
  run: async ({ values }, { lookUpValues, known }, signal) => {
    const found = await lookUpValues(
      [...new Set(values)].filter((value) => known.has(value)),
      signal,
    );
    return createResult({
      rows: found.map(({ enricher, value, fields, at, costUsd }) =>
        toRow(`${enricher}:${value}`, { value, ...fields, enricher, lookedUpAt: at.toISOString(), costUsd }),
      ),
      names: ['value'],
      note: 'Only values of the case or of earlier results are looked up.',
    });
  },
});

/** Lists the values of a case that an enricher may know, those of the first rows first: public addresses, hashes, and domains in fields that say so. */
export function listEnrichable({ entity, rows }: Pick<Candidate, 'entity' | 'rows'>): string[] {
  const cells = [['entity', entity] as const, ...rows.flatMap(({ fields }) => Object.entries(fields))];
  const values = cells.flatMap(([field, value]) => {
    const type = findValueType(value);
    // A name of a file looks like a domain.
    return type === undefined || (type === 'domain' && inferEntityType(field, value) !== 'domain') ? [] : [value];
  });
  return [...new Set(values)].slice(0, ofCaseMax);
}
