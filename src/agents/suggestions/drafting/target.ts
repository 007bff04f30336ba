import { getFields } from '../../../detection/connections/check-connection.ts';
import { getConnections } from '../../../detection/connections/connections.ts';
import type { Deps } from '../../../app/deps.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { DatasetFields } from '../../../detection/siem/connector.ts';
import { remoteConnectors, type RemoteKind } from '../../../detection/siem/registry.ts';
import type { Dataset } from './log-datasets.ts';

/** What a model writes detections for: the embedded store, or a SIEM that is connected. */
export type Target = {
  /** As a detection names it; null: the embedded store. */
  siemType: RemoteKind | null;
  datasets: readonly Dataset[];
  /** How a query is written and what its tests hold, for the model. */
  rules: string;
};

export const localTarget = (datasets: readonly Dataset[]): Target => ({
  siemType: null,
  datasets,
  rules: `- The query is one DuckDB SELECT over the listed datasets alone. It sees only the events of one window, so it names no times. It returns a column entity (whom the row is about), _id and _time; a query that groups returns list(_id)[1:20] AS _ids instead. A column with a dot lies inside an object: read it as (_event->>'$.a.b').
- The events of a test stand by dataset, as JSON as in the dataset.`,
});

/** A SIEM of a kind, with what a connection to it can be asked for. */
export function connectedTarget(kind: RemoteKind, found: readonly DatasetFields[]): Target {
  const { label, language, writing } = remoteConnectors[kind];
  return {
    siemType: kind,
    datasets: found.map(({ dataset, fields }) => ({ name: dataset, columns: fields })),
    rules: `- The query is written in ${language} for ${label}, over the listed datasets alone, and only reads. ${writing} It returns a column entity (whom the row is about), and rows that are single events keep their id as _id and their time.
- The events of a test are rows as the query returns them, with their entity, under the name rows.`,
  };
}

/** Of one run of an agent: each may cost an item two more answers of the model. */
const siemsMax = 2;

/**
 * What drafts are tried on, in order: the embedded store where it holds anything, then SIEMs that are connected and answer. Of two
 * connections of one kind neither is asked: a detection that names the kind would not say which.
 */
export async function listTargets(
  deps: Pick<Deps, 'db' | 'clock' | 'connectionFor'>,
  caller: Caller,
  datasets: readonly Dataset[],
): Promise<Target[]> {
  const { connections } = await getConnections(deps, caller, { limit: '100' });
  const siems = connections.filter(
    ({ kind, pause }) =>
      kind !== 'local' && pause === null && connections.filter((other) => other.kind === kind).length === 1,
  );
  const targets = datasets.length > 0 ? [localTarget(datasets)] : [];
  for (const { id, kind } of siems.slice(0, siemsMax)) {
    const found = await fieldsOf(deps, caller, id);
    if (found.some(({ fields }) => fields.length > 0)) targets.push(connectedTarget(kind as RemoteKind, found));
  }
  return targets;
}

async function fieldsOf(deps: Parameters<typeof getFields>[0], caller: Caller, id: string): Promise<DatasetFields[]> {
  try {
    return (await getFields(deps, caller, id)).datasets;
  } catch (error) {
    // One that is down is another run's.
    if (error instanceof AppError) return [];
    throw error;
  }
}
