import { quoteIdentifier, duck } from '../../log-engine/sql/sql-text.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import type { RuleSets } from './rule-sets.ts';

/** Returns the embedded log store's connection on which imported rules run as sets, with the same results as alone. */
export function withRuleSets(connection: SiemConnection, sets: RuleSets, orgId: OrgId): SiemConnection {
  const { lateEvents } = connection;
  return {
    ...connection,
    search: async (query, window, limits, signal) => {
      const [result] = await sets.search(orgId, { queries: [query], window, limits }, signal);
      return result ?? connection.search(query, window, limits, signal);
    },
    together: {
      groupOf: (query) => sets.datasetOf(orgId, query),
      search: (queries, window, limits, signal) => sets.search(orgId, { queries, window, limits }, signal),
    },
    ...(lateEvents
      ? {
          lateEvents: {
            ...lateEvents,
            find: async (query, window, signal, lagMsMin) => {
              const dataset = await sets.datasetOf(orgId, query);
              const reading = dataset === undefined ? query : duck`SELECT _id FROM ${quoteIdentifier(dataset)}`;
              return lateEvents.find(reading, window, signal, lagMsMin);
            },
            groupsEvents: async (query, signal) =>
              (await sets.datasetOf(orgId, query)) === undefined && lateEvents.groupsEvents(query, signal),
          },
        }
      : {}),
  };
}
