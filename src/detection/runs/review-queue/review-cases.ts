import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { readPageRequest, toPage } from '../../../platform/lib/page-request.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { RenderedRow } from '../../analysis/candidate.ts';
import { toOwnObservation, type Observation } from '../../verdicts/observation.ts';
import {
  endCase,
  findCase,
  listCases,
  lockOpenCase,
  toCase,
  type CaseDetailRow,
} from '../judging/review-cases.store.ts';
import { findRunQuery } from '../run-model/runs.store.ts';
import type { CaseDecision, CaseDetail, CaseFilter, CaseList } from './review-queue.schema.ts';
import { dismissCase, raiseCase, raiseDismissal } from './settle-case.ts';

type ReviewDeps = { db: Db; clock: Clock };

/** Returns a page of the cases in a state, latest opened first. */
export async function getCases({ db }: Pick<ReviewDeps, 'db'>, caller: Caller, filter: CaseFilter): Promise<CaseList> {
  const request = readPageRequest(filter);
  const { state = 'open', kind, detection, entity } = filter;
  const rows = await inOrg(db, caller.orgId, (tx) =>
    listCases(tx, caller.orgId, { state, kind, detection, entity }, request),
  );
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.openedAt, id: row.id }));
  return { cases: page.map(toCase), nextCursor };
}

/** Returns a case with its facts and everything that its verdict cites. */
export const getCase = ({ db }: Pick<ReviewDeps, 'db'>, { orgId }: Caller, id: string): Promise<CaseDetail> =>
  inOrg(db, orgId, (tx) => readCase(tx, orgId, id));

async function readCase(tx: Tx, orgId: OrgId, id: string): Promise<CaseDetail> {
  const row = await getCaseRow(tx, orgId, id);
  const { facts, rows: rowsText, observations, foundBy, ...listed } = row;
  const rows = JSON.parse(rowsText) as RenderedRow[];
  const query = await findRunQuery(tx, orgId, foundBy);
  const own = toOwnObservation(rows, { query, from: row.windowFrom, to: row.windowTo, at: row.openedAt });
  return {
    ...toCase(listed),
    facts: JSON.parse(facts) as CaseDetail['facts'],
    observations: [own, ...(JSON.parse(observations ?? '[]') as Observation[])],
    testCase: row.caseKind === 'audit' && row.state === 'raised' ? toTestCase(row, rows) : null,
  };
}

async function getCaseRow(tx: Tx, orgId: OrgId, id: string): Promise<CaseDetailRow> {
  const row = await findCase(tx, orgId, id);
  if (!row) throw appError('not_found', `Case ${id} not found.`);
  return row;
}

/** Returns a test case that expects the entity as a hit. */
const toTestCase = (
  { entity, windowFrom, id }: CaseDetailRow,
  rows: readonly RenderedRow[],
): CaseDetail['testCase'] => ({
  name: `Wrongly dismissed: ${entity.slice(0, 150)}, ${windowFrom.toISOString()} (${id.slice(-6)})`,
  events: rows.map(({ rowId, time, fields }) => ({ _id: rowId, ...(time === null ? {} : { _time: time }), ...fields })),
  expect: [entity],
});

/** Decides an open case. Throws 409 if it is no longer open. */
export async function decideCase(
  { db, clock }: ReviewDeps,
  caller: Caller,
  id: string,
  { decision, reason }: CaseDecision,
): Promise<CaseDetail> {
  const { orgId } = caller;
  const now = clock();
  return inOrg(db, orgId, async (tx) => {
    const one = await lockOpenCase(tx, orgId, id);
    if (!one) {
      const { state } = await getCaseRow(tx, orgId, id);
      throw appError('conflict', `Case ${id} is not open any more: it is ${state}.`);
    }
    const settlement = { reason, author: caller, now };
    if (decision === 'raise') await (one.kind === 'audit' ? raiseDismissal : raiseCase)(tx, one, settlement);
    else if (one.kind === 'undecided') await dismissCase(tx, one, settlement);
    else await endCase(tx, orgId, id, { ...settlement, state: 'dismissed', hitId: null });
    const decided = await readCase(tx, orgId, id);
    await insertAudit(tx, caller, {
      action: 'review.decided',
      resourceType: 'review',
      resourceId: id,
      before: { state: 'open' },
      // The reason is only in the case, where it can be erased.
      after: { state: decided.state },
    });
    return decided;
  });
}
