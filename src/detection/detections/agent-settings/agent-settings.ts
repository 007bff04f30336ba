import { z } from 'zod';
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
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

const namesMax = 200;
const partsMax = 8;

const fieldName = boundedString({ min: 1, max: 255 }).refine(
  (name) => name.split('.').every((part) => part !== '') && name.split('.').length <= partsMax,
  `must be a field name with at most ${partsMax} parts between dots`,
);

const fields = {
  defaultToolNames: z
    .array(boundedString({ min: 1, max: 100 }))
    .max(50)
    .nullable()
    .describe(
      '`toolNames` of a new detection whose request has none. Null: no tools, and the console proposes those that only read.',
    ),
  hiddenDatasets: z
    .array(boundedString({ min: 1, max: 255 }))
    .max(namesMax)
    .describe('Datasets that no tool describes or searches for a model. Case does not matter.'),
  hiddenFields: z
    .array(fieldName)
    .max(namesMax)
    .describe(
      'Fields that no model sees: names as in the logs, with dots for keys inside of objects, in every dataset. A field hides what is below it. Case does not matter.',
    ),
  auditPercent: z
    .number()
    .min(0)
    .max(100)
    .describe(
      'Percentage of the dismissals of a detection and day that are judged again, at least one and at most 100 of them. 0 turns the audit off. Default: 2.',
    ),
};

/** Absent fields stay as they are. */
export const ChangeAgentSettings = z.strictObject(fields).partial();
export type ChangeAgentSettings = z.infer<typeof ChangeAgentSettings>;

export const AgentSettings = z
  .object({ ...fields, updatedAt: z.string().nullable().describe('When a setting changed last. Null: never.') })
  .describe('What agents of the organization may use.')
  .meta({ id: 'AgentSettings' });
export type AgentSettings = z.infer<typeof AgentSettings>;

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
