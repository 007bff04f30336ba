import { isIP } from 'node:net';
import { z } from 'zod';
import type { Candidate } from '../analysis/candidate.ts';
import { isPublicAddress } from '../../platform/lib/outbound-http/addresses.ts';
import { defineTool } from './tool-definition.ts';
import { createResult, toRow } from './tool-result.ts';

export const enrichTool = 'enrich_values';
const valuesMax = 20;
/** The values of a case that are looked up before it is judged. */
const ofCaseMax = 10;

/** Its results are of other parties, so they explain, and prove nothing. */
export const enrichValues = defineTool({
  description:
    'Returns what enrichers know of public addresses: their country, city, coordinates, network (ASN) and its organization, with the time of the look-up.',
  input: z.strictObject({
    values: z
      .array(z.string().min(2).max(300))
      .min(1)
      .max(valuesMax)
      .describe('Addresses of the case or of earlier results.'),
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

/** Lists the values of a case that an enricher may know: public addresses, those of the first rows first. */
export const listEnrichable = ({ entity, rows }: Pick<Candidate, 'entity' | 'rows'>): string[] => {
  const values = new Set([entity, ...rows.flatMap(({ fields }) => Object.values(fields))]);
  return [...values].filter((value) => isIP(value) !== 0 && isPublicAddress(value)).slice(0, ofCaseMax);
};
