import type { ConnectionFor } from '../../../detection/connections/open-connection.ts';
import { listConnectionFields } from '../../../detection/connections/check-connection.ts';
import { listConnections } from '../../../detection/connections/connections.ts';
import type { Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { AgentSettings } from '../../../detection/detections/agent-settings/agent-settings.ts';
import { isHiddenDataset, isHiddenField } from '../../../detection/siem/hidden-data.ts';
import type { DatasetFields } from '../../../detection/siem/connector.ts';
import { remoteConnectors, type RemoteSiemType } from '../../../detection/siem/connectors/registry.ts';
import type { LogDataset } from '../log-kinds.ts';

export type DraftTargetDeps = { db: Db; clock: Clock; connectionFor: ConnectionFor };

/** The system that a model writes detections for: the embedded log store or a connected SIEM. */
export type DraftTarget = {
  /** The detection's `siemType`. Null for the embedded log store. */
  siemType: RemoteSiemType | null;
  datasets: readonly LogDataset[];
  /** Prompt text: how to write a query and its tests. */
  rules: string;
};

export const logStoreTarget = (datasets: readonly LogDataset[]): DraftTarget => ({
  siemType: null,
  datasets,
  rules: `- The query is one DuckDB SELECT over the listed datasets only. It sees only the events of one window, so it must not filter by time. It returns the columns entity (the subject of the row), _id, and _time. A query with GROUP BY returns list(_id)[1:20] AS _ids instead. A column with a dot is inside an object: read it as (_event->>'$.a.b').
- The events of a test are grouped by dataset, as JSON in the form of the dataset.`,
});

/** Returns the target for a connected SIEM with the given datasets. */
export function siemTarget(kind: RemoteSiemType, datasets: readonly DatasetFields[]): DraftTarget {
  const { label, language, writing } = remoteConnectors[kind];
  return {
    siemType: kind,
    datasets: datasets.map(({ dataset, fields }) => ({ name: dataset, columns: fields })),
    rules: `- The query is written in ${language} for ${label}, over the listed datasets only, and only reads. ${writing} It returns a column entity (the subject of the row). Rows that are single events keep their ID as _id and their time.
- The events of a test are rows as the query returns them, including the entity, under the name rows.`,
  };
}

/** Returns a target without the datasets and fields that the organization keeps from models. */
export function withoutHiddenData(
  target: DraftTarget,
  { hiddenDatasets, hiddenFields }: Pick<AgentSettings, 'hiddenDatasets' | 'hiddenFields'>,
): DraftTarget {
  const hidden = { datasets: hiddenDatasets, fields: hiddenFields };
  const datasets = target.datasets
    .filter(({ name }) => !isHiddenDataset(name, hidden))
    .map(({ name, columns }) => ({ name, columns: columns.filter((column) => !isHiddenField(column.name, hidden)) }));
  return { ...target, datasets };
}

/** Per run of an agent. Each SIEM can cost two more model calls per item. */
const siemsMax = 2;

/**
 * Returns the targets to try drafts on, in order: the embedded log store if it has datasets, then the connected SIEMs that answer. Skips SIEMs
 * of the same kind, because a detection's `siemType` could not tell them apart.
 */
export async function listDraftTargets(
  deps: DraftTargetDeps,
  caller: Caller,
  datasets: readonly LogDataset[],
): Promise<DraftTarget[]> {
  const { connections } = await listConnections(deps, caller, { limit: '100' });
  const siems = connections.filter(
    ({ kind, pause }) =>
      kind !== 'local' && pause === null && connections.filter((other) => other.kind === kind).length === 1,
  );
  const targets = datasets.length > 0 ? [logStoreTarget(datasets)] : [];
  for (const { id, kind } of siems.slice(0, siemsMax)) {
    const fieldLists = await listFieldsIfAvailable(deps, caller, id);
    if (fieldLists.some(({ fields }) => fields.length > 0))
      targets.push(siemTarget(kind as RemoteSiemType, fieldLists));
  }
  return targets;
}

async function listFieldsIfAvailable(deps: DraftTargetDeps, caller: Caller, id: string): Promise<DatasetFields[]> {
  try {
    return (await listConnectionFields(deps, caller, id)).datasets;
  } catch (error) {
    // An unavailable SIEM is skipped. A later run tries it again.
    if (error instanceof AppError) return [];
    throw error;
  }
}
