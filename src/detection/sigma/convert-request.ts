import { inOrg, type Db } from '../../platform/db/db.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { findConnection } from '../connections/connections.store.ts';
import { listDatasets, type ListDatasetsDeps } from '../log-query/datasets/list-datasets.ts';
import type { ConvertedRule } from './convert/convert-rules.ts';
import type { ConvertTask } from './convert/convert-task.ts';
import type { RuleConverter } from './convert/rule-converter.ts';
import { dialectKinds, type DialectKind } from './dialects/registry.ts';
import type { ConvertRequest, ConvertResult } from './sigma.schema.ts';

export type ConvertDeps = ListDatasetsDeps & {
  db: Db;
  ruleConverter: RuleConverter;
  config: { sigmaMappings: readonly string[] };
};

/** Converts rules to the query language of a connection, without storing anything. */
export async function convertSigma(deps: ConvertDeps, caller: Caller, request: ConvertRequest): Promise<ConvertResult> {
  return { results: (await convertForTarget(deps, caller.orgId, request)).map(({ result }) => result) };
}

/** Returns the converted documents with their rules. Calls `onStart` when they are being converted. Throws 400 for a target that does not exist. */
export async function convertForTarget(
  deps: ConvertDeps,
  orgId: OrgId,
  { rules, target = 'local', allowUnknown }: ConvertRequest,
  onStart?: () => void,
): Promise<ConvertedRule[]> {
  const { kind, timeColumn } = await readTarget(deps, orgId, target);
  onStart?.();
  const datasets = kind === 'local' ? await readDatasets(deps, orgId) : null;
  const mappingFolders = deps.config.sigmaMappings;
  return deps.ruleConverter.convert(orgId, { rules, kind, datasets, timeColumn, mappingFolders, allowUnknown });
}

async function readDatasets(deps: ListDatasetsDeps, orgId: OrgId): Promise<ConvertTask['datasets']> {
  const { datasets } = await listDatasets(deps, orgId);
  return datasets.map(({ name, columns }) => ({ name, columns: columns.map((column) => column.name) }));
}

type Target = { kind: DialectKind; timeColumn: string };

/** The column with the time of an event, by kind, if the settings of a connection specify none. */
const timeColumns: Record<DialectKind, string> = {
  local: '_time',
  postgres: 'timestamp',
  clickhouse: 'timestamp',
  elasticsearch: '@timestamp',
  opensearch: '@timestamp',
  splunk: '_time',
  sentinel: 'TimeGenerated',
};

export const defaultTimeColumn = (kind: DialectKind): string => timeColumns[kind];

async function readTarget({ db }: { db: Db }, orgId: OrgId, target: string): Promise<Target> {
  if (target === 'local') return { kind: 'local', timeColumn: timeColumns.local };
  const row = uuidPattern.test(target) ? await inOrg(db, orgId, (tx) => findConnection(tx, orgId, target)) : undefined;
  const kind = dialectKinds.find((one) => one === row?.kind);
  if (!row || !kind)
    throw fieldError('/target', 'unknown_target', `"${target}" is neither "local" nor the id of a connection.`);
  const settings = JSON.parse(row.settings) as { timeColumn?: string; timeField?: string };
  return { kind, timeColumn: settings.timeColumn ?? settings.timeField ?? timeColumns[kind] };
}
