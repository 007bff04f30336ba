import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import { auditRecord } from '../../platform/orgs/audit.store.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import {
  rulePackages,
  type ChangeRuleSource,
  type RuleSource,
  type RuleSourceInput,
  type RuleSourceList,
} from './rule-sources.schema.ts';
import {
  deleteRuleSource,
  findRuleSource,
  listRuleSources,
  lockRuleSource,
  requestCheck,
  storeRuleSource,
  type RuleSourceRow,
} from './rule-sources.store.ts';

type RuleSourceDeps = { db: Db; clock: Clock };

const sourcesMax = 50;

/** Lists the rule sources of the organization, by name, and the release packages that can be added by name. */
export const getRuleSources = async ({ db }: { db: Db }, { orgId }: Caller): Promise<RuleSourceList> => ({
  ruleSources: (await inOrg(db, orgId, (tx) => listRuleSources(tx, orgId))).map(toRuleSource),
  packages: rulePackages,
});

/** Returns a rule source. Throws 404. */
export const getRuleSource = async ({ db }: { db: Db }, { orgId }: Caller, id: string): Promise<RuleSource> =>
  toRuleSource(requireSource(await inOrg(db, orgId, (tx) => findRuleSource(tx, orgId, id)), id));

/** Creates a rule source, whose address is checked immediately. Imports nothing. Throws 400 if the name is taken, and 409 beyond 50 sources. */
export const createRuleSource = (deps: RuleSourceDeps, caller: Caller, input: RuleSourceInput): Promise<RuleSource> =>
  inOrg(deps.db, caller.orgId, async (tx) => {
    const now = deps.clock();
    const others = await listRuleSources(tx, caller.orgId);
    if (others.length >= sourcesMax)
      throw appError('conflict', `An organization can have at most ${sourcesMax} rule sources.`);
    return toRuleSource(await store(tx, caller, { before: null, others, after: { ...input, id: uuidv7(now) } }, now));
  });

/** Changes the settings of a rule source. Throws 404, 400 if the name is taken, and 412 if it is another version than `ifMatch`. */
export const changeRuleSource = (
  deps: RuleSourceDeps,
  caller: Caller,
  { id, changes, ifMatch }: { id: string; changes: ChangeRuleSource; ifMatch: string | undefined },
): Promise<RuleSource> =>
  inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await lockVersion(tx, caller, id, ifMatch);
    const { name = before.name, url = before.url, minLevel = before.minLevel } = changes;
    const { statuses = before.statuses, enabled = before.enabled } = changes;
    const others = await listRuleSources(tx, caller.orgId);
    const after = { id, name, url, minLevel, statuses, enabled };
    return toRuleSource(await store(tx, caller, { before, others, after }, deps.clock()));
  });

/** Deletes a rule source. The detections that it brought stay. Throws 404, and 412 if it is another version than `ifMatch`. */
export const removeRuleSource = (
  { db }: RuleSourceDeps,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Promise<RuleSource> =>
  inOrg(db, caller.orgId, async (tx) => {
    const before = toRuleSource(await lockVersion(tx, caller, id, ifMatch));
    await deleteRuleSource(tx, caller.orgId, id);
    await auditRecord(tx, caller, 'rule_source.deleted', { before, after: null });
    return before;
  });

/** Has the address of a rule source checked within seconds. Throws 404. */
export const checkRuleSource = ({ db, clock }: RuleSourceDeps, { orgId }: Caller, id: string): Promise<RuleSource> =>
  inOrg(db, orgId, async (tx) => {
    const source = requireSource(await lockRuleSource(tx, orgId, id), id);
    await requestCheck(tx, orgId, id, clock());
    return toRuleSource(source);
  });

/** Returns a source, or throws 404 if it is undefined. */
export function requireSource<Row>(source: Row | undefined, id: string): Row {
  if (!source) throw appError('not_found', `Rule source ${id} not found.`);
  return source;
}

async function lockVersion(
  tx: Tx,
  { orgId }: { orgId: OrgId },
  id: string,
  ifMatch: string | undefined,
): Promise<RuleSourceRow> {
  const source = requireSource(await lockRuleSource(tx, orgId, id), id);
  const resource = { action: 'rule_source.updated', resourceType: 'rule_source', resourceId: id };
  await requireMatch(tx, ifMatch, toRuleSource(source), resource);
  return source;
}

type Change = {
  before: RuleSourceRow | null;
  others: readonly RuleSourceRow[];
  after: RuleSourceInput & { id: string };
};

async function store(tx: Tx, caller: Caller, { before, others, after }: Change, now: Date): Promise<RuleSourceRow> {
  if (others.some(({ id, name }) => id !== after.id && name === after.name))
    throw fieldError('/name', 'duplicate', `There is a rule source "${after.name}" already.`);
  await storeRuleSource(tx, caller.orgId, after, now);
  const stored = requireSource(await findRuleSource(tx, caller.orgId, after.id), after.id);
  const action = before ? 'rule_source.updated' : 'rule_source.created';
  await auditRecord(tx, caller, action, { before: before && toRuleSource(before), after: toRuleSource(stored) });
  return stored;
}

function toRuleSource(row: RuleSourceRow): RuleSource {
  const { etag: _etag, ...rest } = row;
  return {
    ...withIsoTimes(rest),
    statuses: [...rest.statuses],
  };
}
