import type { Clock } from '../lib/time/clock.ts';
import type { OrgId } from '../lib/org-id.ts';
import { findAddressFacts, hasGeoDatabases } from './geo-databases.ts';

/** What an enricher knows of a value. `at` is when it was looked up, so that a reader sees its age, and `costUsd` what that cost. */
export type Enrichment = {
  enricher: string;
  value: string;
  fields: Readonly<Record<string, string | number>>;
  at: Date;
  costUsd: number;
};

/** Looks up values for an organization. `isOn` returns whether it has an enricher at all. */
export type Enrich = {
  isOn: (orgId: OrgId) => Promise<boolean>;
  lookUp: (orgId: OrgId, values: readonly string[], signal: AbortSignal) => Promise<Enrichment[]>;
};

/** Creates the enrichers: the databases of addresses. */
export const createEnrich = ({ clock }: { clock: Clock }): Enrich => ({
  isOn: () => Promise.resolve(hasGeoDatabases()),
  lookUp: (_orgId, values) =>
    Promise.resolve(
      values.flatMap((value): Enrichment[] => {
        const fields = findAddressFacts(value);
        return fields ? [{ enricher: 'geo', value, fields, at: clock(), costUsd: 0 }] : [];
      }),
    ),
});
