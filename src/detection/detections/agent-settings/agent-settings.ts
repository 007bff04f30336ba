import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import { requireMatch } from '../../../platform/orgs/record-version.ts';
import { findToolWarnings } from '../record/warnings.ts';
import {
  lockAgentSettings,
  readAgentSettings,
  storeAgentSettings,
  type AgentSettingsRow,
} from './agent-settings.store.ts';
import type { AgentSettings, ChangeAgentSettings } from './agent-settings.schema.ts';

type AgentSettingsDeps = { db: Db };

export const getAgentSettings = async ({ db }: AgentSettingsDeps, { orgId }: Caller): Promise<AgentSettings> =>
  toSettings(await inOrg(db, orgId, (tx) => readAgentSettings(tx, orgId)));

/** Changes the settings. Throws 400 for a tool that does not exist, and 412 if they are another version than `ifMatch`. */
export function changeAgentSettings(
  { db }: AgentSettingsDeps,
  caller: Caller,
  changes: ChangeAgentSettings,
  ifMatch?: string,
): Promise<AgentSettings> {
  const { orgId } = caller;
  for (const [index, name] of (changes.defaultToolNames ?? []).entries()) {
    const [unknown] = findToolWarnings([name]);
    if (unknown) throw fieldError(`/defaultToolNames/${index}`, unknown.code, unknown.detail);
  }
  return inOrg(db, orgId, async (tx) => {
    await lockAgentSettings(tx, orgId);
    const before = toSettings(await readAgentSettings(tx, orgId));
    const resource = { resourceType: 'organization', resourceId: orgId };
    const action = 'organization.agent_settings_changed';
    await requireMatch(tx, ifMatch, before, { ...resource, action });
    const { defaultToolNames = before.defaultToolNames } = changes;
    await storeAgentSettings(tx, orgId, {
      defaultToolNames: defaultToolNames && distinct(defaultToolNames),
      hidden: {
        datasets: distinct(changes.hiddenDatasets ?? before.hiddenDatasets),
        fields: distinct(changes.hiddenFields ?? before.hiddenFields),
      },
      auditPercent: changes.auditPercent ?? before.auditPercent,
    });
    const after = toSettings(await readAgentSettings(tx, orgId));
    await insertAudit(tx, caller, { action, ...resource, before, after });
    return after;
  });
}

/** Returns a request for a new agent with the organization's tools, unless it specifies tools. */
export async function withDefaultTools<Input extends { toolNames?: string[] | null | undefined }>(
  tx: Tx,
  orgId: OrgId,
  input: Input,
): Promise<Input> {
  if (input.toolNames !== undefined) return input;
  const { defaultToolNames } = await readAgentSettings(tx, orgId);
  return defaultToolNames === null ? input : { ...input, toolNames: defaultToolNames };
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)];

const toSettings = ({ defaultToolNames, hidden, auditPercent, updatedAt }: AgentSettingsRow): AgentSettings => ({
  defaultToolNames,
  hiddenDatasets: [...hidden.datasets],
  hiddenFields: [...hidden.fields],
  auditPercent,
  updatedAt: updatedAt?.toISOString() ?? null,
});
