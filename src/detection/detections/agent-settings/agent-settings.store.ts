import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { lockName } from '../../../platform/db/lock-name.store.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { HiddenData } from '../../siem/hidden-data.ts';

export type AgentSettingsRow = {
  defaultToolNames: string[] | null;
  hidden: HiddenData;
  auditPercent: number;
  updatedAt: Date | null;
};

const defaultAuditPercent = 2;

/** Returns the settings of an organization, which are empty until it changes them. */
export async function readAgentSettings(tx: Tx, orgId: OrgId): Promise<AgentSettingsRow> {
  const row = await queryRow<{
    tools: string[] | null;
    datasets: string[];
    fields: string[];
    auditPercent: number;
    updatedAt: Date;
  }>(tx)`
      select default_tool_names as tools, audit_percent as "auditPercent", hidden_datasets as datasets, hidden_fields as fields, updated_at as "updatedAt"
      from agent_settings where organization_id = ${orgId}`;
  if (!row)
    return {
      defaultToolNames: null,
      hidden: { datasets: [], fields: [] },
      auditPercent: defaultAuditPercent,
      updatedAt: null,
    };
  const { tools, datasets, fields, ...rest } = row;
  return { defaultToolNames: tools, hidden: { datasets, fields }, ...rest };
}

/** Serializes changes of the settings until the transaction ends, also of those that do not exist yet. */
export const lockAgentSettings = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `agent settings ${orgId}`);

/** Stores the settings. Moves `updated_at` strictly forward. */
export async function storeAgentSettings(
  tx: Tx,
  orgId: OrgId,
  { defaultToolNames, hidden, auditPercent }: Omit<AgentSettingsRow, 'updatedAt'>,
): Promise<void> {
  await sql`
    insert into agent_settings as s (organization_id, default_tool_names, hidden_datasets, hidden_fields, audit_percent, updated_at)
    values (${orgId}, ${defaultToolNames}::text[], ${hidden.datasets}::text[], ${hidden.fields}::text[], ${auditPercent},
      date_trunc('milliseconds', clock_timestamp()))
    on conflict (organization_id) do update set default_tool_names = excluded.default_tool_names,
      hidden_datasets = excluded.hidden_datasets, hidden_fields = excluded.hidden_fields, audit_percent = excluded.audit_percent,
      updated_at = greatest(excluded.updated_at, s.updated_at + interval '1 millisecond')`.execute(tx);
}
